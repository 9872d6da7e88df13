//! What is said of a pair, and of the modes of a sample.

/// What is said of a pair.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) verdict: String,
    pub(super) shift: Option<(f64, f64)>,
    pub(super) depends: bool,
}

impl Outcome {
    /// Whether it says that there is a difference.
    pub(super) fn is_alarm(&self) -> bool {
        !matches!(self.verdict.as_str(), "equal" | "unknown")
    }

    pub(super) fn is(&self, verdict: &str) -> bool {
        self.verdict == verdict
    }
}

/// A mode as `modes` tells it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) location: (f64, f64),
    pub(super) weight: (f64, f64),
}
