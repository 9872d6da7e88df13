//! Errors of questions about process trees.

use barrow_analyzer::AnalyzerError;

/// The result of a question.
pub type Result<T, E = ProcessError> = std::result::Result<T, E>;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The recording cannot be read.
    #[error(transparent)]
    Analyzer(#[from] AnalyzerError),
}
