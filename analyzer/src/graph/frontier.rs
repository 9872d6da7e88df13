//! The frontier of a level-by-level search, each level sorted by object number.
//!
//! Visiting objects in ascending order finds neighbours in the cache, which makes a search of a heap without locality
//! twice as fast. Sorting is cheap, because large levels are read from the bit set.

use barrow_format::ObjectId;

use crate::graph::object_set::ObjectSet;

/// The objects found so far, and which of them are new.
#[derive(Debug)]
pub(crate) struct Frontier {
    /// The objects found so far.
    pub(crate) seen: ObjectSet,
    /// The objects that had been found when a level was last sorted.
    before: ObjectSet,
}

impl Frontier {
    /// A frontier in which only `seen` counts as found.
    pub(crate) fn new(seen: ObjectSet) -> Self {
        Frontier { before: seen.clone(), seen }
    }

    /// Returns whether a level of `objects` objects is so large that its successors should not be listed: reading them
    /// from the bit set is cheaper.
    pub(crate) fn is_large(&self, objects: usize) -> bool {
        self.before.is_small_beside(objects)
    }

    /// Makes `level` the sorted list of all objects found since the last call, without duplicates. `is_listed` says
    /// whether `level` already contains all of them.
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
