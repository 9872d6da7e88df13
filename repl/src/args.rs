//! Flags, and nothing else: of the command line and of a line at the prompt.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use barrow_importers::ObjectLayout;
use barrow_writer::Compression;
use clap::{Parser, ValueEnum};

use crate::error::ReplError;

/// Asks a barrow recording questions.
#[derive(Debug, Clone, Default, Parser)]
#[command(name = "barrow", version, disable_help_flag = true)]
pub(crate) struct Flags {
    /// A verb, the file it asks and its arguments; or a file to open at the prompt.
    pub(crate) words: Vec<String>,
    /// How answers are printed.
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// The snapshot that is asked: a number, or `last`.
    #[arg(short, long, value_name = "N|last")]
    pub(crate) snapshot: Option<SnapshotName>,
    /// How many threads may work.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// How much memory may be used, like 512MiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_memory: Option<u64>,
    /// No colours.
    #[arg(long)]
    pub(crate) no_color: bool,
    /// No progress.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// No index file is read or written.
    #[arg(long)]
    pub(crate) no_index: bool,
    /// How the JVM of an HPROF dump laid out objects: REFERENCE,HEADER,ARRAY_BASE,ALIGNMENT in bytes.
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) object_layout: Option<ObjectLayout>,
    /// How much a compressed dump may unpack to, like 64GiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_unpacked: Option<u64>,
    /// A line to run as if typed at the prompt; repeatable.
    #[arg(short = 'e', long = "line", value_name = "LINE")]
    pub(crate) lines: Vec<String>,
    /// A file of such lines.
    #[arg(short = 'f', long, value_name = "SCRIPT")]
    pub(crate) script: Option<PathBuf>,
    /// What can be asked.
    #[arg(short, long)]
    pub(crate) help: bool,
    /// summary: decode the objects instead of trusting the statistics.
    #[arg(long)]
    pub(crate) verify: bool,
    /// import, repack, repair, resolve: the recording to write.
    #[arg(short, long, value_name = "DST")]
    pub(crate) output: Option<PathBuf>,
    /// import, repack, repair, resolve: replace DST if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// path: objects that no path leads through.
    #[arg(long, value_name = "EXPR")]
    pub(crate) avoid: Option<String>,
    /// path: references that keep nothing alive count too.
    #[arg(long)]
    pub(crate) weak: bool,
    /// dominators, paths: so many levels of the tree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
    /// dominators, paths, leaks, assert: leave out what is less, like 1% or 64K.
    #[arg(long, value_name = "SHARE|SIZE", value_parser = parse_least)]
    pub(crate) min: Option<Least>,
    /// assert: a file of assertions, one a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// assert: a file of fingerprints of known leaks, one a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) allow: Option<PathBuf>,
    /// assert: the recording to compare with, or a snapshot of it, FILE:3.
    #[arg(long, value_name = "OTHER")]
    pub(crate) baseline: Option<String>,
    /// assert: write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// watch: how long to wait between two looks, like 250ms or 2s.
    #[arg(long, value_name = "TIME", value_parser = parse_interval)]
    pub(crate) interval: Option<Duration>,
    /// watch: the snapshot to end with.
    #[arg(long, value_name = "N")]
    pub(crate) until: Option<u32>,
    /// watch: what has to hold for each snapshot; repeatable.
    #[arg(long = "assert", value_name = "ASSERTION")]
    pub(crate) assertions: Vec<String>,
    /// import: none, lz4, zstd or zstd:LEVEL.
    #[arg(long, value_name = "CODEC", value_parser = parse_compression)]
    pub(crate) compression: Option<Compression>,
    /// resolve: the program that was recorded, where it is not where it was.
    #[arg(long, value_name = "PATH")]
    pub(crate) binary: Option<PathBuf>,
    /// import: each snapshot as its difference to the one before, where objects can be told apart.
    #[arg(long)]
    pub(crate) patches: bool,
    /// import: sort the dumps by when they were taken.
    #[arg(long)]
    pub(crate) by_time: bool,
    /// repack: how hard to compress, from 1 to 22.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=22))]
    pub(crate) level: Option<i32>,
}

/// How answers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Table,
    /// One object.
    Json,
    /// After RFC 4180.
    Csv,
}

/// A snapshot as it is named: by number, or as the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SnapshotName {
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

/// What is too little to be shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Least {
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

/// More would be busy with starting and ending.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let number: usize = text.parse().map_err(|_| "expected a number".to_owned())?;
    if number <= MOST_THREADS { Ok(number) } else { Err(format!("at most {MOST_THREADS}")) }
}

impl Flags {
    /// Reads a command line, without the name of the program.
    ///
    /// `Err` with text and no fault for `--version`.
    pub(crate) fn of_command_line(words: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Self, ReplError> {
        let program = std::ffi::OsString::from("barrow");
        Flags::try_parse_from(std::iter::once(program).chain(words)).map_err(fault)
    }

    /// Reads the words of a line at the prompt. They keep their quotes, except in a file's name.
    pub(crate) fn of_line(words: &[String]) -> Result<Self, ReplError> {
        let mut flags = Flags::of_command_line(words.iter().map(Into::into))?;
        flags.output = flags.output.map(|path| crate::line::unquoted(&path.to_string_lossy()).into());
        flags.avoid = flags.avoid.map(|text| crate::line::unquoted_whole(&text));
        for path in [&mut flags.from, &mut flags.allow, &mut flags.junit, &mut flags.binary].into_iter().flatten() {
            *path = crate::line::unquoted(&path.to_string_lossy()).into();
        }
        flags.baseline = flags.baseline.map(|name| crate::line::unquoted(&name));
        let outside = [
            ("--threads", flags.threads.is_some()),
            ("--max-memory", flags.max_memory.is_some()),
            ("--no-color", flags.no_color),
            ("--quiet", flags.quiet),
            ("--no-index", flags.no_index),
            ("--object-layout", flags.object_layout.is_some()),
            ("--max-unpacked", flags.max_unpacked.is_some()),
            ("-e", !flags.lines.is_empty()),
            ("-f", flags.script.is_some()),
        ];
        match outside.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(ReplError::usage(format!("{flag} belongs on the command line; see `help set`"))),
            None => Ok(flags),
        }
    }

    /// The flags that only some verbs know, with whether they were given.
    pub(crate) fn of_verbs(&self) -> [(&'static str, bool); 19] {
        [
            ("--verify", self.verify),
            ("-o", self.output.is_some()),
            ("--force", self.force),
            ("--compression", self.compression.is_some()),
            ("--patches", self.patches),
            ("--by-time", self.by_time),
            ("--level", self.level.is_some()),
            ("--binary", self.binary.is_some()),
            ("--avoid", self.avoid.is_some()),
            ("--weak", self.weak),
            ("--depth", self.depth.is_some()),
            ("--min", self.min.is_some()),
            ("--from", self.from.is_some()),
            ("--allow", self.allow.is_some()),
            ("--baseline", self.baseline.is_some()),
            ("--junit", self.junit.is_some()),
            ("--interval", self.interval.is_some()),
            ("--until", self.until.is_some()),
            ("--assert", !self.assertions.is_empty()),
        ]
    }
}

/// What clap says, in one clause.
fn fault(error: clap::Error) -> ReplError {
    if error.kind() == clap::error::ErrorKind::DisplayVersion {
        return ReplError::Version;
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let clause = text.split("\n\nUsage:").next().unwrap_or(text).split("\n\nFor more").next().unwrap_or(text);
    let clause = clause.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    ReplError::usage(format!("{clause}; `barrow --help` lists the flags"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Flags, ReplError> {
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
    fn values_are_checked() {
        let flags = parse("top f -s last --max-memory 64KiB --threads 2 --compression zstd:19").unwrap();
        assert_eq!(flags.snapshot, Some(SnapshotName::Last));
        assert_eq!(flags.max_memory, Some(64 << 10));
        assert_eq!(flags.compression, Some(Compression::Zstd(19)));
        assert_eq!(parse("watch f --interval 0.5s").unwrap().interval, Some(Duration::from_millis(500)));
        assert_eq!(parse("watch f --interval 20ms").unwrap().interval, Some(Duration::from_millis(20)));
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
    fn a_line_does_not_change_the_machine() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(Flags::of_line(&words("top --threads 2")).is_err());
        let flags = Flags::of_line(&words("repair -o \"x.barrow\" --force")).unwrap();
        assert_eq!(flags.output, Some(PathBuf::from("x.barrow")));
    }
}
