//! Errors of questions about trials.

use barrow_analyzer::AnalyzerError;

/// The result of a question.
pub type Result<T, E = TrialsError> = std::result::Result<T, E>;

/// The reason why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum TrialsError {
    /// The recording cannot be read.
    #[error(transparent)]
    Analyzer(#[from] AnalyzerError),
    /// No metric has this name.
    #[error("there is no metric `{name}`; the recording has {known}")]
    NoMetric {
        /// As it was given.
        name: String,
        /// The existing names.
        known: String,
    },
    /// No variant has this name.
    #[error("there is no variant `{name}`; the recording has {known}")]
    NoVariant {
        /// As it was given.
        name: String,
        /// The existing names.
        known: String,
    },
    /// Several variants begin with this name.
    #[error("`{name}` may be any of {known}")]
    SeveralVariants {
        /// As it was given.
        name: String,
        /// Their names.
        known: String,
    },
    /// No run has this number.
    #[error("there is no run {run}; the recording has {count} runs, numbered from 0")]
    NoRun {
        /// As it was given.
        run: u32,
        /// The number of runs.
        count: usize,
    },
}
