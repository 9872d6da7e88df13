//! The heap of one snapshot: its graph and everything derived from it, computed when first asked for.
//!
//! ```text
//!   Heap ─┬─ roots, rows ──────────────▶ dominators ─▶ retained sizes   ┐
//!         ├─ rows, incoming ───────────▶ who refers to whom             ├─ kept in FILE.index
//!         ├─ distances ────────────────▶ shortest paths                 ┘
//!         └─ without ── what is thought away: every answer is about the rest
//! ```

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use barrow_format::block::Wanted;
use barrow_format::rows::KindRole;
use barrow_format::{ObjectId, SnapshotId, StringId, TypeId};
use bytemuck::Pod;

use crate::blocks::{decode, places, pooled};
use crate::distances::{Bounds, Distances, distance_of, path_over};
use crate::dominators::{Canopy, Dominators, GroupRetained, Largest, resident_bytes};
use crate::error::{AnalyzerError, Result};
use crate::incoming::Incoming;
use crate::index_file::{ColumnId, IndexFile, IndexPlace, SparseColumn};
use crate::leaks::{self, LEAK_THRESHOLD, Suspect};
use crate::lookup::Lookup;
use crate::memory::{Column, Memory, Region};
use crate::object::Reference;
use crate::object_set::ObjectSet;
use crate::progress::{Progress, check};
use crate::reachable::{Ephemerons, reachable};
use crate::recording::Recording;
use crate::roots::Roots;
use crate::rows::{Follow, Rows};
use crate::transposed::Transposed;
use crate::values::Values;
use crate::without::Without;

/// One snapshot as a graph.
#[derive(Debug)]
pub struct Heap {
    /// Under a ceiling the pages of the recording are given back as well. Before the recording, so that
    /// it is dropped first.
    _pages: Option<Region>,
    recording: Arc<Recording>,
    snapshot: SnapshotId,
    memory: Memory,
    index: Option<IndexFile>,
    /// Whether columns are kept in the index file, not only read from it.
    keeps: bool,
    without: Option<Arc<Without>>,
    objects: u64,
    roots: OnceLock<Roots>,
    rows: Mutex<Option<Arc<Rows>>>,
    dominators: OnceLock<Dominators>,
    largest: OnceLock<Largest>,
    distances: OnceLock<Distances>,
    incoming: OnceLock<Incoming>,
    /// Somebody asked for the incoming references of one object.
    incoming_asked: AtomicBool,
    types: OnceLock<Values<u32>>,
    /// Why columns could not be kept.
    unkept: Mutex<Option<String>>,
}

/// Objects that stand for groups of roots are few.
const MOST_ROOT_GROUPS: usize = 100;

/// How much of a kept column is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checked {
    Whole,
    WhereLookedAt,
}

/// The columns that an index file keeps.
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
    pub(super) const LEAK_SUSPECTS: ColumnId = ColumnId(17);
    pub(super) const ROOT_GROUPS: ColumnId = ColumnId(18);
}

impl Heap {
    /// The heap of a snapshot. Nothing is read yet.
    ///
    /// # Errors
    /// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`].
    pub fn new(recording: Arc<Recording>, snapshot: SnapshotId, place: &IndexPlace, memory: Memory) -> Result<Self> {
        let objects = recording.commit(snapshot)?.totals.objects;
        let index = IndexFile::find(&recording, place);
        Ok(Self::with(recording, snapshot, objects, memory, index, None))
    }

    /// The same heap without some of its objects and references. Nothing of it is kept.
    #[must_use]
    pub fn without(&self, without: Without) -> Self {
        let (recording, memory) = (Arc::clone(&self.recording), self.memory.clone());
        Self::with(recording, self.snapshot, self.objects, memory, None, Some(Arc::new(without)))
    }

    /// The same heap, which reads what an index file keeps and keeps nothing more in it: for a look at every
    /// snapshot of a recording, whose columns together take many times the recording.
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
        without: Option<Arc<Without>>,
    ) -> Self {
        let pages = memory.pages_of(recording.bytes());
        memory.keep_room(resident_bytes(objects));
        Heap {
            _pages: pages,
            recording,
            snapshot,
            memory,
            index,
            keeps: true,
            without,
            objects,
            roots: OnceLock::new(),
            rows: Mutex::new(None),
            dominators: OnceLock::new(),
            largest: OnceLock::new(),
            distances: OnceLock::new(),
            incoming: OnceLock::new(),
            incoming_asked: AtomicBool::new(false),
            types: OnceLock::new(),
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

    /// How many objects the snapshot holds, those that are thought away included.
    #[must_use]
    pub fn object_count(&self) -> u64 {
        self.objects
    }

    /// What is thought away.
    #[must_use]
    pub fn overlay(&self) -> Option<&Arc<Without>> {
        self.without.as_ref()
    }

    /// Whether an object is there, and not thought away.
    #[must_use]
    pub fn has(&self, object: ObjectId) -> bool {
        u64::from(object.0) < self.objects && !self.without.as_ref().is_some_and(|without| without.frees(object))
    }

    /// Whether a reference from `source` is there, and not thought away, by itself or with one of its ends.
    #[must_use]
    pub fn has_reference(&self, source: ObjectId, reference: &Reference) -> bool {
        !self.without.as_ref().is_some_and(|without| without.cuts(source, reference))
    }

    /// Why the last columns could not be kept in the index file; asked once.
    #[must_use]
    pub fn index_problem(&self) -> Option<String> {
        self.unkept.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The roots, without those that hold what is thought away.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`].
    pub fn roots(&self) -> Result<&Roots> {
        if let Some(roots) = self.roots.get() {
            return Ok(roots);
        }
        let mut roots = Roots::read(&self.recording, self.snapshot)?;
        if let Some(without) = &self.without {
            let rows = roots.rows().iter().copied().filter(|root| !without.removes(root.target)).collect();
            roots = Roots::of(rows);
        }
        Ok(self.roots.get_or_init(|| roots))
    }

    /// The retaining references. They are read again after [`Heap::dominators`] was computed, which takes
    /// them.
    pub(crate) fn rows(&self, progress: &dyn Progress) -> Result<Arc<Rows>> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rows) = &*rows {
            return Ok(Arc::clone(rows));
        }
        let built = Arc::new(self.build_rows(Follow::Retaining, progress)?);
        Ok(Arc::clone(rows.insert(built)))
    }

    /// The rows, for somebody who uses them up.
    fn take_rows(&self, progress: &dyn Progress) -> Result<Rows> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        match rows.and_then(Arc::into_inner) {
            Some(rows) => Ok(rows),
            None => self.build_rows(Follow::Retaining, progress),
        }
    }

    pub(crate) fn build_rows(&self, follow: Follow, progress: &dyn Progress) -> Result<Rows> {
        Rows::build(&self.recording, self.snapshot, follow, self.without.as_deref(), &self.memory, progress)
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What the roots reach, without `removed`.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], [`AnalyzerError::MemoryCeiling`].
    pub fn reachable(&self, removed: Option<&ObjectSet>, progress: &dyn Progress) -> Result<ObjectSet> {
        let rows = self.rows(progress)?;
        let ephemerons = Ephemerons::new(rows.ephemerons());
        reachable(self.snapshot, &rows, &self.roots()?.targets(), &ephemerons, removed, progress)
    }

    /// Dominators and retained sizes.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], [`AnalyzerError::MemoryCeiling`].
    pub fn dominators(&self, progress: &dyn Progress) -> Result<&Dominators> {
        if let Some(dominators) = self.dominators.get() {
            return Ok(dominators);
        }
        if let Some(kept) = self.kept_dominators(Checked::Whole)? {
            return Ok(self.dominators.get_or_init(|| kept));
        }
        self.memory.require(resident_bytes(self.objects))?;
        let rows = self.take_rows(progress)?;
        let mut live = Vec::new();
        if !rows.ephemerons().is_empty() {
            let ephemerons = Ephemerons::new(rows.ephemerons());
            let targets = self.roots()?.targets();
            let seen = reachable(self.snapshot, &rows, &targets, &ephemerons, None, progress)?;
            live = ephemerons.with_sources_in(&seen);
            live.retain(|ephemeron| seen.contains(ephemeron.key));
        }
        let (roots, memory) = (self.roots()?, &self.memory);
        let found = Dominators::find(&self.recording, self.snapshot, rows, roots, &live, memory, progress)?;
        let dominators = self.dominators.get_or_init(|| found);
        if self.index.is_some() && self.keeps {
            self.keep_dominators(dominators, progress)?;
        }
        Ok(dominators)
    }

    /// Keeps dominators, and beside them the answers to what is asked most, which need no look at them.
    fn keep_dominators(&self, dominators: &Dominators, progress: &dyn Progress) -> Result<()> {
        let known_types = self.known_types()?;
        let types = match known_types {
            Some(types) => types,
            None => {
                let types = self.read_types(progress)?;
                self.types.get_or_init(|| types.into())
            }
        };
        let largest = Largest::of(dominators);
        let canopy = Canopy::of(dominators, &largest).to_column();
        let by_type = by_type_column(&self.group_by_type(dominators, types)?);
        let suspects = leaks::to_column(&leaks::suspects(dominators, types, LEAK_THRESHOLD));
        let root_groups = self.root_groups_of(types)?;
        let kept = dominators.columns();
        let mut columns: Vec<(ColumnId, &[u8])> = vec![
            (column::POSITION, bytemuck::cast_slice(kept.position)),
            (column::GROUP_POSITION, bytemuck::cast_slice(kept.group_position)),
            (column::VERTEX, bytemuck::cast_slice(kept.vertex)),
            (column::EXTENT, bytemuck::cast_slice(kept.extent)),
            (column::IDOM, bytemuck::cast_slice(kept.idom)),
            (column::BEFORE, bytemuck::cast_slice(kept.before)),
            (column::EPHEMERONS, bytemuck::bytes_of(&kept.live_ephemerons)),
        ];
        let largest = largest.to_column();
        columns.extend([
            (column::LARGEST, bytemuck::cast_slice(&largest)),
            (column::CANOPY, bytemuck::cast_slice(&canopy)),
            (column::RETAINED_BY_TYPE, bytemuck::cast_slice(&by_type)),
            (column::LEAK_SUSPECTS, bytemuck::cast_slice(&suspects)),
            (column::ROOT_GROUPS, bytemuck::cast_slice(&root_groups)),
        ]);
        if known_types.is_none() {
            columns.push((column::TYPE, bytemuck::cast_slice(types)));
        }
        self.keep(&columns, progress)
    }

    /// Asks a question about few objects of the dominators. Of what an index file keeps, only what the question looks at
    /// is read; if that turns out to be damaged, it is asked again, of dominators that were found anew.
    ///
    /// # Errors
    /// As for [`Heap::dominators`], and those of `question`.
    pub fn ask_dominators<T, E: From<AnalyzerError>>(
        &self,
        progress: &dyn Progress,
        mut question: impl FnMut(&Dominators) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.dominators.get().is_none()
            && let Some(kept) = self.kept_dominators(Checked::WhereLookedAt)?
        {
            let answer = question(&kept);
            if !kept.are_damaged() {
                return answer;
            }
        }
        question(self.dominators(progress)?)
    }

    /// Whether dominators were found before.
    pub(crate) fn knows_dominators(&self) -> bool {
        let is_kept = |index: &IndexFile| index.length::<u32>(self.snapshot, column::VERTEX).is_some();
        self.dominators.get().is_some() || self.index.as_ref().is_some_and(is_kept)
    }

    fn kept_dominators(&self, checked: Checked) -> Result<Option<Dominators>> {
        let Some(index) = &self.index else { return Ok(None) };
        let roots = self.roots()?;
        let vertices = self.objects + roots.categories().len() as u64;
        let Some(count) = index.length::<u32>(self.snapshot, column::VERTEX) else { return Ok(None) };
        let is_position = move |_: usize, piece: &[u32]| below(piece, count as u64);
        // Position 0 is no vertex.
        let is_vertex = move |first: usize, piece: &[u32]| below(&piece[usize::from(first == 0)..], vertices);
        let is_extent = move |first: usize, piece: &[u32]| {
            // Every subtree ends before the last position does.
            let wrong = |(at, &extent): (usize, &u32)| extent == 0 || first + at + extent as usize > count;
            !piece.iter().enumerate().fold(false, |found, value| found | wrong(value))
        };
        let is_idom = move |first: usize, piece: &[u32]| {
            let wrong = |(at, &idom): (usize, &u32)| idom as usize >= (first + at).max(1);
            !piece.iter().enumerate().fold(false, |found, value| found | wrong(value))
        };
        let by_group = index.column(self.snapshot, column::GROUP_POSITION, is_position);
        let ephemerons = index.column::<u64>(self.snapshot, column::EPHEMERONS, |_, _| true);
        let columns = (
            self.kept(column::POSITION, checked, 0, is_position),
            self.kept(column::VERTEX, checked, 0, is_vertex),
            self.kept(column::EXTENT, checked, 1, is_extent),
            self.kept(column::IDOM, checked, 0, is_idom),
            self.kept(column::BEFORE, checked, 0, |_, _| true),
        );
        let (Some(by_group), Some(ephemerons)) = (by_group, ephemerons) else { return Ok(None) };
        let (Some(position), Some(vertex), Some(extent), Some(idom), Some(before)) = columns else { return Ok(None) };
        let live = ephemerons.first().copied().unwrap_or(0);
        let groups = by_group.to_vec();
        Ok(Dominators::of_columns(self.objects, count, roots, position, groups, vertex, extent, idom, before, live))
    }

    /// A column of the index file. What is damaged and looked at is `harmless`.
    fn kept<T: Pod + Sync>(
        &self,
        column: ColumnId,
        checked: Checked,
        harmless: T,
        is_valid: impl Fn(usize, &[T]) -> bool + Send + Sync + 'static,
    ) -> Option<Lookup<T>> {
        let index = self.index.as_ref()?;
        match checked {
            Checked::Whole => index.column(self.snapshot, column, is_valid).map(Lookup::Whole),
            Checked::WhereLookedAt => {
                let column = index.sparse_column(self.snapshot, column, is_valid)?;
                Some(Lookup::sparse(column, harmless))
            }
        }
    }

    /// The objects that retain most, as many as an index file keeps: that takes no look at the others.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn largest(&self, progress: &dyn Progress) -> Result<&Largest> {
        if let Some(largest) = self.largest.get() {
            return Ok(largest);
        }
        let column = |index: &IndexFile| index.column::<u64>(self.snapshot, column::LARGEST, |_, _| true);
        let kept = self.index.as_ref().and_then(column).and_then(|kept| Largest::from_column(&kept, self.objects));
        let largest = match kept {
            Some(kept) => kept,
            None => Largest::of(self.dominators(progress)?),
        };
        Ok(self.largest.get_or_init(|| largest))
    }

    /// For each type id the bytes that objects of the type dominate, each byte once, and how many of its
    /// objects are reachable. See [`crate::Dominators::bytes_by_group`].
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn retained_by_type(&self, progress: &dyn Progress) -> Result<Vec<GroupRetained>> {
        let count = self.recording.tables()?.type_count();
        let column = |index: &IndexFile| index.column::<u64>(self.snapshot, column::RETAINED_BY_TYPE, |_, _| true);
        if let Some(kept) = self.index.as_ref().and_then(column).filter(|kept| kept.len() == 2 * count) {
            let group = |pair: &[u64]| GroupRetained { objects: pair[0], bytes: pair[1] };
            return Ok(kept.chunks_exact(2).map(group).collect());
        }
        let groups = self.group_by_type(self.dominators(progress)?, self.types(progress)?)?;
        self.keep(&[(column::RETAINED_BY_TYPE, bytemuck::cast_slice(&by_type_column(&groups)))], progress)?;
        Ok(groups)
    }

    fn group_by_type(&self, dominators: &Dominators, types: &[u32]) -> Result<Vec<GroupRetained>> {
        let count = self.recording.tables()?.type_count();
        Ok(dominators.bytes_by_group(count, |object| Some(types[object.index()] as usize)))
    }

    /// The upper part of the dominator tree, if an index file has it.
    ///
    /// # Errors
    /// As for [`Heap::roots`].
    pub fn kept_canopy(&self) -> Result<Option<Canopy>> {
        let column = |index: &IndexFile| index.column::<u64>(self.snapshot, column::CANOPY, |_, _| true);
        let Some(kept) = self.index.as_ref().and_then(column) else { return Ok(None) };
        let groups: Vec<StringId> = self.roots()?.categories().iter().map(|group| group.name).collect();
        Ok(Canopy::from_column(&kept, self.objects, &groups))
    }

    /// The objects and types that hold at least `threshold` of all reachable bytes, the largest first.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn leak_suspects(&self, threshold: f64, progress: &dyn Progress) -> Result<Vec<Suspect>> {
        if threshold == LEAK_THRESHOLD
            && let Some(kept) = self.kept_leak_suspects()?
        {
            return Ok(kept);
        }
        Ok(leaks::suspects(self.dominators(progress)?, self.types(progress)?, threshold))
    }

    /// The suspects at [`LEAK_THRESHOLD`], if an index file has them.
    fn kept_leak_suspects(&self) -> Result<Option<Vec<Suspect>>> {
        let column = |index: &IndexFile| index.column::<u64>(self.snapshot, column::LEAK_SUSPECTS, |_, _| true);
        let Some(kept) = self.index.as_ref().and_then(column) else { return Ok(None) };
        Ok(leaks::from_column(&kept, self.objects, self.recording.tables()?.type_count() as u64))
    }

    /// Objects that stand for groups of roots, as kinds with that role say: the first so many by number.
    ///
    /// # Errors
    /// As for [`Heap::types`].
    pub fn root_groups(&self, progress: &dyn Progress) -> Result<Vec<ObjectId>> {
        let objects = self.objects;
        let are_objects = move |_: usize, piece: &[u32]| below(piece, objects);
        let column = |index: &IndexFile| index.column(self.snapshot, column::ROOT_GROUPS, are_objects);
        let ids = match self.index.as_ref().and_then(column) {
            Some(kept) => kept.to_vec(),
            None if self.group_types()?.contains(&true) => self.root_groups_of(self.types(progress)?)?,
            None => Vec::new(),
        };
        Ok(ids.into_iter().map(ObjectId).filter(|&object| self.has(object)).collect())
    }

    fn root_groups_of(&self, types: &[u32]) -> Result<Vec<u32>> {
        let is_group = self.group_types()?;
        if !is_group.contains(&true) {
            return Ok(Vec::new());
        }
        let groups = (0..).zip(types).filter(|&(_, &type_id)| is_group[type_id as usize]).map(|(object, _)| object);
        Ok(groups.take(MOST_ROOT_GROUPS).collect())
    }

    /// For each type whether its objects stand for groups of roots.
    fn group_types(&self) -> Result<Vec<bool>> {
        let tables = self.recording.tables()?;
        let types = (0..tables.type_count() as u32).map(TypeId);
        Ok(types.map(|type_id| tables.kind_role(tables.type_kind(type_id)) == KindRole::Root).collect())
    }

    /// Distances from the roots over retaining references.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], [`AnalyzerError::MemoryCeiling`].
    pub fn distances(&self, progress: &dyn Progress) -> Result<&Distances> {
        if let Some(distances) = self.distances.get() {
            return Ok(distances);
        }
        if let Some(index) = &self.index {
            let distance = index.column(self.snapshot, column::DISTANCE, |_, _| true);
            let parent = index.column(self.snapshot, column::PARENT, |_, piece| {
                let wrong = |&parent: &u32| parent != 0 && u64::from(!parent) >= self.objects;
                !piece.iter().fold(false, |found, value| found | wrong(value))
            });
            if let (Some(distance), Some(parent)) = (distance, parent)
                && let Some(kept) = Distances::of_columns(self.objects, distance, parent)
            {
                return Ok(self.distances.get_or_init(|| kept));
            }
        }
        let found = self.distances_anew(progress)?;
        let columns = [
            (column::DISTANCE, bytemuck::cast_slice(&found.distance)),
            (column::PARENT, bytemuck::cast_slice(&found.parent)),
        ];
        self.keep(&columns, progress)?;
        Ok(self.distances.get_or_init(|| found))
    }

    /// The objects of a shortest path, as [`Distances::path`]. Of columns that were kept, only what lies on it is read.
    pub(crate) fn shortest_path(&self, object: ObjectId, progress: &dyn Progress) -> Result<Vec<ObjectId>> {
        if self.distances.get().is_none()
            && let Some(path) = self.kept_path(object)
        {
            return Ok(path);
        }
        Ok(self.distances(progress)?.path(object))
    }

    /// The distance of one object, as [`Distances::distance`]. Of a column that was kept, only what tells it is read.
    ///
    /// # Errors
    /// As for [`Heap::distances`].
    pub fn distance(&self, object: ObjectId, progress: &dyn Progress) -> Result<Option<u32>> {
        if self.distances.get().is_none()
            && let Some(value) = self.kept_by_object(column::DISTANCE).and_then(|kept| kept.get(object.index()))
        {
            return Ok(distance_of(value));
        }
        Ok(self.distances(progress)?.distance(object))
    }

    /// A column of the index file with a number for each object.
    fn kept_by_object(&self, column: ColumnId) -> Option<SparseColumn<u32>> {
        let column = self.index.as_ref()?.sparse_column(self.snapshot, column, |_, _| true)?;
        (column.len() as u64 == self.objects).then_some(column)
    }

    fn kept_path(&self, object: ObjectId) -> Option<Vec<ObjectId>> {
        let (distance, parent) = (self.kept_by_object(column::DISTANCE)?, self.kept_by_object(column::PARENT)?);
        path_over(object, |object| Some((distance.get(object.index())?, parent.get(object.index())?)))
    }

    /// Distances from the roots, measured whether they are known or not; nothing is kept.
    ///
    /// # Errors
    /// As for [`Heap::distances`].
    pub fn distances_anew(&self, progress: &dyn Progress) -> Result<Distances> {
        self.search(&self.roots()?.targets(), Bounds::default(), progress)
    }

    /// Distances from these roots within bounds; nothing is kept.
    pub(crate) fn search(&self, roots: &[ObjectId], bounds: Bounds<'_>, progress: &dyn Progress) -> Result<Distances> {
        let rows = self.rows(progress)?;
        let ephemerons = Ephemerons::new(rows.ephemerons());
        Distances::find(self.snapshot, &rows, roots, &ephemerons, bounds, &self.memory, progress)
    }

    /// Incoming references of all objects, weak ones too.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], [`AnalyzerError::MemoryCeiling`].
    pub fn incoming(&self, progress: &dyn Progress) -> Result<&Incoming> {
        if let Some(incoming) = self.known_incoming() {
            return Ok(incoming);
        }
        let rows = self.build_rows(Follow::All, progress)?;
        let found = Incoming::of(&rows, &self.memory, progress)?;
        drop(rows);
        let (starts, bases, sources) = found.sources.columns();
        let columns = [
            (column::INCOMING_STARTS, bytemuck::cast_slice(starts)),
            (column::INCOMING_BASES, bytemuck::cast_slice(bases)),
            (column::INCOMING_SOURCES, bytemuck::cast_slice(sources)),
        ];
        self.keep(&columns, progress)?;
        Ok(self.incoming.get_or_init(|| found))
    }

    /// Incoming references, if they were computed before.
    #[must_use]
    pub fn known_incoming(&self) -> Option<&Incoming> {
        if let Some(incoming) = self.incoming.get() {
            return Some(incoming);
        }
        let index = self.index.as_ref()?;
        let starts = index.column(self.snapshot, column::INCOMING_STARTS, |_, _| true)?;
        let bases = index.column(self.snapshot, column::INCOMING_BASES, |_, _| true)?;
        let are_objects = |_: usize, piece: &[u32]| below(piece, self.objects);
        let sources = index.column(self.snapshot, column::INCOMING_SOURCES, are_objects)?;
        let sources = Transposed::of_columns(starts, bases, sources)?;
        let fits = sources.columns().0.len() as u64 == self.objects + 1;
        fits.then(|| self.incoming.get_or_init(|| Incoming { sources }))
    }

    /// The sources of all references to an object, ascending, if incoming references were computed before. Of what an
    /// index file keeps, only what tells them is read.
    pub(crate) fn known_sources(&self, target: ObjectId) -> Option<Vec<u32>> {
        if let Some(incoming) = self.incoming.get() {
            return Some(incoming.each_source(target).collect());
        }
        let index = self.index.as_ref()?;
        let column = |column| index.sparse_column::<u32>(self.snapshot, column, |_, _| true);
        let (starts, sources) = (column(column::INCOMING_STARTS)?, column(column::INCOMING_SOURCES)?);
        let bases = index.column::<u64>(self.snapshot, column::INCOMING_BASES, |_, _| true)?;
        if starts.len() as u64 != self.objects + 1 {
            return None;
        }
        let range = Transposed::range_of(target.index(), &bases, |target| starts.get(target), sources.len())?;
        let is_object = |source: &u32| u64::from(*source) < self.objects;
        range.rev().map(|place| sources.get(place).filter(is_object)).collect()
    }

    /// Whether this is not the first question for the incoming references of one object.
    pub(crate) fn asks_again_for_incoming(&self) -> bool {
        // Nothing else depends on it.
        self.incoming_asked.swap(true, Ordering::Relaxed)
    }

    /// The number of the type of every object, by the object's number.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
    pub fn types(&self, progress: &dyn Progress) -> Result<&[u32]> {
        if let Some(types) = self.known_types()? {
            return Ok(types);
        }
        let types = self.read_types(progress)?;
        if self.without.is_none() {
            self.keep(&[(column::TYPE, bytemuck::cast_slice(&types))], progress)?;
        }
        Ok(self.types.get_or_init(|| types.into()))
    }

    /// The types of all objects, if they were read before.
    fn known_types(&self) -> Result<Option<&[u32]>> {
        if let Some(types) = self.types.get() {
            return Ok(Some(types));
        }
        let count = self.recording.tables()?.type_count() as u64;
        let are_types = |_: usize, piece: &[u32]| below(piece, count);
        let kept = self.index.as_ref().and_then(|index| index.column(self.snapshot, column::TYPE, are_types));
        let kept = kept.filter(|types: &Values<u32>| types.len() as u64 == self.objects);
        Ok(kept.map(|kept| &**self.types.get_or_init(|| kept)))
    }

    /// The types of some objects; of a column that was kept, only theirs are read.
    ///
    /// # Errors
    /// As for [`Heap::types`].
    pub fn types_of(&self, objects: &[ObjectId], progress: &dyn Progress) -> Result<Vec<TypeId>> {
        if self.types.get().is_none()
            && let Some(types) = self.kept_types_of(objects)?
        {
            return Ok(types);
        }
        let types = self.types(progress)?;
        Ok(objects.iter().map(|object| TypeId(types[object.index()])).collect())
    }

    fn kept_types_of(&self, objects: &[ObjectId]) -> Result<Option<Vec<TypeId>>> {
        let count = self.recording.tables()?.type_count() as u64;
        let are_types = move |_: usize, piece: &[u32]| below(piece, count);
        let kept = self.index.as_ref().and_then(|index| index.sparse_column(self.snapshot, column::TYPE, are_types));
        let Some(kept) = kept.filter(|types| types.len() as u64 == self.objects) else { return Ok(None) };
        Ok(objects.iter().map(|object| kept.get(object.index()).map(TypeId)).collect())
    }

    fn read_types(&self, progress: &dyn Progress) -> Result<Column<u32>> {
        let tables = self.recording.tables()?;
        progress.begin("reading types", self.objects, "objects");
        let mut types: Column<u32> = self.memory.column(usize::try_from(self.objects).unwrap_or(usize::MAX))?;
        let mut rest = &mut types[..];
        let mut jobs = Vec::new();
        for place in places(&self.recording, &[self.snapshot])? {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(place.entry.objects as usize);
            rest = others;
            jobs.push((place, own));
        }
        jobs.retain(|(place, _)| place.entry.objects > 0);
        pooled(jobs, |(place, own), workspace| {
            check(progress)?;
            decode(&self.recording, &place, Wanted::Sizes, workspace, |_, columns| {
                let of: Vec<TypeId> = columns.dictionary.iter().map(|&shape| tables.shape(shape).type_id).collect();
                for (out, &shape) in own.iter_mut().zip(&columns.shapes) {
                    *out = of[shape as usize].0;
                }
                Ok(())
            })?;
            progress.advance(place.entry.objects.into());
            Ok(())
        })?;
        Ok(types)
    }

    /// Keeps columns in the index file. That it cannot be written is no reason to give no answer.
    fn keep(&self, columns: &[(ColumnId, &[u8])], progress: &dyn Progress) -> Result<()> {
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

/// As an index file keeps what objects of each type dominate.
fn by_type_column(groups: &[GroupRetained]) -> Vec<u64> {
    groups.iter().flat_map(|group| [group.objects, group.bytes]).collect()
}

/// Whether all values are below a limit; looked at without a branch, since they are.
fn below(values: &[u32], limit: u64) -> bool {
    !values.iter().fold(false, |found, &value| found | (u64::from(value) >= limit))
}
