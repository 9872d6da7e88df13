//! The location of a file, and the check that it may be opened; several dumps that become one series.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use barrow_query::{QueryError, Session};
use parking_lot::Mutex;

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

/// What is served under one name.
pub(super) enum Place {
    /// A file.
    File(ServedPath),
    /// Dumps of one process. More of them may be found later.
    Series(Mutex<Vec<ServedPath>>),
}

/// The length and the modification time of a file.
type Stamp = (u64, SystemTime);

impl Place {
    /// The files.
    fn files(&self) -> Vec<ServedPath> {
        match self {
            Place::File(file) => vec![file.clone()],
            Place::Series(dumps) => dumps.lock().clone(),
        }
    }

    /// The paths of the files.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.files().into_iter().map(|file| file.path).collect()
    }

    /// The path, if this is one file.
    pub(super) fn path(&self) -> Option<&Path> {
        if let Place::File(file) = self { Some(&file.path) } else { None }
    }

    /// The reason why a file may not be opened.
    pub(super) fn problem(&self) -> Option<&'static str> {
        self.files().iter().find_map(ServedPath::problem)
    }

    /// The length of all files, in bytes; `None` if one cannot be read.
    pub(super) fn bytes(&self) -> Option<u64> {
        let lengths = self.paths().into_iter().map(|path| std::fs::metadata(path).ok().map(|file| file.len()));
        lengths.sum()
    }

    /// The stamps of the files; `None` if one cannot be read.
    pub(super) fn stamp(&self) -> Option<Vec<Stamp>> {
        let stamp = |file: Metadata| Some((file.len(), file.modified().ok()?));
        self.paths().into_iter().map(|path| std::fs::metadata(path).ok().and_then(stamp)).collect()
    }

    /// Returns whether this is a dump, or several, that were never imported.
    pub(super) fn is_new(&self, session: &Session) -> bool {
        match self {
            Place::File(file) => session.is_new_dump(&file.path.display().to_string()),
            Place::Series(_) => session.is_new_series(&self.paths()),
        }
    }

    /// Opens it, under this name if it is a series.
    ///
    /// # Errors
    /// Those of the session.
    pub(super) fn open(&self, name: &str, session: &mut Session) -> Result<(), QueryError> {
        match self {
            Place::File(file) => session.open(&file.path.display().to_string()),
            Place::Series(_) => session.open_series(name, &self.paths()),
        }
    }
}
