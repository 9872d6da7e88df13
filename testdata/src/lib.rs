//! Bundled recordings and dumps, and small heaps for tests.
//!
//! [`Heap`] is a heap as plain data: made at random, recorded with the writer, read back with the
//! analyzer, and compared with `==`.

mod graph;
mod heap;
mod kleknev;
mod limited_progress;
mod phases;
mod processes;
mod shelf;

use std::fs;
use std::path::{Path, PathBuf};

pub use barrow_statistics::Random;
pub use graph::Graph;
pub use heap::{Edge, Heap, Node, Vocabulary};
pub use kleknev::kleknev_log;
pub use limited_progress::LimitedProgress;
pub use phases::Phases;
pub use processes::{Happening, ProcessLog};
pub use shelf::Shelf;

/// A file of this folder.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Checks that `record`, given a path, writes the same bytes as a file of this folder holds. With `BLESS` in the environment the
/// file is rewritten.
///
/// # Panics
/// If it writes something else, or files cannot be read and written.
pub fn assert_golden(name: &str, record: impl FnOnce(&Path)) {
    let golden = path(name);
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let written = folder.path().join(name);
    record(&written);
    let bytes = fs::read(&written).expect("it was written");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&golden, &bytes).expect("the folder is writable");
    }
    let expected = fs::read(&golden).expect("the golden file is there");
    assert!(expected == bytes, "the writer writes something else than {name}");
}
