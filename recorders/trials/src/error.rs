//! Why nothing was measured.

use std::io;

use barrow_writer::WriterError;

use crate::ended::Failure;

/// Why nothing, or no more, was measured.
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
        /// What the system said.
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
        /// How it ended.
        ended: String,
        /// What it printed first and last, as the end of the sentence.
        said: String,
    },
    /// No run succeeded.
    #[error(
        "no run succeeded: all {failed} failed; run {} of `{}` {}{}", .first.run, .first.variant, .first.why, .first.said
    )]
    AllFailed {
        /// How many runs failed.
        failed: u64,
        /// The first of them.
        first: Box<Failure>,
    },
    /// The recording cannot be made: a sentence.
    #[error("{0}")]
    Destination(String),
    /// A recorded run cannot be repeated.
    #[error("the run cannot be repeated: {0}")]
    NoReplay(&'static str),
    /// The recording cannot be written.
    #[error(transparent)]
    Writer(#[from] WriterError),
    /// Something else that the system refused.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl TrialError {
    pub(crate) fn io(action: &'static str) -> impl FnOnce(io::Error) -> TrialError {
        move |source| TrialError::Io { action, source }
    }
}
