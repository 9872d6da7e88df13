//! Work that is cancelled at any of its checks.

use std::sync::atomic::{AtomicU64, Ordering};

use barrow_analyzer::Progress;

/// Counts the steps of the current phase, and cancels after a number of checks.
#[derive(Debug)]
pub struct LimitedProgress {
    checks_left: AtomicU64,
    steps: AtomicU64,
}

impl LimitedProgress {
    /// Cancels at the check after `checks` ones, and at all later ones.
    #[must_use]
    pub fn new(checks: u64) -> Self {
        LimitedProgress { checks_left: AtomicU64::new(checks), steps: AtomicU64::new(0) }
    }

    /// Counts steps and never cancels.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// The steps of the last phase.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }
}

impl Progress for LimitedProgress {
    fn begin(&self, _phase: &str, _total: u64, _unit: &'static str) {
        self.steps.store(0, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) {
        self.steps.fetch_add(steps, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        let one_less = |left: u64| Some(left.saturating_sub(1));
        self.checks_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less) == Ok(0)
    }
}
