//! Errors of trials.

use std::io;

use barrow_writer::WriterError;

use crate::ended::Failure;

/// The reason for which nothing, or nothing more, was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// There is no such program.
    #[error("`{0}` was not found")]
    NotFound(String),
    /// The program cannot be executed.
    #[error("`{program}` cannot be executed: {cause}")]
    CannotRun {
        /// The program.
        program: String,
        /// The error of the system.
        cause: io::Error,
    },
    /// A line of a command could not be divided into words.
    #[error("`{0}` cannot be divided into words: a quote is not closed, or there are none")]
    Words(String),
    /// A command around the runs failed.
    #[error("`{command}` failed: {ended}{said}")]
    Around {
        /// The command.
        command: String,
        /// The end of the command.
        ended: String,
        /// The first and last part of its output, as the end of the sentence.
        said: String,
    },
    /// No run succeeded.
    #[error(
        "no run succeeded: all {failed} failed; run {} of `{}` {}{}", .first.run, .first.variant, .first.why, .first.said
    )]
    AllFailed {
        /// Number of runs that failed.
        failed: u64,
        /// The first failure.
        first: Box<Failure>,
    },
    /// The recording cannot be created; a sentence.
    #[error("{0}")]
    Destination(String),
    /// A recorded run cannot be repeated.
    #[error("the run cannot be repeated: {0}")]
    NoReplay(&'static str),
    /// The recording cannot be written.
    #[error(transparent)]
    Writer(#[from] WriterError),
    /// Another operation that the system refused.
    #[error("cannot {action}: {source}")]
    Io {
        /// The operation.
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

impl TrialError {
    pub(crate) fn io(action: &'static str) -> impl FnOnce(io::Error) -> TrialError {
        move |source| TrialError::Io { action, source }
    }
}
