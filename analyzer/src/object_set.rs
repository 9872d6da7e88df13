//! A set of objects of one snapshot.

use barrow_format::{ObjectId, SnapshotId};

/// A set of objects of one snapshot: a bit for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectSet {
    snapshot: SnapshotId,
    words: Vec<u64>,
}

impl ObjectSet {
    /// The empty set of a snapshot that holds so many objects.
    #[must_use]
    pub fn new(snapshot: SnapshotId, objects: u64) -> Self {
        ObjectSet { snapshot, words: vec![0; usize::try_from(objects.div_ceil(64)).unwrap_or(usize::MAX)] }
    }

    /// Adds an object. False if it was there.
    #[inline]
    pub fn insert(&mut self, object: ObjectId) -> bool {
        let (word, bit) = (&mut self.words[object.index() / 64], 1 << (object.0 % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Whether an object is in it.
    #[must_use]
    #[inline]
    pub fn contains(&self, object: ObjectId) -> bool {
        self.words.get(object.index() / 64).is_some_and(|word| word >> (object.0 % 64) & 1 == 1)
    }

    /// How many objects are in it.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Takes out what is in `other`.
    pub fn subtract(&mut self, other: &ObjectSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Puts in what is in `other`.
    pub fn unite(&mut self, other: &ObjectSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Its objects, ascending.
    pub fn iter(&self) -> impl Iterator<Item = ObjectId> + '_ {
        (0u32..).zip(&self.words).flat_map(|(at, &word)| {
            let next = |rest: &u64| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), next)
                .map(move |rest| ObjectId(at * 64 + rest.trailing_zeros()))
        })
    }
}
