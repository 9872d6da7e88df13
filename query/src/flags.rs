//! Flags, and nothing else: of the command line and of a line at the prompt.

mod trial;

pub use trial::{SortBy, TimeUnit, TrialFlags, Until};

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use barrow_importers::{Contents, ObjectLayout};
use barrow_writer::Compression;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, ValueEnum};

use crate::error::QueryError;
use crate::language::line::{unquoted, unquoted_whole};
use crate::touches::Touches;
use crate::workspace::MOST_THREADS;

/// The words and flags of a command line, or of a line at the prompt.
#[derive(Debug, Clone, Default, Parser)]
#[command(name = "barrow", disable_help_flag = true)]
pub struct Flags {
    /// A verb, the file it asks and its arguments; or a file to open at the prompt.
    pub words: Vec<String>,
    /// The format of answers.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// The snapshot that is asked; the last one unless told.
    #[arg(short, long, value_name = "N|last")]
    pub snapshot: Option<SnapshotName>,
    /// A list of all verbs; after a verb, a page about the verb.
    #[arg(short, long)]
    pub help: bool,
    /// Flags of the command line only.
    #[command(flatten)]
    pub session: SessionFlags,
    /// Flags that only some verbs know.
    #[command(flatten)]
    pub question: QuestionFlags,
    /// Which of [`QuestionFlags`] were given, as help shows them: `-o`, `--min`.
    #[arg(skip)]
    given: Vec<String>,
    /// Which of [`SessionFlags`] were given.
    #[arg(skip)]
    of_session: Vec<String>,
}

/// Flags of the command line only: they are about the whole session.
#[derive(Debug, Clone, Default, Args)]
pub struct SessionFlags {
    /// A line to run as if typed at the prompt; repeatable.
    #[arg(short = 'e', long = "line", value_name = "LINE")]
    pub lines: Vec<String>,
    /// A file of such lines.
    #[arg(short = 'f', long, value_name = "SCRIPT")]
    pub script: Option<PathBuf>,
    /// The most threads that work.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// The most memory that is used, like 512MiB; three quarters of what is free unless told.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// The most bytes that a compressed dump may unpack to, like 64GiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_unpacked: Option<u64>,
    /// The object layout of the JVM of an HPROF dump: REFERENCE,HEADER,ARRAY_BASE,ALIGNMENT in bytes.
    #[arg(long, value_name = "LAYOUT")]
    pub object_layout: Option<ObjectLayout>,
    /// The contents of objects that are imported: texts and values (texts=4K shortens longer ones), all (also every
    /// element of arrays) or none; texts unless told.
    #[arg(long, value_name = "texts[=SIZE]|all|none", value_parser = parse_contents)]
    pub contents: Option<Contents>,
    /// A file of lines for objects, as `"com.acme.Key" = "{.name}#{.id}"`; barrow-lines.toml beside FILE unless told.
    #[arg(long = "lines", value_name = "FILE")]
    pub object_lines: Option<PathBuf>,
    /// Nothing is kept in FILE.index, nor read from it.
    #[arg(long)]
    pub no_index: bool,
    /// The largest size of FILE.index, like 200MiB; usually 20 bytes per object and 64 MiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub index_size: Option<u64>,
    /// No colours; NO_COLOR does the same.
    #[arg(long)]
    pub no_color: bool,
    /// No progress.
    #[arg(long)]
    pub quiet: bool,
    /// The version, with the commit and the version of the file format.
    #[arg(long)]
    pub version: bool,
}

/// Flags that only some verbs know: each command lists its own.
#[derive(Debug, Clone, Default, Args)]
pub struct QuestionFlags {
    /// Decode the objects instead of trusting the statistics.
    #[arg(long)]
    pub verify: bool,
    /// The file to write.
    #[arg(short, long, value_name = "DST")]
    pub output: Option<PathBuf>,
    /// Replace DST if it exists.
    #[arg(long)]
    pub force: bool,
    /// Only what this frame of a thread holds.
    #[arg(long, value_name = "FRAME")]
    pub frame: Option<String>,
    /// Objects that no path leads through.
    #[arg(long, value_name = "EXPR")]
    pub avoid: Option<String>,
    /// References that keep nothing alive count too.
    #[arg(long)]
    pub weak: bool,
    /// The number of levels of the tree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub depth: Option<u32>,
    /// Leave out what is less, like 1% or 64K.
    #[arg(long, value_name = "SHARE|SIZE", value_parser = parse_least)]
    pub min: Option<Least>,
    /// The resolution: the number of places of a tree, the largest ones; the parts of a time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub cells: Option<u32>,
    /// The number of jobs that run at the same time.
    #[arg(short, long, value_name = "N", value_parser = parse_jobs)]
    pub jobs: Option<u64>,
    /// The most memory that all of them may need together, like 8G.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    /// The most jobs of a class that run at the same time, like linker=1; repeatable.
    #[arg(long, value_name = "CLASS=N", value_parser = parse_pool)]
    pub slots: Vec<Pool>,
    /// A file of assertions, one a line.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// A file of fingerprints of known leaks, one a line.
    #[arg(long, value_name = "FILE")]
    pub allow: Option<PathBuf>,
    /// The recording to compare with, or a snapshot of it, FILE:3.
    #[arg(long, value_name = "OTHER")]
    pub baseline: Option<String>,
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// The time between two looks, like 250ms or 2s.
    #[arg(long, value_name = "TIME", value_parser = parse_interval)]
    pub interval: Option<Duration>,
    /// The end: a snapshot, or a precision of values.
    #[arg(long, value_name = "N|SHARE")]
    pub until: Option<Until>,
    /// An assertion that must hold for each snapshot; repeatable.
    #[arg(long = "assert", value_name = "ASSERTION")]
    pub assertions: Vec<String>,
    /// none, lz4, zstd or zstd:LEVEL.
    #[arg(long, value_name = "CODEC", value_parser = parse_compression)]
    pub compression: Option<Compression>,
    /// The program that was recorded, if it was moved since.
    #[arg(long, value_name = "PATH")]
    pub binary: Option<PathBuf>,
    /// Each snapshot as its difference to the one before, where objects can be told apart.
    #[arg(long)]
    pub patches: bool,
    /// Sort the dumps by when they were taken.
    #[arg(long)]
    pub by_time: bool,
    /// An offset added to all times of a host, like b=-3600s; repeatable.
    #[arg(long, value_name = "HOST=TIME", value_parser = parse_clock)]
    pub clock: Vec<(String, i64)>,
    /// The port of the page.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Open the page in the browser.
    #[arg(long)]
    pub open: bool,
    /// A line of the prompt that the page begins with; repeatable.
    #[arg(long, value_name = "LINE")]
    pub at: Vec<String>,
    /// Show names and texts of objects.
    #[arg(long)]
    pub texts: bool,
    /// The largest report, like 500K; 2 MiB unless told.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_size: Option<u64>,
    /// A file of rules for the classes of processes; barrow-classes.toml beside the recording unless told.
    #[arg(long, value_name = "FILE")]
    pub classes: Option<PathBuf>,
    /// Text that is recorded as `…` where an argument of a process contains it; repeatable.
    #[arg(long, value_name = "REGEX")]
    pub redact: Vec<String>,
    /// Record no arguments of processes.
    #[arg(long)]
    pub no_arguments: bool,
    /// Measure no memory over time.
    #[arg(long)]
    pub no_memory: bool,
    /// Record until all processes have ended.
    #[arg(long)]
    pub wait_all: bool,
    /// The way `record` hears of processes: by calls that wait until they were seen, or by stopping processes.
    #[arg(long, value_name = "WAY", value_parser = ["notify", "ptrace", "auto"])]
    pub via: Option<String>,
    /// The format of the file.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub to: Option<ExportFormat>,
    /// The width of the drawing, in characters.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(40..=400))]
    pub width: Option<u16>,
    /// The level of compression, from 1 to 22.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=22))]
    pub level: Option<i32>,
    /// Words that are not replaced: names, numbers, or names that match; repeatable.
    #[arg(long, value_name = "names|numbers|PATTERN")]
    pub keep: Vec<String>,
    /// A file whose bytes are a secret: it decides by what things are replaced.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Those about trials.
    #[command(flatten)]
    pub trial: TrialFlags,
}

impl QuestionFlags {
    /// The least part of `whole` that is shown: 0 unless `--min` tells.
    pub(crate) fn least(&self, whole: u64) -> u64 {
        self.min.map_or(0, |min| min.of(whole))
    }

    /// The effects of these flags.
    pub(crate) fn touches(&self) -> Touches {
        let writes = self.output.is_some() || self.junit.is_some();
        let reads = self.from.is_some() || self.allow.is_some() || self.baseline.is_some() || self.binary.is_some();
        let reads = reads || self.classes.is_some() || self.key_file.is_some();
        let mut touches = Touches::NOTHING;
        if writes {
            touches = touches | Touches::WRITES_FILES;
        }
        if reads {
            touches = touches | Touches::READS_FILES;
        }
        touches
    }
}

/// The format of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// One object.
    Json,
    /// After RFC 4180.
    Csv,
}

/// A format of other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// The Trace Event Format.
    Chrome,
    /// Packets of Perfetto.
    Perfetto,
    /// After RFC 4180.
    Csv,
    /// One object.
    Json,
    /// A table, as hyperfine writes it.
    Markdown,
    /// The same in AsciiDoc.
    Asciidoc,
    /// The same for Emacs' Org mode.
    Orgmode,
}

/// A snapshot as it is named: by number, or as the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotName {
    /// Counted from 0.
    Number(u32),
    /// The last whole one.
    Last,
}

impl FromStr for SnapshotName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("last") {
            return Ok(SnapshotName::Last);
        }
        let number = text.parse().map_err(|_| format!("`{text}` is no snapshot; type a number, or last"))?;
        Ok(SnapshotName::Number(number))
    }
}

/// The least part or amount that is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Least {
    /// A part of the whole, between 0 and 1.
    Share(f64),
    /// So many bytes or objects.
    Amount(u64),
}

impl Least {
    /// The least amount of a whole that counts.
    pub(crate) fn of(self, whole: u64) -> u64 {
        match self {
            Least::Share(share) => (whole as f64 * share) as u64,
            Least::Amount(amount) => amount,
        }
    }
}

fn parse_least(text: &str) -> Result<Least, String> {
    let share = text.strip_suffix('%').map(|number| number.trim().parse::<f64>().ok());
    match share {
        Some(Some(share)) if (0.0..=100.0).contains(&share) => Ok(Least::Share(share / 100.0)),
        Some(_) => Err("shares are written like 1% or 0.5%".to_owned()),
        None => parse_size(text).map(Least::Amount),
    }
}

fn parse_contents(text: &str) -> Result<Contents, String> {
    match text.split_once('=') {
        None if text == "all" => Ok(Contents::All),
        None if text == "texts" => Ok(Contents::default()),
        None if text == "none" => Ok(Contents::None),
        Some(("texts", size)) => match usize::try_from(parse_size(size)?).unwrap_or(usize::MAX) {
            0..Contents::LEAST_TEXT_BYTES => Err(format!("the least is texts={}", Contents::LEAST_TEXT_BYTES)),
            bytes => Ok(Contents::Texts(bytes)),
        },
        _ => Err("write texts, texts=SIZE, all or none".to_owned()),
    }
}

fn parse_clock(text: &str) -> Result<(String, i64), String> {
    let parsed = text.rsplit_once('=').filter(|(host, _)| !host.is_empty()).and_then(|(host, time)| {
        let (sign, magnitude) = match time.strip_prefix('-') {
            Some(magnitude) => (-1, magnitude),
            None => (1, time.strip_prefix('+').unwrap_or(time)),
        };
        let ns = i64::try_from(barrow_analyzer::parse_duration(magnitude)?).ok()?;
        Some((host.to_owned(), sign * ns))
    });
    parsed.ok_or_else(|| "clocks are written like HOST=-3600s or HOST=+1.5s".to_owned())
}

/// The most jobs of a class that run at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// The class.
    pub class: String,
    /// Jobs.
    pub jobs: u64,
}

fn parse_pool(text: &str) -> Result<Pool, String> {
    let pool = text.rsplit_once('=').filter(|(class, _)| !class.is_empty());
    let (class, jobs) = pool.ok_or_else(|| "slots of a class are written like linker=1".to_owned())?;
    Ok(Pool { class: class.to_owned(), jobs: parse_jobs(jobs)? })
}

fn parse_jobs(text: &str) -> Result<u64, String> {
    let jobs = text.parse().ok().filter(|jobs| (1..=1_000_000).contains(jobs));
    jobs.ok_or_else(|| "a number of jobs is written like 8, and is at least 1".to_owned())
}

/// The sizes of expressions: `64KiB`, `1M`, `4096`.
fn parse_size(text: &str) -> Result<u64, String> {
    barrow_analyzer::parse_size(text).ok_or_else(|| "sizes are written like 4096, 64KiB, 1M or 2GiB".to_owned())
}

/// Milliseconds, or seconds: `250ms`, `250`, `2s`, `0.5s`.
fn parse_interval(text: &str) -> Result<Duration, String> {
    let (number, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1.0),
        (None, Some(number)) => (number, 1000.0),
        (None, None) => (text, 1.0),
    };
    let milliseconds = number.parse::<f64>().ok().map(|number| number * factor);
    let milliseconds = milliseconds.filter(|time| (1.0..=86_400_000.0).contains(time));
    milliseconds
        .map(|time| Duration::from_micros((time * 1000.0) as u64))
        .ok_or_else(|| "times are written like 250ms or 2s".to_owned())
}

fn parse_compression(text: &str) -> Result<Compression, String> {
    let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
    match (name, level.map(str::parse)) {
        ("none", None) => Ok(Compression::None),
        ("lz4", None) => Ok(Compression::Lz4),
        ("zstd", None) => Ok(Compression::Zstd(3)),
        ("zstd", Some(Ok(level @ 1..=22))) => Ok(Compression::Zstd(level)),
        _ => Err("the codecs are none, lz4, zstd and zstd:1 to zstd:22".to_owned()),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    let number: usize = text.parse().map_err(|_| "expected a number".to_owned())?;
    if number <= MOST_THREADS { Ok(number) } else { Err(format!("at most {MOST_THREADS}")) }
}

/// Marks a word as a negative number while flags are read.
const NEGATIVE: char = '\u{1}';

/// The long name of where the standard output of a measured program goes: in `trial`, as in hyperfine.
const PROGRAM_OUTPUT: &str = "program_output";

/// The fields of [`Flags`] itself: every verb and every line knows them.
const EVERYWHERE: [&str; 4] = ["words", "format", "snapshot", "help"];

/// The verb that measures programs.
const TRIAL: &str = "trial";

/// Returns whether the verb is the one that measures programs.
fn is_trial(matches: &ArgMatches) -> bool {
    let verb = matches.get_many::<String>("words").and_then(|mut words| words.next());
    // No shorter word is this verb: `trials` begins with the same letters.
    verb.is_some_and(|verb| verb.eq_ignore_ascii_case(TRIAL))
}

fn is_flag(word: &OsString) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

/// A flag as a verb has it: in `trial`, `--output` is that of the program, and `-o` alone is usual for the recording.
#[must_use]
pub fn flag_of(verb: &str, flag: Arg) -> Arg {
    match flag.get_id().as_str() {
        "output" if verb == TRIAL => flag.long("recording"),
        PROGRAM_OUTPUT if verb == TRIAL => flag.long("output"),
        _ => flag,
    }
}

/// The flags of `trial`.
fn of_trial() -> clap::Command {
    let changed = |command: clap::Command, id: &'static str| command.mut_arg(id, |flag| flag_of(TRIAL, flag));
    ["output", PROGRAM_OUTPUT].into_iter().fold(Flags::command(), changed)
}

/// Reads a command line. Returns it with the flags that it could have.
fn read(words: &[OsString]) -> Result<(clap::Command, ArgMatches), clap::Error> {
    // Making the flags takes longer than reading them, and seldom are there those of `trial`.
    if words.iter().any(|word| word.eq_ignore_ascii_case(TRIAL)) {
        match matches(words, of_trial()) {
            Ok((command, matches)) if is_trial(&matches) => return Ok((command, matches)),
            Err(error) if words.iter().skip(1).find(|word| !is_flag(word)).is_some_and(|word| word == TRIAL) => {
                return Err(error);
            }
            _ => {}
        }
    }
    matches(words, Flags::command())
}

/// Reads flags. Words such as `-3` or `-2..1` are not among them, unless that is the value of one.
fn matches(words: &[OsString], mut command: clap::Command) -> Result<(clap::Command, ArgMatches), clap::Error> {
    let negative = |word: &OsString| {
        let word = word.to_str().filter(|word| {
            let number = word.strip_prefix('-').map(|number| number.strip_prefix('.').unwrap_or(number));
            number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
        })?;
        Some(OsString::from(format!("{NEGATIVE}{word}")))
    };
    let matches = match command.try_get_matches_from_mut(words) {
        Err(error) if error.kind() == clap::error::ErrorKind::UnknownArgument => {
            let marked: Vec<OsString> =
                words.iter().map(|word| negative(word).unwrap_or_else(|| word.clone())).collect();
            command.try_get_matches_from_mut(&marked).map_err(|_| error)
        }
        read => read,
    }?;
    Ok((command, matches))
}

impl Flags {
    /// Reads a command line, without the name of the program.
    ///
    /// # Errors
    /// [`QueryError::Usage`] with what is wrong.
    pub fn of_command_line(words: impl IntoIterator<Item = OsString>) -> Result<Self, QueryError> {
        let program = OsString::from("barrow");
        let words: Vec<OsString> = std::iter::once(program).chain(words).collect();
        let (command, matches) = read(&words).map_err(fault)?;
        let mut flags = Flags::from_arg_matches(&matches).map_err(fault)?;
        for word in &mut flags.words {
            if let Some(negative) = word.strip_prefix(NEGATIVE) {
                *word = negative.to_owned();
            }
        }
        let of_session = command.get_groups().find(|group| group.get_id() == "SessionFlags");
        let of_session: Vec<_> = of_session.into_iter().flat_map(clap::ArgGroup::get_args).collect();
        for flag in command.get_arguments() {
            let id = flag.get_id();
            if matches.value_source(id.as_str()) != Some(ValueSource::CommandLine) || EVERYWHERE.contains(&id.as_str())
            {
                continue;
            }
            let given = if of_session.contains(&id) { &mut flags.of_session } else { &mut flags.given };
            given.push(shown(flag));
        }
        Ok(flags)
    }

    /// Reads the words of a line at the prompt. They keep their quotes, except in a file's name.
    ///
    /// # Errors
    /// [`QueryError::Usage`] with what is wrong.
    pub fn of_line(words: &[String]) -> Result<Self, QueryError> {
        let mut flags = Flags::of_command_line(words.iter().map(Into::into))?;
        if let Some(flag) = flags.of_session.first() {
            return Err(QueryError::usage(format!("{flag} belongs on the command line; see `help set`")));
        }
        let question = &mut flags.question;
        for path in [
            &mut question.output,
            &mut question.from,
            &mut question.allow,
            &mut question.junit,
            &mut question.binary,
            &mut question.classes,
        ] {
            *path = path.take().map(|path| unquoted(&path.to_string_lossy()).into());
        }
        question.avoid = question.avoid.take().map(|text| unquoted_whole(&text));
        for text in [&mut question.baseline, &mut question.frame] {
            *text = text.take().map(|text| unquoted(&text));
        }
        Ok(flags)
    }

    /// Which flags were given that only some verbs know, as help shows them.
    pub(crate) fn given(&self) -> impl Iterator<Item = &str> {
        self.given.iter().map(String::as_str)
    }
}

/// The flags that every verb knows, and those of the command line only, as clap knows them.
#[must_use]
pub fn general_flags() -> Vec<Arg> {
    let of_verbs = question_flags();
    let is_of_verbs = |flag: &Arg| of_verbs.iter().any(|one| one.get_id() == flag.get_id());
    Flags::command().get_arguments().filter(|flag| !flag.is_positional() && !is_of_verbs(flag)).cloned().collect()
}

/// The flags that only some verbs know, as clap knows them.
#[must_use]
pub fn question_flags() -> Vec<Arg> {
    QuestionFlags::augment_args(clap::Command::new("")).get_arguments().cloned().collect()
}

/// A flag as help shows it: `-o`, `--min`.
#[must_use]
pub fn shown(flag: &Arg) -> String {
    match (flag.get_short(), flag.get_long()) {
        (Some(short), _) => format!("-{short}"),
        _ if flag.get_id() == PROGRAM_OUTPUT => "--output".to_owned(),
        (None, long) => format!("--{}", long.unwrap_or_default()),
    }
}

/// The message of clap, in one clause.
fn fault(error: clap::Error) -> QueryError {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let clause = text.split("\n\nUsage:").next().unwrap_or(text).split("\n\nFor more").next().unwrap_or(text);
    let clause = clause.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    QueryError::usage(format!("{clause}; `barrow --help` lists the flags"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Flags, QueryError> {
        Flags::of_command_line(line.split(' ').map(Into::into))
    }

    #[test]
    fn flags_stand_anywhere() {
        for line in ["summary a.barrow all --format json", "--format json summary a.barrow all"] {
            let flags = parse(line).unwrap();
            assert_eq!(flags.words, ["summary", "a.barrow", "all"]);
            assert_eq!(flags.format, Some(Format::Json));
        }
    }

    #[test]
    fn negative_numbers_are_no_flags() {
        let flags = parse("count f .hits < -3 and .load in -2.5..1 or .rate > -.5 -s last").unwrap();
        assert_eq!(flags.words[2..5], [".hits", "<", "-3"]);
        assert_eq!(flags.words[8], "-2.5..1");
        assert_eq!(flags.snapshot, Some(SnapshotName::Last));
        assert!(parse("count f -z -3").is_err());
    }

    #[test]
    fn values_are_checked() {
        let flags = parse("top f -s last --max-memory 64KiB --threads 2 --compression zstd:19").unwrap();
        assert_eq!(flags.snapshot, Some(SnapshotName::Last));
        assert_eq!(flags.session.max_memory, Some(64 << 10));
        assert_eq!(flags.question.compression, Some(Compression::Zstd(19)));
        assert_eq!(parse("watch f --interval 0.5s").unwrap().question.interval, Some(Duration::from_millis(500)));
        assert_eq!(parse("watch f --interval 20ms").unwrap().question.interval, Some(Duration::from_millis(20)));
        for wrong in [
            "--interval 0",
            "--interval soon",
            "--format xml",
            "-s first",
            "--max-memory much",
            "--compression zstd:99",
            "--no-such-flag",
        ] {
            let text = parse(wrong).unwrap_err().to_string();
            assert!(!text.contains('\n') && text.contains("barrow --help"), "{text}");
        }
    }

    #[test]
    fn the_output_of_a_trial_is_that_of_its_program() {
        let flags = parse("trial -o t.barrow --output pipe --threads 2").unwrap();
        assert_eq!(flags.question.output, Some(PathBuf::from("t.barrow")));
        assert_eq!(flags.question.trial.program_output, Some(PathBuf::from("pipe")));
        let given: Vec<&str> = flags.given().collect();
        assert_eq!(given, ["-o", "--output"]);
        assert_eq!(parse("export --output x.csv").unwrap().question.output, Some(PathBuf::from("x.csv")));
    }

    #[test]
    fn a_line_does_not_change_the_machine() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(Flags::of_line(&words("top --threads 2")).is_err());
        let flags = Flags::of_line(&words("repair -o \"x.barrow\" --force")).unwrap();
        assert_eq!(flags.question.output, Some(PathBuf::from("x.barrow")));
    }
}
