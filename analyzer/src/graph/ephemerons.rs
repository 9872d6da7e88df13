//! Ephemerons: references that keep their target alive while both their source and their key are alive.

use barrow_format::ObjectId;

use crate::graph::object_set::ObjectSet;

/// One ephemeron. Its value is alive if its source and its key are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ephemeron {
    pub(crate) key: ObjectId,
    pub(crate) source: ObjectId,
    pub(crate) value: ObjectId,
}

/// Ephemerons, indexed by key and by source.
#[derive(Debug, Default)]
pub(crate) struct Ephemerons {
    by_key: Vec<Ephemeron>,
    by_source: Vec<Ephemeron>,
}

impl Ephemerons {
    /// Sorts them by key and by source, and removes duplicates.
    pub(crate) fn new(mut by_key: Vec<Ephemeron>) -> Self {
        by_key.sort_unstable();
        by_key.dedup();
        let mut by_source = by_key.clone();
        by_source.sort_unstable_by_key(|ephemeron| (ephemeron.source, ephemeron.key, ephemeron.value));
        Ephemerons { by_key, by_source }
    }

    /// Calls `reached` for every ephemeron that `object` completes: the object is its key or source, and
    /// the other one is in `seen`, as the object itself is.
    pub(crate) fn completed(
        &self,
        object: ObjectId,
        seen: impl Fn(ObjectId) -> bool,
        mut reached: impl FnMut(&Ephemeron),
    ) {
        let first = self.by_key.partition_point(|ephemeron| ephemeron.key < object);
        for ephemeron in self.by_key[first..].iter().take_while(|ephemeron| ephemeron.key == object) {
            if seen(ephemeron.source) {
                reached(ephemeron);
            }
        }
        let first = self.by_source.partition_point(|ephemeron| ephemeron.source < object);
        for ephemeron in self.by_source[first..].iter().take_while(|ephemeron| ephemeron.source == object) {
            if seen(ephemeron.key) {
                reached(ephemeron);
            }
        }
    }

    /// Returns whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Those whose source and key are both in `seen`, in the order of their keys.
    pub(crate) fn live_in(&self, seen: &ObjectSet) -> Vec<Ephemeron> {
        let all = self.by_key.iter().copied();
        all.filter(|ephemeron| seen.contains(ephemeron.source) && seen.contains(ephemeron.key)).collect()
    }
}
