//! `barrow record -- COMMAND`: runs a command and records its processes.

use std::ffi::OsString;

use barrow_query::commands;
use barrow_query::{Flags, Question};

use crate::error::ReplError;

/// The exit code of failures that are not those of the command.
const FAILED: u8 = 125;
/// The exit code of a command that cannot be executed.
#[cfg(target_os = "linux")]
const CANNOT_RUN: u8 = 126;
/// The exit code of a command that is not found.
#[cfg(target_os = "linux")]
const NOT_FOUND: u8 = 127;

/// Runs what follows `--`, and records it. Returns the exit code.
pub(crate) fn run(words: &[OsString]) -> u8 {
    let (ours, command) = match words.iter().position(|word| word == "--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[][..]),
    };
    match checked(ours, command) {
        Ok(Some(flags)) => recorded(&flags, command),
        Ok(None) => 0,
        Err(error) => {
            crate::error::report(&error);
            FAILED
        }
    }
}

/// The flags, if they make sense; `None` if they asked for help, which is printed.
fn checked(ours: &[OsString], command: &[OsString]) -> Result<Option<Flags>, ReplError> {
    let flags = Flags::of_command_line(ours.iter().cloned())?;
    let verb = commands::named("record")?;
    if flags.help {
        println!("{}", commands::page(verb));
        return Ok(None);
    }
    Question::of_words(verb, &[], false, &flags).check()?;
    if let Some(word) = flags.words.get(1) {
        return Err(ReplError::usage(format!("`{word}` before `--`; the form is `barrow {}`", verb.usage())));
    }
    if command.is_empty() {
        return Err(ReplError::usage(format!("which command? `barrow {}`", verb.example)));
    }
    Ok(Some(flags))
}

#[cfg(not(target_os = "linux"))]
fn recorded(_: &Flags, _: &[OsString]) -> u8 {
    crate::complaint::complain("processes are traced on Linux only; `barrow-sh` in the place of the shell records elsewhere");
    FAILED
}

#[cfg(target_os = "linux")]
fn recorded(flags: &Flags, command: &[OsString]) -> u8 {
    use crate::complaint::complain;
    use barrow_process_recorder::{RecordError, record};

    let options = match options(flags) {
        Ok(options) => options,
        Err(error) => {
            crate::error::report(&error);
            return FAILED;
        }
    };
    match record(command, options) {
        Ok(recorded) => {
            recorded.remarks.iter().for_each(|remark| complain(remark));
            if let Some(problem) = recorded.problem {
                complain(&format!("the recording is not complete: {problem}"));
            }
            if let Some(signal) = recorded.ended.signal {
                barrow_process_recorder::die_of(signal);
            }
            recorded.ended.status.unwrap_or(FAILED)
        }
        Err(error) => {
            complain(&error.to_string());
            match error {
                RecordError::Command { source, .. } if source.kind() == std::io::ErrorKind::NotFound => NOT_FOUND,
                RecordError::Command { .. } => CANNOT_RUN,
                _ => FAILED,
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn options(flags: &Flags) -> Result<barrow_process_recorder::Options, ReplError> {
    use std::time::Duration;

    /// The time between two samples of memory.
    const INTERVAL: Duration = Duration::from_millis(200);
    let asked = &flags.question;
    let output = asked.output.clone().unwrap_or_else(|| "record.barrow".into());
    if !asked.force && output.exists() {
        let name = output.display();
        return Err(ReplError::usage(format!("{name} exists; `--force` replaces it, `-o OTHER.barrow` keeps it")));
    }
    let regex = |text: &String| {
        barrow_process_recorder::Regex::new(text)
            .map_err(|error| ReplError::usage(format!("`--redact {text}`: {error}")))
    };
    Ok(barrow_process_recorder::Options {
        output,
        redact: asked.redact.iter().map(regex).collect::<Result<_, _>>()?,
        with_arguments: !asked.no_arguments,
        interval: (!asked.no_memory).then(|| asked.interval.unwrap_or(INTERVAL)),
    })
}
