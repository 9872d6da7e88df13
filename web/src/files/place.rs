//! The location of a file, and the check that it may be opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The path of a file. The file there may change while it is served.
#[derive(Debug, Clone)]
pub(super) struct ServedPath {
    pub(super) path: PathBuf,
    /// The folder that it must not leave, without links; `None` for a file given as an operand.
    pub(super) within: Option<Arc<Path>>,
}

impl ServedPath {
    /// The reason why the file may not be opened: a pipe or a device, on which an open blocks, or a link out of the
    /// folder. A missing file passes; opening it fails.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let metadata = std::fs::metadata(&self.path).ok()?;
        if !metadata.is_file() {
            return Some("this is no file");
        }
        let top = self.within.as_deref()?;
        let is_within = self.path.canonicalize().is_ok_and(|target| target.starts_with(top));
        (!is_within).then_some("this is a link that leads out of the folder")
    }
}
