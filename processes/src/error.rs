//! Errors of questions about process trees.

use barrow_analyzer::AnalyzerError;

/// The result of a question.
pub type Result<T, E = ProcessError> = std::result::Result<T, E>;

/// Errors of questions.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The recording cannot be read.
    #[error(transparent)]
    Analyzer(#[from] AnalyzerError),
    /// No process has this name.
    #[error("there is no process `{name}`; processes are named like 1234, 1234:0 or host:1234:0")]
    NoProcess {
        /// As it was given.
        name: String,
    },
    /// A file of rules for classes is wrong.
    #[error("{file}, line {line}: {what}")]
    Rules {
        /// Its name.
        file: String,
        /// The line.
        line: usize,
        /// A clause.
        what: String,
    },
    /// Several processes have this name.
    #[error("`{name}` may be any of {count} processes: {listed}")]
    SeveralProcesses {
        /// As it was given.
        name: String,
        /// Number of such processes.
        count: usize,
        /// The first of them.
        listed: String,
    },
}
