//! Lines of the prompt from a program, answers as the terminal prints them.

use std::path::Path;

use barrow_analyzer::Recording;
use barrow_query::error::code;
use barrow_query::{Format, Question, Session, Settings, Touches, Workspace};

use crate::asking::exit_code;
use crate::error::ReplError;
use crate::interrupt;
use crate::output::{self, Context};

/// A prompt without a terminal, for programs and tests. It answers only lines that read the open file: see
/// [`Touches::READ_ONLY`].
pub struct Console {
    session: Session,
}

/// The text that a line printed, and its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineOutput {
    /// The answer, or why there is none.
    pub text: String,
    /// The exit code that `barrow FILE -e LINE` would end with.
    pub code: u8,
}

impl Console {
    /// Asks about a recording in memory. Nothing is kept of what it computes.
    ///
    /// # Errors
    /// Bytes that are no recording, in words.
    pub fn of_recording(bytes: Vec<u8>) -> Result<Self, String> {
        let recording = Recording::from_bytes(bytes).map_err(|error| error.to_string())?;
        let mut session = Self::session(Settings::default())?;
        session.open_recording("recording", recording);
        Ok(Console { session })
    }

    /// Asks about a file: a recording, or a dump, which is imported into the folder `cache` first.
    ///
    /// # Errors
    /// A file that cannot be read, in words.
    pub fn open(path: &Path, cache: &Path) -> Result<Self, String> {
        let settings = Settings { cache: Some(cache.to_owned()), ..Settings::default() };
        let mut session = Self::session(settings)?;
        session.open(&path.display().to_string()).map_err(|error| error.to_string())?;
        Ok(Console { session })
    }

    fn session(settings: Settings) -> Result<Session, String> {
        let workspace = Workspace::new(None, None).map_err(|error| error.to_string())?;
        let mut session = Session::new(workspace, Settings { no_index: true, ..settings });
        session.set_paged(true);
        session.allow(Touches::READ_ONLY);
        Ok(session)
    }

    /// Answers a line of the prompt.
    pub fn ask(&mut self, line: &str) -> LineOutput {
        match self.answered(line) {
            Ok(printed) => printed,
            Err(error) => LineOutput { text: error.to_string(), code: error.code() },
        }
    }

    fn answered(&mut self, text: &str) -> Result<LineOutput, ReplError> {
        let Some(question) = Question::of_line(text)? else {
            return Ok(LineOutput { text: String::new(), code: code::ANSWERED });
        };
        interrupt::clear();
        let format = question.format.unwrap_or(self.session.settings().format);
        self.session.settings_mut().is_abridged = format == Format::Table;
        let answer = self.session.ask(&question)?;
        let mut drawn = Vec::new();
        output::draw(&answer, format, Context::default(), &mut drawn)?;
        let text = String::from_utf8(drawn).expect("answers are text");
        let damaged = self.session.file().is_some_and(|file| file.damage.is_some());
        Ok(LineOutput { text, code: exit_code(damaged, &answer) })
    }
}
