//! The metrics that barrow measures itself.

use barrow_writer::{Better, MetricDescription};

use crate::child::Waited;
use crate::events::EVENTS;
use crate::heap::Counted;

/// The value of a metric in what the system counted of a run.
type Source = fn(&Waited) -> i64;
/// The same in the allocations of a run.
type Count = fn(&Counted) -> u64;

/// Metrics of every run, in the order in which the ledger writes them.
pub(crate) const RESOURCES: [(MetricDescription<'static>, Source); 6] = [
    (metric("wall", "ns"), |used| used.wall_ns),
    (metric("user", "ns"), |used| used.user_ns),
    (metric("system", "ns"), |used| used.system_ns),
    (metric("peak_resident", "bytes"), |used| used.peak_bytes),
    (metric("page_faults", ""), |used| used.page_faults),
    (metric("context_switches", ""), |used| used.context_switches),
];

/// Metrics of runs whose allocations are counted, in the order in which the ledger writes them.
pub(crate) const ALLOCATIONS: [(MetricDescription<'static>, Count); 4] = [
    (exact("peak_heap", "bytes"), |counted| counted.peak_bytes),
    (exact("allocated", "bytes"), |counted| counted.allocated_bytes),
    (exact("blocks", ""), |counted| counted.blocks),
    (exact("live_at_end", "bytes"), |counted| counted.live_bytes),
];

/// A metric that varies from run to run.
pub(crate) const fn metric(name: &'static str, unit: &'static str) -> MetricDescription<'static> {
    MetricDescription { name, unit, better: Better::Lower, exact: false }
}

/// A metric that a fixed layout determines.
const fn exact(name: &'static str, unit: &'static str) -> MetricDescription<'static> {
    MetricDescription { exact: true, ..metric(name, unit) }
}

/// Whether barrow itself measures a metric of this name, which excludes other values of that name.
#[must_use]
pub fn is_measured(metric: &str) -> bool {
    let resources = RESOURCES.iter().map(|(known, _)| known.name);
    let allocations = ALLOCATIONS.iter().map(|(known, _)| known.name);
    let events = EVENTS.iter().map(|event| event.name);
    resources.chain(allocations).chain(events).any(|known| known == metric)
}
