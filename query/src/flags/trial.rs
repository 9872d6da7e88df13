//! The flags of `trial`, and those of questions about trials.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use barrow_analyzer::{Amount, AmountUnit};
use clap::{Args, ValueEnum};

use crate::answer::measured;

/// A unit of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimeUnit {
    /// ns
    Nanosecond,
    /// µs
    Microsecond,
    /// ms
    Millisecond,
    /// s
    Second,
}

impl From<TimeUnit> for measured::TimeUnit {
    fn from(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Nanosecond => measured::TimeUnit::Nanosecond,
            TimeUnit::Microsecond => measured::TimeUnit::Microsecond,
            TimeUnit::Millisecond => measured::TimeUnit::Millisecond,
            TimeUnit::Second => measured::TimeUnit::Second,
        }
    }
}

/// Flags of `trial` and of questions about trials.
#[derive(Debug, Clone, Default, Args)]
pub struct TrialFlags {
    /// The number of runs of each program that count.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub runs: Option<u64>,
    /// The fewest runs of each program, with `--until`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub min_runs: Option<u64>,
    /// The most runs of each program, with `--until`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub max_runs: Option<u64>,
    /// The most time for all runs, with `--until`, like 10min.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub max_time: Option<Duration>,
    /// The memory layout of runs: fixed, random, random=aslr,env,argv,stack,heap,thp or as-is.
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Option<String>,
    /// The number that random layouts and the order of runs follow from.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A value that the program prints: NAME=REGEX, then :higher or :lower is better; repeatable.
    #[arg(long = "value", value_name = "NAME=REGEX")]
    pub values: Vec<String>,
    /// A file of values that each run writes, or - for what it prints: JSON of a benchmark, CSV; repeatable.
    #[arg(long, value_name = "FILE")]
    pub read: Vec<PathBuf>,
    /// Runs before those that count.
    #[arg(long, value_name = "N")]
    pub warmup: Option<u64>,
    /// A command before each run; once for each program if repeated.
    #[arg(long, value_name = "CMD")]
    pub prepare: Vec<String>,
    /// A command after each run; once for each program if repeated.
    #[arg(long, value_name = "CMD")]
    pub conclude: Vec<String>,
    /// A command before all runs of a program.
    #[arg(long, value_name = "CMD")]
    pub setup: Option<String>,
    /// A command after all runs of a program.
    #[arg(long, value_name = "CMD")]
    pub cleanup: Option<String>,
    /// Another program to measure, run in turn with the first; repeatable.
    #[arg(long, value_name = "CMD")]
    pub compare: Vec<String>,
    /// The name of a program in answers; once for each program.
    #[arg(long, value_name = "NAME")]
    pub name: Vec<String>,
    /// The shell that runs commands given as one line; none divides them into words.
    #[arg(long, value_name = "SHELL")]
    pub shell: Option<String>,
    /// Runs that fail count, or only those of these exit statuses: -i=1,2.
    #[arg(short = 'i', long, value_name = "STATUS,..", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub ignore_failure: Option<String>,
    /// A run for each number from FROM to TO in place of {NAME}; repeatable.
    #[arg(short = 'P', long, value_names = ["NAME", "FROM", "TO"], num_args = 3, allow_negative_numbers = true, action = clap::ArgAction::Append)]
    pub parameter_scan: Vec<String>,
    /// The step of --parameter-scan, 1 unless told.
    #[arg(short = 'D', long, value_name = "STEP")]
    pub parameter_step_size: Option<String>,
    /// A run for each of these in place of {NAME}; repeatable.
    #[arg(short = 'L', long, value_names = ["NAME", "A,B,.."], num_args = 2, allow_hyphen_values = true, action = clap::ArgAction::Append)]
    pub parameter_list: Vec<String>,
    /// A run that takes longer is killed and has failed, like 30s.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,
    /// Do not count what the program allocates.
    #[arg(long)]
    pub no_heap_counts: bool,
    /// The standard input of the program: a file; empty unless told.
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Where the standard output of the program goes: null, pipe, inherit or a file; pipe if --value or --read - reads it,
    /// otherwise null.
    #[arg(long = "program-output", value_name = "null|pipe|inherit|FILE")]
    pub program_output: Option<PathBuf>,
    /// Show what the program prints, on its standard output and its standard error.
    #[arg(long)]
    pub show_output: bool,
    /// Measure only if nothing on the machine disturbs.
    #[arg(long)]
    pub no_disturb: bool,
    /// Repeat a run of a recording under its layout.
    #[arg(long, value_name = "RUN")]
    pub replay: Option<u32>,
    /// A command that a replayed program runs under, like 'gdb --args'.
    #[arg(long, value_name = "CMD")]
    pub under: Option<String>,
    /// Write what was measured as a Markdown table.
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
    /// Write what was measured as JSON, with hyperfine's results.
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// Write what was measured as CSV.
    #[arg(long, value_name = "FILE")]
    pub export_csv: Option<PathBuf>,
    /// Write what was measured as an AsciiDoc table.
    #[arg(long, value_name = "FILE")]
    pub export_asciidoc: Option<PathBuf>,
    /// Write what was measured as a table of Emacs' Org mode.
    #[arg(long, value_name = "FILE")]
    pub export_orgmode: Option<PathBuf>,
    /// The order of programs in tables: as they were given, or by their mean time.
    #[arg(long, value_name = "ORDER", value_enum)]
    pub sort: Option<SortBy>,
    /// The unit of times in tables, chosen for each time unless told.
    #[arg(short = 'u', long, value_name = "UNIT", value_enum)]
    pub time_unit: Option<TimeUnit>,
    /// The reference of comparisons: a command to measure, or a program of the recording.
    #[arg(long, value_name = "CMD|PROGRAM")]
    pub reference: Option<String>,
    /// The name of the command that the others are compared with.
    #[arg(long, value_name = "NAME", requires = "reference")]
    pub reference_name: Option<String>,
    /// The least difference that matters, relative to the median, like 5%.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub threshold: Option<f64>,
    /// The least difference that matters, in the unit of the metric, like 1ns or 64K.
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount)]
    pub floor: Option<f64>,
    /// The least change of the weight of a mode that matters, in points, like 10%.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub weight: Option<f64>,
}

/// The order of programs in tables, by the names that hyperfine gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SortBy {
    /// As they were given.
    #[default]
    Auto,
    /// As they were given.
    Command,
    /// By the mean of their times.
    MeanTime,
}

/// The end of a series: a snapshot, or a precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// A snapshot.
    Snapshot(u32),
    /// A precision, as a part of the whole.
    Precision(f64),
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.ends_with('%') {
            let share = parse_share(text)?;
            return match share > 0.0 {
                true => Ok(Until::Precision(share)),
                false => Err("a precision is more than 0, like 5%".to_owned()),
            };
        }
        text.parse().map(Until::Snapshot).map_err(|_| "a number of a snapshot, or a precision like 5%".to_owned())
    }
}

/// Times with a unit: `300ms`, `30s`, `10min`, `1h`.
fn parse_time(text: &str) -> Result<Duration, String> {
    let time = barrow_analyzer::parse_duration(text).map(Duration::from_nanos);
    let time = time.filter(|time| (Duration::from_millis(1)..=Duration::from_secs(10_000_000)).contains(time));
    time.ok_or_else(|| "times are written like 300ms, 30s, 10min or 1h".to_owned())
}

/// A part of a whole: `5%`, `0.5%`.
fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = share.filter(|share| (0.0..=1000.0).contains(share));
    share.map(|share| share / 100.0).ok_or_else(|| "shares are written like 5% or 0.5%".to_owned())
}

/// An amount in the unit of a metric: nanoseconds, bytes, or whatever it counts.
fn parse_amount(text: &str) -> Result<f64, String> {
    let amount = Amount::parse(text).filter(|amount| amount.unit != AmountUnit::Share);
    amount.map(|amount| amount.value).ok_or_else(|| "amounts are written like 1ns, 2.5us, 64K or 100".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_shares_and_amounts_have_units() {
        assert_eq!(parse_time("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_time("2min"), Ok(Duration::from_secs(120)));
        assert!(["5", "s", "5 weeks", "-1s", "1e9h"].into_iter().all(|text| parse_time(text).is_err()));
        assert_eq!(parse_share("5%"), Ok(0.05));
        assert!(["5", "-1%", "%", "nan%"].into_iter().all(|text| parse_share(text).is_err()));
        let amounts = ["1ns", "2.5us", "64K", "100", "0.5"].map(parse_amount);
        assert_eq!(amounts, [Ok(1.0), Ok(2500.0), Ok(65536.0), Ok(100.0), Ok(0.5)]);
        assert!(["", "inf", "-1", "x", "5%"].into_iter().all(|text| parse_amount(text).is_err()));
    }

    #[test]
    fn an_end_is_a_snapshot_or_a_precision() {
        assert_eq!("7".parse(), Ok(Until::Snapshot(7)));
        assert_eq!("2.5%".parse(), Ok(Until::Precision(0.025)));
        assert!("0%".parse::<Until>().is_err() && "soon".parse::<Until>().is_err());
    }
}
