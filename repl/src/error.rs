//! Why the terminal has no answer to show.

use std::io::{self, Write};

use barrow_query::QueryError;
use barrow_query::answer::visible;
use barrow_query::error::code;

use crate::complaint::complain;
use crate::interrupt;

/// Why there is no answer, or why it cannot be printed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplError {
    /// The question was not answered.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The answer could not be printed.
    #[error("cannot print the answer: {0}")]
    Print(io::Error),
    /// Ctrl-C came after the answer, while what it had computed was written to the index file.
    #[error("stopped: the answer is complete, its index is not kept")]
    Unkept,
}

impl ReplError {
    /// A fault of the question.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        ReplError::Query(QueryError::usage(message))
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            ReplError::Query(error) => error.code(),
            ReplError::Unkept => code::STOPPED,
            ReplError::Print(_) if self.is_broken_pipe() => code::ANSWERED,
            ReplError::Print(cause) => code::of_io(cause),
        }
    }

    /// Returns whether the program that should read the answer is gone.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, ReplError::Print(cause) if cause.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns whether Ctrl-C is the cause.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self, ReplError::Query(QueryError::Stopped) | ReplError::Unkept)
    }
}

impl From<io::Error> for ReplError {
    fn from(error: io::Error) -> Self {
        if interrupt::is_stop(&error) { QueryError::Stopped.into() } else { ReplError::Print(error) }
    }
}

/// Tells on stderr why there is no answer.
pub(crate) fn report(error: &ReplError) {
    match error {
        error if error.is_broken_pipe() => {}
        ReplError::Query(QueryError::Expression { .. }) => {
            drop(writeln!(io::stderr(), "barrow: {}", visible::lines(&error.to_string())));
        }
        error => complain(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_failure() {
        assert_eq!(ReplError::Print(io::ErrorKind::BrokenPipe.into()).code(), code::ANSWERED);
        assert_eq!(ReplError::Print(io::ErrorKind::StorageFull.into()).code(), code::CEILING);
    }
}
