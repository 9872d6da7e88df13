//! Sets of objects as runs of consecutive objects, which is how the index file keeps them.
//!
//! ```text
//!   {3, 4, 5, 9}   ─▶   gap 3 · length 3 · gap 3 · length 1 · gap 0 · length 0        LEB128
//! ```
//!
//! Objects of a type, and objects that are freed together, are mostly neighbours, so most sets take far less than the
//! bit per object that they take in memory.

use std::ops::Range;

use barrow_format::varint::put;
use barrow_format::{ObjectId, SnapshotId};

use crate::graph::object_set::{BITS, ObjectSet};

impl ObjectSet {
    /// The runs of the set.
    pub(crate) fn to_runs(&self) -> Vec<u8> {
        let mut runs = Vec::new();
        self.put_runs(&mut runs);
        runs
    }

    /// Appends the runs of the set.
    pub(crate) fn put_runs(&self, out: &mut Vec<u8>) {
        let mut end = 0;
        let mut at = 0;
        while let Some(run) = self.next_run(at) {
            put(out, (run.start - end) as u64);
            put(out, run.len() as u64);
            (end, at) = (run.end, run.end);
        }
        out.extend([0, 0]);
    }

    /// Decodes the bytes of [`ObjectSet::put_runs`], and advances `bytes` after them. `None` if they are damaged, or those
    /// of a set of another snapshot.
    pub(crate) fn take_runs(snapshot: SnapshotId, objects: u64, bytes: &mut &[u8]) -> Option<Self> {
        let mut set = ObjectSet::new(snapshot, objects);
        let mut end = 0u64;
        loop {
            let start = end.checked_add(take(bytes)?)?;
            let length = take(bytes)?;
            if length == 0 {
                return Some(set);
            }
            end = start.checked_add(length).filter(|&end| end <= objects)?;
            set.insert_run(start as usize..end as usize);
        }
    }

    /// The first run of consecutive objects at or after `from`.
    fn next_run(&self, from: usize) -> Option<Range<usize>> {
        let words = self.words();
        let start = first_set_bit(words, from, 0)?;
        Some(start..first_set_bit(words, start, u64::MAX).unwrap_or(words.len() * BITS))
    }

    fn insert_run(&mut self, run: Range<usize>) {
        let words = self.words_mut();
        let (first, last) = (run.start / BITS, (run.end - 1) / BITS);
        let (low, high) = (u64::MAX << (run.start % BITS), u64::MAX >> (BITS - 1 - (run.end - 1) % BITS));
        if first == last {
            words[first] |= low & high;
        } else {
            words[first] |= low;
            words[first + 1..last].fill(u64::MAX);
            words[last] |= high;
        }
    }
}

/// Reads a LEB128 number and advances `bytes` after it. `None` if it does not end or exceeds 64 bits.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Appends objects one by one, which may come in any order.
pub(crate) fn put_objects(objects: &[ObjectId], out: &mut Vec<u8>) {
    put(out, objects.len() as u64);
    objects.iter().for_each(|object| put(out, object.0.into()));
}

/// The first set bit at or after `from` of words that are XORed with `inverted`.
fn first_set_bit(words: &[u64], from: usize, inverted: u64) -> Option<usize> {
    let mut at = from / BITS;
    let mut word = (words.get(at)? ^ inverted) & u64::MAX << (from % BITS);
    while word == 0 {
        at += 1;
        word = words.get(at)? ^ inverted;
    }
    Some(at * BITS + word.trailing_zeros() as usize)
}

/// Decodes the bytes of [`put_objects`].
pub(crate) fn take_objects(objects: u64, bytes: &mut &[u8]) -> Option<Vec<ObjectId>> {
    let count = take(bytes)?;
    // Each object takes at least a byte, so a damaged count ends early.
    let taken = (0..count).map(|_| take(bytes).filter(|&object| object < objects));
    taken.map(|object| Some(ObjectId(u32::try_from(object?).ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SNAPSHOT: SnapshotId = SnapshotId(1);

    #[test]
    fn runs_are_gaps_and_lengths() {
        let set = ObjectSet::from_sorted(SNAPSHOT, 10, [3, 4, 5, 9].map(ObjectId));
        assert_eq!(set.to_runs(), [3, 3, 3, 1, 0, 0]);
        assert_eq!(ObjectSet::new(SNAPSHOT, 0).to_runs(), [0, 0]);
    }

    proptest! {
        #[test]
        fn a_set_is_read_back(objects in 1..400u32, runs in prop::collection::vec((0..400u32, 1..150u32), 0..9)) {
            let ids = runs.iter().flat_map(|&(start, length)| start..start + length).filter(|&id| id < objects);
            let set = ObjectSet::from_sorted(SNAPSHOT, objects.into(), ids.map(ObjectId));
            let mut bytes = set.to_runs();
            bytes.push(7);
            let mut rest = &bytes[..];
            prop_assert_eq!(ObjectSet::take_runs(SNAPSHOT, objects.into(), &mut rest), Some(set.clone()));
            prop_assert_eq!(rest, [7]);
            // A set of more objects does not fit a smaller snapshot.
            let last = set.iter().last().map_or(0, |id| u64::from(id.0));
            let smaller = ObjectSet::take_runs(SNAPSHOT, last, &mut &bytes[..]);
            prop_assert_eq!(smaller.is_some(), set.is_empty());
        }

        #[test]
        fn any_bytes_are_a_set_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut rest = &bytes[..];
            if let Some(set) = ObjectSet::take_runs(SNAPSHOT, 300, &mut rest) {
                prop_assert!(set.iter().all(|id| id.0 < 300));
            }
            let mut rest = &bytes[..];
            prop_assert!(take_objects(300, &mut rest).is_none_or(|found| found.len() <= bytes.len()));
        }
    }
}
