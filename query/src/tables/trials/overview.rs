//! A row for each metric of each variant.

use barrow_statistics::{Location, Modes, ModesVerdict, bins};
use barrow_trials::{MetricId, Series, Trials};
use rayon::prelude::*;

use crate::answer::measured::measured;
use crate::answer::{Audience, Column, Table, Value};
use crate::context::Context;
use crate::error::QueryError;

use super::{STATISTICS_BYTES, knobs, metric_of, variant_of};

/// The rows of all series of these metrics, made in parallel. `check` is called before each.
///
/// # Errors
/// Those of `check`.
pub(crate) fn table<E: Send>(
    trials: &Trials,
    metrics: &[MetricId],
    check: impl Fn() -> Result<(), E> + Sync,
) -> Result<Table, E> {
    let series: Vec<Series> = metrics.iter().flat_map(|metric| Series::of_metric(trials, *metric)).collect();
    let row = |series: &Series| check().map(|()| row(trials, series));
    let rows = series.par_iter().map(row).collect::<Result<Vec<_>, E>>()?;
    let rows = rows.into_iter().flatten().collect();
    Ok(Table { key: "rows", audience: Audience::Everyone, columns: columns(trials), rows })
}

/// Fails if there is too little memory for the rows of these metrics.
///
/// # Errors
/// [`AnalyzerError::MemoryCeiling`](barrow_analyzer::AnalyzerError::MemoryCeiling).
pub(crate) fn require(context: &Context, trials: &Trials, metrics: &[MetricId]) -> Result<(), QueryError> {
    context.require(metrics.iter().map(|metric| trials.values(*metric).len()).sum(), STATISTICS_BYTES)
}

fn columns(trials: &Trials) -> Vec<Column> {
    let variant = Column::text("variant").called("program");
    let variant = if trials.variants().len() > 1 { variant } else { variant.for_machines() };
    vec![
        Column::text("metric"),
        variant,
        Column::text("unit").for_machines(),
        Column::count("runs"),
        Column::count("values").secondary(),
        Column::number("median"),
        Column::number("quartile_low").called("25 %").secondary(),
        Column::number("quartile_high").called("75 %").secondary(),
        Column::number("minimum"),
        Column::number("maximum"),
        Column::count("modes"),
        Column::text("layout_matters"),
        Column::nested("bin_counts").for_machines(),
        Column::nested("bin_modes").for_machines(),
    ]
}

fn row(trials: &Trials, series: &Series) -> Option<Vec<Value>> {
    let sample = series.sample();
    let location = Location::of(&sample)?;
    let modes = Modes::of(&sample);
    let metric = metric_of(trials, series.metric());
    let value = |value| measured(value, &metric.unit);
    let matters = knobs::layout_matters(trials, series);
    let bins = bins(&sample, &modes);
    Some(vec![
        metric.name.as_str().into(),
        variant_of(trials, series.variant()).name.as_str().into(),
        metric.unit.as_str().into(),
        series.run_count().into(),
        series.len().into(),
        value(location.median),
        value(location.quartile_low),
        value(location.quartile_high),
        value(location.minimum),
        value(location.maximum),
        (modes.verdict != ModesVerdict::TooFew).then_some(modes.modes.len()).into(),
        matters.map_or(Value::None, Value::Flag),
        Value::List(bins.iter().map(|bin| bin.count.into()).collect()),
        Value::List(bins.iter().map(|bin| bin.mode.map(|mode| mode + 1).into()).collect()),
    ])
}
