//! `barrow trial --replay RUN FILE`: a recorded run once more, under its layout.

use std::ffi::OsString;
use std::path::Path;

use barrow_process_recorder::die_of;
use barrow_query::{Flags, QueryError};
use barrow_trial_recorder::{Replay, TrialError, replay as repeat};
use barrow_trials::{Trials, TrialsError};

use crate::complaint::complain;
use crate::error::ReplError;

use super::refused;

/// Repeats a run. Returns its exit status.
///
/// # Errors
/// A usage error, a file that cannot be read.
pub(super) fn replay(flags: &Flags, run: u32, words: &[String], command: &[OsString]) -> Result<u8, ReplError> {
    let [file] = words else {
        return Err(ReplError::usage("which recording? `barrow trial --replay RUN FILE`"));
    };
    if !command.is_empty() {
        return Err(ReplError::usage("a replayed run has its command in the recording; none follows `--`"));
    }
    let under = flags.question.trial.under.as_deref().unwrap_or_default();
    let under =
        shlex::split(under).ok_or_else(|| ReplError::usage(format!("`--under {under}`: a quote is not closed")))?;
    let under: Vec<OsString> = under.into_iter().map(OsString::from).collect();
    let trials = Trials::open(Path::new(file)).map_err(|error| match error {
        TrialsError::Analyzer(error) => QueryError::from(error),
        error => QueryError::usage(error.to_string()),
    })?;
    let recorded = trials.run(run).map_err(|error| QueryError::usage(error.to_string()))?;
    let variant = &trials.variants()[recorded.variant.index()];
    let knobs = recorded.knobs.iter().filter(|knob| knob.iteration.is_none());
    let again = Replay {
        command: variant.command.clone(),
        directory: variant.directory.clone(),
        attributes: variant.attributes.clone(),
        knobs: knobs.map(|knob| (knob.name.to_string(), knob.value.to_string())).collect(),
        seed: recorded.seed,
    };
    if !again.is_repeatable() && !flags.session.quiet {
        complain("the system chose the addresses of this run and chooses others now; the other knobs are as they were");
    }
    match repeat(&again, &under) {
        Ok(ended) => Ok(match (ended.exit_status, ended.signal) {
            (Some(status), _) => u8::try_from(status).unwrap_or(u8::MAX),
            (None, Some(signal)) => die_of(u64::try_from(signal).unwrap_or_default()),
            (None, None) => 0,
        }),
        Err(error @ TrialError::NoReplay(_)) => Err(ReplError::usage(error.to_string())),
        Err(error) => Ok(refused(&error)),
    }
}
