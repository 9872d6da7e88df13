//! The metrics that barrow measures itself.

use barrow_writer::{Better, MetricDescription};

use crate::child::Waited;
use crate::events::EVENTS;

/// The value of a metric in what the system counted of a run.
type Source = fn(&Waited) -> i64;

/// Metrics of every run, in the order in which the ledger writes them.
pub(crate) const RESOURCES: [(MetricDescription<'static>, Source); 6] = [
    (metric("wall", "ns"), |used| used.wall_ns),
    (metric("user", "ns"), |used| used.user_ns),
    (metric("system", "ns"), |used| used.system_ns),
    (metric("peak_resident", "bytes"), |used| used.peak_bytes),
    (metric("page_faults", ""), |used| used.page_faults),
    (metric("context_switches", ""), |used| used.context_switches),
];

/// Metrics of runs whose allocations are counted, in the order of `Counted::values`. A fixed layout determines them.
pub(crate) const ALLOCATIONS: [MetricDescription<'static>; 4] = [
    MetricDescription { exact: true, ..metric("peak_heap", "bytes") },
    MetricDescription { exact: true, ..metric("allocated", "bytes") },
    MetricDescription { exact: true, ..metric("blocks", "") },
    MetricDescription { exact: true, ..metric("live_at_end", "bytes") },
];

/// A metric that varies from run to run.
pub(crate) const fn metric(name: &'static str, unit: &'static str) -> MetricDescription<'static> {
    MetricDescription { name, unit, better: Better::Lower, exact: false }
}

/// Whether barrow itself measures a metric of this name, which excludes other values of that name.
#[must_use]
pub fn is_measured(metric: &str) -> bool {
    RESOURCES.iter().map(|(known, _)| known).chain(&ALLOCATIONS).any(|known| known.name == metric)
        || EVENTS.iter().any(|event| event.name == metric)
}
