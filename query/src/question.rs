//! A question: a command, what it was given, and where its answer goes.

use crate::arguments::Arguments;
use crate::command::{Command, Subject};
use crate::commands;
use crate::error::QueryError;
use crate::flags::{Flags, Format, QuestionFlags, SnapshotName};
use crate::language::line::{Line, Sink};
use crate::language::operand::Operand;
use crate::touches::Touches;

/// A question. It is read from a line, as at the prompt, or put together:
///
/// ```
/// use barrow_query::{Question, SnapshotName};
/// let read = Question::of_line("top 5 by retained -s 2")?.expect("no comment");
/// let made = Question::new("top", ["5", "by", "retained"])?.at(SnapshotName::Number(2));
/// assert_eq!(read.command.name, made.command.name);
/// # Ok::<(), barrow_query::QueryError>(())
/// ```
#[derive(Clone)]
pub struct Question {
    /// The command.
    pub command: &'static Command,
    /// The words after the verb, and the flags beside them.
    pub arguments: Arguments,
    /// The format of this answer, if not that of the session.
    pub format: Option<Format>,
    /// The snapshot that is asked, if not that of the session.
    pub snapshot: Option<SnapshotName>,
    /// Where the answer goes. A session makes answers and does not send them: its caller does.
    pub sink: Sink,
    /// It asks how to use the command.
    pub is_help: bool,
    /// Which flags were given, as help shows them.
    given: Vec<String>,
}

impl Question {
    /// A question of these words, none of which is a flag; the verb as at the prompt.
    ///
    /// # Errors
    /// A usage error if there is no such verb.
    pub fn new<W: Into<String>>(verb: &str, words: impl IntoIterator<Item = W>) -> Result<Self, QueryError> {
        let words: Vec<String> = words.into_iter().map(Into::into).collect();
        Ok(Self::of_words(commands::named(verb)?, &words, false, &Flags::default()))
    }

    /// The same about another snapshot than the selected one.
    #[must_use]
    pub fn at(self, snapshot: SnapshotName) -> Self {
        Question { snapshot: Some(snapshot), ..self }
    }

    /// The same with these flags.
    #[must_use]
    pub fn with(mut self, flags: QuestionFlags) -> Self {
        self.arguments.flags = flags;
        self
    }

    /// Reads a line of the prompt. A comment and a blank line are no question.
    ///
    /// # Errors
    /// A usage error.
    pub fn of_line(text: &str) -> Result<Option<Self>, QueryError> {
        let line = Line::parse(text)?;
        if line.words.is_empty() {
            return Ok(None);
        }
        let flags = Flags::of_line(&line.words)?;
        let verb = flags.words.split_first();
        let (verb, words) = verb.ok_or_else(|| QueryError::usage("which verb? `help all` lists them"))?;
        let question = Self::of_words(commands::named(verb)?, words, true, &flags);
        Ok(Some(Question { sink: line.sink, ..question }))
    }

    /// A command with the words after its verb and flags; `quoted` if the words still have their quotes, which a shell
    /// removes.
    #[must_use]
    pub fn of_words(command: &'static Command, words: &[String], quoted: bool, flags: &Flags) -> Self {
        Question {
            command,
            arguments: Arguments::new(words, quoted, flags.question.clone()),
            format: flags.format,
            snapshot: flags.snapshot,
            sink: Sink::Stdout,
            is_help: flags.help,
            given: flags.given().map(str::to_owned).collect(),
        }
    }

    /// Refuses flags that its command does not know, and words of a command that takes none.
    ///
    /// # Errors
    /// A usage error.
    pub fn check(&self) -> Result<(), QueryError> {
        if let (false, false, Some(word)) = (self.is_help, self.command.takes_words(), self.arguments.words().first()) {
            return Err(self.command.refuses(word));
        }
        // The standard output may be a terminal, and cannot be replaced as a whole: only a page of text goes there.
        if self.arguments.flags.output.as_deref().is_some_and(|to| to.as_os_str() == "-")
            && self.command.name != "report"
        {
            return Err(QueryError::usage(
                "`-o -`: the destination is a file, and nothing is written to the standard output; a file named `-` is ./-",
            ));
        }
        match self.given.iter().find(|flag| !self.command.flags.contains(&flag.as_str())) {
            Some(flag) if !self.is_help => Err(self.command.refuses(flag)),
            _ => Ok(()),
        }
    }

    /// Returns whether its answer follows from the number of objects of each type and from other totals.
    #[must_use]
    pub fn asks_for_totals(&self) -> bool {
        !self.is_help && self.command.asks_for_totals.is_some_and(|asks| asks(&self.arguments))
    }

    /// Everything it may touch: by its command, its flags, the files among its words, and the end of its line.
    #[must_use]
    pub fn touches(&self) -> Touches {
        self.touches_beside(|_| false)
    }

    /// Everything it may touch where files are open beside the recording: `is_open` says which names are theirs.
    #[must_use]
    pub fn touches_beside(&self, is_open: impl Fn(&str) -> bool) -> Touches {
        let sink = match self.sink {
            Sink::Stdout => Touches::NOTHING,
            Sink::File(_) => Touches::WRITES_FILES,
            Sink::Command(_) => Touches::RUNS_PROGRAMS,
        };
        let mut touches = self.command.touches;
        // A question about a recording reads other files only if its words name some.
        if self.command.subject == Subject::Recording && self.other_files(&is_open).iter().all(|name| is_open(name)) {
            touches = touches.except(Touches::READS_FILES);
        }
        touches | self.arguments.flags.touches() | sink
    }

    /// The names of other files among the words of a question about a recording. `is_open` says which names are those of
    /// files that are open beside it; other words have to look like a file.
    #[must_use]
    pub fn other_files(&self, is_open: &dyn Fn(&str) -> bool) -> Vec<String> {
        let words = self.arguments.words();
        let operands = match self.command.name {
            // A program may be called `./sort`: the recording tells, and `compare` checks before it reads a file.
            "compare" => {
                let named = words.iter().filter(|word| commands::is_recording_by_name(word));
                return named.map(|word| commands::file_of_variant(word).0.to_owned()).collect();
            }
            // An expression follows, in which types may look like files.
            "diff" => Operand::leading(&words, is_open),
            _ => words.iter().filter_map(|word| Operand::named(word, is_open)).collect(),
        };
        let names = operands.into_iter().filter_map(|operand| match operand {
            Operand::Other(name, _) => Some(name),
            Operand::Open(_) => None,
        });
        names.collect()
    }
}
