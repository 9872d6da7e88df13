//! Tables about trials: metrics, their distributions, and the differences of two programs.
//!
//! `overview` has a row for each metric of each variant, `modes` the modes of one series, `knobs` which part of the
//! layout explains them, `histogram` its values in ranges, `comparison` two series, `runs` the runs themselves, `summary` what ran;
//! `presentation` is the order of programs, their parameters and the unit of times in such tables.

pub(crate) mod comparison;
pub(crate) mod dependence;
pub(crate) mod histogram;
pub(crate) mod knobs;
pub(crate) mod modes;
pub(crate) mod overview;
pub(crate) mod presentation;
pub(crate) mod runs;
pub(crate) mod summary;
pub(crate) mod surroundings;

use barrow_trials::{Metric, MetricId, Series, Trials, Variant, VariantId};

use crate::answer::{Column, Value};
use crate::error::QueryError;

/// A series that a question names.
pub(crate) struct Named<'t> {
    /// All trials.
    pub(crate) trials: &'t Trials,
    /// The values.
    pub(crate) series: Series<'t>,
}

/// Memory that statistics about a series take at most, in bytes per value: the sample with its groups, and sorted copies. Measured with 3 million values in runs of ten.
pub(crate) const STATISTICS_BYTES: u64 = 48;

impl<'t> Named<'t> {
    /// The series of a metric; of the variant that is named, or of the only one that has values.
    ///
    /// # Errors
    /// A usage error if there is no such metric or variant, if it has no values, or if several variants have values and
    /// none is named.
    pub(crate) fn of(trials: &'t Trials, metric: &str, variant: Option<&str>) -> Result<Self, QueryError> {
        let id = trials.metric(metric)?;
        if let Some(name) = variant {
            let series = Series::of(trials, id, trials.variant(name)?);
            return match series.is_empty() {
                true => Err(QueryError::usage(format!("no run of `{name}` that counts has a value of {metric}"))),
                false => Ok(Named { trials, series }),
            };
        }
        let mut all = Series::of_metric(trials, id);
        match (all.pop(), all.is_empty()) {
            (None, _) => Err(QueryError::usage(format!("no run that counts has a value of {metric}"))),
            (Some(series), true) => Ok(Named { trials, series }),
            (Some(last), false) => {
                let ids = all.iter().map(Series::variant).chain([last.variant()]);
                let names: Vec<&str> = ids.map(|id| variant_of(trials, id).name.as_str()).collect();
                Err(QueryError::usage(format!(
                    "several programs have values of {metric}; name one of them: {}",
                    names.join(", ")
                )))
            }
        }
    }

    /// The metric of the series.
    pub(crate) fn metric(&self) -> &'t Metric {
        metric_of(self.trials, self.series.metric())
    }

    /// The program that was measured.
    pub(crate) fn variant(&self) -> &'t Variant {
        variant_of(self.trials, self.series.variant())
    }

    /// The facts that every answer about a series begins with.
    pub(crate) fn facts(&self) -> [(Column, Value); 4] {
        let metric = self.metric();
        [
            (Column::text("metric"), metric.name.as_str().into()),
            (Column::text("unit").for_machines(), metric.unit.as_str().into()),
            (Column::text("variant").called("program"), self.variant().name.as_str().into()),
            (Column::count("runs"), self.series.run_count().into()),
        ]
    }
}

/// The metric of an id that a series has.
pub(crate) fn metric_of(trials: &Trials, id: MetricId) -> &Metric {
    &trials.metrics()[id.index()]
}

/// The column of programs, which people need only if there are several.
pub(crate) fn program_column(has_several: bool) -> Column {
    let column = Column::text("variant").called("program");
    if has_several { column } else { column.for_machines() }
}

/// The variant of an id that a series has.
pub(crate) fn variant_of(trials: &Trials, id: VariantId) -> &Variant {
    &trials.variants()[id.index()]
}
