//! Telling how far a long question is, and being told to stop.

use crate::error::{AnalyzerError, Result};

/// Given to whatever may take over a second. Called from many threads.
pub trait Progress: Sync {
    /// A phase begins, in which `total` steps of `unit` (objects, references) will be done.
    fn begin(&self, phase: &str, total: u64, unit: &'static str);
    /// `steps` more are done.
    fn advance(&self, steps: u64);
    /// Whether to stop. Asked once a block, so within milliseconds.
    fn cancelled(&self) -> bool;
}

/// Nobody watches, nobody stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _phase: &str, _total: u64, _unit: &'static str) {}
    fn advance(&self, _steps: u64) {}
    fn cancelled(&self) -> bool {
        false
    }
}

/// Ends the question if somebody asked for that.
pub(crate) fn check(progress: &dyn Progress) -> Result<()> {
    if progress.cancelled() { Err(AnalyzerError::Cancelled) } else { Ok(()) }
}
