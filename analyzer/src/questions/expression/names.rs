//! The meaning of `$name` and `%3`.

use std::sync::Arc;

use barrow_format::{ObjectId, SnapshotId};

use crate::graph::object_set::ObjectSet;

/// Resolves the names in an expression, which depend on the session of the user.
pub trait Names {
    /// The snapshot that the expression is about. Sets and rows of other snapshots are rejected.
    fn snapshot(&self) -> SnapshotId;
    /// The set of this name, given without `$`; it may belong to any snapshot.
    fn set(&self, name: &str) -> Option<Arc<ObjectSet>>;
    /// The names of all sets, in the order to show them.
    fn set_names(&self) -> Vec<String>;
    /// The object in a row of the last table, counted from 1, and its snapshot.
    fn row(&self, row: usize) -> Option<(SnapshotId, ObjectId)>;
    /// The number of rows of the last table that are objects.
    fn row_count(&self) -> usize;

    /// The objects of a row of the last table that is a group of objects.
    fn row_set(&self, _row: usize) -> Option<Arc<ObjectSet>> {
        None
    }

    /// If a set of this name exists that holds no objects: a sentence that says so.
    fn other_set(&self, _name: &str) -> Option<String> {
        None
    }

    /// If the last table has this row, but it is no object: a sentence that says so.
    fn other_row(&self, _row: usize) -> Option<String> {
        None
    }
}

/// No names exist.
pub(super) struct NoNames;

impl Names for NoNames {
    fn snapshot(&self) -> SnapshotId {
        SnapshotId(0)
    }

    fn set(&self, _name: &str) -> Option<Arc<ObjectSet>> {
        None
    }

    fn set_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn row(&self, _row: usize) -> Option<(SnapshotId, ObjectId)> {
        None
    }

    fn row_count(&self) -> usize {
        0
    }
}
