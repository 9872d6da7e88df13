//! Assertions about a recording that is still being written, judged again with each new snapshot.

use std::sync::Arc;

use barrow_analyzer::{Recording, SnapshotId};

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::assertion::{self, Assertion, Judge, Judged, Verdict};
use crate::error::QueryError;
use crate::flags::{QuestionFlags, SnapshotName};
use crate::session::Session;
use crate::session::sets::Sets;
use crate::session::state::State;

/// Assertions that have to hold for each snapshot.
pub struct Guard {
    judge: Judge,
    assertions: Vec<Assertion>,
}

impl Guard {
    /// Reads the assertions of `--assert` and `--from`; `--baseline`, `--allow` and `--min` are those of `assert`.
    ///
    /// # Errors
    /// A usage error with the place, a file that cannot be read.
    pub fn new(session: &Session, flags: &QuestionFlags) -> Result<Self, QueryError> {
        let arguments = Arguments::new(&[], false, flags.clone());
        let mut judge = assertion::input::judge(&session.state, &arguments)?;
        judge.waits = true;
        let assertions = assertion::input::assertions_of(&session.state, SnapshotId(0), &flags.assertions, &arguments)?;
        Ok(Guard { judge, assertions })
    }

    /// The answer with those that do not hold for the selected snapshot, if there are any.
    ///
    /// # Errors
    /// Those of the questions that they ask.
    pub fn failure(&mut self, session: &Session) -> Result<Option<Answer>, QueryError> {
        let judged = self.judged(&session.state)?;
        let failed: Vec<Judged> = judged.into_iter().filter(|judged| *judged.verdict() == Verdict::Fails).collect();
        Ok((!failed.is_empty()).then(|| assertion::answer(&failed)))
    }

    /// Those that could not be judged, a sentence each.
    ///
    /// # Errors
    /// Those of the questions that they ask.
    pub fn undecided(&mut self, session: &Session) -> Result<Vec<String>, QueryError> {
        Ok(self.judged(&session.state)?.iter().filter_map(Judged::undecided).collect())
    }

    /// Forgets what was measured: the file is another recording now.
    pub fn forget(&mut self) {
        self.judge.forget();
    }

    fn judged(&mut self, state: &State) -> Result<Vec<Judged>, QueryError> {
        self.assertions.iter().map(|assertion| Judged::new(&mut self.judge, state, assertion)).collect()
    }
}

impl Session {
    /// Opens another version of the recording that is open, with more snapshots, and selects one of them.
    pub fn follow(&mut self, name: &str, recording: Arc<Recording>, snapshot: SnapshotId) {
        self.open_file(crate::sources::opening::OpenFile { damage: None, ..crate::OpenFile::of(name, recording) });
        self.select(SnapshotName::Number(snapshot.0));
    }

    /// Forgets sets and rows: their objects were those of another recording.
    pub fn forget_objects(&mut self) {
        self.state.sets = Sets::default();
        self.state.listed = Arc::default();
    }
}
