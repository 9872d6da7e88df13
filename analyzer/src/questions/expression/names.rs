//! What `$name` and `%3` mean.

use std::sync::Arc;

use barrow_format::{ObjectId, SnapshotId};

use crate::graph::object_set::ObjectSet;

/// What the names in an expression mean to whoever types it.
pub trait Names {
    /// The snapshot that the expression is about. Sets and rows of another one are refused.
    fn snapshot(&self) -> SnapshotId;
    /// The set `$name`, without the `$`; of any snapshot.
    fn set(&self, name: &str) -> Option<Arc<ObjectSet>>;
    /// The names of all sets, in the order in which people should read them.
    fn set_names(&self) -> Vec<String>;
    /// The object in a row of the last table, counted from 1, and its snapshot.
    fn row(&self, row: usize) -> Option<(SnapshotId, ObjectId)>;
    /// How many rows of the last table are objects.
    fn row_count(&self) -> usize;
}

/// Nothing has a name.
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
