//! A row for each metric of each variant.

use barrow_statistics::{Bin, Location, Modes, ModesVerdict, bins};
use barrow_trials::{MetricId, Series, Trials};
use rayon::prelude::*;

use crate::answer::{Column, Table, Value, measured::measured, table};
use crate::context::Context;
use crate::error::QueryError;

use super::{STATISTICS_BYTES, knobs, metric_of, program_column, variant_of};

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
    let found = series.par_iter().map(|series| check().map(|()| Found::of(trials, series)));
    let found = found.collect::<Result<Vec<_>, E>>()?;
    Ok(table!("rows", found.into_iter().flatten(), |Found { series, location, modes, bins, layout_matters }| {
        let metric = metric_of(trials, series.metric());
        let unit = metric.unit.as_str();
        let counts = bins.iter().map(|bin| bin.count.into()).collect();
        let modes_of_bins = bins.iter().map(|bin| bin.mode.map(|mode| mode + 1).into()).collect();
        Column::text("metric") => metric.name.as_str(),
        program_column(trials.variants().len() > 1) => variant_of(trials, series.variant()).name.as_str(),
        Column::text("unit").for_machines() => unit,
        Column::count("runs") => series.run_count(),
        Column::count("values").secondary() => series.len(),
        Column::number("median") => measured(location.median, unit),
        Column::number("quartile_low").called("25 %").secondary() => measured(location.quartile_low, unit),
        Column::number("quartile_high").called("75 %").secondary() => measured(location.quartile_high, unit),
        Column::number("minimum") => measured(location.minimum, unit),
        Column::number("maximum") => measured(location.maximum, unit),
        Column::count("modes") => (modes.verdict != ModesVerdict::TooFew).then_some(modes.modes.len()),
        Column::text("layout_matters").own_words() => layout_matters,
        Column::nested("bin_counts").for_machines() => Value::List(counts),
        Column::nested("bin_modes").for_machines() => Value::List(modes_of_bins),
    }))
}

/// The distribution of a series.
struct Found<'t> {
    series: &'t Series<'t>,
    location: Location,
    modes: Modes,
    bins: Vec<Bin>,
    layout_matters: Option<bool>,
}

impl<'t> Found<'t> {
    fn of(trials: &Trials, series: &'t Series<'t>) -> Option<Self> {
        let sample = series.sample();
        let location = Location::of(&sample)?;
        let modes = Modes::of(&sample);
        let bins = bins(&sample, &modes);
        Some(Found { series, location, modes, bins, layout_matters: knobs::layout_matters(trials, series) })
    }
}

/// Fails if there is too little memory for the rows of these metrics.
///
/// # Errors
/// [`AnalyzerError::MemoryCeiling`](barrow_analyzer::AnalyzerError::MemoryCeiling).
pub(crate) fn require(context: &Context, trials: &Trials, metrics: &[MetricId]) -> Result<(), QueryError> {
    context.require(metrics.iter().map(|metric| trials.values(*metric).len()).sum(), STATISTICS_BYTES)
}
