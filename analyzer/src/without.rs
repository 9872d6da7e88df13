//! A heap without some of its objects and references: what if they were gone?

use barrow_format::ObjectId;
use barrow_format::rows::Label;

use crate::object::Reference;
use crate::object_set::ObjectSet;

/// What is thought away.
#[derive(Debug, Clone)]
pub struct Without {
    /// Objects that are gone.
    objects: ObjectSet,
    /// Names of references that are gone, by string.
    names: Vec<bool>,
    /// Objects that are gone, and all that they alone kept alive.
    freed: ObjectSet,
}

impl Without {
    /// Whether an object is gone.
    pub(crate) fn removes(&self, object: ObjectId) -> bool {
        self.objects.contains(object)
    }

    /// Whether an object is gone, or was kept alive only by what is gone.
    pub(crate) fn frees(&self, object: ObjectId) -> bool {
        self.freed.contains(object)
    }

    /// Whether a reference is gone, by itself or with one of its ends.
    pub(crate) fn cuts(&self, source: ObjectId, reference: &Reference) -> bool {
        self.removes(source)
            || self.removes(reference.target)
            || matches!(reference.label, Label::Name(name) if self.names.get(name.index()) == Some(&true))
    }
}
