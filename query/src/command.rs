//! A command: a verb, what may follow it, what it touches, and the function that answers.

use barrow_analyzer::Recording;

use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

/// A verb and what it does.
pub struct Command {
    /// The verb.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// Where `help all` lists it.
    pub group: Group,
    /// Its arguments, as they follow the verb at the prompt.
    pub arguments: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Everything else there is to know, in lines as the file has them.
    pub(crate) paragraphs: &'static str,
    /// Replaces the marks in the paragraphs that stand for rows of a table.
    pub(crate) fill: fn(String) -> String,
    /// A line at the prompt.
    pub example: &'static str,
    /// The flags of [`crate::flags::QuestionFlags`] that it knows.
    pub flags: &'static [&'static str],
    /// The subject of its questions.
    pub subject: Subject,
    /// Everything it touches besides the files that its flags name. A command about a recording that reads files reads
    /// those that its words name.
    pub touches: Touches,
    /// Returns whether these words ask only for totals by type, which some dumps have without an import; `None` if no
    /// words do.
    pub(crate) asks_for_totals: Option<fn(&Arguments) -> bool>,
    /// The words that completion offers after it.
    pub completion: Completion,
    /// The words that may follow `by`, besides fields, in a recording that holds this.
    pub orders: fn(&[Content]) -> Vec<&'static str>,
    /// Answers.
    pub(crate) run: fn(&Ask) -> Result<Reply, QueryError>,
}

/// Where `help all` lists a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Snapshots and their totals.
    Snapshots,
    /// Changes from one snapshot to the next.
    Series,
    /// Single objects.
    Objects,
    /// Paths, dominators and what they tell.
    Alive,
    /// Trees of processes.
    Processes,
    /// Programs that ran many times.
    Trials,
    /// The file itself.
    File,
    /// The session.
    Session,
}

impl Group {
    /// All of them, in the order of `help`.
    pub const ALL: [Group; 8] = [
        Group::Snapshots,
        Group::Series,
        Group::Objects,
        Group::Alive,
        Group::Processes,
        Group::Trials,
        Group::File,
        Group::Session,
    ];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Snapshots => "Snapshots and totals",
            Group::Series => "Over time",
            Group::Objects => "Objects",
            Group::Alive => "Why it is alive",
            Group::Processes => "Processes",
            Group::Trials => "Trials",
            Group::File => "The file",
            Group::Session => "The session",
        }
    }
}

/// The subject of a command's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A recording: from a shell, the word after the verb.
    Recording,
    /// Nothing, or what its arguments say.
    Nothing,
    /// The session, so it has no meaning outside one.
    Session,
    /// A recording that is being written. It has no meaning in a session, which is about one that is finished.
    Growing,
    /// The program itself: its terminal answers.
    Program,
}

/// A content of recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Snapshots of a heap.
    Heap,
    /// A tree of processes.
    Processes,
    /// Trials.
    Trials,
}

impl Content {
    /// The contents of a recording.
    #[must_use]
    pub fn of(recording: &Recording) -> Vec<Content> {
        let held = [
            (recording.snapshot_count() > 0, Content::Heap),
            (recording.has_processes(), Content::Processes),
            (recording.has_measurements(), Content::Trials),
        ];
        held.into_iter().filter(|(is_held, _)| *is_held).map(|(_, content)| content).collect()
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Content::Heap => "heap",
            Content::Processes => "processes",
            Content::Trials => "trials",
        }
    }
}

/// The words that completion offers after a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// Nothing.
    Nothing,
    /// Kinds, types, and the attributes and sets of expressions.
    Expressions,
    /// Kinds and orders.
    Rankings,
    /// Names of snapshots.
    Snapshots,
    /// Threads of the snapshot, as the rest of the line.
    Threads,
    /// Verbs.
    Verbs,
    /// Settings.
    Settings,
}

impl Command {
    /// A verb about a recording that takes no words, has no other names and touches nothing else. `help` is the text of
    /// `verbs/NAME.md`: one line about it, a blank line, and paragraphs of whole sentences.
    pub(crate) const fn new(
        name: &'static str,
        help: &'static str,
        group: Group,
        run: fn(&Ask) -> Result<Reply, QueryError>,
    ) -> Self {
        let mut line = 0;
        while help.as_bytes()[line] != b'\n' {
            line += 1;
        }
        let (about, paragraphs) = help.split_at(line);
        Command {
            name,
            aliases: &[],
            group,
            arguments: "",
            about,
            paragraphs,
            fill: std::convert::identity,
            example: name,
            flags: &[],
            subject: Subject::Recording,
            touches: Touches::RECORDING,
            asks_for_totals: None,
            completion: Completion::Nothing,
            orders: |_| Vec::new(),
            run,
        }
    }

    /// Its help besides the line about it: whole sentences, a line for each paragraph.
    #[must_use]
    pub fn details(&self) -> String {
        let paragraphs = self.paragraphs.trim().split("\n\n");
        let text = paragraphs.map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n");
        (self.fill)(text)
    }

    /// The verb with its arguments.
    pub fn usage(&self) -> String {
        format!("{} {}", self.name, self.arguments).trim_end().to_owned()
    }

    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// The contents of which a recording must hold at least one to answer it; empty if any recording answers it.
    #[must_use]
    pub fn needs(&self) -> &'static [Content] {
        const OF_HEAPS_AND_PROCESSES: [&str; 6] = ["find", "list", "group", "count", "let", "diff"];
        match (self.subject, self.name, self.group) {
            (Subject::Recording, "summary" | "info" | "assert", _) => &[],
            (Subject::Recording, "histogram", _) => &[Content::Heap, Content::Trials],
            (Subject::Recording, "export", _) => &[Content::Processes, Content::Trials],
            (Subject::Recording, name, _) if OF_HEAPS_AND_PROCESSES.contains(&name) => {
                &[Content::Heap, Content::Processes]
            }
            (Subject::Recording, _, Group::Snapshots | Group::Series | Group::Objects | Group::Alive) => {
                &[Content::Heap]
            }
            (Subject::Recording, _, Group::Processes) => &[Content::Processes],
            (Subject::Recording, _, Group::Trials) => &[Content::Trials],
            _ => &[],
        }
    }

    /// Returns whether it writes a file that its arguments name.
    pub fn writes(&self) -> bool {
        self.touches.contains(Touches::WRITES_FILES)
    }

    /// Returns whether its grammar has words besides flags and their values.
    #[must_use]
    pub fn takes_words(&self) -> bool {
        let mut is_value = false;
        self.arguments.split(' ').filter(|token| !token.is_empty()).any(|token| {
            let is_flag = token.trim_start_matches('[').starts_with('-');
            let is_word = !is_flag && !is_value;
            is_value = is_flag && !token.ends_with(']');
            is_word
        })
    }

    /// The words of a question, at most `N`; words that are missing are `None`.
    ///
    /// # Errors
    /// A usage error for a further word.
    pub(crate) fn words<const N: usize>(&self, arguments: &Arguments) -> Result<[Option<String>; N], QueryError> {
        let mut words = arguments.words().into_iter();
        let known = std::array::from_fn(|_| words.next());
        words.next().map_or(Ok(known), |word| Err(self.refuses(&word)))
    }

    /// "does not take …", with what it does take.
    #[must_use]
    pub fn refuses(&self, word: &str) -> QueryError {
        QueryError::usage(format!(
            "{} does not take `{word}`; its form is `{}`, for instance `{}`",
            self.name,
            self.usage(),
            self.example
        ))
    }
}
