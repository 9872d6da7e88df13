//! `barrow record -- COMMAND`: runs a command and records its processes.

use std::ffi::OsString;
use std::path::Path;

use barrow_process_recorder::{Ended, Options, Outcome, RecorderError, Via, die_of, record};
use barrow_query::commands::Command;
use barrow_query::{Flags, QueryError, Question};
use barrow_writer::WriterError;
use regex::Regex;

use crate::complaint::complain;
use crate::destination::create;
use crate::error::ReplError;

/// The default path of the recording.
const DESTINATION: &str = "record.barrow";
/// barrow failed, not the command.
const FAILED: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Takes the command off the words of a command line: everything after the first `--`, if the verb is
/// `record` or `trial`.
pub(crate) fn cut_command(mut words: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
    let cut = words.iter().position(|word| word == "--");
    match cut {
        Some(cut) if verb(&words[..cut]).is_some_and(|verb| verb == "record" || verb == "trial") => {
            let command = words.split_off(cut + 1);
            words.truncate(cut);
            (words, command)
        }
        _ => (words, Vec::new()),
    }
}

/// The first word that is no flag.
fn verb(words: &[OsString]) -> Option<&OsString> {
    words.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-"))
}

/// The exit codes of failures: of `record` one that a command seldom has itself.
pub(crate) fn code_of_failures(words: &[OsString]) -> fn(&ReplError) -> u8 {
    match verb(words) {
        Some(verb) if verb == "record" => |_| FAILED,
        _ => ReplError::code,
    }
}

/// Records a command. Returns its exit status, or why there is none.
///
/// # Errors
/// A usage error.
pub(crate) fn run(
    flags: &Flags,
    verb: &'static Command,
    words: &[String],
    command: &[OsString],
) -> Result<u8, ReplError> {
    match options(flags, verb, words, command) {
        Ok(options) => Ok(run_with(flags, command, options)),
        Err(error) => {
            complain(&error.to_string());
            Ok(FAILED)
        }
    }
}

fn options(
    flags: &Flags,
    verb: &'static Command,
    words: &[String],
    command: &[OsString],
) -> Result<Options, QueryError> {
    if let Some(word) = words.first() {
        return Err(QueryError::usage(format!("`{word}` before `--`; `barrow {}`", verb.usage())));
    }
    Question::of_words(verb, words, false, flags).check()?;
    if command.is_empty() {
        return Err(QueryError::usage(format!("which command? `barrow {}`", verb.usage())));
    }
    let asked = &flags.question;
    let usual = Options::default();
    Ok(Options {
        via: asked.via.as_deref().and_then(Via::named).unwrap_or_default(),
        redact: asked.redact.iter().map(|text| expression(text)).collect::<Result<_, _>>()?,
        arguments: !asked.no_arguments,
        memory: !asked.no_memory,
        interval: asked.interval.unwrap_or(usual.interval),
        wait_all: asked.wait_all,
    })
}

fn expression(text: &str) -> Result<Regex, QueryError> {
    Regex::new(text).map_err(|error| QueryError::usage(format!("`--redact {text}` is no regular expression: {error}")))
}

fn run_with(flags: &Flags, command: &[OsString], options: Options) -> u8 {
    let to = flags.question.output.as_deref().unwrap_or(Path::new(DESTINATION));
    let line = if options.arguments { shell_line(command) } else { shell_line(&command[..1]) };
    match record(command, &line, options, || create(to, flags.question.force, RecorderError::Destination)) {
        Ok(outcome) => finish(&outcome, to),
        Err(error) => {
            complain(&error.to_string());
            match error {
                RecorderError::NotFound(_) => NOT_FOUND,
                RecorderError::CannotRun(..) => CANNOT_RUN,
                _ => FAILED,
            }
        }
    }
}

fn finish(outcome: &Outcome, to: &Path) -> u8 {
    for note in &outcome.notes {
        complain(note);
    }
    if let Some(error) = &outcome.failure {
        complain(&incomplete(error, to));
    }
    match outcome.ended {
        Ended::Status(status) => status,
        Ended::Signal(signal) => die_of(signal),
    }
}

fn incomplete(error: &WriterError, to: &Path) -> String {
    format!("{} is not complete: {error}; the command went on without it", to.display())
}

/// The command as a shell reads it.
fn shell_line(command: &[OsString]) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-+=./,:@%".contains(c));
    match is_plain && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_command_follows_two_dashes() {
        assert_eq!(
            cut_command(words("--quiet record -o x -- a -- b")),
            (words("--quiet record -o x"), words("a -- b"))
        );
        assert_eq!(cut_command(words("top record -- x")), (words("top record -- x"), Vec::new()));
    }

    #[test]
    fn a_line_is_quoted_as_shells_read_it() {
        assert_eq!(shell_line(&["a=b".into(), "it's".into(), "".into()]), r"a=b 'it'\''s' ''");
    }
}
