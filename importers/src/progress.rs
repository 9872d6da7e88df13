//! How an import reports, and how it is cancelled.

/// Given to whatever may take over a second.
pub trait Progress: Sync {
    /// A phase begins; `total` steps of `unit` will be done.
    fn begin(&self, phase: &str, total: u64, unit: &'static str);
    /// `steps` more are done.
    fn advance(&self, steps: u64);
    /// Asked often; true ends the import with [`ImportError::Cancelled`](crate::ImportError::Cancelled).
    fn cancelled(&self) -> bool;
}

/// Reports nothing and is never cancelled.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _phase: &str, _total: u64, _unit: &'static str) {}

    fn advance(&self, _steps: u64) {}

    fn cancelled(&self) -> bool {
        false
    }
}
