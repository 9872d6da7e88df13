//! A series: the values of one metric in one variant.

use std::collections::HashMap;

use barrow_analyzer::{MetricId, RunId, VariantId};
use barrow_statistics::Sample;

use crate::model::Trials;
use crate::values::Value;

/// The values of a metric in the runs of a variant that count, in the order in which they were recorded.
#[derive(Debug, Clone)]
pub struct Series<'t> {
    trials: &'t Trials,
    metric: MetricId,
    variant: VariantId,
    /// Their positions among the values of the metric, ascending.
    places: Vec<usize>,
}

impl<'t> Series<'t> {
    /// The values of a metric in a variant; there may be none.
    #[must_use]
    pub fn of(trials: &'t Trials, metric: MetricId, variant: VariantId) -> Self {
        let places = trials.values(metric).iter().enumerate().filter(|(_, value)| {
            trials.runs().get(value.run.index()).is_some_and(|run| run.variant == variant && run.counts())
        });
        Series { trials, metric, variant, places: places.map(|(place, _)| place).collect() }
    }

    /// The series of a metric in all variants that have values of it.
    pub fn of_metric(trials: &'t Trials, metric: MetricId) -> Vec<Self> {
        let mut all: Vec<Series<'_>> =
            trials.variant_ids().map(|variant| Series { trials, metric, variant, places: Vec::new() }).collect();
        for (place, value) in trials.values(metric).iter().enumerate() {
            let Some(run) = trials.runs().get(value.run.index()).filter(|run| run.counts()) else { continue };
            if let Some(series) = all.get_mut(run.variant.index()) {
                series.places.push(place);
            }
        }
        all.retain(|series| !series.is_empty());
        all
    }

    /// The metric.
    #[must_use]
    pub fn metric(&self) -> MetricId {
        self.metric
    }

    /// The variant.
    #[must_use]
    pub fn variant(&self) -> VariantId {
        self.variant
    }

    /// The values.
    pub fn values(&self) -> impl Iterator<Item = Value> + Clone + '_ {
        let values = self.trials.values(self.metric);
        self.places.iter().filter_map(|&place| values.get(place))
    }

    /// Their positions among the values of the metric in [`Trials::values`], ascending.
    #[must_use]
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The number of runs that have values.
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.groups(false).first.len()
    }

    /// Returns whether every value has a layout of its own, so that the values of a run are independent with respect to
    /// layouts.
    #[must_use]
    pub fn has_layout_per_value(&self) -> bool {
        !self.is_empty() && self.values().all(|value| value.seed.is_some())
    }

    /// The values in groups that share a layout: single values if all have seeds of their own, otherwise runs.
    #[must_use]
    pub fn sample(&self) -> Sample {
        self.sample_of(self.has_layout_per_value())
    }

    /// The values in groups by run, whatever layouts the iterations had: for comparisons, because runs differ in more
    /// than their layouts.
    #[must_use]
    pub fn sample_by_run(&self) -> Sample {
        self.sample_of(false)
    }

    fn sample_of(&self, by_value: bool) -> Sample {
        let groups = self.groups(by_value);
        let values = groups.of_value.iter().copied().zip(self.values().map(|value| value.value));
        Sample::of_groups(values.collect())
    }

    /// The groups, in the order of their first values.
    pub(crate) fn groups(&self, by_value: bool) -> Groups {
        let mut groups = Groups { first: Vec::new(), of_value: Vec::with_capacity(self.len()) };
        let mut known: HashMap<RunId, usize> = HashMap::new();
        // Values of a run usually follow each other.
        let mut last: Option<(RunId, usize)> = None;
        for (value, &place) in self.values().zip(&self.places) {
            let same = last.filter(|(run, _)| *run == value.run && !by_value).map(|(_, group)| group);
            let group = same.or_else(|| known.get(&value.run).copied().filter(|_| !by_value));
            let group = group.unwrap_or_else(|| {
                groups.first.push(place);
                groups.first.len() - 1
            });
            if !by_value && last.is_none_or(|(run, _)| run != value.run) {
                known.insert(value.run, group);
            }
            last = Some((value.run, group));
            groups.of_value.push(group);
        }
        groups
    }
}

/// Values in groups.
pub(crate) struct Groups {
    /// The position of the first value of each.
    pub(crate) first: Vec<usize>,
    /// For each value, its group.
    of_value: Vec<usize>,
}
