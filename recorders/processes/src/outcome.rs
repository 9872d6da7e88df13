//! The result of a recording.

use barrow_writer::{ProcessEnd, Usage, WriterError};

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this status.
    Status(u8),
    /// This signal ended it.
    Signal(u64),
}

/// The result of a recording.
#[derive(Debug)]
pub struct Outcome {
    /// The end of the command.
    pub ended: Ended,
    /// One sentence for each thing that was not recorded.
    pub notes: Vec<String>,
    /// The error that left the recording incomplete.
    pub failure: Option<WriterError>,
}

impl Ended {
    /// Decodes the status of `wait`.
    pub(crate) fn of(status: i32) -> Self {
        match status & 0x7f {
            0 => Ended::Status(((status >> 8) & 0xff) as u8),
            signal => Ended::Signal(u64::from(signal.unsigned_abs())),
        }
    }

    /// The same as it is recorded of a process of which no usage is known.
    pub(crate) fn without_usage(self) -> ProcessEnd {
        let (exit_status, signal) = match self {
            Ended::Status(status) => (Some(status.into()), None),
            Ended::Signal(signal) => (None, Some(signal)),
        };
        ProcessEnd { exit_status, signal, used: Usage::default() }
    }
}

/// A sentence that names the programs that ran without the rights of their owners, if there are any.
pub(crate) fn without_rights(programs: &[String]) -> Option<String> {
    let mut names = programs.to_vec();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!("ran without the rights of its owner, which only root can record it with: {}", names.join(", "))
    })
}
