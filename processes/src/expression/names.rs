//! The meaning of `class.NAME`, `$name` and `%3`.

use std::sync::Arc;

use crate::image_set::ImageSet;
use crate::tree::ImageId;

/// Resolves the names in an expression, which depend on the classes of a tree and on the session of the user.
pub trait ImageNames {
    /// The names of all schemata of classes, in their order. Called only if the expression names one.
    fn schemata(&self) -> Vec<String>;
    /// The set of this name, given without `$`.
    ///
    /// # Errors
    /// A sentence if there is no such set of processes.
    fn set(&self, name: &str) -> Result<Arc<ImageSet>, String>;
    /// The image in a row of the last table, counted from 1.
    ///
    /// # Errors
    /// A sentence if the table has no such row.
    fn row(&self, row: usize) -> Result<ImageId, String>;
}

/// No names exist.
pub(super) struct NoNames;

impl ImageNames for NoNames {
    fn schemata(&self) -> Vec<String> {
        Vec::new()
    }

    fn set(&self, name: &str) -> Result<Arc<ImageSet>, String> {
        Err(format!("there is no set ${name}; no set has a name"))
    }

    fn row(&self, _row: usize) -> Result<ImageId, String> {
        Err("the last table lists no processes".to_owned())
    }
}
