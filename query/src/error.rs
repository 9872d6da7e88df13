//! Why a question was not answered, and the exit code that says so.

use std::fmt::Display;
use std::io;

use barrow_analyzer::AnalyzerError;
use barrow_importers::ImportError;
use barrow_processes::ProcessError;
use barrow_rewrite::RewriteError;
use barrow_trials::TrialsError;
use barrow_writer::WriterError;

use crate::touches::Touches;

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
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
        /// Number of characters before the place.
        column: usize,
        /// The way out.
        help: String,
    },
    /// The session does not allow what the question touches.
    #[error("`{verb}` is not allowed here: it {touches}")]
    NotAllowed {
        /// The verb.
        verb: &'static str,
        /// The effects that are not allowed.
        touches: Touches,
    },
    /// No threads can be started.
    #[error("threads cannot be started: {cause}")]
    Threads {
        /// A clause.
        cause: String,
    },
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
    /// It is of processes or trials and not of a heap.
    #[error("this recording holds no heap; `help` has questions about what it does hold")]
    NoHeap,
    /// There is no process tree to ask about.
    #[error("this recording holds no processes; `barrow record -- COMMAND` records those of a command")]
    NoProcesses,
    /// There are no trials to ask about.
    #[error("this recording holds no trials; `barrow trial -- COMMAND` records those of a program")]
    NoTrials,
    /// The recording did not answer.
    #[error(transparent)]
    Analyzer(AnalyzerError),
    /// The recording was not audited, redacted, repaired, repacked or resolved.
    #[error(transparent)]
    Rewrite(RewriteError),
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
    /// The question was stopped by its [`Watcher`](crate::Watcher).
    #[error("stopped: the answer is not complete")]
    Stopped,
}

impl QueryError {
    /// A fault of the question.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        QueryError::Usage { message: message.into() }
    }

    /// A file that cannot be opened or understood, by the name that the user gave.
    pub(crate) fn unreadable(path: impl Display, cause: impl Display) -> Self {
        QueryError::Unreadable { path: path.to_string(), cause: cause.to_string() }
    }

    /// A file that could not be written, with its name.
    #[must_use]
    pub fn file(path: &std::path::Path, source: io::Error) -> Self {
        QueryError::File { path: path.display().to_string(), source }
    }

    /// Threads that could not be started.
    pub(crate) fn threads(error: rayon::ThreadPoolBuildError) -> Self {
        QueryError::Threads { cause: error.to_string() }
    }

    /// Returns whether the question was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.code() == code::STOPPED
    }

    /// Returns whether it needs more memory or disk than there is.
    #[must_use]
    pub fn is_ceiling(&self) -> bool {
        self.code() == code::CEILING
    }

    /// The exit code of a program that ends with it.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            QueryError::Usage { .. } | QueryError::Expression { .. } | QueryError::NotAllowed { .. } => code::USAGE,
            QueryError::Analyzer(
                AnalyzerError::NoSnapshot { .. }
                | AnalyzerError::NoObject { .. }
                | AnalyzerError::NoField { .. }
                | AnalyzerError::NoElements { .. }
                | AnalyzerError::ReplacedNumbers
                | AnalyzerError::NoKeys
                | AnalyzerError::OtherValues { .. }
                | AnalyzerError::NoUnmanagedSizes
                | AnalyzerError::OtherSnapshot { .. }
                | AnalyzerError::LineRules { .. },
            ) => code::USAGE,
            QueryError::Rewrite(
                RewriteError::SameFile { .. }
                | RewriteError::NoAddresses
                | RewriteError::Symbols(_)
                | RewriteError::OtherProgram { .. },
            ) => code::USAGE,
            QueryError::Stopped => code::STOPPED,
            QueryError::Analyzer(
                AnalyzerError::MemoryCeiling { .. }
                | AnalyzerError::MemoryExceeded { .. }
                | AnalyzerError::TemporaryRoom { .. }
                | AnalyzerError::Allocation { .. },
            ) => code::CEILING,
            QueryError::Import { source: ImportError::UnpacksToMore { .. } | ImportError::NoRoom { .. }, .. } => {
                code::CEILING
            }
            error if lacks_room(error) => code::CEILING,
            _ => code::UNREADABLE,
        }
    }
}

/// Returns whether some cause of the error is that the machine has no more memory, disk or other resource.
fn lacks_room(error: &QueryError) -> bool {
    let first: &dyn std::error::Error = error;
    let mut causes = std::iter::successors(Some(first), |cause| cause.source());
    causes.any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| code::of_io(error) == code::CEILING))
}

impl From<AnalyzerError> for QueryError {
    fn from(error: AnalyzerError) -> Self {
        match error {
            AnalyzerError::Cancelled => QueryError::Stopped,
            error => QueryError::Analyzer(error),
        }
    }
}

impl From<ProcessError> for QueryError {
    fn from(error: ProcessError) -> Self {
        match error {
            ProcessError::Analyzer(error) => error.into(),
            error => QueryError::usage(error.to_string()),
        }
    }
}

impl From<TrialsError> for QueryError {
    fn from(error: TrialsError) -> Self {
        match error {
            TrialsError::Analyzer(error) => error.into(),
            error => QueryError::usage(error.to_string()),
        }
    }
}

impl From<RewriteError> for QueryError {
    fn from(error: RewriteError) -> Self {
        match error {
            RewriteError::Cancelled => QueryError::Stopped,
            RewriteError::Analyzer(error) => error.into(),
            error => QueryError::Rewrite(error),
        }
    }
}

/// The exit codes, as `docs/commands.md` promises them.
pub mod code {
    /// The question was answered.
    pub const ANSWERED: u8 = 0;
    /// `verify` found damage.
    pub const DAMAGE_FOUND: u8 = 1;
    /// An assertion is false.
    pub const FALSE: u8 = 1;
    /// The question was not understood.
    pub const USAGE: u8 = 2;
    /// The file could not be read.
    pub const UNREADABLE: u8 = 3;
    /// Answered from damaged input; stderr says what was lost.
    pub const DAMAGED_INPUT: u8 = 4;
    /// A resource ceiling.
    pub const CEILING: u8 = 5;
    /// The question was stopped: Ctrl-C.
    pub const STOPPED: u8 = 130;

    /// The exit code of a file that cannot be read or written.
    #[must_use]
    pub fn of_io(error: &std::io::Error) -> u8 {
        use std::io::ErrorKind::{FileTooLarge, OutOfMemory, QuotaExceeded, StorageFull};
        match error.kind() {
            FileTooLarge | OutOfMemory | QuotaExceeded | StorageFull => CEILING,
            _ => UNREADABLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_a_ceiling() {
        let path = std::path::Path::new("a.barrow");
        assert_eq!(QueryError::file(path, io::ErrorKind::StorageFull.into()).code(), code::CEILING);
        assert_eq!(QueryError::file(path, io::ErrorKind::PermissionDenied.into()).code(), code::UNREADABLE);
        let source = ImportError::UnpacksToMore { packed_bytes: 1, limit: 2 };
        assert_eq!(QueryError::Import { path: "a.zst".to_owned(), source }.code(), code::CEILING);
    }

    #[test]
    fn a_question_about_what_was_not_recorded_is_a_fault_of_the_question() {
        for error in
            [AnalyzerError::NoElements { has_contents: true }, AnalyzerError::ReplacedNumbers, AnalyzerError::NoKeys]
        {
            assert_eq!(QueryError::from(error).code(), code::USAGE);
        }
    }

    #[test]
    fn a_cancelled_analysis_is_a_stopped_question() {
        assert_eq!(QueryError::from(AnalyzerError::Cancelled).code(), code::STOPPED);
        assert_eq!(QueryError::from(RewriteError::Cancelled).code(), code::STOPPED);
    }

    #[test]
    fn errors_of_rewriting_keep_their_texts_and_have_exit_codes() {
        let path = || std::path::PathBuf::from("a.barrow");
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        for (error, expected) in [
            (RewriteError::SameFile { path: path() }, code::USAGE),
            (RewriteError::NoAddresses, code::USAGE),
            (RewriteError::OtherProgram { path: path(), build_id: "0a".to_owned() }, code::USAGE),
            (RewriteError::Io { path: path(), action: "write", source: full() }, code::CEILING),
            (
                RewriteError::Io { path: path(), action: "write", source: io::ErrorKind::NotFound.into() },
                code::UNREADABLE,
            ),
            (RewriteError::Writer(WriterError::Io { action: "write", source: full() }), code::CEILING),
            (RewriteError::Analyzer(AnalyzerError::TooManyReferences), code::UNREADABLE),
        ] {
            let text = error.to_string();
            let error = QueryError::from(error);
            assert_eq!((error.to_string(), error.code()), (text, expected));
        }
    }
}
