//! Sessions about bundled recordings, as a program asks.

use barrow_query::{Answer, QueryError, Question, Session, Settings, Workspace};

/// A session with a recording of `testdata`, without an index file.
pub(crate) fn session(recording: &str) -> Session {
    let settings = Settings { no_index: true, is_abridged: false, ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
    session.open(&barrow_testdata::path(recording).display().to_string()).unwrap();
    session
}

/// The answer to a line.
#[allow(dead_code, reason = "not every test that has this module asks for one answer")]
pub(crate) fn ask(session: &mut Session, line: &str) -> Result<Answer, QueryError> {
    session.ask(&Question::of_line(line)?.expect("a question"))
}
