//! Errors of this crate: the reasons why a recording was not rewritten.

use std::path::{Path, PathBuf};

use barrow_analyzer::AnalyzerError;
use barrow_format::FormatError;
use barrow_progress::Progress;
use barrow_symbols::SymbolError;
use barrow_writer::WriterError;

/// The result of rewriting a recording.
pub type Result<T, E = RewriteError> = std::result::Result<T, E>;

/// The reason why a recording was not rewritten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The file to write would replace the recording that it is made from.
    #[error("{path}: is the recording itself; choose another name", path = path.display())]
    SameFile {
        /// The file.
        path: PathBuf,
    },
    /// The new file cannot be written.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The attempted action.
        action: &'static str,
        /// The error that the system returned.
        source: std::io::Error,
    },
    /// The recording cannot be read.
    #[error(transparent)]
    Analyzer(AnalyzerError),
    /// A section of the new file cannot be encoded: usually the level of compression does not exist.
    #[error("{section} cannot be encoded: {source}")]
    Encode {
        /// The name of its type.
        section: &'static str,
        /// The error.
        source: FormatError,
    },
    /// The writer reported an error.
    #[error(transparent)]
    Writer(#[from] WriterError),
    /// The recording has no addresses to name.
    #[error("this recording has no addresses to name: it is none of barrow-alloc, or resolved already")]
    NoAddresses,
    /// The given program cannot be used.
    #[error(transparent)]
    Symbols(#[from] SymbolError),
    /// The given program is not the one that was recorded.
    #[error("{path} is not what was recorded: no module has its build id, {build_id}", path = path.display())]
    OtherProgram {
        /// The program.
        path: PathBuf,
        /// Its build id.
        build_id: String,
    },
    /// The recording refers to a string that it does not have.
    #[error("string {string} is named, and there are {known}; `barrow verify` says more")]
    NoString {
        /// The number of the string.
        string: u32,
        /// The number of strings.
        known: usize,
    },
    /// Nothing in a damaged recording is complete.
    #[error("no snapshot is complete, so nothing was written")]
    NothingComplete,
    /// The system has no random number.
    #[error("cannot make a key: {0}")]
    NoKey(#[source] std::io::Error),
    /// The caller cancelled the work.
    #[error("stopped")]
    Cancelled,
}

impl From<AnalyzerError> for RewriteError {
    fn from(error: AnalyzerError) -> Self {
        match error {
            AnalyzerError::Cancelled => RewriteError::Cancelled,
            error => RewriteError::Analyzer(error),
        }
    }
}

impl RewriteError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| RewriteError::Io { path: path.to_owned(), action, source }
    }
}

/// Adds the section of the recording in which an error is.
pub(crate) fn in_section(section: &'static str, offset: u64) -> impl Fn(FormatError) -> AnalyzerError {
    move |source| AnalyzerError::Section { section, offset, source }
}

/// Fails with [`RewriteError::Cancelled`] if the caller cancelled.
pub(crate) fn check(progress: &dyn Progress) -> Result<()> {
    if progress.cancelled() { Err(RewriteError::Cancelled) } else { Ok(()) }
}
