//! The metrics that barrow measures itself.

use barrow_writer::{Better, MetricDescription};

use crate::events::EVENTS;

/// Metrics of every run, in the order in which the ledger writes them.
pub(crate) const RESOURCES: [MetricDescription<'static>; 6] = [
    metric("wall", "ns"),
    metric("user", "ns"),
    metric("system", "ns"),
    metric("peak_resident", "bytes"),
    metric("page_faults", ""),
    metric("context_switches", ""),
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
    RESOURCES.iter().chain(&ALLOCATIONS).any(|known| known.name == metric)
        || EVENTS.iter().any(|event| event.name == metric)
}
