//! A session: one recording, the selected snapshot, settings, and what the last answer left.

pub(crate) mod removal;
pub(crate) mod sets;

use std::sync::Arc;

use barrow_analyzer::{Heap, ObjectId, ObjectSet, Recording, SnapshotId, TypeTotals, object_at_address};

use crate::answer::{Answer, Column, Outcome, Unit, Value};
use crate::commands::{self, Subject};
use crate::context::{Context, Settings};
use crate::error::QueryError;
use crate::flags::{Format, SnapshotName};
use crate::language::object_name::{ObjectName, Which};
use crate::language::selection;
use crate::progress::{Meter, Unwatched, Watcher};
use crate::question::Question;
use crate::session::removal::Removal;
use crate::session::sets::{Scope, Sets};
use crate::sources::counting;
use crate::sources::opening::{self, OpenFile};
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
    file: Option<OpenFile>,
    /// What is excluded.
    pub(crate) away: Vec<Arc<Removal>>,
    /// The snapshot that was selected.
    pub(crate) selected: SnapshotName,
    /// What questions work with.
    pub(crate) context: Context,
    /// Makes the next page of the last answer.
    pub(crate) more: Option<More>,
    /// The objects in the rows of the last table; `%1` is the first.
    pub(crate) listed: Vec<(SnapshotId, ObjectId)>,
    /// Sets of objects that have a name.
    pub(crate) sets: Sets,
    /// The lines asked so far.
    pub(crate) history: Vec<String>,
    /// `exit` was asked.
    pub(crate) ended: bool,
    /// Answers come in pages, which `more` turns.
    pub(crate) paged: bool,
    /// Answers have every row unless the question says how many.
    pub(crate) whole: bool,
    /// Answers are read on a terminal, where long paths are shortened.
    pub(crate) on_terminal: bool,
    /// What questions may touch.
    allowed: Touches,
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
        Session {
            file: None,
            away: Vec::new(),
            selected: SnapshotName::Last,
            context: Context { settings, workspace, watcher: Arc::new(Unwatched) },
            more: None,
            listed: Vec::new(),
            sets: Sets::default(),
            history: Vec::new(),
            ended: false,
            paged: false,
            whole: false,
            on_terminal: false,
            allowed: Touches::ALL,
        }
    }

    /// From now on answers only questions that touch nothing but `touches`.
    pub fn allow(&mut self, touches: Touches) {
        self.allowed = touches;
    }

    /// From now on reports to `watcher`, which may stop questions: a new one for each question, or one for all.
    pub fn watch_with(&mut self, watcher: Arc<dyn Watcher>) {
        self.context.watcher = watcher;
    }

    /// Whether answers come in pages, and whether they are read on a terminal.
    pub fn set_pages(&mut self, paged: bool, on_terminal: bool) {
        (self.paged, self.on_terminal) = (paged, on_terminal);
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

    /// Opens the file of this name: a recording, or a dump, which is imported first. `-` is the standard input.
    ///
    /// # Errors
    /// A file that cannot be read; what is wrong with a dump.
    pub fn open(&mut self, name: &str) -> Result<(), QueryError> {
        let context = self.context.clone();
        let file = self.context.workspace.run(|| opening::open(name, &context))?;
        self.open_file(file);
        Ok(())
    }

    /// Opens a recording. Sessions that open the same one share what is computed about it.
    pub fn open_recording(&mut self, name: &str, recording: impl Into<Arc<Recording>>) {
        self.open_file(OpenFile::of(name, recording.into()));
    }

    /// Opens a dump for one question, which asks only how many objects of each type there are. They are counted without
    /// an import. Returns whether that is possible.
    ///
    /// # Errors
    /// Those of [`Session::open`].
    pub fn open_counted(&mut self, name: &str, question: &Question) -> Result<bool, QueryError> {
        if question.snapshot.is_some() || !commands::asks_for_totals(question.command, &question.arguments) {
            return Ok(false);
        }
        let context = self.context.clone();
        let counted = self.context.workspace.run(|| counting::open(name, &context))?;
        let is_counted = counted.is_some();
        if let Some(file) = counted {
            self.open_file(file);
        }
        Ok(is_counted)
    }

    /// Answers a question with one answer: its first page if answers come in pages.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn ask(&mut self, question: &Question) -> Result<Answer, QueryError> {
        self.pieces(question, false)?.next().unwrap_or_else(|| Ok(Answer::default()))
    }

    /// Answers a question piece by piece: the first answer, then answers with further rows of its last table. If
    /// `whole`, every row is made unless the question says how many; else there is one piece.
    ///
    /// # Errors
    /// What the question may not touch, or a flag that its verb does not know.
    pub fn pieces(&mut self, question: &Question, whole: bool) -> Result<Pieces<'_>, QueryError> {
        question.check()?;
        let more = question.touches().except(self.allowed);
        if more != Touches::NOTHING {
            return Err(QueryError::NotAllowed { verb: question.command.name, touches: more });
        }
        let before = Before {
            format: question.format.map(|_| self.context.settings.format),
            selected: question.snapshot.map(|_| self.selected),
            paged: self.paged,
        };
        self.context.settings.format = question.format.unwrap_or(self.context.settings.format);
        self.selected = question.snapshot.unwrap_or(self.selected);
        self.whole = whole;
        self.paged = self.paged && !whole;
        Ok(Pieces { session: self, question: question.clone(), before, state: State::First })
    }

    /// Runs a command, with more memory if that is too little.
    fn run(&mut self, question: &Question) -> Result<Answer, QueryError> {
        let workspace = Arc::clone(&self.context.workspace);
        let answer = workspace.run(|| (question.command.run)(self, &question.arguments));
        match answer {
            Err(error) if error.is_ceiling() && workspace.drop_idle() => {
                workspace.run(|| (question.command.run)(self, &question.arguments))
            }
            answer => answer,
        }
    }

    fn first(&mut self, question: &Question) -> Result<Answer, QueryError> {
        if question.is_help {
            return Ok(Answer::text(commands::page(question.command)));
        }
        let mut answer = self.run(question)?;
        if answer.outcome != Outcome::DamageFound
            && let Some(file) = self.file()
        {
            file.recording.check_strings()?;
        }
        if question.command.subject == Subject::Recording && !self.away.is_empty() {
            let away = self.away_text();
            answer = answer.fact(Column::new("without", "", Unit::Text).for_machines(), away.as_str()).note(away);
        }
        Ok(answer)
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

    /// Makes `file` what questions are about.
    pub(crate) fn open_file(&mut self, file: OpenFile) {
        self.file = Some(file);
    }

    /// The open file, if one is open.
    pub fn file(&self) -> Option<&OpenFile> {
        self.file.as_ref()
    }

    /// Objects by type, of a dump of which only these are known.
    pub(crate) fn counted(&self) -> Option<&[TypeTotals]> {
        self.file.as_ref()?.counted.as_deref()
    }

    /// The open recording.
    ///
    /// # Errors
    /// A usage error if none is open.
    pub fn recording(&self) -> Result<Arc<Recording>, QueryError> {
        let file = self.file.as_ref().ok_or_else(|| QueryError::usage("no recording is open; type barrow FILE"))?;
        Ok(Arc::clone(&file.recording))
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

    /// Rows of the first page of a full table: all of them where nobody can type `more`.
    pub(crate) fn page_rows(&self) -> usize {
        if self.paged && self.context.settings.format == Format::Table {
            self.context.settings.rows
        } else {
            usize::MAX
        }
    }

    /// The same where the rows are made page by page: [`Answer::goes_on`](crate::answer::Answer) then.
    pub(crate) fn piece_rows(&self) -> usize {
        if self.whole { PIECE_ROWS } else { self.page_rows() }
    }

    /// The rows of a ranking: as many as were told, else a page, or all where the answer goes to a command or a file.
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
                0 => format!("%{row}: the last table lists no objects; `find` and `show` list some"),
                rows => format!("%{row}: the last table has the rows %1 to %{rows}"),
            })
        })
    }
}

/// What a question changed for its own time.
struct Before {
    format: Option<Format>,
    selected: Option<SnapshotName>,
    paged: bool,
}

/// The pieces of an answer, in order. Each is made when it is asked for; dropping it gives up the rest.
pub struct Pieces<'s> {
    session: &'s mut Session,
    question: Question,
    before: Before,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    First,
    GoesOn,
    Done,
}

impl Iterator for Pieces<'_> {
    type Item = Result<Answer, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        let answer = match self.state {
            State::First => self.session.first(&self.question),
            State::GoesOn => {
                let workspace = Arc::clone(&self.session.context.workspace);
                let session = &mut *self.session;
                workspace.run(|| session.next_page())
            }
            State::Done => return None,
        };
        let goes_on = answer.as_ref().is_ok_and(|answer| answer.goes_on);
        self.state = if goes_on { State::GoesOn } else { State::Done };
        Some(answer)
    }
}

impl Pieces<'_> {
    /// The session that answers.
    #[must_use]
    pub fn session(&self) -> &Session {
        self.session
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        let session = &mut *self.session;
        if self.state == State::GoesOn {
            // No page of an answer that was given up waits for `more`.
            session.more = None;
        }
        (session.whole, session.paged) = (false, self.before.paged);
        session.context.settings.format = self.before.format.unwrap_or(session.context.settings.format);
        session.selected = self.before.selected.unwrap_or(session.selected);
    }
}
