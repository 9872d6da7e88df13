//! The plan of a trial: the programs, the number of runs, and their settings.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::TrialError;
use crate::layout::Layout;
use crate::pattern::ValuePattern;
use crate::reported::Reported;

/// The programs of a trial, the number of runs, and their settings.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The programs.
    pub variants: Vec<VariantPlan>,
    /// The shell of commands that are lines.
    pub shell: Shell,
    /// The condition that ends the trial.
    pub stop: Stop,
    /// Runs of each program before those that count.
    pub warmup: u64,
    /// The memory layout of runs.
    pub layout: Layout,
    /// The seed of random layouts and of the order of runs.
    pub seed: u64,
    /// Commands before each run: none, one for all programs, or one for each.
    pub prepare: Vec<String>,
    /// Commands after each run, likewise.
    pub conclude: Vec<String>,
    /// A command before all runs of a program.
    pub setup: Option<String>,
    /// A command after all runs of a program.
    pub cleanup: Option<String>,
    /// Values that programs print.
    pub values: Vec<ValuePattern>,
    /// Files of values that programs write.
    pub files: Vec<ReadValues>,
    /// Which exit statuses other than 0 are no failures.
    pub ignore_failure: IgnoreFailure,
    /// A run that takes longer is killed, and has failed.
    pub time_limit: Option<Duration>,
    /// Count allocations of programs.
    pub count_heap: bool,
    /// Instructions, cycles and misses are counted where the kernel permits.
    pub count_events: bool,
    /// The standard input of programs; empty by default.
    pub input: Option<PathBuf>,
    /// The destination of the standard output of programs. Their standard error is always read, and its ends are kept
    /// of a failed run.
    pub output: OutputTo,
    /// Show the output of programs, on the standard error as well, whatever `output` says.
    pub show_output: bool,
}

/// The destination of the standard output of programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputTo {
    /// To `/dev/null`.
    Null,
    /// To this process, which looks for values in it and keeps the ends of that of a failed run.
    Pipe,
    /// To a file, which each run writes anew.
    File(PathBuf),
    /// To the standard output of this process.
    Inherit,
}

/// A file of values that each run writes.
#[derive(Debug, Clone)]
pub struct ReadValues {
    /// The file; `-` is what the program prints.
    pub file: PathBuf,
    /// Reads its bytes, or says why there are no values.
    pub read: fn(&[u8]) -> Result<Vec<Reported>, String>,
}

/// A program that is measured.
#[derive(Debug, Clone)]
pub struct VariantPlan {
    /// Its name in answers.
    pub name: String,
    /// The program and its arguments.
    pub command: Command,
    /// The parameters that its command was made with.
    pub parameters: Vec<(String, String)>,
}

/// A command.
#[derive(Debug, Clone)]
pub enum Command {
    /// Words, the first of which is the program.
    Words(Vec<OsString>),
    /// A line for a shell.
    Line(String),
}

/// The shell of commands that are lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shell {
    /// `/bin/sh -c`.
    Default,
    /// None: a line is divided into words as a shell would, and nothing else of it means anything.
    None,
    /// Another one: words before `-c` and the line.
    Custom(Vec<String>),
}

/// The condition that ends a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// After so many runs of each program that count.
    Runs(u64),
    /// Modes, or the median if there is one, are known this precisely at 95 %.
    Until {
        /// As a part of the whole.
        precision: f64,
        /// The fewest runs of each program.
        at_least: u64,
        /// The most runs of each program.
        at_most: u64,
        /// The most time.
        within: Duration,
    },
}

/// Which exit statuses other than 0 are no failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IgnoreFailure {
    /// None.
    None,
    /// All of them, and signals.
    All,
    /// These.
    Statuses(Vec<i32>),
}

impl IgnoreFailure {
    /// Whether a run with this exit status has failed.
    pub(crate) fn is_failure(&self, exit_status: Option<i32>) -> bool {
        match (self, exit_status) {
            (_, Some(0)) | (IgnoreFailure::All, _) => false,
            (IgnoreFailure::Statuses(statuses), Some(status)) => !statuses.contains(&status),
            _ => true,
        }
    }
}

impl Command {
    /// The words that are executed.
    pub(crate) fn words(&self, shell: &Shell) -> Result<Vec<OsString>, TrialError> {
        match (self, shell) {
            (Command::Words(words), _) if !words.is_empty() => Ok(words.clone()),
            (Command::Words(_), _) => Err(TrialError::Words(String::new())),
            (Command::Line(line), shell) => line_words(line, shell),
        }
    }

    /// The command as one text, for people.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Command::Line(line) => line.clone(),
            Command::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
                let quoted = shlex::try_join(words.iter().map(String::as_str));
                quoted.unwrap_or_else(|_| words.join(" "))
            }
        }
    }
}

/// The words that run a line.
pub(crate) fn line_words(line: &str, shell: &Shell) -> Result<Vec<OsString>, TrialError> {
    match shell {
        Shell::Default => Ok(["/bin/sh", "-c", line].map(OsString::from).to_vec()),
        Shell::Custom(words) => Ok(words.iter().map(String::as_str).chain(["-c", line]).map(OsString::from).collect()),
        Shell::None => {
            let words = shlex::split(line).filter(|words| !words.is_empty());
            let words = words.ok_or_else(|| TrialError::Words(line.to_owned()))?;
            Ok(words.into_iter().map(OsString::from).collect())
        }
    }
}

impl Shell {
    /// Its name in a recording.
    pub(crate) fn name(&self) -> String {
        match self {
            Shell::Default => "/bin/sh".to_owned(),
            Shell::None => "none".to_owned(),
            Shell::Custom(words) => words.join(" "),
        }
    }
}

/// A text with the values of parameters in place of their names: `{n}`. What a value says is not looked at again.
#[must_use]
pub fn filled(text: &str, parameters: &[(String, String)]) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        result.push_str(before);
        let inner = &from[1..];
        let found = parameters.iter().find_map(|(name, value)| {
            let after = inner.strip_prefix(name.as_str())?.strip_prefix('}')?;
            Some((value.as_str(), after))
        });
        let (value, after) = found.unwrap_or(("{", inner));
        result.push_str(value);
        rest = after;
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_to_the_shell_or_are_divided() {
        let line = Command::Line("sort 'a b' | head".to_owned());
        assert_eq!(line.words(&Shell::Default).unwrap(), ["/bin/sh", "-c", "sort 'a b' | head"]);
        assert_eq!(line.words(&Shell::None).unwrap(), ["sort", "a b", "|", "head"]);
        let shell = Shell::Custom(vec!["bash".into(), "-e".into()]);
        assert_eq!(line.words(&shell).unwrap(), ["bash", "-e", "-c", "sort 'a b' | head"]);
        for wrong in ["", "  ", "echo 'x"] {
            assert!(Command::Line(wrong.to_owned()).words(&Shell::None).is_err(), "{wrong}");
        }
        assert_eq!(Command::Words(vec!["a b".into(), "c".into()]).text(), "'a b' c");
    }

    #[test]
    fn some_failures_are_none() {
        let some = IgnoreFailure::Statuses(vec![1, 3]);
        let found = [Some(0), Some(1), Some(2), None].map(|status| some.is_failure(status));
        assert_eq!(found, [false, false, true, true]);
        assert!(!IgnoreFailure::All.is_failure(None) && IgnoreFailure::None.is_failure(Some(1)));
    }

    #[test]
    fn values_are_not_filled_in_again() {
        let parameters =
            [("n", "{m}"), ("m", "1"), ("mm", "{")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(filled("{n} {m}{mm} {x} {n", &parameters), "{m} 1{ {x} {n");
    }
}
