//! Where a file is, and whether it may be opened there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The path of a file. What is there can change while it is served.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// The folder that it must not leave, without links; `None` for a file that was named itself.
    pub(super) within: Option<Arc<Path>>,
}

impl Place {
    /// Why this may not be opened: a pipe or a device, for which an open waits, and a link that leads out of the folder.
    /// A file that is missing may be opened in vain.
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
