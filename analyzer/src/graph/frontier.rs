//! What a search has found, level by level, each in the order of objects.
//!
//! A search that visits objects in their order finds in the caches what lies together, in a heap without
//! locality twice as often. Sorting is cheap: large levels are read off the bits.

use barrow_format::ObjectId;

use crate::graph::object_set::ObjectSet;

/// What has been found, and which of it is new.
#[derive(Debug)]
pub(crate) struct Frontier {
    /// What has been found.
    pub(crate) seen: ObjectSet,
    /// What had been found when a level was sorted last.
    before: ObjectSet,
}

impl Frontier {
    /// Nothing but `seen`.
    pub(crate) fn new(seen: ObjectSet) -> Self {
        Frontier { before: seen.clone(), seen }
    }

    /// Whether it is no use to list what a level of so many objects finds: so much of it is expected that it is read off
    /// the bits.
    pub(crate) fn is_large(&self, objects: usize) -> bool {
        self.before.is_small_beside(objects)
    }

    /// Sorts a level: all that was found since this was called last, each once. `is_listed` tells whether `level` has all
    /// of it.
    pub(crate) fn sort(&mut self, level: &mut Vec<u32>, is_listed: bool) {
        if !is_listed || self.is_large(level.len()) {
            level.clear();
            self.before.catch_up_with(&self.seen, level);
        } else {
            level.sort_unstable();
            level.iter().for_each(|&object| _ = self.before.insert(ObjectId(object)));
        }
    }
}
