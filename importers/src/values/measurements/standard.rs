//! Metrics that `barrow trial` measures too, so that imported values can be compared with its own.

use barrow_writer::{Better, Word};

use super::range::Range;
use super::values::MetricText;

/// The time from start to end.
pub(crate) const WALL: MetricText<'static> =
    MetricText { name: "wall", unit: "ns", better: Better::Lower, exact: false };
/// The most memory that was resident at a time.
pub(crate) const PEAK_RESIDENT: MetricText<'static> = bytes("peak_resident", false);
/// The most bytes that were allocated at a time.
pub(crate) const PEAK_HEAP: MetricText<'static> = bytes("peak_heap", true);
/// The bytes of all allocations.
pub(crate) const ALLOCATED: MetricText<'static> = bytes("allocated", true);
/// The bytes that were never freed.
pub(crate) const LIVE_AT_END: MetricText<'static> = bytes("live_at_end", true);
/// The number of allocations.
pub(crate) const BLOCKS: MetricText<'static> =
    MetricText { name: "blocks", unit: "", better: Better::Lower, exact: true };

/// The beginning of the keys of parameters of a variant, which go on with the name of the parameter.
pub(crate) const PARAMETER: Word = Word::new("parameter ").before_names();

/// The names of all of them, for files that may have them from `barrow trial`.
pub(crate) const NAMES: [&str; 6] =
    [WALL.name, PEAK_RESIDENT.name, PEAK_HEAP.name, ALLOCATED.name, LIVE_AT_END.name, BLOCKS.name];

/// Returns whether this is one of the counts above, which are the same in every run of the same program and layout.
pub(crate) fn is_exact(name: &str, unit: &str) -> bool {
    [PEAK_HEAP, ALLOCATED, LIVE_AT_END, BLOCKS].iter().any(|known| known.name == name && known.unit == unit)
}

/// Metrics of `barrow trial` that are times, in nanoseconds.
const TIMES: [&str; 3] = [WALL.name, "user", "system"];
/// Metrics of `barrow trial` that count bytes.
const BYTES: [&str; 4] = [PEAK_RESIDENT.name, PEAK_HEAP.name, ALLOCATED.name, LIVE_AT_END.name];
/// Metrics of `barrow trial` that count something else, and have no unit.
const COUNTS: [&str; 7] =
    [BLOCKS.name, "page_faults", "context_switches", "instructions", "cycles", "branch_misses", "cache_misses"];

/// The values that a metric of this name and unit can have, if it is one of `barrow trial`.
pub(crate) fn range(name: &str, unit: &str) -> Range {
    match unit {
        "ns" if TIMES.contains(&name) => Range::Amount,
        "bytes" if BYTES.contains(&name) => Range::Count,
        "" if COUNTS.contains(&name) => Range::Count,
        _ => Range::Any,
    }
}

const fn bytes(name: &'static str, exact: bool) -> MetricText<'static> {
    MetricText { name, unit: "bytes", better: Better::Lower, exact }
}
