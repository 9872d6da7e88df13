//! An estimate of memory, with its uncertainty.

/// The most memory at one time, in bytes. `low` ≤ `likely` ≤ `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryRange {
    /// Sum of the average memory of the jobs that surely run at the same time; at least the second largest sample of
    /// any job.
    pub low: u64,
    /// Sum of the memory of jobs as sampled, with shared memory counted once.
    pub likely: u64,
    /// Sum of the peaks of all jobs that run at the same time, with nothing shared.
    pub high: u64,
}

impl MemoryRange {
    /// Whether a number of bytes is in it.
    #[must_use]
    pub fn contains(&self, bytes: u64) -> bool {
        (self.low..=self.high).contains(&bytes)
    }
}
