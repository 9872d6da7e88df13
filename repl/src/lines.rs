//! Lines of `-e`, of a script, or of a pipe, run one after the other.

use std::fs;
use std::io;

use barrow_query::answer::units;
use barrow_query::error::code;
use barrow_query::{Flags, QueryError};

use crate::asking::Terminal;
use crate::complaint::complain;
use crate::error::{ReplError, report};

/// The lines of `-e` and `-f`.
///
/// # Errors
/// A script that cannot be read.
pub(crate) fn lines_of(flags: &Flags) -> Result<Vec<String>, ReplError> {
    let mut lines = flags.session.lines.clone();
    if let Some(script) = &flags.session.script {
        let unreadable =
            |error: io::Error| QueryError::Unreadable { path: script.display().to_string(), cause: error.to_string() };
        lines.extend(fs::read_to_string(script).map_err(unreadable)?.lines().map(str::to_owned));
    }
    Ok(lines)
}

/// Runs lines until one is not understood, or stopped by Ctrl-C. The exit code is that of the first that failed, or that
/// of Ctrl-C.
pub(crate) fn run_lines(terminal: &mut Terminal, mut lines: impl Iterator<Item = String>) -> u8 {
    let mut first_failure = code::ANSWERED;
    while let Some(line) = lines.next() {
        let answered = terminal.ask_line(&line);
        terminal.session.remember(line);
        let code = answered.as_ref().copied().unwrap_or_else(ReplError::code);
        if let Some(error) = answered.as_ref().err().filter(|error| error.is_stop()) {
            report(error);
            return code;
        }
        if first_failure == code::ANSWERED {
            first_failure = code;
        }
        if let Err(error) = answered {
            report(&error);
            if code == code::USAGE {
                tell_unasked(&lines);
            }
            if code == code::USAGE || error.is_broken_pipe() {
                return first_failure;
            }
        }
        if terminal.session.has_ended() {
            break;
        }
    }
    first_failure
}

/// Says how many lines follow one that is not understood, if that is known: of a pipe it is not.
fn tell_unasked(lines: &impl Iterator<Item = String>) {
    match lines.size_hint() {
        (least, Some(most)) if least == most && least > 0 => {
            complain(&format!("not asked: {} after it", units::counted(least as u64, "line")));
        }
        _ => {}
    }
}
