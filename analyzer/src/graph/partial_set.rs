//! Sets of objects of one block, built by one thread.
//!
//! ```text
//!   object    60 … 63   64 65 … 127  128 …       the words are those of an ObjectSet,
//!   words   [ 0  … 1 ] [ 1  1 …  0 ] [ 0 … ]     so that the parts of all blocks are combined word by word
//!   row       0  … 3    4  5 …
//! ```

use barrow_format::ObjectId;

use crate::graph::object_set::{BITS, ObjectSet, bits};

/// A set of objects of one block. The block may begin in the middle of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartialSet {
    /// The first object of the block.
    first: u32,
    /// Index of the word in the whole set that `words` begins with.
    first_word: usize,
    words: Vec<u64>,
}

impl PartialSet {
    /// The empty set, for `objects` objects from `first` on.
    pub(crate) fn none(first: ObjectId, objects: usize) -> Self {
        let first_word = first.index() / BITS;
        let end = (first.index() + objects).div_ceil(BITS);
        PartialSet { first: first.0, first_word, words: vec![0; end - first_word] }
    }

    /// The set of all of them.
    pub(crate) fn all(first: ObjectId, objects: usize) -> Self {
        let mut all = PartialSet::none(first, objects);
        all.words.fill(u64::MAX);
        let (before, after) = (first.index() % BITS, (first.index() + objects) % BITS);
        if let Some(word) = all.words.first_mut() {
            *word &= u64::MAX << before;
        }
        if let Some(word) = all.words.last_mut().filter(|_| after > 0) {
            *word &= u64::MAX >> (BITS - after);
        }
        all
    }

    /// Adds an object of the block.
    pub(crate) fn insert(&mut self, object: ObjectId) {
        self.words[object.index() / BITS - self.first_word] |= 1 << (object.index() % BITS);
    }

    /// The objects whose rows match.
    pub(crate) fn filter(&self, matches: impl Fn(usize) -> bool) -> Self {
        let mut words = Vec::with_capacity(self.words.len());
        for (number, &word) in (self.first_word..).zip(&self.words) {
            words.push(if word == u64::MAX {
                (0..u64::BITS).fold(0, |found, bit| found | u64::from(matches(self.row(number, bit))) << bit)
            } else {
                bits(word).filter(|&bit| matches(self.row(number, bit))).fold(0, |found, bit| found | 1 << bit)
            });
        }
        PartialSet { words, ..*self }
    }

    /// The objects whose values in a column of the block match.
    pub(crate) fn filter_by<T: Copy>(&self, column: &[T], matches: impl Fn(T) -> bool) -> Self {
        let mut words = Vec::with_capacity(self.words.len());
        for (number, &word) in (self.first_word..).zip(&self.words) {
            words.push(match self.values_of(number, column) {
                Some(values) if word != 0 => word & pack(&values.map(|value| u8::from(matches(value)))),
                _ => bits(word)
                    .filter(|&bit| matches(column[self.row(number, bit)]))
                    .fold(0, |found, bit| found | 1 << bit),
            });
        }
        PartialSet { words, ..*self }
    }

    /// The values of the 64 objects of a word, if the column contains all of them.
    fn values_of<'c, T>(&self, word: usize, column: &'c [T]) -> Option<&'c [T; BITS]> {
        let row = (word * BITS).checked_sub(self.first as usize)?;
        column.get(row..)?.first_chunk()
    }

    /// Adds the objects of another set of the block.
    pub(crate) fn union_with(&mut self, other: &PartialSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// The objects that are in another set of the block, too.
    pub(crate) fn intersection(mut self, other: &PartialSet) -> Self {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
        self
    }

    /// Removes the objects of another set of the block.
    pub(crate) fn difference_with(&mut self, other: &PartialSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Sums a column of the block over the objects of the set.
    pub(crate) fn sum<T: Copy + Into<u64>>(&self, column: &[T]) -> u64 {
        let mut sum = 0u64;
        for (number, &word) in (self.first_word..).zip(&self.words) {
            sum = sum.wrapping_add(match self.values_of(number, column) {
                // If most objects are in the set, it is cheaper to sum all and subtract the others.
                Some(values) if word.count_ones() > u64::BITS / 2 => {
                    let all = values.iter().fold(0u64, |sum, &value| sum.wrapping_add(value.into()));
                    all.wrapping_sub(self.sum_of_word(number, !word, column))
                }
                _ => self.sum_of_word(number, word, column),
            });
        }
        sum
    }

    /// The sum of a column over the objects of a word.
    #[inline(always)]
    fn sum_of_word<T: Copy + Into<u64>>(&self, number: usize, word: u64, column: &[T]) -> u64 {
        bits(word).fold(0, |sum, bit| sum.wrapping_add(column[self.row(number, bit)].into()))
    }

    /// The row of a bit in a word. The first word may begin before the block, but then its lower bits are 0.
    #[inline(always)]
    fn row(&self, number: usize, bit: u32) -> usize {
        number * BITS + bit as usize - self.first as usize
    }

    /// The number of objects in the set.
    pub(crate) fn len(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns whether it has no objects.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Its objects, ascending.
    pub(crate) fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let words = (self.first_word..).zip(&self.words);
        words.flat_map(|(number, &word)| bits(word).map(move |bit| ObjectId((number * BITS) as u32 + bit)))
    }
}

/// Packs 64 bytes of 0 or 1 into 64 bits.
#[inline(always)]
fn pack(bytes: &[u8; BITS]) -> u64 {
    let mut word = 0;
    for (at, bytes) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // The multiplication moves each byte to its own bit of the highest byte.
        word |= (u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
    }
    word
}

impl ObjectSet {
    /// The part of the set that is within `objects` objects from `first` on, which must exist in the snapshot.
    pub(crate) fn part(&self, first: ObjectId, objects: usize) -> PartialSet {
        let mut part = PartialSet::all(first, objects);
        let own = &self.words()[part.first_word..];
        part.words.iter_mut().zip(own).for_each(|(word, own)| *word &= own);
        part
    }

    /// Adds the objects of a part.
    pub(crate) fn insert_part(&mut self, part: &PartialSet) {
        let words = &mut self.words_mut()[part.first_word..];
        words.iter_mut().zip(&part.words).for_each(|(word, other)| *word |= other);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use barrow_format::SnapshotId;
    use proptest::prelude::*;

    use super::*;

    const OBJECTS: u32 = 300;

    fn part(start: u32, end: u32, ids: &BTreeSet<u32>) -> PartialSet {
        let mut part = PartialSet::none(ObjectId(start), (end - start) as usize);
        ids.range(start..end).for_each(|&id| part.insert(ObjectId(id)));
        part
    }

    fn rows(part: &PartialSet) -> impl Iterator<Item = usize> + '_ {
        part.objects().map(|object| object.index() - part.first as usize)
    }

    fn ids(part: &PartialSet) -> BTreeSet<u32> {
        part.objects().map(|object| object.0).collect()
    }

    proptest! {
        #[test]
        fn a_set_is_made_of_parts(
            ids in prop::collection::btree_set(0..OBJECTS, 0..200),
            cuts in prop::collection::btree_set(1..OBJECTS, 0..5),
        ) {
            let mut set = ObjectSet::new(SnapshotId(3), OBJECTS.into());
            let ends = cuts.iter().copied().chain([OBJECTS]);
            for (start, end) in [0].into_iter().chain(cuts.iter().copied()).zip(ends) {
                set.insert_part(&part(start, end, &ids));
            }
            let expected = ids.iter().copied().map(ObjectId);
            prop_assert_eq!(set, ObjectSet::from_sorted(SnapshotId(3), OBJECTS.into(), expected));
        }

        #[test]
        fn parts_are_combined(
            one in prop::collection::btree_set(0..OBJECTS, 0..200),
            other in prop::collection::btree_set(0..OBJECTS, 0..200),
            start in 0..OBJECTS / 2,
            length in 0..OBJECTS / 2,
        ) {
            let end = start + length;
            let [one, other] = [one, other].map(|ids| part(start, end, &ids));
            let [of_one, of_other] = [&one, &other].map(ids);
            let (mut both, mut rest) = (one.clone(), one.clone());
            both.union_with(&other);
            rest.difference_with(&other);
            let common = one.clone().intersection(&other);
            prop_assert_eq!(ids(&common), of_one.intersection(&of_other).copied().collect());
            prop_assert_eq!(ids(&both), of_one.union(&of_other).copied().collect());
            prop_assert_eq!(ids(&rest), of_one.difference(&of_other).copied().collect());
            let all = PartialSet::all(ObjectId(start), length as usize);
            prop_assert_eq!(ids(&all), (start..end).collect());
            prop_assert!(rows(&all).eq(0..length as usize));
            let column: Vec<u64> = (0..length.into()).map(|row| row * row + 1).collect();
            for set in [&one, &other, &all] {
                prop_assert_eq!(set.sum(&column), rows(set).map(|row| column[row]).sum::<u64>());
                prop_assert_eq!(set.len(), rows(set).count() as u64);
                let odd = set.filter_by(&column, |value| value % 2 == 1);
                prop_assert!(rows(&odd).eq(rows(set).filter(|&row| column[row] % 2 == 1)));
            }
            for whole in [&one, &all] {
                let odd = whole.filter(|row| row % 2 == 1);
                prop_assert!(rows(&odd).eq(rows(whole).filter(|row| row % 2 == 1)));
            }
        }
    }
}
