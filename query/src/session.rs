//! A session: answers questions one after the other, and keeps sets, rows and pages for the next ones.

mod line_rules;
pub(crate) mod listed;
mod process_answers;
pub(crate) mod sets;
pub(crate) mod state;

use std::sync::Arc;

use barrow_analyzer::{Recording, SnapshotId};

use crate::ask::reply::More;
use crate::context::{Context, Settings};
use crate::error::QueryError;
use crate::flags::SnapshotName;
use crate::progress::{Unwatched, Watcher};
use crate::session::{sets::Sets, state::State};
use crate::sources::{background::Background, opening::OpenFile};
use crate::touches::Touches;
use crate::workspace::Workspace;

/// Asks something again.
pub(crate) type Again = Box<dyn FnOnce(&mut Session) -> Result<(), QueryError> + Send + Sync>;

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
    /// The state that questions read.
    pub(crate) state: State,
    /// The import of the dump that is open, until a question takes its result.
    pub(crate) import: Option<Background>,
    /// Makes the next page of the last answer.
    pub(crate) more: Option<More>,
    /// Selects again what `count` selected before the import had ended, for `$_`.
    pub(crate) select_again: Option<Again>,
    /// `exit` was asked.
    pub(crate) ended: bool,
    /// Answers come in pages, which `more` turns.
    pub(crate) paged: bool,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.state.context.workspace.leave();
    }
}

impl Session {
    /// A session with nothing open, which may touch everything.
    #[must_use]
    pub fn new(workspace: Arc<Workspace>, settings: Settings) -> Self {
        workspace.enter();
        let ceiling = Arc::new(workspace.ceiling());
        let state = State {
            file: None,
            beside: Arc::default(),
            away: Vec::new(),
            selected: SnapshotName::Last,
            context: Context { settings, workspace, lines: None, watcher: Arc::new(Unwatched), ceiling },
            listed: Arc::default(),
            sets: Sets::default(),
            history: Arc::default(),
            allowed: Touches::ALL,
        };
        Session { state, import: None, more: None, select_again: None, ended: false, paged: false }
    }

    /// A further session about the same file, with the same exclusions, sets and settings. Both share what is computed.
    /// Rows and pages of the last answer stay with this one.
    #[must_use]
    pub fn fork(&self) -> Self {
        let mut other = Session::new(Arc::clone(&self.state.context.workspace), self.state.context.settings.clone());
        let State { context, listed, history, .. } = other.state.clone();
        other.state = State { context, listed, history, ..self.state.clone() };
        other
    }

    /// From now on answers only questions that touch nothing but `touches`.
    pub fn allow(&mut self, touches: Touches) {
        self.state.allowed = touches;
    }

    /// From now on questions may name these files, too, by the names that they have here.
    pub fn open_beside(&mut self, files: Vec<OpenFile>) {
        self.state.beside = Arc::new(files);
    }

    /// From now on reports to `watcher`, which may stop questions: a new one for each question, or one for all.
    pub fn watch_with(&mut self, watcher: Arc<dyn Watcher>) {
        self.state.context.watcher = watcher;
    }

    /// Sets whether answers come in pages.
    pub fn set_paged(&mut self, paged: bool) {
        self.paged = paged;
    }

    /// Selects the snapshot that questions are about.
    pub fn select(&mut self, snapshot: SnapshotName) {
        self.state.selected = snapshot;
    }

    /// The settings for opening files and making answers.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.state.context.settings
    }

    /// The same, to change.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.state.context.settings
    }

    /// The sets that have a name, without the `$`.
    pub fn set_names(&self) -> impl Iterator<Item = &str> {
        self.state.sets.iter().map(|(name, _)| name)
    }

    /// Adds to the lines that `history` lists.
    pub fn remember(&mut self, line: impl Into<String>) {
        Arc::make_mut(&mut self.state.history).push(line.into());
    }

    /// Returns whether `exit` was asked.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Opens a recording. Sessions that open the same one share what is computed about it.
    pub fn open_recording(&mut self, name: &str, recording: impl Into<Arc<Recording>>) {
        self.open_file(OpenFile::of(name, recording.into()));
    }

    /// Makes `file` what questions are about. Sessions that open the same one share what is computed about it.
    pub fn open_file(&mut self, file: OpenFile) {
        // Notes of the import were for the session that opened it first.
        self.take_file(OpenFile { has_remarked: false, ..file });
    }

    /// Makes `file` what questions are about.
    pub(crate) fn take_file(&mut self, file: OpenFile) {
        self.import = None;
        self.select_again = None;
        self.state.file = Some(file);
    }

    /// The open file, if one is open.
    pub fn file(&self) -> Option<&OpenFile> {
        self.state.file()
    }

    /// The open recording.
    ///
    /// # Errors
    /// A usage error if none is open.
    pub fn recording(&self) -> Result<Arc<Recording>, QueryError> {
        self.state.recording()
    }

    /// The number of runs of trials in the recording; `None` if it holds no trials.
    #[must_use]
    pub fn run_count(&self) -> Option<usize> {
        self.state.trials().ok().map(|trials| trials.runs().len())
    }

    /// The snapshot that questions are about.
    ///
    /// # Errors
    /// A usage error if the recording does not hold it.
    pub fn snapshot(&self) -> Result<SnapshotId, QueryError> {
        self.state.snapshot()
    }

    /// Writes to index files what [`Workspace::keep_index_later`] has left for after the answer. The watcher of questions
    /// may stop it.
    ///
    /// # Errors
    /// [`QueryError::Stopped`]; too little memory; damage that the answer did not meet.
    pub fn keep_index(&self) -> Result<(), QueryError> {
        let context = &self.state.context;
        if context.workspace.owing().is_empty() {
            return Ok(());
        }
        context.ceiling.begin(false);
        let kept = context.workspace.keep_index(&context.meter());
        kept.map_err(|error| if error.is_stopped() { context.why_stopped() } else { error })
    }

    /// The reason why computed columns could not be kept in the index file, if that happened since this was asked last.
    #[must_use]
    pub fn index_problem(&self) -> Option<String> {
        self.state.index_problem()
    }
}

#[cfg(test)]
mod tests;
