//! A table that numbers pairs: found without a lock, added to under one, never removed from.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::region::{Pair, zeroed};

/// Slots of the first index: `1 << FIRST_BITS`.
const FIRST_BITS: u32 = 10;
/// More than any table needs.
const MOST_INDICES: usize = 24;

/// Numbers pairs from 1; 0 is none.
///
/// An open table of numbers, at most half full, over the rows:
///
/// ```text
///   index  │ 0 │ 2 │ 0 │ 1 │ …      rows  │ – │ (wide, narrow) │ (wide, narrow) │ …
/// ```
///
/// When the index is half full, the next one, twice as large, takes its place; a thread that still reads the old one may miss
/// an entry there, and looks again under the lock. Old ones stay: together they are as large as the new one.
#[derive(Debug)]
pub(crate) struct Pairs {
    rows: &'static [Pair],
    /// Of `1 << (FIRST_BITS + n)` slots each, as far as they are there.
    indices: [OnceLock<&'static [AtomicU32]>; MOST_INDICES],
    /// The one in use.
    current: AtomicUsize,
    /// The number that comes next.
    next: AtomicU32,
    adding: Mutex<()>,
}

impl Pairs {
    /// A table for `1 << bits` pairs; `None` if the system has no room for it.
    pub(crate) fn new(bits: u32) -> Option<Self> {
        let (rows, index) = (zeroed(1 << bits)?, zeroed(1 << FIRST_BITS)?);
        let indices = [const { OnceLock::new() }; MOST_INDICES];
        let _ = indices[0].set(index);
        Some(Pairs { rows, indices, current: AtomicUsize::new(0), next: AtomicU32::new(1), adding: Mutex::new(()) })
    }

    /// The number after the last.
    pub(crate) fn end(&self) -> u32 {
        // Acquire: rows below it were filled before it was raised.
        self.next.load(Ordering::Acquire)
    }

    /// The pair with a number below [`Pairs::end`].
    pub(crate) fn get(&self, number: u32) -> (u64, u32) {
        let row = &self.rows[number as usize];
        // Relaxed: a thread that has the number got it through the index or the count.
        (row.wide.load(Ordering::Relaxed), row.narrow.load(Ordering::Relaxed))
    }

    /// The number of a pair, a new one if need be; `None` if the table is full.
    pub(crate) fn number(&self, wide: u64, narrow: u32) -> Option<u32> {
        if let Ok(number) = self.find(wide, narrow) {
            return Some(number);
        }
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(number) = self.find(wide, narrow) {
            return Some(number);
        }
        let number = self.next.load(Ordering::Relaxed);
        let row = self.rows.get(number as usize)?;
        if 2 * number as usize >= self.index().len() {
            self.grow(number)?;
        }
        row.wide.store(wide, Ordering::Relaxed);
        row.narrow.store(narrow, Ordering::Relaxed);
        enter(self.index(), hash(wide, narrow), number);
        self.next.store(number + 1, Ordering::Release);
        Some(number)
    }

    /// The number of a pair, if it has one.
    fn find(&self, wide: u64, narrow: u32) -> Result<u32, NotFound> {
        let index = self.index();
        let mask = index.len() - 1;
        let mut slot = hash(wide, narrow) as usize & mask;
        // The index is at most half full: there is an empty slot.
        loop {
            // Acquire: a thread that sees the number sees its row.
            match index[slot].load(Ordering::Acquire) {
                0 => return Err(NotFound),
                number if self.get(number) == (wide, narrow) => return Ok(number),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn index(&self) -> &'static [AtomicU32] {
        // Acquire: the index was filled before it was made the current one.
        let current = self.current.load(Ordering::Acquire);
        self.indices[current].get().expect("the current index was set before it became current")
    }

    /// Makes an index of twice as many slots the current one.
    fn grow(&self, end: u32) -> Option<()> {
        let next = self.current.load(Ordering::Relaxed) + 1;
        let index = zeroed(2 * self.index().len())?;
        for number in 1..end {
            let (wide, narrow) = self.get(number);
            enter(index, hash(wide, narrow), number);
        }
        self.indices.get(next)?.set(index).ok()?;
        self.current.store(next, Ordering::Release);
        Some(())
    }
}

/// The pair has no number, or the index is an old one.
struct NotFound;

/// Enters a number into an index, under the lock.
fn enter(index: &[AtomicU32], hash: u64, number: u32) {
    let mask = index.len() - 1;
    let mut slot = hash as usize & mask;
    while index[slot].load(Ordering::Relaxed) != 0 {
        slot = (slot + 1) & mask;
    }
    // Release: a thread that sees the number sees its row.
    index[slot].store(number, Ordering::Release);
}

/// Low bits that depend on all bits of both numbers: the steps of MurmurHash3's finalizer.
fn hash(wide: u64, narrow: u32) -> u64 {
    let mut hash = wide ^ u64::from(narrow).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ hash >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash = (hash ^ hash >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ hash >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_keeps_its_number() {
        let pairs = Pairs::new(4).unwrap();
        let numbers: Vec<u32> = (0..15).map(|n| pairs.number(n * 8, 3).unwrap()).collect();
        assert_eq!(numbers, (1..16).collect::<Vec<u32>>());
        assert_eq!(pairs.number(40, 3), Some(6));
        assert_eq!(pairs.get(6), (40, 3));
        assert_eq!(pairs.number(40, 4), None, "the table is full");
        assert_eq!(pairs.end(), 16);
    }

    #[test]
    fn an_index_grows() {
        let pairs = Pairs::new(14).unwrap();
        for round in 0..2 {
            for n in 0..10_000 {
                assert_eq!(pairs.number(n << 20, 7), Some(n as u32 + 1), "round {round}");
            }
        }
        assert!(pairs.index().len() >= 20_000);
    }

    #[test]
    fn threads_agree_on_numbers() {
        let pairs = Pairs::new(12).unwrap();
        let of_thread = || (0..1000).map(|n| pairs.number(n % 500, 1).unwrap()).collect::<Vec<u32>>();
        let all: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(of_thread)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|numbers| *numbers == all[0]));
        assert_eq!(pairs.end(), 501);
    }
}
