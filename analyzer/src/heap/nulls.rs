//! The objects that represent the absence of a value, which are found once.

use crate::graph::object_set::ObjectSet;

/// The objects that represent the absence of a value, such as `None` of Python.
#[derive(Debug, Clone)]
pub(crate) struct Nulls {
    pub(crate) null: ObjectSet,
    pub(crate) undefined: ObjectSet,
}
