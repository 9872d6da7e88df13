//! Shared rows: lists of targets that several objects have in common.
//!
//! ```text
//!   object 7   ─▶ 20 21 22 … 519     the row as it is first stored; 7 is its owner
//!   object 8   ─▶ row 0 ┐
//!   object 9   ─▶ row 0 ┴─▶ the bytes of object 7
//! ```
//!
//! A few megabytes of a file can hold billions of references, because equal lists compress well. Such a graph has few
//! different rows. Each is stored once, and algorithms visit it once: for them, the row is a vertex between the objects
//! that share it and their targets.
//!
//! Rows are shared within one block. So blocks are packed in parallel, and which rows are shared does not depend on the
//! number of threads.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::columns::packed::{MaxLength, unzigzag};

/// The least number of targets of a row that may be shared: a shared row is a vertex of its own, which shorter lists
/// do not pay for. This is a judgement.
const LEAST_TARGETS: usize = 32;
/// The number of rows of a block that are remembered: dense graphs have few different ones. It is a power of two.
const REMEMBERED: usize = 1 << 10;

/// A row that several objects share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedRow {
    /// Where its bytes start and end.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The object whose row was stored: targets are differences to it.
    pub(crate) owner: u32,
}

/// The rows of one block, while it is packed.
#[derive(Debug)]
pub(crate) struct RowFinder {
    remembered: Vec<RecentRow>,
    shared: SharedRows,
}

/// The shared rows of one block.
#[derive(Debug, Default)]
pub(crate) struct SharedRows {
    /// Their positions are relative to the start of the block's bytes.
    pub(crate) rows: Vec<SharedRow>,
    /// The number of their targets.
    pub(crate) targets: u64,
}

/// A row that a later row may equal.
#[derive(Debug, Clone, Copy)]
struct RecentRow {
    hash: u64,
    row: SharedRow,
    /// Its number among the shared rows; [`ALONE`] if no other object has shared it yet.
    number: u32,
}

/// The number of a row that only its owner has.
const ALONE: u32 = u32::MAX;

impl RowFinder {
    pub(crate) fn new() -> Self {
        RowFinder { remembered: Vec::new(), shared: SharedRows::default() }
    }

    /// The rows that are shared.
    pub(crate) fn into_shared(self) -> SharedRows {
        self.shared
    }

    /// Returns whether a row is long enough to be shared.
    #[inline(always)]
    pub(crate) fn may_share(targets: &[u32]) -> bool {
        targets.len() >= LEAST_TARGETS
    }

    /// A hash that finds candidates. Rows are compared afterwards, so collisions cost time only.
    pub(crate) fn hash(targets: &[u32]) -> u64 {
        #[inline(always)]
        fn mix(hash: u64, word: u64) -> u64 {
            (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        }
        let (pairs, rest) = targets.as_chunks::<2>();
        let pairs = pairs.iter().map(|&[low, high]| u64::from(high) << u32::BITS | u64::from(low));
        let hash = pairs.fold(targets.len() as u64, mix);
        let hash = rest.iter().fold(hash, |hash, &target| mix(hash, target.into()));
        hash ^ hash >> 32
    }

    /// The number of the row with these targets, if an earlier object of the block has it. `bytes` are those of the
    /// block so far.
    pub(crate) fn find(&mut self, hash: u64, targets: &[u32], bytes: &[u8], longest: MaxLength) -> Option<u32> {
        let known = self.remembered.get_mut(place(hash))?;
        if known.hash != hash || !is_row(known.row, targets, bytes, longest) {
            return None;
        }
        if known.number == ALONE {
            known.number = self.shared.rows.len() as u32;
            self.shared.rows.push(known.row);
            self.shared.targets += targets.len() as u64;
        }
        Some(known.number)
    }

    /// Remembers a row that was stored. It may displace another one.
    pub(crate) fn remember(&mut self, hash: u64, row: SharedRow) {
        if self.remembered.is_empty() {
            let nothing = RecentRow { hash: 0, row: SharedRow { start: 0, end: 0, owner: 0 }, number: ALONE };
            self.remembered.resize(REMEMBERED, nothing);
        }
        self.remembered[place(hash)] = RecentRow { hash, row, number: ALONE };
    }
}

fn place(hash: u64) -> usize {
    hash as usize % REMEMBERED
}

/// Returns whether a stored row has exactly these targets.
fn is_row(row: SharedRow, targets: &[u32], bytes: &[u8], longest: MaxLength) -> bool {
    let mut at = row.start;
    // Every target takes at least a byte.
    row.end - row.start >= targets.len()
        && targets.iter().all(|&target| {
            at < row.end && row.owner.wrapping_add(unzigzag(longest.get(bytes, &mut at)) as u32) == target
        })
        && at == row.end
}

/// Which shared rows a search has visited.
#[derive(Debug)]
pub(crate) struct VisitedRows {
    /// By row: the lowest object from which it was visited; [`NONE`] before the first visit.
    least: Vec<AtomicU32>,
}

const NONE: u32 = u32::MAX;

impl VisitedRows {
    pub(crate) fn new(rows: usize) -> Self {
        VisitedRows { least: std::iter::repeat_with(|| AtomicU32::new(NONE)).take(rows).collect() }
    }

    /// Returns whether `object` has to visit the row: no lower object has visited it. Threads that share a level of a
    /// search thus leave the row to the lowest of their objects, after at most a few visits in vain.
    #[inline]
    pub(crate) fn claim(&self, row: u32, object: u32) -> bool {
        // Relaxed: the targets are claimed by atomic operations of their own.
        let least = &self.least[row as usize];
        object < least.load(Ordering::Relaxed) && object < least.fetch_min(object, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::packed::{MAX_BYTES, PADDING, Packer, zigzag};

    #[test]
    fn only_equal_rows_are_found() {
        let longest = MaxLength::of(1 << 20);
        let targets: Vec<u32> = (0..100).map(|at| 1000 + at * at).collect();
        let mut bytes = vec![0; targets.len() * MAX_BYTES + PADDING];
        let mut packer = Packer::new(&mut bytes, longest);
        targets.iter().for_each(|&target| packer.put(zigzag(i64::from(target) - 5000)));
        let row = SharedRow { start: 0, end: packer.position(), owner: 5000 };
        let (mut finder, hash) = (RowFinder::new(), RowFinder::hash(&targets));
        assert_eq!(finder.find(hash, &targets, &bytes, longest), None);
        finder.remember(hash, row);
        for _ in 0..2 {
            assert_eq!(finder.find(hash, &targets, &bytes, longest), Some(0));
        }
        assert_eq!((finder.shared.rows.len(), finder.shared.targets), (1, 100));
        // The same hash, as if by accident.
        let (mut other, longer) = (targets.clone(), [&targets[..], &[1]].concat());
        other[99] += 1;
        for different in [&other[..], &targets[..99], &longer] {
            assert_eq!(finder.find(hash, different, &bytes, longest), None);
            assert_ne!(RowFinder::hash(different), hash);
        }
    }

    #[test]
    fn a_row_is_visited_from_the_lowest_object() {
        let visited = VisitedRows::new(2);
        let claims = [(0, 7), (0, 7), (0, 8), (1, 8), (0, 3)].map(|(row, object)| visited.claim(row, object));
        assert_eq!(claims, [true, false, false, true, true]);
    }
}
