//! The phases of a computation.

use barrow_analyzer::Progress;
use parking_lot::Mutex;

/// Records the announced phases.
#[derive(Debug, Default)]
pub struct Phases(Mutex<Vec<String>>);

impl Phases {
    /// The phases so far, in order.
    #[must_use]
    pub fn so_far(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

impl Progress for Phases {
    fn begin(&self, phase: &str, _total: u64, _unit: &'static str) {
        self.0.lock().push(phase.to_owned());
    }

    fn advance(&self, _steps: u64) {}

    fn cancelled(&self) -> bool {
        false
    }
}
