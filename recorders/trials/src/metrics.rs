//! The metrics that barrow measures itself.

/// Metrics of every run, if the system supports them.
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

/// Whether barrow itself measures a metric of this name, which excludes other values of that name.
#[must_use]
pub fn is_measured(metric: &str) -> bool {
    MEASURED.contains(&metric)
}
