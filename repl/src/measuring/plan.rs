//! A plan of runs from the flags of a command line.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use barrow_query::commands::Command;
use barrow_query::flags::{TrialFlags, Until};
use barrow_query::{Flags, QueryError};
use barrow_trial_recorder::{
    IgnoreFailure, Layout, LayoutKind, OutputTo, Plan, ReadValues, Reported, Shell, Stop, ValuePattern, is_measured,
};

use super::commands;

/// Runs unless told: with fewer, an interval of a median is wide. This is a judgement.
const RUNS: u64 = 20;
/// Limits of `--until` unless told: the usual number of runs at least, and at most what people wait for. These are
/// judgements.
const LEAST_RUNS: u64 = 20;
const MOST_RUNS: u64 = 1_000;
const MOST_TIME: Duration = Duration::from_secs(600);

/// The plan that flags, lines and the command after `--` describe.
///
/// # Errors
/// A usage error.
pub(super) fn of(
    flags: &Flags,
    verb: &'static Command,
    lines: &[String],
    command: &[OsString],
) -> Result<Plan, QueryError> {
    let trial = &flags.question.trial;
    if trial.under.is_some() {
        return Err(QueryError::usage("`--under` is what a replayed run runs under: add `--replay RUN`"));
    }
    let shell = shell(trial.shell.as_deref())?;
    let variants = commands::variants(verb, lines, command, trial, &shell)?;
    let programs = variants.len();
    for (name, commands) in [("--prepare", &trial.prepare), ("--conclude", &trial.conclude)] {
        if commands.len() > 1 && commands.len() != programs {
            let (given, wanted) = (commands.len(), programs);
            return Err(QueryError::usage(format!(
                "{given} times `{name}` for {wanted} programs; give it once, or once for each"
            )));
        }
    }
    let layout = trial.layout.as_deref().map_or(Ok(Layout::AS_IS), |text| text.parse().map_err(QueryError::usage))?;
    Ok(Plan {
        variants,
        stop: stop(flags)?,
        warmup: trial.warmup.unwrap_or_default(),
        layout,
        seed: trial.seed.unwrap_or_else(|| seed(layout)),
        prepare: trial.prepare.clone(),
        conclude: trial.conclude.clone(),
        setup: trial.setup.clone(),
        cleanup: trial.cleanup.clone(),
        values: patterns(&trial.values)?,
        files: trial.read.iter().map(|file| ReadValues { file: file.clone(), read }).collect(),
        ignore_failure: trial.ignore_failure.as_deref().map_or(Ok(IgnoreFailure::None), ignored)?,
        time_limit: trial.time_limit,
        count_heap: !trial.no_heap_counts,
        count_events: true,
        input: trial.input.clone(),
        output: output(trial)?,
        show_output: shows_output(trial)?,
        // Commands around runs go to a shell even if the programs themselves need none.
        shell: shell.unwrap_or(Shell::Default),
    })
}

/// The shell that was asked for.
fn shell(text: Option<&str>) -> Result<Option<Shell>, QueryError> {
    Ok(match text {
        None => None,
        Some("none") => Some(Shell::None),
        Some("default") => Some(Shell::Default),
        Some(text) => {
            let words = shlex::split(text).filter(|words| !words.is_empty());
            let words = words.ok_or_else(|| QueryError::usage(format!("`--shell {text}` is no command")))?;
            Some(Shell::Custom(words))
        }
    })
}

fn stop(flags: &Flags) -> Result<Stop, QueryError> {
    let trial = &flags.question.trial;
    let TrialFlags { runs, min_runs, max_runs, max_time, .. } = trial;
    match (flags.question.until, runs) {
        (Some(Until::Snapshot(_)), _) => Err(QueryError::usage("`--until` is a precision here, like 5%")),
        (Some(Until::Precision(_)), Some(_)) => {
            Err(QueryError::usage("`-n` is a number of runs and `--until` finds one; give one of them"))
        }
        (Some(Until::Precision(precision)), None) => {
            let at_most = max_runs.unwrap_or_else(|| MOST_RUNS.max(min_runs.unwrap_or_default()));
            let at_least = min_runs.unwrap_or_else(|| LEAST_RUNS.min(at_most));
            if at_least > at_most {
                return Err(QueryError::usage(format!(
                    "at least {at_least} and at most {at_most} runs cannot be made"
                )));
            }
            Ok(Stop::Until { precision, at_least, at_most, within: max_time.unwrap_or(MOST_TIME) })
        }
        (None, _) if min_runs.or(*max_runs).is_some() || max_time.is_some() => {
            Err(QueryError::usage("`--min-runs`, `--max-runs` and `--max-time` limit `--until`, like `--until 5%`"))
        }
        (None, runs) => Ok(Stop::Runs(runs.unwrap_or(RUNS))),
    }
}

/// A seed: the same for all fixed layouts, otherwise one that was never there.
fn seed(layout: Layout) -> u64 {
    match layout.kind {
        LayoutKind::Fixed => 0,
        LayoutKind::AsIs | LayoutKind::Random => RandomState::new().build_hasher().finish(),
    }
}

/// The values of a file that a run wrote. A metric that `barrow trial` measures itself, and one of several programs, has the
/// name of the program before its own.
fn read(bytes: &[u8]) -> Result<Vec<Reported>, String> {
    let values = barrow_importers::read_values(bytes).map_err(|error| error.to_string())?.values;
    let is_one = values.windows(2).all(|pair| pair[0].variant == pair[1].variant);
    let values = values.iter().filter(|value| !value.failed).map(|value| {
        let metric = match is_one && !is_measured(&value.metric) {
            true => value.metric.to_string(),
            false => format!("{} {}", value.variant, value.metric),
        };
        Reported { seed: value.seed, value: value.value, ..Reported::new(&metric, &value.unit, value.better) }
    });
    Ok(values.collect())
}

fn patterns(texts: &[String]) -> Result<Vec<ValuePattern>, QueryError> {
    let mut patterns: Vec<ValuePattern> = Vec::new();
    for text in texts {
        let pattern: ValuePattern =
            text.parse().map_err(|error: String| QueryError::usage(format!("--value: {error}")))?;
        if patterns.iter().any(|other| other.name == pattern.name) {
            return Err(QueryError::usage(format!("--value: `{}` has two patterns; one name each", pattern.name)));
        }
        patterns.push(pattern);
    }
    Ok(patterns)
}

fn ignored(text: &str) -> Result<IgnoreFailure, QueryError> {
    if matches!(text, "all" | "all-non-zero") {
        return Ok(IgnoreFailure::All);
    }
    let statuses = text.split(',').map(|status| status.trim().parse().ok().filter(|status| (0..256).contains(status)));
    let statuses = statuses.collect::<Option<Vec<i32>>>();
    statuses.map(IgnoreFailure::Statuses).ok_or_else(|| {
        QueryError::usage(format!(
            "`--ignore-failure={text}`: exit statuses are written like 1,2; without any, all count"
        ))
    })
}

/// The destination of the standard output of programs. It is read if values are searched in it, and discarded
/// otherwise: reading takes time, which adds to the measured time of a program that prints much.
fn output(trial: &TrialFlags) -> Result<OutputTo, QueryError> {
    let reads_all = trial.read.iter().any(|file| file.as_os_str() == "-");
    let to = match trial.program_output.as_deref().map(|path| (path, path.to_str())) {
        None if reads_all || !trial.values.is_empty() => OutputTo::Pipe,
        None | Some((_, Some("null"))) => OutputTo::Null,
        Some((_, Some("pipe"))) => OutputTo::Pipe,
        Some((_, Some("inherit"))) => OutputTo::Inherit,
        Some((path, _)) if path.extension().is_some_and(|extension| extension == "barrow") => {
            let path = path.display();
            return Err(QueryError::usage(format!(
                "`--output {path}` is a file for what the program prints; the recording is `-o {path}`"
            )));
        }
        Some((path, _)) => OutputTo::File(path.to_owned()),
    };
    match reads_all && to != OutputTo::Pipe {
        true => Err(QueryError::usage("`--read -` reads what the program prints: that is `--output pipe`")),
        false => Ok(to),
    }
}

/// Values are found in what a program prints, so that cannot go to the terminal as well.
fn shows_output(trial: &TrialFlags) -> Result<bool, QueryError> {
    match trial.show_output && !trial.values.is_empty() {
        true => {
            Err(QueryError::usage("`--value` reads what the program prints, and `--show-output` shows it: not both"))
        }
        false => Ok(trial.show_output),
    }
}
