//! Why a command is not recorded.

use std::io;

use barrow_writer::WriterError;

/// Why a command is not recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// There is no such command.
    #[error("no command {0:?}")]
    NotFound(String),
    /// The command cannot be executed.
    #[error("cannot run {0:?}: {1}")]
    CannotRun(String, io::Error),
    /// The system forbids to trace.
    #[error(
        "the system does not let processes be traced here ({0}); record the recipes of a build with the wrapper instead: BARROW_SH_LOG=build.log make SHELL=$(command -v barrow-sh)"
    )]
    Forbidden(io::Error),
    /// The system refuses something else.
    #[error("cannot start the command: {0}")]
    System(io::Error),
    /// The recording cannot be begun, in a sentence.
    #[error("{0}")]
    Destination(String),
    /// The recording cannot be written.
    #[error("{0}")]
    Writer(#[from] WriterError),
}
