//! Sessions with the exclusions and names of a page: made once, copied for each question.

use std::sync::Arc;
use std::time::Duration;

use barrow_analyzer::Silent;
use barrow_query::{OpenFile, QueryError, Question, Session, Settings, SnapshotName, Touches, Watcher, Workspace};
use parking_lot::Mutex;

use crate::reporter::Reporter;
use crate::verbs::ALLOWED;

/// Maximum number of templates: the workspace keeps a heap for each, with its graph. Six are those of a page that goes
/// through exclusions and snapshots. This is a judgement.
const MOST: usize = 6;
/// Interval of checks whether a question was stopped while another one makes its template: people notice no delay.
const NAP: Duration = Duration::from_millis(5);

/// The context of questions besides their words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) file: usize,
    /// The state of the file.
    pub(crate) revision: u64,
    /// The selected snapshot; `None` if nothing depends on it.
    pub(crate) snapshot: Option<SnapshotName>,
    /// The words after `let`.
    pub(crate) lets: Vec<String>,
    /// The words after `without`.
    pub(crate) without: Vec<String>,
}

/// Templates, the least recently used first.
pub(crate) struct Templates {
    workspace: Arc<Workspace>,
    settings: Settings,
    kept: Mutex<Vec<(Key, Template)>>,
}

/// A session that answers no question itself; `None` until it is made.
type Template = Arc<Mutex<Option<Session>>>;

impl Templates {
    pub(crate) fn new(workspace: Arc<Workspace>, settings: Settings) -> Self {
        Templates { workspace, settings, kept: Mutex::default() }
    }

    /// Writes to index files what answers need not wait for.
    pub(crate) fn keep_index(&self) {
        // An index that is not kept is computed again; no page waits for it.
        let _ = self.workspace.keep_index(&Silent);
    }

    /// A session with nothing open.
    pub(crate) fn bare(&self) -> Session {
        Session::new(Arc::clone(&self.workspace), self.settings.clone())
    }

    /// A session for one question, which `reporter` follows.
    ///
    /// # Errors
    /// Errors of the exclusions and names.
    pub(crate) fn session(&self, key: &Key, file: &OpenFile, reporter: &Reporter) -> Result<Session, QueryError> {
        let template = self.template(key);
        let mut made = loop {
            if let Some(made) = template.try_lock_for(NAP) {
                break made;
            }
            if reporter.is_stopped() {
                return Err(QueryError::Stopped);
            }
        };
        if made.is_none() {
            *made = Some(self.make(key, file, reporter)?);
        }
        let mut session = made.as_ref().map_or_else(|| self.bare(), Session::fork);
        session.watch_with(Arc::new(reporter.clone()));
        session.allow(ALLOWED);
        Ok(session)
    }

    /// Removes the templates of a file.
    pub(crate) fn forget(&self, file: usize) {
        self.kept.lock().retain(|(key, _)| key.file != file);
    }

    fn template(&self, key: &Key) -> Template {
        let mut kept = self.kept.lock();
        let known = kept.iter().position(|(known, _)| known == key).map(|at| kept.remove(at).1);
        let template = known.unwrap_or_default();
        kept.push((key.clone(), Arc::clone(&template)));
        let beyond = kept.len().saturating_sub(MOST);
        kept.drain(..beyond);
        template
    }

    fn make(&self, key: &Key, file: &OpenFile, reporter: &Reporter) -> Result<Session, QueryError> {
        let mut session = self.bare();
        session.watch_with(Arc::new(reporter.clone()));
        session.open_file(file.clone());
        session.select(key.snapshot.unwrap_or(SnapshotName::Last));
        session.allow(Touches::READ_ONLY);
        let lets = key.lets.iter().map(|words| ("let", words));
        for (verb, words) in lets.chain(key.without.iter().map(|words| ("without", words))) {
            if let Some(question) = Question::of_line(&format!("{verb} {words}"))? {
                session.ask(&question)?;
            }
        }
        Ok(session)
    }
}
