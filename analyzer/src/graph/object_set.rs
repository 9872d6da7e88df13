//! Sets of objects of one snapshot: one bit per object.
//!
//! ```text
//!   object   0 1 2 3 …                      63   64 …
//!   words  [ 0 1 1 0 …                       1 ] [ 0 …     an eighth of a byte per object
//! ```

use std::ops::Range;

use barrow_format::{ObjectId, SnapshotId};

/// Objects per word.
pub(crate) const BITS: usize = u64::BITS as usize;

/// A set of objects of one snapshot. Its size in memory depends only on the number of objects in the snapshot: one bit
/// for each.
///
/// ```
/// use barrow_analyzer::{ObjectId, ObjectSet, SnapshotId};
///
/// let snapshot = SnapshotId(0);
/// let mut large = ObjectSet::from_sorted(snapshot, 100, [3, 70].map(ObjectId));
/// let old = ObjectSet::from_sorted(snapshot, 100, [70, 99].map(ObjectId));
/// large.intersect_with(&old);
/// assert_eq!(large.iter().collect::<Vec<_>>(), [ObjectId(70)]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectSet {
    snapshot: SnapshotId,
    /// The number of objects in the snapshot.
    objects: u64,
    /// Bits after the last object are 0.
    words: Vec<u64>,
}

impl ObjectSet {
    /// The empty set, for a snapshot of `objects` objects.
    ///
    /// # Panics
    /// If `objects` exceeds 2^32: object numbers have 32 bits.
    #[must_use]
    pub fn new(snapshot: SnapshotId, objects: u64) -> Self {
        assert!(objects <= 1 << 32, "objects are numbered with 32 bits");
        ObjectSet { snapshot, objects, words: vec![0; (objects as usize).div_ceil(BITS)] }
    }

    /// The set of these objects, for a snapshot of `objects` objects. Fastest if `ids` are sorted.
    ///
    /// # Panics
    /// As [`ObjectSet::new`] and [`ObjectSet::insert`] do.
    #[must_use]
    pub fn from_sorted(snapshot: SnapshotId, objects: u64, ids: impl IntoIterator<Item = ObjectId>) -> Self {
        let mut set = ObjectSet::new(snapshot, objects);
        for id in ids {
            set.insert(id);
        }
        set
    }

    /// The snapshot whose objects these are.
    #[must_use]
    pub fn snapshot(&self) -> SnapshotId {
        self.snapshot
    }

    /// The number of objects in the snapshot.
    #[must_use]
    pub fn snapshot_objects(&self) -> u64 {
        self.objects
    }

    /// Adds an object. Returns whether it is new.
    ///
    /// # Panics
    /// If the snapshot has no such object.
    #[inline]
    pub fn insert(&mut self, object: ObjectId) -> bool {
        assert!(u64::from(object.0) < self.objects, "the snapshot has {} objects, not {object}", self.objects);
        let word = &mut self.words[object.index() / BITS];
        let before = *word;
        *word |= 1 << (object.index() % BITS);
        *word != before
    }

    /// Returns whether the set holds an object; false if the snapshot has no such object.
    #[must_use]
    #[inline]
    pub fn contains(&self, object: ObjectId) -> bool {
        self.words.get(object.index() / BITS).is_some_and(|word| word >> (object.index() % BITS) & 1 == 1)
    }

    /// Returns whether the set may hold one of `objects` consecutive objects. It is exact only at multiples of 64.
    pub(crate) fn may_hold_any(&self, first: ObjectId, objects: u32) -> bool {
        let end = (first.index() + objects as usize).div_ceil(BITS).min(self.words.len());
        self.words.get(first.index() / BITS..end).is_some_and(|words| words.iter().any(|&word| word != 0))
    }

    /// The number of objects in the set. Counts them, 64 at a time.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Its objects, ascending.
    pub fn iter(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let words = (0u32..).step_by(BITS).zip(&self.words);
        words.flat_map(|(first, &word)| bits(word).map(move |bit| ObjectId(first + bit)))
    }

    /// Those of its objects that have this number or a larger one, ascending.
    pub fn iter_from(&self, first: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        self.within(first.0..u32::MAX)
    }

    /// The object that `before` others of the set precede; `None` if there are not as many.
    #[must_use]
    pub fn nth(&self, before: u64) -> Option<ObjectId> {
        let mut left = before;
        for (first, &word) in (0u32..).step_by(BITS).zip(&self.words) {
            let here = u64::from(word.count_ones());
            if left < here {
                return bits(word).nth(left as usize).map(|bit| ObjectId(first + bit));
            }
            left -= here;
        }
        None
    }

    /// Those of its objects that are in a range, ascending.
    pub(crate) fn within(&self, range: Range<u32>) -> impl Iterator<Item = ObjectId> + '_ {
        let Range { start, end } = range;
        let end_word = (end as usize).div_ceil(BITS).min(self.words.len());
        let words = (start as usize / BITS).min(end_word)..end_word;
        let first = (words.start * BITS) as u32;
        let objects = (first..).step_by(BITS).zip(&self.words[words]);
        let objects = objects.flat_map(|(first, &word)| bits(word).map(move |bit| first + bit));
        objects.skip_while(move |&object| object < start).take_while(move |&object| object < end).map(ObjectId)
    }

    /// Adds the objects of another set.
    ///
    /// # Panics
    /// If the other set is of another snapshot. This applies to all operations on two sets.
    pub fn union_with(&mut self, other: &ObjectSet) {
        self.combine(other, |word, other| word | other);
    }

    /// Keeps only the objects that another set holds too.
    ///
    /// # Panics
    /// As [`ObjectSet::union_with`] does.
    pub fn intersect_with(&mut self, other: &ObjectSet) {
        self.combine(other, |word, other| word & other);
    }

    /// Removes the objects of another set.
    ///
    /// # Panics
    /// As [`ObjectSet::union_with`] does.
    pub fn difference_with(&mut self, other: &ObjectSet) {
        self.combine(other, |word, other| word & !other);
    }

    fn assert_of_one_snapshot(&self, other: &ObjectSet) {
        let [own, others] = [self, other].map(|set| (set.snapshot, set.objects));
        assert_eq!(own, others, "sets of one snapshot are combined");
    }

    fn combine(&mut self, other: &ObjectSet, operation: impl Fn(u64, u64) -> u64) {
        self.assert_of_one_snapshot(other);
        for (word, &other) in self.words.iter_mut().zip(&other.words) {
            *word = operation(*word, other);
        }
    }

    /// Adds the objects of another set, and appends those that were missing to `new`, ascending.
    pub(crate) fn catch_up_with(&mut self, other: &ObjectSet, new: &mut Vec<u32>) {
        self.assert_of_one_snapshot(other);
        for ((first, word), &other) in (0u32..).step_by(BITS).zip(&mut self.words).zip(&other.words) {
            new.extend(bits(other & !*word).map(|bit| first + bit));
            *word |= other;
        }
    }

    /// Returns whether scanning all words is cheaper than sorting `objects` objects.
    pub(crate) fn is_small_beside(&self, objects: usize) -> bool {
        self.words.len() < 8 * objects
    }

    /// The set with these words; `None` if they are too many or too few, or have objects that the snapshot has not.
    pub(crate) fn from_words(snapshot: SnapshotId, objects: u64, words: &[u64]) -> Option<Self> {
        let mut set = ObjectSet::new(snapshot, objects);
        let beyond = objects.next_multiple_of(BITS as u64) - objects;
        let is_within = words.last().is_none_or(|&last| last.leading_zeros() as u64 >= beyond);
        if words.len() != set.words.len() || !is_within {
            return None;
        }
        set.words.copy_from_slice(words);
        Some(set)
    }

    /// The words.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words, for combining parts.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

/// Positions of the 1 bits in a word, ascending.
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        (word != 0).then(|| {
            word &= word - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const OBJECTS: u32 = 300;

    fn made_of(ids: &BTreeSet<u32>) -> ObjectSet {
        ObjectSet::from_sorted(SnapshotId(3), OBJECTS.into(), ids.iter().copied().map(ObjectId))
    }

    fn ids(set: &ObjectSet) -> Vec<u32> {
        set.iter().map(|id| id.0).collect()
    }

    proptest! {
        #[test]
        fn it_is_a_set(
            one in prop::collection::btree_set(0..OBJECTS, 0..200),
            other in prop::collection::btree_set(0..OBJECTS, 0..200),
        ) {
            let (a, b) = (made_of(&one), made_of(&other));
            prop_assert_eq!(ids(&a), one.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!((a.len(), a.is_empty()), (one.len() as u64, one.is_empty()));
            for (start, end) in [(0, OBJECTS), (63, 64), (100, 200), (250, OBJECTS), (7, 7)] {
                let found: Vec<u32> = a.within(start..end).map(|id| id.0).collect();
                prop_assert_eq!(found, one.range(start..end).copied().collect::<Vec<_>>());
            }
            for first in [0, 63, 64, 299, 300, u32::MAX] {
                let found: Vec<u32> = a.iter_from(ObjectId(first)).map(|id| id.0).collect();
                prop_assert_eq!(found, one.range(first..).copied().collect::<Vec<_>>());
            }
            for before in [0, 1, 63, 64, 150, 300] {
                prop_assert_eq!(a.nth(before).map(|id| id.0), one.iter().nth(before as usize).copied());
            }
            for id in 0..OBJECTS + 100 {
                prop_assert_eq!(a.contains(ObjectId(id)), one.contains(&id));
            }
            let combined = |operation: fn(&mut ObjectSet, &ObjectSet)| {
                let mut set = a.clone();
                operation(&mut set, &b);
                ids(&set)
            };
            prop_assert_eq!(combined(ObjectSet::union_with), one.union(&other).copied().collect::<Vec<_>>());
            prop_assert_eq!(combined(ObjectSet::intersect_with), one.intersection(&other).copied().collect::<Vec<_>>());
            prop_assert_eq!(combined(ObjectSet::difference_with), one.difference(&other).copied().collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_object_is_added_once() {
        let mut set = ObjectSet::new(SnapshotId(0), 65);
        assert!(set.insert(ObjectId(64)) && !set.insert(ObjectId(64)));
        assert_eq!(ObjectSet::new(SnapshotId(0), 0).iter().count(), 0);
    }

    #[test]
    #[should_panic(expected = "sets of one snapshot")]
    fn sets_of_two_snapshots_are_not_combined() {
        ObjectSet::new(SnapshotId(0), 5).union_with(&ObjectSet::new(SnapshotId(1), 5));
    }
}
