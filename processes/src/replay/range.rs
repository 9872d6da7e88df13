//! An estimate of memory, with its uncertainty.

/// The most memory at one time, in bytes. `low` ≤ `likely` ≤ `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryRange {
    /// What jobs hold together that surely run at the same time, each as much as it held on average; not less than what
    /// the largest of them was sampled with twice.
    pub low: u64,
    /// What the jobs hold as sampled, with what they share once.
    pub likely: u64,
    /// What the jobs hold if the peaks of all that run at the same time come together, and none shares anything.
    pub high: u64,
}

impl MemoryRange {
    /// Whether a number of bytes is in it.
    #[must_use]
    pub fn contains(&self, bytes: u64) -> bool {
        (self.low..=self.high).contains(&bytes)
    }
}
