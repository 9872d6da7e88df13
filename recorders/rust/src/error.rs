//! Why nothing could be recorded.

use std::fmt;

/// Why nothing could be recorded. The program's own allocations are not affected.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// Only one recording can be written at a time.
    AlreadyRecording,
    /// The system has no memory for the recorder's tables.
    NoMemory,
    /// This process was forked from the one that records.
    Forked,
    /// The recording cannot be written.
    #[cfg(feature = "record")]
    Writer(barrow_writer::WriterError),
    /// The file cannot be made.
    Io(std::io::Error),
}

impl fmt::Display for RecordError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::AlreadyRecording => out.write_str("a recording is being written already: finish it first"),
            RecordError::NoMemory => out.write_str("the system has no memory for the tables of the recorder"),
            RecordError::Forked => out.write_str("the recording belongs to the process from which this one was forked"),
            #[cfg(feature = "record")]
            RecordError::Writer(error) => error.fmt(out),
            RecordError::Io(error) => write!(out, "cannot create the recording: {error}"),
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            #[cfg(feature = "record")]
            RecordError::Writer(error) => Some(error),
            RecordError::Io(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(feature = "record")]
impl From<barrow_writer::WriterError> for RecordError {
    fn from(error: barrow_writer::WriterError) -> Self {
        RecordError::Writer(error)
    }
}
