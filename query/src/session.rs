//! A session: one recording, the selected snapshot, settings, and what the last answer left.

pub(crate) mod listed;
mod process_answers;
pub(crate) mod sets;

use std::sync::Arc;

use barrow_analyzer::{Heap, ObjectId, ObjectSet, Recording, SnapshotId, TypeTotals, object_at_address, type_totals};

use barrow_processes::{ImageId, ProcessTree};
use barrow_trials::Trials;

use crate::answer::{Answer, Value};
use crate::context::{Context, Settings};
use crate::error::QueryError;
use crate::flags::{Format, SnapshotName};
use crate::language::object_name::{ObjectName, Which};
use crate::language::selection;
use crate::progress::{Meter, Unwatched, Watcher};
use crate::removal::Removal;
use crate::session::listed::Listed;
use crate::session::sets::{Scope, Sets};
use crate::sources::background::Background;
use crate::sources::counted::CountedSnapshot;
use crate::sources::opening::OpenFile;
use crate::touches::Touches;
use crate::workspace::Workspace;

/// Rows that are in memory at once where an answer has every row.
pub(crate) const PIECE_ROWS: usize = 1 << 14;
/// Rows that `%` can name.
const MOST_LISTED: usize = 1 << 20;

/// The rest of an answer: makes its next page.
pub(crate) type More = Box<dyn FnOnce(&mut Session) -> Result<Answer, QueryError> + Send + Sync>;

/// Answers questions about one recording, one after the other.
///
/// ```
/// use barrow_query::{Question, Session, Settings, Workspace};
///
/// let settings = Settings { no_index: true, ..Settings::default() };
/// let mut session = Session::new(Workspace::new(None, None)?, settings);
/// session.open(&barrow_testdata::path("orders.barrow").display().to_string())?;
/// let question = Question::of_line("top 3 by retained")?.expect("no comment");
/// let answer = session.ask(&question)?;
/// assert_eq!(answer.tables[0].rows.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    /// The recording that is open.
    pub(crate) file: Option<OpenFile>,
    /// The import of the dump that is open, until a question takes its result.
    pub(crate) import: Option<Background>,
    /// Selects again what `count` selected before the import had ended, for `$_`.
    pub(crate) select_again: Option<More>,
    /// What is excluded.
    pub(crate) away: Vec<Arc<Removal>>,
    /// The snapshot that was selected.
    pub(crate) selected: SnapshotName,
    /// What questions work with.
    pub(crate) context: Context,
    /// Makes the next page of the last answer.
    pub(crate) more: Option<More>,
    /// The rows of the last table; `%1` is the first.
    pub(crate) listed: Listed,
    /// Sets that have a name.
    pub(crate) sets: Sets,
    /// The lines asked so far.
    pub(crate) history: Vec<String>,
    /// `exit` was asked.
    pub(crate) ended: bool,
    /// Answers come in pages, which `more` turns.
    pub(crate) paged: bool,
    /// Answers have every row unless the question says how many.
    pub(crate) whole: bool,
    /// What follows the first piece of an answer will be asked for.
    pub(crate) in_pieces: bool,
    /// Rows that are made at a time where answers have every row.
    pub(crate) piece: usize,
    /// Rows before the window that is asked for. A command that need not make them takes this number.
    pub(crate) skip: Option<u64>,
    /// What questions may touch.
    pub(crate) allowed: Touches,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.context.workspace.leave();
    }
}

impl Session {
    /// A session with nothing open, which may touch everything.
    #[must_use]
    pub fn new(workspace: Arc<Workspace>, settings: Settings) -> Self {
        workspace.enter();
        let ceiling = Arc::new(workspace.ceiling());
        Session {
            file: None,
            import: None,
            select_again: None,
            away: Vec::new(),
            selected: SnapshotName::Last,
            context: Context { settings, workspace, watcher: Arc::new(Unwatched), ceiling },
            more: None,
            listed: Listed::default(),
            sets: Sets::default(),
            history: Vec::new(),
            ended: false,
            paged: false,
            whole: false,
            in_pieces: false,
            piece: PIECE_ROWS,
            skip: None,
            allowed: Touches::ALL,
        }
    }

    /// A further session about the same file, with the same exclusions, sets and settings. Both share what is computed.
    /// Rows and pages of the last answer stay with this one.
    #[must_use]
    pub fn fork(&self) -> Self {
        let mut other = Session::new(Arc::clone(&self.context.workspace), self.context.settings.clone());
        other.file = self.file.clone();
        other.away = self.away.clone();
        other.selected = self.selected;
        other.sets = self.sets.clone();
        other.allowed = self.allowed;
        other
    }

    /// From now on answers only questions that touch nothing but `touches`.
    pub fn allow(&mut self, touches: Touches) {
        self.allowed = touches;
    }

    /// From now on reports to `watcher`, which may stop questions: a new one for each question, or one for all.
    pub fn watch_with(&mut self, watcher: Arc<dyn Watcher>) {
        self.context.watcher = watcher;
    }

    /// Whether answers come in pages.
    pub fn set_paged(&mut self, paged: bool) {
        self.paged = paged;
    }

    /// Selects the snapshot that questions are about.
    pub fn select(&mut self, snapshot: SnapshotName) {
        self.selected = snapshot;
    }

    /// How files are opened, and how answers are made.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.context.settings
    }

    /// The same, to change.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.context.settings
    }

    /// The sets that have a name, without the `$`.
    pub fn set_names(&self) -> impl Iterator<Item = &str> {
        self.sets.iter().map(|(name, _)| name)
    }

    /// Adds to the lines that `history` lists.
    pub fn remember(&mut self, line: impl Into<String>) {
        self.history.push(line.into());
    }

    /// Whether `exit` was asked.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Opens a recording. Sessions that open the same one share what is computed about it.
    pub fn open_recording(&mut self, name: &str, recording: impl Into<Arc<Recording>>) {
        self.open_file(OpenFile::of(name, recording.into()));
    }

    /// The next page of the last answer.
    ///
    /// # Errors
    /// A usage error if there is none.
    pub(crate) fn next_page(&mut self) -> Result<Answer, QueryError> {
        let none = || QueryError::usage("there is no more; ask something that has several pages first");
        let more = self.more.take().ok_or_else(none)?;
        more(self)
    }

    /// Makes `file` what questions are about. Sessions that open the same one share what is computed about it.
    pub fn open_file(&mut self, file: OpenFile) {
        // If something was remarked, then to another session.
        self.take_file(OpenFile { has_remarked: false, ..file });
    }

    /// Makes `file` what questions are about.
    pub(crate) fn take_file(&mut self, file: OpenFile) {
        self.import = None;
        self.select_again = None;
        self.file = Some(file);
    }

    /// The open file, if one is open.
    pub fn file(&self) -> Option<&OpenFile> {
        self.file.as_ref()
    }

    /// What was counted in a snapshot of a dump of which only this is known.
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
    pub fn recording(&self) -> Result<Arc<Recording>, QueryError> {
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

    /// How many runs of trials the recording holds; `None` if it holds no trials.
    #[must_use]
    pub fn run_count(&self) -> Option<usize> {
        self.trials().ok().map(|trials| trials.runs().len())
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
    pub fn snapshot(&self) -> Result<SnapshotId, QueryError> {
        selection::one(self.selected, &self.snapshots()?)
    }

    /// A snapshot of the open recording as a graph, without what is excluded.
    ///
    /// # Errors
    /// A usage error if no recording is open; those of the analyzer.
    pub(crate) fn heap(&self, snapshot: SnapshotId) -> Result<Arc<Heap>, QueryError> {
        let recording = self.recording()?;
        let workspace = &self.context.workspace;
        if let Some(heap) = workspace.kept(&recording, snapshot, &self.away) {
            return Ok(heap);
        }
        // The memory of the others goes first.
        workspace.make_room();
        let mut heap = Arc::new(self.context.heap_of(recording, snapshot)?);
        for removal in &self.away {
            heap = Arc::new(removal.applied(&heap, &self.meter())?);
        }
        Ok(workspace.keep(heap, &self.away))
    }

    /// What is excluded, in words; empty if nothing is.
    pub(crate) fn away_text(&self) -> String {
        let texts: Vec<&str> = self.away.iter().map(|removal| removal.text()).collect();
        if texts.is_empty() { String::new() } else { format!("without {}", texts.join(", without ")) }
    }

    /// The same snapshot with nothing excluded.
    ///
    /// # Errors
    /// As for [`Session::heap`].
    pub(crate) fn whole_heap(&self, snapshot: SnapshotId) -> Result<Heap, QueryError> {
        self.context.heap_of(self.recording()?, snapshot)
    }

    /// Why computed columns could not be kept in the index file, if that happened since this was asked last.
    #[must_use]
    pub fn index_problem(&self) -> Option<String> {
        let (recording, snapshot) = (self.recording().ok()?, self.snapshot().ok()?);
        self.context.workspace.kept(&recording, snapshot, &self.away)?.index_problem()
    }

    /// The snapshots of the open recording.
    ///
    /// # Errors
    /// A usage error if none is open.
    pub(crate) fn snapshots(&self) -> Result<Vec<SnapshotId>, QueryError> {
        Ok(self.recording()?.snapshot_ids().collect())
    }

    /// Rows of the first page of a full table: all of them where `more` cannot be typed.
    pub(crate) fn page_rows(&self) -> usize {
        if self.paged && self.context.settings.format == Format::Table {
            self.context.settings.rows
        } else {
            usize::MAX
        }
    }

    /// The same where the rows are made page by page: [`Answer::goes_on`](crate::answer::Answer) then.
    pub(crate) fn piece_rows(&self) -> usize {
        if self.whole { self.piece } else { self.page_rows() }
    }

    /// Takes the number of rows that need not be made, if a window of them is asked for.
    pub(crate) fn take_skip(&mut self) -> Option<u64> {
        self.skip.take()
    }

    /// The rows of a ranking: the given number, else a page, or all where the answer goes to a command or a file.
    pub(crate) fn ranking_rows(&self, told: Option<usize>) -> usize {
        let usual = if self.whole { usize::MAX } else { self.context.settings.rows };
        told.unwrap_or(usual).max(1)
    }

    /// Adds to the rows that `%` names.
    pub(crate) fn list(&mut self, snapshot: SnapshotId, objects: impl IntoIterator<Item = ObjectId>) {
        let most = if self.whole { MOST_LISTED } else { usize::MAX };
        let room = most.saturating_sub(self.listed.len());
        self.listed.extend(objects.into_iter().take(room).map(|object| (snapshot, object)));
    }

    /// The same for rows that are processes.
    pub(crate) fn list_images(&mut self, images: impl IntoIterator<Item = ImageId>) {
        let most = if self.whole { MOST_LISTED } else { usize::MAX };
        let room = most.saturating_sub(self.listed.images().len());
        self.listed.extend_images(images.into_iter().take(room));
    }

    /// The number of a row, as far as `%` names rows.
    pub(crate) fn row_number(&self, number: usize) -> Value {
        if number <= MOST_LISTED || !self.whole { number.into() } else { Value::None }
    }

    /// A clock for work that may take long.
    pub(crate) fn meter(&self) -> Meter {
        self.context.meter()
    }

    /// What names mean in a question about this snapshot.
    pub(crate) fn scope(&self, snapshot: SnapshotId) -> Scope<'_> {
        Scope { snapshot, sets: &self.sets, listed: &self.listed }
    }

    /// Makes these objects the last result.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn set_last_to(
        &mut self,
        snapshot: SnapshotId,
        objects: impl Iterator<Item = ObjectId>,
    ) -> Result<(), QueryError> {
        let mut set = ObjectSet::new(snapshot, self.recording()?.snapshot(snapshot)?.totals.objects);
        for object in objects {
            set.insert(object);
        }
        self.sets.set_last(Arc::new(set));
        Ok(())
    }

    /// Makes the objects in the rows of the last table, all of this snapshot, the last result.
    pub(crate) fn set_last_to_listed(&mut self, snapshot: SnapshotId) -> Result<(), QueryError> {
        let objects = self.recording()?.snapshot(snapshot)?.totals.objects;
        let ids = self.listed.iter().filter(|(of, _)| *of == snapshot).map(|(_, id)| *id);
        let set = ObjectSet::from_sorted(snapshot, objects, ids);
        self.sets.set_last(Arc::new(set));
        Ok(())
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
