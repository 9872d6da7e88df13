//! A series: the values of one metric in one variant.

use barrow_analyzer::{MetricId, RunId, VariantId};
use barrow_statistics::Sample;

use crate::model::{Trials, Value};

/// The values of a metric in the runs of a variant that count, in the order in which they were recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    metric: MetricId,
    variant: VariantId,
    values: Vec<Value>,
}

impl Series {
    /// The values of a metric in a variant; there may be none.
    #[must_use]
    pub fn of(trials: &Trials, metric: MetricId, variant: VariantId) -> Self {
        let counts = |value: &&Value| {
            trials.runs().get(value.run.index()).is_some_and(|run| run.variant == variant && run.counts())
        };
        Series { metric, variant, values: trials.values(metric).iter().filter(counts).copied().collect() }
    }

    /// The series of a metric in all variants that have values of it.
    pub fn of_metric(trials: &Trials, metric: MetricId) -> Vec<Self> {
        let mut all: Vec<Series> =
            trials.variant_ids().map(|variant| Series { metric, variant, values: Vec::new() }).collect();
        for value in trials.values(metric) {
            let Some(run) = trials.runs().get(value.run.index()).filter(|run| run.counts()) else { continue };
            if let Some(series) = all.get_mut(run.variant.index()) {
                series.values.push(*value);
            }
        }
        all.retain(|series| !series.values.is_empty());
        all
    }

    /// What was measured.
    #[must_use]
    pub fn metric(&self) -> MetricId {
        self.metric
    }

    /// What ran.
    #[must_use]
    pub fn variant(&self) -> VariantId {
        self.variant
    }

    /// The values.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The number of runs that have values.
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.groups(false).len()
    }

    /// Whether every value has a layout of its own, so that the values of a run are independent as far as layouts go.
    #[must_use]
    pub fn has_layout_per_value(&self) -> bool {
        !self.values.is_empty() && self.values.iter().all(|value| value.seed.is_some())
    }

    /// The values in groups that share a layout: each value is one if all have seeds of their own, otherwise each run is.
    #[must_use]
    pub fn sample(&self) -> Sample {
        self.sample_of(self.has_layout_per_value())
    }

    /// The values in groups by run, whatever layouts the iterations had: for comparisons, because runs differ by more
    /// than their layouts.
    #[must_use]
    pub fn sample_by_run(&self) -> Sample {
        self.sample_of(false)
    }

    fn sample_of(&self, by_value: bool) -> Sample {
        Sample::new(self.groups(by_value).into_iter().map(|(_, values)| values).collect())
    }

    /// The groups with the first value of each, in the order of first values.
    pub(crate) fn groups(&self, by_value: bool) -> Vec<(Value, Vec<f64>)> {
        let mut groups: Vec<(Value, Vec<f64>)> = Vec::new();
        let mut place: std::collections::HashMap<RunId, usize> = std::collections::HashMap::new();
        for value in &self.values {
            match place.get(&value.run).filter(|_| !by_value).and_then(|&at| groups.get_mut(at)) {
                Some(group) => group.1.push(value.value),
                None => {
                    place.insert(value.run, groups.len());
                    groups.push((*value, vec![value.value]));
                }
            }
        }
        groups
    }
}
