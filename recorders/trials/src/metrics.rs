//! The metrics that barrow measures itself.

/// What is measured of every run, as far as it can be.
const MEASURED: [&str; 14] = [
    "wall",
    "user",
    "system",
    "peak_resident",
    "page_faults",
    "context_switches",
    "peak_heap",
    "allocated",
    "blocks",
    "live_at_end",
    "instructions",
    "cycles",
    "branch_misses",
    "cache_misses",
];

/// Whether a metric of this name is measured by barrow itself, so that no other values may have it.
#[must_use]
pub fn is_measured(metric: &str) -> bool {
    MEASURED.contains(&metric)
}
