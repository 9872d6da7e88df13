//! The answer of a test for each object: it passes, it does not, or that is not known.

use barrow_format::ObjectId;

use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;

/// The objects that pass a test, and those of which it is not known whether they do. All others do not pass.
#[derive(Debug, Clone)]
pub(crate) struct Tested {
    pub(crate) passing: ObjectSet,
    pub(crate) unknown: ObjectSet,
}

impl Tested {
    /// No object passes.
    pub(crate) fn none(heap: &Heap) -> Self {
        let none = ObjectSet::new(heap.snapshot(), heap.object_count());
        Tested { passing: none.clone(), unknown: none }
    }

    /// Adds the answer for an object.
    pub(crate) fn add(&mut self, object: ObjectId, passes: Option<bool>) {
        match passes {
            Some(true) => _ = self.passing.insert(object),
            None => _ = self.unknown.insert(object),
            Some(false) => {}
        }
    }

    /// Returns whether an object passes; `None` if that is not known.
    pub(crate) fn passes(&self, object: ObjectId) -> Option<bool> {
        match self.passing.contains(object) {
            true => Some(true),
            false => (!self.unknown.contains(object)).then_some(false),
        }
    }

    /// Lets an object that passes in one part of its references be known.
    pub(crate) fn settled(mut self) -> Self {
        self.unknown.difference_with(&self.passing);
        self
    }
}
