//! Reasons for which a command is not recorded.

use std::io;

use barrow_writer::WriterError;

/// The reason for which a command is not recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// There is no such command.
    #[error("no command {0:?}")]
    NotFound(String),
    /// The command cannot be executed.
    #[error("cannot run {0:?}: {1}")]
    CannotRun(String, io::Error),
    /// The system forbids tracing.
    #[error(
        "the system does not let processes be traced here ({0}); record the recipes of a build with the wrapper instead: BARROW_SH_LOG=build.log make SHELL=$(command -v barrow-sh)"
    )]
    Forbidden(io::Error),
    /// The system has no filters with a listener, or the processes already have one.
    #[error(
        "the system does not report calls here ({}); `--via ptrace` records in another way",
        if .0.kind() == io::ErrorKind::ResourceBusy { "another recording of these processes is by notify".to_owned() } else { .0.to_string() }
    )]
    NoNotify(io::Error),
    /// Another program traces the processes.
    #[error(
        "these processes are traced by {by} already{}, and only one program can do that: record outside of it",
        if *.is_nested { ", and their calls are reported to another recording" } else { "" }
    )]
    Traced {
        /// Its number and name.
        by: String,
        /// Another recording receives their calls as well.
        is_nested: bool,
    },
    /// Another call of the system failed.
    #[error("cannot start the command: {0}")]
    System(io::Error),
    /// The recording cannot be created; a sentence that says why.
    #[error("{0}")]
    Destination(String),
    /// The recording cannot be written.
    #[error("{0}")]
    Writer(#[from] WriterError),
}
