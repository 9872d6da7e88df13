//! Bundled recordings and dumps, and small heaps for tests.
//!
//! [`Heap`] is a heap as plain data: made at random, recorded with the writer, read back with the
//! analyzer, and compared with `==`.

mod graph;
mod heap;
mod random;

use std::path::PathBuf;

pub use graph::Graph;
pub use heap::{Edge, Heap, Node, Vocabulary};
pub use random::Random;

/// A file of this folder.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}
