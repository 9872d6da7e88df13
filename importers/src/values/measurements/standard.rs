//! Metrics that `barrow trial` measures too, so that imported values can be compared with its own.

use barrow_writer::Better;

use super::values::MetricText;

/// The time from start to end.
pub(crate) const WALL: MetricText<'_> = MetricText { name: "wall", unit: "ns", better: Better::Lower, exact: false };
/// Maximum resident memory.
pub(crate) const PEAK_RESIDENT: MetricText<'_> = bytes("peak_resident", false);
/// Maximum of allocated bytes.
pub(crate) const PEAK_HEAP: MetricText<'_> = bytes("peak_heap", true);
/// The bytes of all allocations.
pub(crate) const ALLOCATED: MetricText<'_> = bytes("allocated", true);
/// The bytes that were never freed.
pub(crate) const LIVE_AT_END: MetricText<'_> = bytes("live_at_end", true);
/// The number of allocations.
pub(crate) const BLOCKS: MetricText<'_> = MetricText { name: "blocks", unit: "", better: Better::Lower, exact: true };

/// Whether this is one of the counts above, which are the same in every run of the same program and layout.
pub(crate) fn is_exact(name: &str, unit: &str) -> bool {
    [PEAK_HEAP, ALLOCATED, LIVE_AT_END, BLOCKS].iter().any(|known| known.name == name && known.unit == unit)
}

const fn bytes(name: &str, exact: bool) -> MetricText<'_> {
    MetricText { name, unit: "bytes", better: Better::Lower, exact }
}
