//! Large recordings of one snapshot, made on demand: graphs to measure algorithms with, because they are large or hard.
//!
//! ```text
//!   repeated   a real snapshot, many times over, its copies linked with each other
//!   random     every object refers to R others, wherever they are
//!   list       0 ─▶ 1 ─▶ 2 ─▶ …                          the numbers in order, or scattered
//!   hub        array ─▶ N objects ─▶ hub
//!   arrays     a few arrays of a million references      over the same objects
//!   bipartite  1000 objects ⇄ 1000 objects               each with each, many times over
//!   listhub    list of N/2 ─▶ array ─▶ N/2 objects ◀─ array that is a root
//! ```
//!
//! Graphs are announced as they are computed. No adjacency is kept in memory, except for the snapshot that `repeated`
//! copies. The same seed gives the same graph.
//!
//! Reading order: [`Shape`] and [`generate`]; `announcer`, which announces synthetic objects; one file for each shape;
//! `permutation`, which shuffles numbers without a table.

mod announcer;
mod arrays;
mod bipartite;
mod hub;
mod list;
mod list_hub;
mod permutation;
mod random_graph;
mod repeated;

use std::path::Path;
use std::time::{Duration, Instant};

use barrow_writer::{Compression, Options, Snapshot, SnapshotInfo, Totals, Writer, WriterError};

pub use arrays::Arrays;
pub use bipartite::Bipartite;
pub use hub::Hub;
pub use list::List;
pub use list_hub::ListHub;
pub use random_graph::RandomGraph;
pub use repeated::{Repeated, Repetition};

/// A graph that can be announced as a snapshot.
pub trait Shape {
    /// Announces all objects, references and roots to `snapshot`, after declaring their types and names to `writer`.
    ///
    /// # Errors
    /// Those of the writer.
    fn announce(&self, writer: &Writer, snapshot: &Snapshot<'_>) -> Result<(), WriterError>;
}

/// The result of writing a recording.
#[derive(Debug, Clone, Copy)]
pub struct Generated {
    /// The totals of the snapshot.
    pub totals: Totals,
    /// The length of the file, in bytes.
    pub file_bytes: u64,
    /// The time for announcing, encoding and writing together.
    pub elapsed: Duration,
}

/// Writes a recording whose one snapshot has this shape, with zstd level 1. An existing file is replaced.
///
/// # Errors
/// Those of the writer.
pub fn generate(shape: &dyn Shape, path: &Path) -> Result<Generated, WriterError> {
    let start = Instant::now();
    let options = Options { compression: Compression::Zstd(1), ..Options::default() };
    let writer = Writer::create(path, options)?;
    let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
    shape.announce(&writer, &snapshot)?;
    let totals = snapshot.commit()?;
    let file_bytes = writer.finish()?.bytes;
    Ok(Generated { totals, file_bytes, elapsed: start.elapsed() })
}

#[cfg(test)]
mod tests {
    use barrow_analyzer::{Recording, Roots, Silent, SnapshotId, verify};
    use barrow_testdata::Heap;

    use super::*;

    /// A shape, read back from its recording.
    pub(super) struct Written {
        pub(super) totals: Totals,
        pub(super) heap: Heap,
        pub(super) roots: Vec<u32>,
    }

    impl Written {
        /// The targets of an object's references.
        pub(super) fn targets(&self, object: u32) -> Vec<u32> {
            self.heap.nodes[object as usize].edges.iter().map(|edge| edge.target).collect()
        }
    }

    /// Writes a shape and reads it back with the analyzer, which must find no problem.
    pub(super) fn written(shape: &dyn Shape) -> Written {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shape.barrow");
        let generated = generate(shape, &path).unwrap();
        assert_eq!(generated.file_bytes, path.metadata().unwrap().len());
        let recording = Recording::open(&path).unwrap();
        assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
        let heap = Heap::read(&recording, SnapshotId(0)).unwrap();
        let references: usize = heap.nodes.iter().map(|node| node.edges.len()).sum();
        let totals = recording.snapshot(SnapshotId(0)).unwrap().totals;
        assert_eq!((totals.objects, totals.references), (heap.nodes.len() as u64, references as u64));
        assert_eq!(totals, generated.totals);
        let roots = Roots::read(&recording, SnapshotId(0)).unwrap();
        Written { totals, heap, roots: roots.rows().iter().map(|root| root.target.0).collect() }
    }
}
