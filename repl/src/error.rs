//! Why a question was not answered, and the exit code that says so.

use std::io;

use barrow_analyzer::AnalyzerError;
use barrow_importers::ImportError;
use barrow_writer::WriterError;

use crate::interrupt;

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplError {
    /// The question was not understood; the text says what to type.
    #[error("{message}")]
    Usage {
        /// A clause, and the way out.
        message: String,
    },
    /// An expression was not understood: four lines, with a caret under the place.
    #[error("{message}\n    {text}\n    {blanks}^\n  {help}", blanks = " ".repeat(*column))]
    Expression {
        /// A clause.
        message: String,
        /// The expression, with hidden characters written out.
        text: String,
        /// How many characters of it are before the place.
        column: usize,
        /// The way out.
        help: String,
    },
    /// `--version`: no fault.
    #[error("barrow {}", crate::version::version())]
    Version,
    /// A file that cannot be opened or understood.
    #[error("{path}: {cause}")]
    Unreadable {
        /// As it was named.
        path: String,
        /// A clause, and the way out.
        cause: String,
    },
    /// There is nothing to ask.
    #[error("this recording holds no whole snapshot; `info` tells what it does hold")]
    NoSnapshot,
    /// The recording did not answer.
    #[error(transparent)]
    Analyzer(AnalyzerError),
    /// A dump could not be imported.
    #[error("{path}: {source}")]
    Import {
        /// The dump.
        path: String,
        /// Why.
        source: ImportError,
    },
    /// A recording could not be written.
    #[error("{path}: {source}")]
    Write {
        /// The recording.
        path: String,
        /// Why.
        source: WriterError,
    },
    /// A file of ours could not be written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The answer could not be printed.
    #[error("cannot print the answer: {0}")]
    Print(io::Error),
    /// Ctrl-C.
    #[error("stopped: the answer is not complete")]
    Stopped,
}

impl ReplError {
    /// A fault of the question.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        ReplError::Usage { message: message.into() }
    }

    /// A file that could not be written, with its name.
    pub(crate) fn file(path: &std::path::Path, source: io::Error) -> Self {
        ReplError::File { path: path.display().to_string(), source }
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            ReplError::Version => code::ANSWERED,
            ReplError::Usage { .. } | ReplError::Expression { .. } => code::USAGE,
            ReplError::Analyzer(
                AnalyzerError::NoSnapshot { .. }
                | AnalyzerError::NoObject { .. }
                | AnalyzerError::OtherSnapshot { .. }
                | AnalyzerError::SameFile { .. },
            ) => code::USAGE,
            ReplError::Print(error) if error.kind() == io::ErrorKind::BrokenPipe => code::ANSWERED,
            ReplError::Stopped => code::STOPPED,
            ReplError::Analyzer(AnalyzerError::MemoryCeiling { .. } | AnalyzerError::Allocation { .. }) => {
                code::CEILING
            }
            ReplError::Import { source: ImportError::UnpacksToMore { .. } | ImportError::NoRoom { .. }, .. } => {
                code::CEILING
            }
            error if is_ceiling(error) => code::CEILING,
            _ => code::UNREADABLE,
        }
    }
}

/// Whether the cause of it all is that the machine has no more of something.
fn is_ceiling(error: &ReplError) -> bool {
    use io::ErrorKind::{FileTooLarge, OutOfMemory, QuotaExceeded, StorageFull};
    let first: &dyn std::error::Error = error;
    let mut causes = std::iter::successors(Some(first), |cause| cause.source());
    causes.any(|cause| {
        let system = cause.downcast_ref::<io::Error>();
        system.is_some_and(|error| matches!(error.kind(), FileTooLarge | OutOfMemory | QuotaExceeded | StorageFull))
    })
}

impl From<io::Error> for ReplError {
    fn from(error: io::Error) -> Self {
        if interrupt::is_stop(&error) { ReplError::Stopped } else { ReplError::Print(error) }
    }
}

impl From<AnalyzerError> for ReplError {
    fn from(error: AnalyzerError) -> Self {
        match error {
            AnalyzerError::Cancelled => ReplError::Stopped,
            error => ReplError::Analyzer(error),
        }
    }
}

/// The exit codes, as `docs/commands.md` promises them.
pub(crate) mod code {
    /// The question was answered.
    pub(crate) const ANSWERED: u8 = 0;
    /// `verify` found damage.
    pub(crate) const DAMAGE_FOUND: u8 = 1;
    /// An assertion is false.
    pub(crate) const FALSE: u8 = 1;
    /// The question was not understood.
    pub(crate) const USAGE: u8 = 2;
    /// The file could not be read.
    pub(crate) const UNREADABLE: u8 = 3;
    /// Answered from damaged input; stderr says what was lost.
    pub(crate) const DAMAGED_INPUT: u8 = 4;
    /// A resource ceiling.
    pub(crate) const CEILING: u8 = 5;
    /// Ctrl-C.
    pub(crate) const STOPPED: u8 = 130;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_a_ceiling() {
        let path = std::path::Path::new("a.barrow");
        assert_eq!(ReplError::file(path, io::ErrorKind::StorageFull.into()).code(), code::CEILING);
        assert_eq!(ReplError::file(path, io::ErrorKind::PermissionDenied.into()).code(), code::UNREADABLE);
        let source = ImportError::UnpacksToMore { packed_bytes: 1, limit: 2 };
        assert_eq!(ReplError::Import { path: "a.zst".to_owned(), source }.code(), code::CEILING);
    }

    #[test]
    fn nobody_listening_is_no_failure() {
        assert_eq!(ReplError::Print(io::ErrorKind::BrokenPipe.into()).code(), code::ANSWERED);
        assert_eq!(ReplError::from(AnalyzerError::Cancelled).code(), code::STOPPED);
    }
}
