//! Measures of trials: `median(peak_heap)`, `modes(wall)`, `failed()`.

use std::sync::Arc;

use barrow_analyzer::AmountUnit;
use barrow_statistics::{LEAST_GROUPS, Location, Modes, ModesVerdict, dependence, median_interval};
use barrow_trials::{Series, Trials, VariantId};

use super::judgement::{Found, Reading};
use super::witness::{self, Witness};
use super::{Figure, Limit, measure::OfTrials};
use crate::answer::units;
use crate::error::QueryError;
use crate::tables::trials::{metric_of, variant_of};

/// The values that are measured.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    pub(super) reading: OfTrials,
    /// The metric; empty where runs are counted.
    pub(super) metric: String,
    /// The program, or both of them for a comparison; empty for all programs.
    pub(super) programs: Vec<String>,
}

/// A value, with the interval that contains the true one in 95 of 100 cases.
type Estimate = (f64, (f64, f64), Option<&'static str>);

/// The doubt about a median of runs that depend on their order: it has no interval but that of all values.
const DEPENDENT: &str = "values that depend on the order of runs, which more runs do not mend";

impl Programs {
    /// The programs that are judged, each for itself.
    pub(super) fn variants(&self, trials: &Trials) -> Result<Vec<VariantId>, QueryError> {
        match self.programs.first() {
            Some(name) => Ok(vec![trials.variant(name)?]),
            None => Ok(trials.variant_ids().collect()),
        }
    }

    /// The unit of the measure: that of the metric, unless the measure has another one.
    pub(super) fn figure(&self, trials: &Trials, unit: Figure) -> Result<Figure, QueryError> {
        match unit {
            Figure::Measured(_) => Ok(Figure::of_metric(&metric_of(trials, trials.metric(&self.metric)?).unit)),
            unit => Ok(unit),
        }
    }

    /// Checks that a limit is in the unit of the measure.
    pub(super) fn check_unit(&self, unit: Figure, limit: Limit) -> Result<(), QueryError> {
        let name = if self.metric.is_empty() { "it" } else { &self.metric };
        match (unit, limit.plus.unit) {
            (Figure::Measured("ns"), AmountUnit::Number) if limit.plus.value != 0.0 => {
                Err(QueryError::usage(format!("{name} is a time: give the limit a unit, like 10ms")))
            }
            (Figure::Measured("ns"), _) | (_, AmountUnit::Number | AmountUnit::Share) => Ok(()),
            (_, AmountUnit::Time) => Err(QueryError::usage(format!("{name} is no time"))),
        }
    }

    /// Reads the measure from the runs of a program.
    ///
    /// # Errors
    /// No such metric.
    pub(super) fn read<'r>(&'r self, trials: &Arc<Trials>, variant: VariantId) -> Result<Reading<'r>, QueryError> {
        let estimate = match self.reading {
            OfTrials::Runs(counts, _) => {
                let runs = trials.runs().iter().filter(|run| run.variant == variant && counts(run));
                Ok(exactly(runs.count() as f64))
            }
            _ => self.estimate(trials, &Series::of(trials, trials.metric(&self.metric)?, variant)),
        };
        let trials = Arc::clone(trials);
        Ok(estimate.map(|(value, interval, doubt)| {
            let witness = Box::new(move || self.witness(&trials, variant, value));
            Found { interval, doubt: doubt.map(str::to_owned), ..Found::exactly(value, witness) }
        }))
    }

    fn estimate(&self, trials: &Trials, series: &Series<'_>) -> Result<Estimate, String> {
        let location = Location::of(&series.sample());
        let location = location.ok_or_else(|| format!("no run that counts has a value of {}", self.metric))?;
        let is_exact = location.minimum == location.maximum && metric_of(trials, series.metric()).is_exact;
        match self.reading {
            OfTrials::Extreme(extreme) => return Ok(exactly(extreme(&location))),
            OfTrials::Modes => {
                let modes = Modes::of(&series.sample());
                if modes.verdict != ModesVerdict::TooFew {
                    return Ok(exactly(modes.modes.len() as f64));
                }
                let values = units::counted(series.len() as u64, "value");
                return Err(format!("{values} are too few for a statement about modes; 12 or more can have one"));
            }
            _ if is_exact => return Ok(exactly(location.median)),
            _ => {}
        }
        let by_run = series.sample_by_run();
        // The interval of the median is about independent runs.
        if dependence(&[&by_run]).is_some() {
            return Ok((location.median, (location.minimum, location.maximum), Some(DEPENDENT)));
        }
        let interval = median_interval(&by_run);
        let interval = interval.map(|(low, high)| (low.min(location.median), high.max(location.median)));
        interval.map(|interval| (location.median, interval, None)).ok_or_else(|| {
            let runs = units::counted(series.run_count() as u64, "run");
            format!("{runs} do not tell where the median is; {LEAST_GROUPS} or more do")
        })
    }

    /// The program, and the runs with the value or its modes.
    fn witness(&self, trials: &Trials, variant: VariantId, value: f64) -> Result<Witness, QueryError> {
        let mut witness = witness::of_program(&variant_of(trials, variant).name, trials.variants().len());
        match self.reading {
            OfTrials::Runs(counts, true) => {
                let runs = (0..).zip(trials.runs()).filter(|(_, run)| run.variant == variant && counts(run));
                witness.add_runs(runs.map(|(number, _)| number).collect());
            }
            OfTrials::Extreme(_) => {
                let series = Series::of(trials, trials.metric(&self.metric)?, variant);
                let runs = series.values().filter(|one| one.value == value).map(|one| one.run.0);
                witness.add_runs(runs.collect());
            }
            OfTrials::Modes => {
                let series = Series::of(trials, trials.metric(&self.metric)?, variant);
                witness.add_modes(&Modes::of(&series.sample()).modes, &metric_of(trials, series.metric()).unit);
            }
            OfTrials::Runs(_, false) | OfTrials::Median | OfTrials::Change => {}
        }
        Ok(witness)
    }
}

/// A value that is exact.
fn exactly(value: f64) -> Estimate {
    (value, (value, value), None)
}

/// The same program of the baseline: that of the same name, or its only one.
pub(super) fn counterpart(trials: &Trials, variant: VariantId, baseline: &Trials) -> Result<VariantId, QueryError> {
    let name = variant_of(trials, variant).name.as_str();
    let mut ids = baseline.variant_ids();
    let same = baseline.variant_ids().find(|&id| variant_of(baseline, id).name == name);
    match (same, ids.next(), ids.next()) {
        (Some(same), ..) => Ok(same),
        (None, Some(only), None) if trials.variants().len() == 1 => Ok(only),
        _ => Err(QueryError::usage(format!("the baseline has no program `{name}`"))),
    }
}
