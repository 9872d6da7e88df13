//! `barrow trial`: runs programs many times, records every value, and tells what was measured.
//!
//! `commands` makes programs of words, `lines` and `parameters`; `plan` makes a plan of flags; `replaying` repeats a run.

mod commands;
mod lines;
mod parameters;
mod plan;
mod replaying;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use barrow_query::answer::units;
use barrow_query::commands::Command;
use barrow_query::error::code;
use barrow_query::flags::{ExportFormat, TrialFlags};
use barrow_query::{Flags, Format, QueryError, Question, Watcher as _};
use barrow_trial_recorder::{
    Failure, Observer, Outcome, Plan, Progress, Stop, TrialError, disturbances, hear_termination, record,
};

use crate::asking::Terminal;
use crate::complaint::complain;
use crate::destination::Reserved;
use crate::error::ReplError;
use crate::interrupt;
use crate::progress::ProgressLine;

/// The default path of the recording.
const DESTINATION: &str = "trial.barrow";
/// A run failed.
const RUN_FAILED: u8 = 1;
/// barrow failed, not the program.
const FAILED: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Measures what `words`, flags and the command after `--` say, or repeats a run. Returns the exit code.
///
/// # Errors
/// A usage error, those of questions.
pub(crate) fn run(
    flags: &Flags,
    verb: &'static Command,
    words: &[String],
    command: &[OsString],
) -> Result<u8, ReplError> {
    Question::of_words(verb, words, false, flags).check()?;
    if let Some(run) = flags.question.trial.replay {
        return replaying::replay(flags, run, words, command);
    }
    let plan = plan::of(flags, verb, words, command)?;
    let to = flags.question.output.as_deref().unwrap_or(Path::new(DESTINATION));
    let exports = exports(flags)?;
    tell_disturbances(flags)?;
    interrupt::listen();
    hear_termination();
    let reporter = Reporter { line: ProgressLine::new(flags.session.quiet), is_quiet: flags.session.quiet };
    let reserve = || Reserved::new(to, flags.question.force).and_then(Reserved::kept).map_err(TrialError::Destination);
    let recorded = record(&plan, reserve, &reporter);
    reporter.line.end();
    let outcome = match recorded {
        Ok(outcome) => outcome,
        Err(error) => return Ok(refused(&error)),
    };
    tell_outcome(&outcome, &plan, flags.session.quiet);
    interrupt::clear();
    if !outcome.recorded {
        let kept = if to.exists() { format!(", and {} is as it was", to.display()) } else { String::new() };
        complain(&format!("no run was recorded{kept}"));
        return Ok(code::STOPPED);
    }
    let reference = flags.question.trial.reference.as_ref().and(plan.variants.first()).map(|first| first.name.clone());
    tell_values(flags, to, &exports, (&outcome, reference))?;
    Ok(match outcome {
        Outcome { cancelled: true, .. } => code::STOPPED,
        Outcome { failed: 0, .. } => code::ANSWERED,
        _ => RUN_FAILED,
    })
}

/// Why nothing was measured, on stderr. Returns the exit code.
fn refused(error: &TrialError) -> u8 {
    complain(&error.to_string());
    match error {
        TrialError::NotFound(_) => NOT_FOUND,
        TrialError::CannotRun { .. } => CANNOT_RUN,
        TrialError::AllFailed { .. } => RUN_FAILED,
        TrialError::Words(_) => code::USAGE,
        TrialError::Destination(_) => code::UNREADABLE,
        _ => FAILED,
    }
}

/// The files that are written beside the recording.
fn exports(flags: &Flags) -> Result<Vec<(ExportFormat, PathBuf)>, QueryError> {
    let trial = &flags.question.trial;
    let wanted = [
        (ExportFormat::Markdown, &trial.export_markdown),
        (ExportFormat::Json, &trial.export_json),
        (ExportFormat::Csv, &trial.export_csv),
        (ExportFormat::Asciidoc, &trial.export_asciidoc),
        (ExportFormat::Orgmode, &trial.export_orgmode),
    ];
    let exports: Vec<_> = wanted.into_iter().filter_map(|(format, path)| Some((format, path.clone()?))).collect();
    // After an hour of runs it would be late to say so.
    for (_, path) in &exports {
        if path.as_os_str() == "-" {
            return Err(QueryError::usage(
                "exports are files; `export --to` writes to the standard output, and `./-` is a file",
            ));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(QueryError::usage(format!("{}: there is no folder {}", path.display(), folder.display())));
        }
    }
    match exports.iter().find(|(_, path)| path.exists() && !flags.question.force) {
        Some((_, path)) => Err(QueryError::usage(format!("{} exists; add --force to replace it", path.display()))),
        None => Ok(exports),
    }
}

/// Reports what makes times vary on this machine; an error if the flags require that nothing does.
fn tell_disturbances(flags: &Flags) -> Result<(), QueryError> {
    let found = disturbances();
    if found.is_empty() {
        return Ok(());
    }
    let sentence = found.join("; ");
    if flags.question.trial.no_disturb {
        return Err(QueryError::usage(format!("times would not be worth much: {sentence}")));
    }
    if !flags.session.quiet {
        complain(&format!("times may vary: {sentence}"));
    }
    Ok(())
}

fn tell_outcome(outcome: &Outcome, plan: &Plan, is_quiet: bool) {
    if let Some(Failure { run, variant, why, said, .. }) = &outcome.first_failure {
        let (runs, failed) = (units::counted(outcome.runs, "run"), outcome.failed);
        complain(&format!("{failed} of {runs} failed, first run {run} of `{variant}`, which {why}{said}"));
    }
    if let (true, Stop::Runs(runs)) = (outcome.cancelled, plan.stop) {
        let planned = units::counted(runs * plan.variants.len() as u64, "run");
        complain(&format!("stopped after {} of {planned}", outcome.runs));
    }
    if let (Some(false), false, Stop::Until { precision, .. }) = (outcome.reached, outcome.cancelled, plan.stop) {
        let wanted = precision * 100.0;
        let known = match outcome.precision {
            Some(known) => format!("values are known to {:.1} %, not to {wanted} %", known * 100.0),
            None if outcome.depends => {
                format!("values depend on the order of runs, so they are not known to {wanted} % (see `modes`)")
            }
            None => format!("values are not known to {wanted} % yet"),
        };
        complain(&format!("{known}: the limit of runs or of time came first"));
    }
    if let (Some(true), Some(known), false) = (outcome.reached, outcome.precision, is_quiet) {
        complain(&format!("values are known to {:.1} % after {}", known * 100.0, units::counted(outcome.runs, "run")));
    }
}

/// Writes the exports, and prints what was measured.
fn tell_values(
    flags: &Flags,
    to: &Path,
    exports: &[(ExportFormat, PathBuf)],
    (outcome, reference): (&Outcome, Option<String>),
) -> Result<(), ReplError> {
    let mut terminal = Terminal::new(flags)?;
    let name = to.to_string_lossy();
    terminal.open(&name)?;
    // Only flags for tables apply here; all others were those of the runs.
    let mut shown = Flags::default();
    shown.format = flags.format;
    let (TrialFlags { sort, time_unit, .. }, of_answers) = (&flags.question.trial, &mut shown.question.trial);
    (of_answers.sort, of_answers.time_unit) = (*sort, *time_unit);
    // Before anything is printed: who reads it may end early, like `head`.
    for (format, path) in exports {
        let mut flags = shown.clone();
        flags.question.trial.reference.clone_from(&reference);
        flags.question.to = Some(*format);
        flags.question.output = Some(path.clone());
        flags.question.force = true;
        let export = barrow_query::commands::named("export")?;
        terminal.session.ask(&Question::of_words(export, &[], false, &flags))?;
    }
    terminal.ask(&Question::of_words(barrow_query::commands::named("trials")?, &[], false, &shown))?;
    if outcome.succeeded_programs > 1 && flags.format.unwrap_or_default() == Format::Table {
        terminal.ask(&Question::of_words(barrow_query::commands::named("compare")?, &[], false, &shown))?;
    }
    if flags.format.unwrap_or_default() == Format::Table && !flags.session.quiet && outcome.runs > 0 {
        complain(&format!("every value is in {name}: `barrow histogram {name} wall`, `modes`, `compare`, `runs`"));
    }
    Ok(())
}

/// Shows how a trial goes on.
struct Reporter {
    line: ProgressLine,
    is_quiet: bool,
}

impl Observer for Reporter {
    fn run_ended(&self, progress: &Progress<'_>) {
        if !self.line.is_due() {
            return;
        }
        let phase = match (progress.warmup, progress.precision) {
            (true, _) => "warming up".to_owned(),
            (false, None) => "runs".to_owned(),
            (false, Some(known)) => format!("known to {:.1} %, runs", known * 100.0),
        };
        let failed = if progress.failed > 0 { format!(", {} failed", progress.failed) } else { String::new() };
        let last = units::duration(progress.wall_ns);
        self.line.reached(&phase, progress.done, progress.planned, progress.elapsed, &format!("{failed}, last {last}"));
    }

    fn note(&self, text: &str) {
        if !self.is_quiet {
            self.line.end();
            complain(text);
        }
    }

    fn is_cancelled(&self) -> bool {
        interrupt::requested()
    }
}
