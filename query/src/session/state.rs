//! The state that questions read: the open recording, the selected snapshot, settings, sets, and the rows of the last
//! table.

use std::sync::Arc;

use barrow_analyzer::{Heap, ObjectId, Recording, SnapshotId, TypeTotals, object_at_address, type_totals};
use barrow_processes::ProcessTree;
use barrow_trials::Trials;

use super::listed::Listed;
use super::sets::{Scope, Sets};
use crate::context::Context;
use crate::error::QueryError;
use crate::flags::SnapshotName;
use crate::language::object_name::{ObjectName, Which};
use crate::language::selection;
use crate::progress::Meter;
use crate::removal::Removal;
use crate::sources::{counted::CountedSnapshot, opening, opening::OpenFile};
use crate::touches::Touches;

/// The state that questions read. A clone takes little time, and does not change while its question is answered.
#[derive(Clone)]
pub(crate) struct State {
    /// The recording that is open.
    pub(crate) file: Option<OpenFile>,
    /// Files that are open beside it: questions may name them, whatever else they may read.
    pub(crate) beside: Arc<Vec<OpenFile>>,
    /// References and objects that are excluded.
    pub(crate) away: Vec<Arc<Removal>>,
    /// The snapshot that was selected.
    pub(crate) selected: SnapshotName,
    /// Settings, the workspace, and the watcher of the question.
    pub(crate) context: Context,
    /// The rows of the last table; `%1` is the first.
    pub(crate) listed: Arc<Listed>,
    /// Sets that have a name.
    pub(crate) sets: Sets,
    /// The lines asked so far.
    pub(crate) history: Arc<Vec<String>>,
    /// The most that questions may touch.
    pub(crate) allowed: Touches,
}

impl State {
    /// The open file, if one is open.
    pub(crate) fn file(&self) -> Option<&OpenFile> {
        self.file.as_ref()
    }

    /// Returns whether a file of this name is open beside.
    pub(crate) fn is_beside(&self, name: &str) -> bool {
        self.beside.iter().any(|file| file.name == name)
    }

    /// Another file: one that is open beside, or that `verb` opens as the first one was.
    ///
    /// # Errors
    /// [`QueryError::NotAllowed`] if files may not be read; those of opening a file.
    pub(crate) fn other(&self, name: &str, verb: &'static str) -> Result<OpenFile, QueryError> {
        match self.beside.iter().find(|file| file.name == name) {
            Some(file) => Ok(file.clone()),
            None if self.allowed.contains(Touches::READS_FILES) => opening::open(name, &self.context),
            None => Err(QueryError::NotAllowed { verb, touches: Touches::READS_FILES }),
        }
    }

    /// The counts of a snapshot, if the objects of its dump were only counted.
    pub(crate) fn counted(&self, snapshot: SnapshotId) -> Option<&CountedSnapshot> {
        self.file.as_ref()?.counted.as_ref()?.get(snapshot.0 as usize)
    }

    /// The totals of the types of a snapshot, with nothing excluded.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn type_totals(&self, snapshot: SnapshotId) -> Result<Vec<TypeTotals>, QueryError> {
        match self.counted(snapshot) {
            Some(counted) => Ok(counted.types.clone()),
            None => Ok(type_totals(&*self.recording()?, snapshot)?),
        }
    }

    /// The open recording.
    ///
    /// # Errors
    /// A usage error if none is open.
    pub(crate) fn recording(&self) -> Result<Arc<Recording>, QueryError> {
        let file = self.file.as_ref().ok_or_else(|| QueryError::usage("no recording is open; type barrow FILE"))?;
        Ok(Arc::clone(&file.recording))
    }

    /// The process tree of the open recording.
    ///
    /// # Errors
    /// [`QueryError::NoProcesses`] if it has none; those of the analyzer.
    pub(crate) fn process_tree(&self) -> Result<Arc<ProcessTree>, QueryError> {
        let recording = self.recording()?;
        if !recording.has_processes() {
            return Err(QueryError::NoProcesses);
        }
        self.context
            .workspace
            .process_tree(&recording, || Ok(ProcessTree::read_with(Arc::clone(&recording), &self.meter())?))
    }

    /// The trials of the open recording.
    ///
    /// # Errors
    /// [`QueryError::NoTrials`] if it has none; those of the analyzer.
    pub(crate) fn trials(&self) -> Result<Arc<Trials>, QueryError> {
        let recording = self.recording()?;
        if !recording.has_measurements() {
            return Err(QueryError::NoTrials);
        }
        self.context.workspace.trials(&recording, &self.meter())
    }

    /// The snapshot that questions are about.
    ///
    /// # Errors
    /// A usage error if the recording does not hold it.
    pub(crate) fn snapshot(&self) -> Result<SnapshotId, QueryError> {
        selection::one(self.selected, &self.snapshots()?)
    }

    /// A snapshot of the open recording as a graph, without what is excluded.
    ///
    /// # Errors
    /// A usage error if no recording is open; those of the analyzer.
    pub(crate) fn heap(&self, snapshot: SnapshotId) -> Result<Arc<Heap>, QueryError> {
        let recording = self.recording()?;
        let workspace = &self.context.workspace;
        if let Some(heap) = workspace.kept(&recording, snapshot, &self.away, self.context.lines.as_ref()) {
            return Ok(heap);
        }
        // The memory of the others goes first.
        let meter = self.meter();
        workspace.make_room(&meter);
        let heap = self.context.heap_of(recording, snapshot)?;
        let mut heap = Arc::new(if workspace.keeps_later() { heap.keeping_the_index_later() } else { heap });
        for removal in &self.away {
            heap = Arc::new(removal.applied(&heap, &meter)?);
        }
        Ok(workspace.keep(heap, &self.away, &meter))
    }

    /// The same snapshot with nothing excluded.
    ///
    /// # Errors
    /// As for [`State::heap`].
    pub(crate) fn whole_heap(&self, snapshot: SnapshotId) -> Result<Heap, QueryError> {
        self.context.heap_of(self.recording()?, snapshot)
    }

    /// Why computed columns could not be kept in the index file, if that happened since this was asked last.
    pub(crate) fn index_problem(&self) -> Option<String> {
        let (recording, snapshot) = (self.recording().ok()?, self.snapshot().ok()?);
        self.context.workspace.kept(&recording, snapshot, &self.away, self.context.lines.as_ref())?.index_problem()
    }

    /// The snapshots of the open recording.
    ///
    /// # Errors
    /// A usage error if none is open.
    pub(crate) fn snapshots(&self) -> Result<Vec<SnapshotId>, QueryError> {
        Ok(self.recording()?.snapshot_ids().collect())
    }

    /// A clock for work that may take long.
    pub(crate) fn meter(&self) -> Meter {
        self.context.meter()
    }

    /// The meanings of names in a question about this snapshot.
    pub(crate) fn scope(&self, snapshot: SnapshotId) -> Scope<'_> {
        Scope { snapshot, sets: &self.sets, listed: &self.listed }
    }

    /// Looks up an object.
    ///
    /// # Errors
    /// A usage error if there is none of that name.
    pub(crate) fn object(&self, name: &str) -> Result<(SnapshotId, ObjectId), QueryError> {
        let ObjectName { snapshot, which } = name.parse()?;
        let recording = self.recording()?;
        let snapshot = match snapshot {
            Some(number) => selection::one(SnapshotName::Number(number), &self.snapshots()?)?,
            None => self.snapshot()?,
        };
        match which {
            Which::Id(object) => self.checked(snapshot, object),
            Which::Row(row) => self.row(row),
            Which::Address(address) => {
                let found = object_at_address(&recording, snapshot, address, &self.meter())?;
                let object = found.ok_or_else(|| {
                    QueryError::usage(format!("no object of snapshot {snapshot} lived at {address:#x}"))
                })?;
                Ok((snapshot, object))
            }
        }
    }

    /// Returns whether a word names a row of the last table that is a group of objects.
    pub(crate) fn names_group(&self, word: &str) -> bool {
        let row = word.strip_prefix('%').and_then(|row| row.parse().ok());
        row.is_some_and(|row| self.listed.set(row).is_some())
    }

    fn checked(&self, snapshot: SnapshotId, object: ObjectId) -> Result<(SnapshotId, ObjectId), QueryError> {
        let objects = self.recording()?.snapshot(snapshot)?.totals.objects;
        if u64::from(object.0) < objects {
            return Ok((snapshot, object));
        }
        Err(QueryError::usage(match objects.checked_sub(1) {
            Some(last) => format!("there is no object @{object}; snapshot {snapshot} holds @0 to @{last}"),
            None => format!("there is no object @{object}; snapshot {snapshot} is empty"),
        }))
    }

    fn row(&self, row: usize) -> Result<(SnapshotId, ObjectId), QueryError> {
        let found = row.checked_sub(1).and_then(|at| self.listed.get(at).copied());
        found.ok_or_else(|| {
            QueryError::usage(match self.listed.len() {
                0 if !self.listed.images().is_empty() => format!("%{row}: the rows of the last table are processes"),
                0 => format!("%{row}: the last table lists no objects; `find` and `show` list some"),
                rows => format!("%{row}: the last table has the rows %1 to %{rows}"),
            })
        })
    }
}
