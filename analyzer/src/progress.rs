//! Ends questions that are cancelled.

use crate::error::{AnalyzerError, Result};

pub use barrow_progress::{Progress, Silent};

/// Fails with [`AnalyzerError::Cancelled`] if the caller cancelled.
pub(crate) fn check(progress: &dyn Progress) -> Result<()> {
    if progress.cancelled() { Err(AnalyzerError::Cancelled) } else { Ok(()) }
}

/// Reports nothing, but is cancelled with another one. For computations that run at the same time as parts of one phase.
pub(crate) struct Quiet<'p>(pub(crate) &'p dyn Progress);

impl Progress for Quiet<'_> {
    fn begin(&self, _phase: &str, _total: u64, _unit: &'static str) {}

    fn advance(&self, _steps: u64) {}

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
