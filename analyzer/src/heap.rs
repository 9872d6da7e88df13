//! The heap of one snapshot: its graph and everything derived from it, computed when first needed.
//!
//! ```text
//!   Heap ─┬─ roots, adjacency ─────────▶ dominators ─▶ retained sizes   ┐
//!         ├─ adjacency, transposed ────▶ incoming references            ├─ kept in FILE.index
//!         ├─ distances ────────────────▶ shortest paths                 │
//!         ├─ dominators, distances ────▶ jointly retained objects       ┘
//!         └─ exclusion ── objects and references that are ignored by every question
//! ```
//!
//! Each branch has its own file below. This file contains what they share.

mod flat;
mod freed_by_exclusion;
mod kept_distances;
mod kept_dominators;
mod kept_incoming;
mod names;
mod remembered;
mod retained_by_group;
mod retained_sets;
mod types;

pub(crate) use self::flat::{FlatColumns, FlatRetained, visit_block};

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use barrow_format::{ObjectId, SnapshotId};
use bytemuck::Pod;

use crate::columns::index_file::{ColumnId, ColumnValues, IndexFile, IndexPlace};
use crate::columns::memory::{KeptRoom, Memory, Region};
use crate::columns::values::Values;
use crate::error::{AnalyzerError, Result};
use crate::file::object::Reference;
use crate::file::recording::Recording;
use crate::graph::adjacency::{Adjacency, Follow};
use crate::graph::distances::Distances;
use crate::graph::dominators::{Dominators, Largest, resident_bytes};
use crate::graph::exclusion::Exclusion;
use crate::graph::incoming::Incoming;
use crate::graph::jointly_retained::JointlyRetained;
use crate::graph::object_set::ObjectSet;
use crate::graph::reachable::reachable;
use crate::graph::roots::Roots;
use crate::lazy::Lazy;
use crate::progress::Progress;
use crate::run::Run;

/// One snapshot as a graph.
#[derive(Debug)]
pub struct Heap {
    /// Lets the pager release pages of the recording if there is a memory limit. It is declared before the recording,
    /// so that it is dropped first.
    _pages: Option<Region>,
    /// What dominators will need.
    _room: KeptRoom,
    recording: Arc<Recording>,
    snapshot: SnapshotId,
    memory: Memory,
    index: Option<IndexFile>,
    /// Whether columns are written to the index file, or only read from it.
    keeps: bool,
    exclusion: Option<Arc<Exclusion>>,
    objects: u64,
    roots: Lazy<Roots>,
    adjacency: Mutex<Option<Arc<Adjacency>>>,
    dominators: Lazy<Dominators>,
    largest: Lazy<Largest>,
    distances: Lazy<Distances>,
    incoming: Lazy<Incoming>,
    jointly_retained: Lazy<JointlyRetained>,
    /// Whether the incoming references of one object were requested before.
    incoming_asked: AtomicBool,
    types: Lazy<Values<u32>>,
    /// Why columns could not be written to the index file.
    unkept: Mutex<Option<String>>,
}

/// The references per object of a dense graph. Real heaps have less than ten.
const DENSE: u64 = 64;

/// The numbers of the columns in an index file.
mod column {
    use super::ColumnId;

    pub(super) const POSITION: ColumnId = ColumnId(1);
    pub(super) const VERTEX: ColumnId = ColumnId(2);
    pub(super) const EXTENT: ColumnId = ColumnId(3);
    pub(super) const IDOM: ColumnId = ColumnId(4);
    pub(super) const BEFORE: ColumnId = ColumnId(5);
    pub(super) const DISTANCE: ColumnId = ColumnId(6);
    pub(super) const PARENT: ColumnId = ColumnId(7);
    pub(super) const INCOMING_STARTS: ColumnId = ColumnId(8);
    pub(super) const INCOMING_BASES: ColumnId = ColumnId(9);
    pub(super) const INCOMING_SOURCES: ColumnId = ColumnId(10);
    pub(super) const TYPE: ColumnId = ColumnId(11);
    pub(super) const EPHEMERONS: ColumnId = ColumnId(12);
    pub(super) const LARGEST: ColumnId = ColumnId(13);
    pub(super) const RETAINED_BY_TYPE: ColumnId = ColumnId(14);
    pub(super) const GROUP_POSITION: ColumnId = ColumnId(15);
    pub(super) const CANOPY: ColumnId = ColumnId(16);
    // 17 was a column of leak suspects with an older ranking.
    pub(super) const LEAK_SUSPECTS: ColumnId = ColumnId(41);
    pub(super) const RETAINED_BY_THREAD: ColumnId = ColumnId(42);
    pub(super) const ROOT_GROUPS: ColumnId = ColumnId(18);
    pub(super) const SHALLOW: ColumnId = ColumnId(19);
    pub(super) const UNMANAGED: ColumnId = ColumnId(20);
    pub(super) const RETAINED: ColumnId = ColumnId(21);
    pub(super) const RETAINED_BY_KIND: ColumnId = ColumnId(22);
    pub(super) const RETAINED_BY_IDENTITY: ColumnId = ColumnId(23);
    pub(super) const SITE_TOTALS: ColumnId = ColumnId(24);
    pub(super) const RETAINED_BY_PLACE: ColumnId = ColumnId(25);
    pub(super) const RETAINED_BY_GENERATION: ColumnId = ColumnId(26);
    pub(super) const KEEPER_COUNTS: ColumnId = ColumnId(27);
    pub(super) const MANY_KEEPERS: ColumnId = ColumnId(28);
    pub(super) const KEPT_STARTS: ColumnId = ColumnId(29);
    pub(super) const KEPT_OBJECTS: ColumnId = ColumnId(30);
}

impl Heap {
    /// The heap of a snapshot. Nothing is read yet.
    ///
    /// # Errors
    /// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`].
    pub fn new(recording: Arc<Recording>, snapshot: SnapshotId, place: &IndexPlace, memory: Memory) -> Result<Self> {
        let objects = recording.commit(snapshot)?.totals.objects;
        if let Some(limit_bytes) = memory.limit_bytes() {
            recording.tables()?.bound_kept_strings(limit_bytes / 8);
        }
        let index = IndexFile::find(&recording, place);
        Ok(Self::with(recording, snapshot, objects, memory, index, None))
    }

    /// The same heap without some of its objects and references. It has no index file.
    #[must_use]
    pub fn excluding(&self, exclusion: Exclusion) -> Self {
        let (recording, memory) = (Arc::clone(&self.recording), self.memory.clone());
        Self::with(recording, self.snapshot, self.objects, memory, None, Some(Arc::new(exclusion)))
    }

    /// The same heap, but it only reads its index file and adds nothing to it. This is for visiting every snapshot of a
    /// recording, whose columns together are many times as large as the recording.
    #[must_use]
    pub fn only_reading_the_index(self) -> Self {
        Heap { keeps: false, ..self }
    }

    fn with(
        recording: Arc<Recording>,
        snapshot: SnapshotId,
        objects: u64,
        memory: Memory,
        index: Option<IndexFile>,
        exclusion: Option<Arc<Exclusion>>,
    ) -> Self {
        let pages = memory.pages_of(recording.bytes());
        let room = memory.keep_room(resident_bytes(objects));
        Heap {
            _pages: pages,
            _room: room,
            recording,
            snapshot,
            memory,
            index,
            keeps: true,
            exclusion,
            objects,
            roots: Lazy::default(),
            adjacency: Mutex::new(None),
            dominators: Lazy::default(),
            largest: Lazy::default(),
            distances: Lazy::default(),
            incoming: Lazy::default(),
            jointly_retained: Lazy::default(),
            incoming_asked: AtomicBool::new(false),
            types: Lazy::default(),
            unkept: Mutex::new(None),
        }
    }

    /// The recording.
    #[must_use]
    pub fn recording(&self) -> &Arc<Recording> {
        &self.recording
    }

    /// The snapshot.
    #[must_use]
    pub fn snapshot(&self) -> SnapshotId {
        self.snapshot
    }

    /// The number of objects in the snapshot, excluded ones included.
    #[must_use]
    pub fn object_count(&self) -> u64 {
        self.objects
    }

    /// The objects and references that are excluded.
    #[must_use]
    pub fn exclusion(&self) -> Option<&Arc<Exclusion>> {
        self.exclusion.as_ref()
    }

    /// Whether the snapshot holds an object and it is not excluded.
    #[must_use]
    pub fn has(&self, object: ObjectId) -> bool {
        u64::from(object.0) < self.objects && !self.exclusion.as_ref().is_some_and(|exclusion| exclusion.frees(object))
    }

    /// Whether a reference from `source` is not excluded, by itself or with its source or target.
    #[must_use]
    pub fn has_reference(&self, source: ObjectId, reference: &Reference) -> bool {
        !self.exclusion.as_ref().is_some_and(|exclusion| exclusion.cuts(source, reference))
    }

    /// Why columns could not be written to the index file. Each reason is returned once.
    #[must_use]
    pub fn index_problem(&self) -> Option<String> {
        self.unkept.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether there are so many references that columns with a value for each reference are not worth their memory:
    /// these could be a thousand times as large as the file.
    pub(crate) fn is_dense(&self) -> Result<bool> {
        let totals = self.recording.commit(self.snapshot)?.totals;
        Ok(totals.references / DENSE > totals.objects)
    }

    /// The roots of the heap. Roots of excluded objects are omitted.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`].
    pub fn roots(&self) -> Result<&Roots> {
        self.roots.get_or_compute(|| {
            let roots = Roots::read(&self.recording, self.snapshot)?;
            let Some(exclusion) = &self.exclusion else { return Ok(roots) };
            Ok(Roots::of(roots.rows().iter().copied().filter(|root| !exclusion.removes(root.target)).collect()))
        })
    }

    /// The retaining references. [`Heap::dominators`] consumes them; after that they are read again.
    pub(crate) fn adjacency(&self, progress: &dyn Progress) -> Result<Arc<Adjacency>> {
        let mut adjacency = self.adjacency.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*adjacency {
            return Ok(Arc::clone(known));
        }
        let built = Arc::new(self.build_adjacency(Follow::Retaining, progress)?);
        Ok(Arc::clone(adjacency.insert(built)))
    }

    /// The retaining references, to be consumed.
    fn take_adjacency(&self, progress: &dyn Progress) -> Result<Adjacency> {
        let adjacency = self.adjacency.lock().unwrap_or_else(PoisonError::into_inner).take();
        match adjacency.and_then(Arc::into_inner) {
            Some(adjacency) => Ok(adjacency),
            None => self.build_adjacency(Follow::Retaining, progress),
        }
    }

    pub(crate) fn build_adjacency(&self, follow: Follow, progress: &dyn Progress) -> Result<Adjacency> {
        let exclusion = self.exclusion.as_deref();
        Adjacency::build(&self.recording, self.snapshot, follow, exclusion, self.run(progress))
    }

    /// The memory and progress for computations about this heap.
    pub(crate) fn run<'r>(&'r self, progress: &'r dyn Progress) -> Run<'r> {
        Run { memory: &self.memory, progress }
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The objects that the roots reach without passing an object of `removed`.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], [`AnalyzerError::MemoryCeiling`].
    pub fn reachable(&self, removed: Option<&ObjectSet>, progress: &dyn Progress) -> Result<ObjectSet> {
        let adjacency = self.adjacency(progress)?;
        reachable(self.snapshot, &adjacency, &self.roots()?.targets(), removed, progress)
    }

    /// A small column of the index file, if it has this column.
    fn kept_numbers(&self, column: ColumnId) -> Option<Values<u64>> {
        self.index.as_ref()?.column(self.snapshot, column, |_, _| true)
    }

    /// Writes columns to the index file. If that fails, questions are still answered, so the failure is only noted.
    fn keep(&self, columns: &[(ColumnId, ColumnValues<'_>)], progress: &dyn Progress) -> Result<()> {
        let Some(index) = self.index.as_ref().filter(|_| self.keeps) else { return Ok(()) };
        match index.keep(self.snapshot, columns, progress) {
            Err(AnalyzerError::Io { path, source, .. }) => {
                let path: PathBuf = path;
                let sentence = format!("{}: the index is not kept: {source}", path.display());
                *self.unkept.lock().unwrap_or_else(PoisonError::into_inner) = Some(sentence);
                Ok(())
            }
            kept => kept,
        }
    }
}

/// A column in memory, as the index file takes it.
fn in_memory<T: Pod>(values: &[T]) -> ColumnValues<'_> {
    ColumnValues::InMemory(bytemuck::cast_slice(values))
}

/// Whether all values are below a limit. Branch-free, because nearly always all of them are.
fn below(values: &[u32], limit: u64) -> bool {
    !values.iter().fold(false, |found, &value| found | (u64::from(value) >= limit))
}
