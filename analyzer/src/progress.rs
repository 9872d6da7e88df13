//! Ends questions that are cancelled.

use crate::error::{AnalyzerError, Result};

pub use barrow_progress::{Progress, Silent};

/// Fails with [`AnalyzerError::Cancelled`] if the caller cancelled.
pub(crate) fn check(progress: &dyn Progress) -> Result<()> {
    if progress.cancelled() { Err(AnalyzerError::Cancelled) } else { Ok(()) }
}
