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
//! Each branch has its own file below. This file contains their common parts.

mod flat;
mod freed_by_exclusion;
mod kept_answers;
mod kept_besides;
mod kept_distances;
mod kept_dominators;
mod kept_incoming;
mod kept_marks;
mod known_fillings;
pub(crate) mod last_doubts;
mod line_rules;
mod names;
pub(crate) mod nulls;
mod objects_of_types;
mod owed_index;
mod remembered;
mod retained_by_group;
mod retained_sets;
mod types;

pub(crate) use self::flat::{FlatColumns, FlatRetained, visit_block};
pub(crate) use self::kept_answers::QuestionKind;
pub(crate) use self::known_fillings::KnownFillings;
pub use self::line_rules::LineRules;
pub(crate) use self::line_rules::LineTemplate;

use self::kept_besides::SmallColumns;
use self::last_doubts::LastDoubts;
use self::line_rules::RulesOfTypes;
use self::nulls::Nulls;
use self::owed_index::{Keeps, Owed};

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use barrow_format::{ObjectId, SnapshotId, StringId};
use parking_lot::Mutex;

use crate::columns::index_file::{ColumnId, ColumnValues, Form, IndexFile, IndexPlace};
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
    /// Room reserved for the dominators.
    _room: KeptRoom,
    recording: Arc<Recording>,
    snapshot: SnapshotId,
    memory: Memory,
    index: Option<Arc<IndexFile>>,
    /// The index file that keeps answers: the same file as `index`, but also present if objects are excluded.
    answers: Option<Arc<IndexFile>>,
    /// When columns are written to the index file.
    keeps: Keeps,
    exclusion: Option<Arc<Exclusion>>,
    /// Lines of objects that the recording does not have.
    lines: Option<Arc<RulesOfTypes>>,
    objects: u64,
    roots: Lazy<Roots>,
    adjacency: Mutex<Option<Arc<Adjacency>>>,
    dominators: Lazy<Arc<Dominators>>,
    /// Dominators that the index file does not have yet.
    owed: Owed,
    largest: Lazy<Largest>,
    distances: Lazy<Distances>,
    incoming: Lazy<Incoming>,
    jointly_retained: Lazy<JointlyRetained>,
    /// The incoming references of one object were requested before.
    incoming_asked: AtomicBool,
    types: Lazy<Values<u32>>,
    class_names: Lazy<HashMap<ObjectId, StringId>>,
    /// The objects that represent a value that was not recorded.
    pub(crate) unrecorded: Lazy<ObjectSet>,
    /// The objects that represent the absence of a value.
    pub(crate) nulls: Lazy<Nulls>,
    /// The objects whose fields are computed, if types name any.
    pub(crate) computing: Lazy<ObjectSet>,
    /// The number of objects whose fill was asked for.
    pub(crate) fillings_asked: AtomicU64,
    /// The fill of all objects, after questions about many.
    pub(crate) fillings: Lazy<Option<KnownFillings>>,
    /// Small columns that the index file keeps as an answer if something is excluded.
    besides: Lazy<SmallColumns>,
    /// What the last question did not know.
    pub(crate) last_doubts: LastDoubts,
    /// The reason why columns could not be written to the index file.
    unkept: Mutex<Option<String>>,
}

/// A graph with more references per object is dense. Real heaps have less than ten.
const DENSE: u64 = 64;

/// The columns of an index file.
mod column {
    use super::{ColumnId, Form};

    pub(super) const POSITION: ColumnId = ColumnId::new::<u32>(1, Form::Differences);
    pub(super) const VERTEX: ColumnId = ColumnId::new::<u32>(2, Form::Differences);
    pub(super) const EXTENT: ColumnId = ColumnId::new::<u32>(3, Form::Planes);
    pub(super) const IDOM: ColumnId = ColumnId::new::<u32>(4, Form::Differences);
    pub(super) const BEFORE: ColumnId = ColumnId::new::<u64>(5, Form::Differences);
    pub(super) const DISTANCE: ColumnId = ColumnId::new::<u32>(6, Form::Differences);
    pub(super) const PARENT: ColumnId = ColumnId::new::<u32>(7, Form::Differences);
    // 8 to 10 were incoming references of 4 bytes each.
    pub(super) const TYPE: ColumnId = ColumnId::new::<u32>(11, Form::Narrow);
    pub(super) const EPHEMERONS: ColumnId = ColumnId::new::<u64>(12, Form::Plain);
    pub(super) const LARGEST: ColumnId = ColumnId::new::<u64>(13, Form::Plain);
    pub(super) const RETAINED_BY_TYPE: ColumnId = ColumnId::new::<u64>(14, Form::Plain);
    pub(super) const GROUP_POSITION: ColumnId = ColumnId::new::<u32>(15, Form::Plain);
    pub(super) const CANOPY: ColumnId = ColumnId::new::<u64>(16, Form::Plain);
    // 17 was a column of leak suspects with an older ranking.
    pub(super) const LEAK_SUSPECTS: ColumnId = ColumnId::new::<u64>(41, Form::Plain);
    pub(super) const RETAINED_BY_THREAD: ColumnId = ColumnId::new::<u64>(42, Form::Plain);
    pub(super) const ROOT_GROUPS: ColumnId = ColumnId::new::<u32>(18, Form::Plain);
    pub(super) const SHALLOW: ColumnId = ColumnId::new::<u32>(19, Form::Narrow);
    pub(super) const UNMANAGED: ColumnId = ColumnId::new::<u32>(20, Form::Narrow);
    pub(super) const RETAINED: ColumnId = ColumnId::new::<u32>(21, Form::Narrow);
    pub(super) const RETAINED_BY_KIND: ColumnId = ColumnId::new::<u64>(22, Form::Plain);
    pub(super) const RETAINED_BY_IDENTITY: ColumnId = ColumnId::new::<u64>(23, Form::Plain);
    pub(super) const SITE_TOTALS: ColumnId = ColumnId::new::<u64>(24, Form::Plain);
    pub(super) const RETAINED_BY_PLACE: ColumnId = ColumnId::new::<u64>(25, Form::Plain);
    pub(super) const RETAINED_BY_GENERATION: ColumnId = ColumnId::new::<u64>(26, Form::Plain);
    pub(super) const REACHABLE: ColumnId = ColumnId::new::<u64>(31, Form::Plain);
    pub(super) const KEEPER_COUNTS: ColumnId = ColumnId::new::<[u8; 2]>(27, Form::Planes);
    pub(super) const MANY_KEEPERS: ColumnId = ColumnId::new::<u32>(28, Form::Plain);
    pub(super) const KEPT_STARTS: ColumnId = ColumnId::new::<u64>(29, Form::Differences);
    pub(super) const KEPT_OBJECTS: ColumnId = ColumnId::new::<u8>(30, Form::Planes);
    /// The first of the slots for answers.
    pub(super) const FIRST_ANSWER: ColumnId = ColumnId::new::<u8>(80, Form::Planes);
    pub(super) const INCOMING_COUNTS: ColumnId = ColumnId::new::<u8>(92, Form::Planes);
    pub(super) const INCOMING_MANY: ColumnId = ColumnId::new::<u64>(93, Form::Plain);
    pub(super) const INCOMING_STARTS: ColumnId = ColumnId::new::<u64>(94, Form::Differences);
    pub(super) const INCOMING_LISTS: ColumnId = ColumnId::new::<u8>(95, Form::Planes);
    pub(super) const FILLED: ColumnId = ColumnId::new::<u32>(96, Form::Differences);
    pub(super) const ELEMENTS: ColumnId = ColumnId::new::<u32>(97, Form::Planes);
    pub(super) const SLOTS: ColumnId = ColumnId::new::<u32>(98, Form::Planes);
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
        let index = IndexFile::find(&recording, place, &memory).map(Arc::new);
        let answers = index.clone();
        Ok(Heap { index, answers, ..Self::with(recording, snapshot, objects, memory, None) })
    }

    /// The same heap without some of its objects and references. Its columns are not kept in the index file, but small
    /// answers are.
    #[must_use]
    pub fn excluding(&self, exclusion: Exclusion) -> Self {
        let (recording, memory) = (Arc::clone(&self.recording), self.memory.clone());
        let heap = Self::with(recording, self.snapshot, self.objects, memory, Some(Arc::new(exclusion)));
        Heap { answers: self.answers.clone(), keeps: self.keeps, lines: self.lines.clone(), ..heap }
    }

    /// The same heap, but it only reads its index file and adds nothing to it. This is for visiting every snapshot of a
    /// recording, whose columns together are many times as large as the recording.
    #[must_use]
    pub fn only_reading_the_index(self) -> Self {
        Heap { keeps: Keeps::Never, ..self }
    }

    /// The same heap, but dominators are written to the index file by [`Heap::keep_index`], after the answer that they were
    /// computed for, if there is memory for them until then.
    #[must_use]
    pub fn keeping_the_index_later(self) -> Self {
        Heap { keeps: Keeps::Later, ..self }
    }

    fn with(
        recording: Arc<Recording>,
        snapshot: SnapshotId,
        objects: u64,
        memory: Memory,
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
            index: None,
            answers: None,
            keeps: Keeps::AtOnce,
            exclusion,
            lines: None,
            objects,
            roots: Lazy::default(),
            adjacency: Mutex::new(None),
            dominators: Lazy::default(),
            owed: Owed::default(),
            largest: Lazy::default(),
            distances: Lazy::default(),
            incoming: Lazy::default(),
            jointly_retained: Lazy::default(),
            fillings_asked: AtomicU64::new(0),
            fillings: Lazy::default(),
            incoming_asked: AtomicBool::new(false),
            types: Lazy::default(),
            class_names: Lazy::default(),
            unrecorded: Lazy::default(),
            nulls: Lazy::default(),
            computing: Lazy::default(),
            besides: Lazy::default(),
            last_doubts: LastDoubts::default(),
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

    /// Returns whether the snapshot holds an object and it is not excluded.
    #[must_use]
    pub fn has(&self, object: ObjectId) -> bool {
        u64::from(object.0) < self.objects && !self.exclusion.as_ref().is_some_and(|exclusion| exclusion.frees(object))
    }

    /// Returns whether a reference from `source` is not excluded, by itself or with its source or target.
    #[must_use]
    pub fn has_reference(&self, source: ObjectId, reference: &Reference) -> bool {
        !self.exclusion.as_ref().is_some_and(|exclusion| exclusion.cuts(source, reference))
    }

    /// Returns the reason why columns could not be written to the index file, once.
    #[must_use]
    pub fn index_problem(&self) -> Option<String> {
        self.unkept.lock().take()
    }

    /// Returns whether columns with a value for each reference are not worth their memory, because there are more than
    /// [`DENSE`] references per object: these columns could be a thousand times as large as the file.
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
        let mut adjacency = self.adjacency.lock();
        if let Some(known) = &*adjacency {
            return Ok(Arc::clone(known));
        }
        let built = Arc::new(self.build_adjacency(Follow::Retaining, progress)?);
        Ok(Arc::clone(adjacency.insert(built)))
    }

    /// The retaining references, to be consumed.
    fn take_adjacency(&self, progress: &dyn Progress) -> Result<Adjacency> {
        let adjacency = self.adjacency.lock().take();
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

    /// How many objects a question about all of them reads at a time, at about 100 bytes each: one in 64, and at least
    /// 65,536. Each time takes passes over sets, which have a bit for every object of the snapshot.
    #[must_use]
    pub fn objects_at_once(&self) -> usize {
        const LEAST: u64 = 1 << 16;
        let wanted = (self.objects / 64).clamp(LEAST, 1 << 20);
        let has_room = self.memory.has_room(wanted * 100);
        usize::try_from(if has_room { wanted } else { LEAST }).unwrap_or(usize::MAX)
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
    fn kept_numbers(&self, column: ColumnId) -> Option<Vec<u64>> {
        match &self.index {
            Some(index) => Some(index.column(self.snapshot, column, |_, _| true)?.to_vec()),
            None => self.kept_besides(column),
        }
    }

    /// Writes columns to the index file. If that fails, questions are still answered, so the failure is only noted.
    fn keep(&self, columns: &[(ColumnId, ColumnValues<'_>)], progress: &dyn Progress) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        self.keep_in(index, columns, progress)
    }

    fn keep_in(
        &self,
        index: &IndexFile,
        columns: &[(ColumnId, ColumnValues<'_>)],
        progress: &dyn Progress,
    ) -> Result<()> {
        if self.keeps == Keeps::Never {
            return Ok(());
        }
        match index.keep(&self.recording, self.snapshot, columns, progress) {
            Err(AnalyzerError::Io { path, source, .. }) => {
                let path: PathBuf = path;
                let sentence = format!("{}: the index is not kept: {source}", path.display());
                *self.unkept.lock() = Some(sentence);
                Ok(())
            }
            kept => kept,
        }
    }
}

/// Returns whether all values are below a limit. Branch-free, because nearly always all of them are.
fn below(values: &[u32], limit: u64) -> bool {
    !values.iter().fold(false, |found, &value| found | (u64::from(value) >= limit))
}
