//! Progress reports and cancellation of long computations.

use crate::error::{AnalyzerError, Result};

/// Receives progress from computations that may take over a second. Its methods are called from many threads.
pub trait Progress: Sync {
    /// Starts a phase of `total` steps. `unit` is what is counted: objects, references.
    fn begin(&self, phase: &str, total: u64, unit: &'static str);
    /// Reports that `steps` more steps are done.
    fn advance(&self, steps: u64);
    /// Whether the computation must stop. It is called once per block, so every few milliseconds.
    fn cancelled(&self) -> bool;
}

/// Ignores progress and never cancels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _phase: &str, _total: u64, _unit: &'static str) {}
    fn advance(&self, _steps: u64) {}
    fn cancelled(&self) -> bool {
        false
    }
}

/// Fails with [`AnalyzerError::Cancelled`] if the caller cancelled.
pub(crate) fn check(progress: &dyn Progress) -> Result<()> {
    if progress.cancelled() { Err(AnalyzerError::Cancelled) } else { Ok(()) }
}
