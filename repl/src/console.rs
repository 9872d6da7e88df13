//! Questions from a program: lines as at the prompt, answers as text.

use std::path::Path;
use std::sync::Arc;

use barrow_analyzer::Recording;

use crate::args::Flags;
use crate::commands::{self, Subject};
use crate::error::{ReplError, code};
use crate::line::{Line, Sink};
use crate::operand::Operand;
use crate::output::{self, Context};
use crate::session::{Arguments, OpenFile, Session};
use crate::{asking, interrupt, opening};

/// A session without a terminal, for programs and tests. It only reads: lines that would write a file that they name,
/// open another file or start a program are refused.
pub struct Console {
    session: Session,
}

/// What a line printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
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
        let damage = recording.damage().map(ToString::to_string);
        let name = "recording".to_owned();
        Self::with(OpenFile { name, recording: Arc::new(recording), damage, counted: None })
    }

    /// Asks about a file: a recording, or a dump, which is imported into the folder `cache` first.
    ///
    /// # Errors
    /// A file that cannot be read, in words.
    pub fn open(path: &Path, cache: &Path) -> Result<Self, String> {
        let mut session = Self::session().map_err(|error| error.to_string())?;
        session.settings.cache = Some(cache.to_owned());
        let file = opening::open(&path.display().to_string(), &session.settings).map_err(|error| error.to_string())?;
        Self::with(file)
    }

    fn session() -> Result<Session, ReplError> {
        let mut session = Session::new(&Flags { quiet: true, no_index: true, ..Flags::default() })?;
        session.paged = true;
        Ok(session)
    }

    fn with(file: OpenFile) -> Result<Self, String> {
        let mut session = Self::session().map_err(|error| error.to_string())?;
        session.open(file);
        Ok(Console { session })
    }

    /// Answers a line of the prompt.
    pub fn ask(&mut self, line: &str) -> Printed {
        match self.answered(line) {
            Ok(printed) => printed,
            Err(error) => Printed { text: error.to_string(), code: error.code() },
        }
    }

    fn answered(&mut self, text: &str) -> Result<Printed, ReplError> {
        let line = Line::parse(text)?;
        let flags = Flags::of_line(&line.words)?;
        let Some((verb, words)) = flags.words.split_first() else {
            return Ok(Printed { text: String::new(), code: code::ANSWERED });
        };
        let command = commands::named(verb)?;
        asking::check_flags(command, &flags)?;
        let arguments = Arguments::new(words, true, &flags);
        let paths = [&flags.output, &flags.junit, &flags.from, &flags.allow, &flags.binary];
        let names_files = paths.iter().any(|path| path.is_some()) || flags.baseline.is_some();
        let is_file = |word: &String| matches!(Operand::named(word), Some(Operand::Other(..)));
        let opens = command.name == "diff" && arguments.words().iter().any(is_file);
        if line.sink != Sink::Stdout
            || names_files
            || opens
            || command.subject != Subject::Recording && command.subject != Subject::Session
        {
            return Err(ReplError::usage("this console only reads the file that is open"));
        }
        interrupt::clear();
        let answer = (command.run)(&mut self.session, &arguments)?;
        let mut drawn = Vec::new();
        output::draw(&answer, self.session.settings.format, Context::default(), &mut drawn)?;
        let text = String::from_utf8(drawn).expect("answers are text");
        Ok(Printed { text, code: asking::exit_code(&self.session, &answer) })
    }
}
