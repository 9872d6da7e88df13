//! What assertions say of trials: `compare(wall) <= 5%`, `median(peak_heap) < 64M`, `modes(wall) = 1`.

use barrow_statistics::{ComparisonVerdict, LEAST_GROUPS, Location, Modes, ModesVerdict, dependence, median_interval};
use barrow_trials::{Better, Metric, Series, Trials, VariantId};

use super::figure::{Figure, MeasuredUnit};
use super::judgement::{Judgement, undecided};
use super::witness::Witness;
use super::{Comparison, Limit, Verdict};
use crate::answer::measured::{difference, text};
use crate::answer::{Value, units};
use crate::error::QueryError;
use crate::tables::trials::comparison::{Asked, Compared, word};
use crate::tables::trials::{metric_of, variant_of};

/// Failed runs that a witness names.
const SHOWN_RUNS: usize = 3;

/// What is measured of trials.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TrialMeasure {
    pub(super) quantity: Quantity,
    /// The metric; none where runs are counted.
    pub(super) metric: Option<String>,
    /// The program, or both of them for a comparison; all programs if none is named.
    pub(super) programs: Vec<String>,
}

impl TrialMeasure {
    /// Whether it compares with the baseline.
    pub(super) fn compares(&self) -> bool {
        self.quantity == Quantity::Compare && self.programs.len() < 2
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// By how much it became worse.
    Compare,
    Median,
    Minimum,
    Maximum,
    /// How many modes there are.
    Modes,
    /// How many runs count.
    Runs,
    /// How many runs failed.
    Failed,
}

/// What is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TrialLimit {
    pub(super) limit: Limit,
    pub(super) unit: LimitUnit,
    /// How much the weight of a mode may change, if the assertion tells.
    pub(super) weight: Option<f64>,
}

/// What the number of a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitUnit {
    /// Nothing: it is a number, or a part of the baseline.
    Number,
    /// Bytes, by a suffix such as K.
    Size,
    /// Nanoseconds.
    Time,
    /// A part of what is measured.
    Share,
}

impl Quantity {
    const ALL: [(&'static str, Quantity); 7] = [
        ("compare", Quantity::Compare),
        ("median", Quantity::Median),
        ("minimum", Quantity::Minimum),
        ("maximum", Quantity::Maximum),
        ("modes", Quantity::Modes),
        ("runs", Quantity::Runs),
        ("failed", Quantity::Failed),
    ];

    /// The quantity of this name.
    pub(super) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(name, _)| *name == word).map(|(_, quantity)| quantity)
    }

    /// Whether it is about runs and not about a metric.
    pub(super) fn counts_runs(self) -> bool {
        matches!(self, Quantity::Runs | Quantity::Failed)
    }

    /// How many programs may be named.
    pub(super) fn most_programs(self) -> usize {
        if self == Quantity::Compare { 2 } else { 1 }
    }

    /// What its figures count where the metric decides nothing, or is not known.
    pub(super) fn unit(self) -> Figure {
        match self {
            Quantity::Runs | Quantity::Failed => Figure::Runs,
            Quantity::Modes => Figure::Modes,
            _ => Figure::Measured(MeasuredUnit::Other),
        }
    }
}

/// The trials that are judged, and those to compare with.
pub(super) struct Judged<'t> {
    pub(super) trials: &'t Trials,
    pub(super) baseline: Option<&'t Trials>,
}

/// What was found of one program, before it is compared.
struct Found {
    value: f64,
    /// Where the true value lies in 95 of 100 cases.
    low: f64,
    high: f64,
}

impl Found {
    fn exactly(value: f64) -> Self {
        Found { value, low: value, high: value }
    }
}

impl Judged<'_> {
    /// Judges an assertion: it holds if it does for each program that it is about.
    ///
    /// # Errors
    /// A usage error: no such metric or program, no baseline, a limit in another unit.
    pub(super) fn judge(
        &self,
        measure: &TrialMeasure,
        comparison: Comparison,
        limit: TrialLimit,
    ) -> Result<Judgement, QueryError> {
        if measure.quantity == Quantity::Compare {
            return self.compare(measure, comparison, limit);
        }
        let mut all = Vec::new();
        for variant in self.variants(measure)? {
            all.push(self.of_variant(measure, variant, comparison, limit)?);
        }
        let nothing = || undecided("no run was recorded".to_owned(), measure.quantity.unit());
        Ok(worst(all).unwrap_or_else(nothing))
    }

    /// The programs that are judged, each for itself.
    fn variants(&self, measure: &TrialMeasure) -> Result<Vec<VariantId>, QueryError> {
        match measure.programs.first() {
            Some(name) => Ok(vec![self.trials.variant(name)?]),
            None => Ok(self.trials.variant_ids().collect()),
        }
    }

    /// The same program of the baseline: that of the same name, or its only one.
    fn of_baseline(&self, variant: VariantId) -> Result<(&Trials, VariantId), QueryError> {
        let baseline = self.baseline.ok_or_else(|| QueryError::usage("which baseline? add `--baseline FILE`"))?;
        let name = variant_of(self.trials, variant).name.as_str();
        let mut ids = baseline.variant_ids();
        let same = baseline.variant_ids().find(|&id| variant_of(baseline, id).name == name);
        match (same, ids.next(), ids.next()) {
            (Some(same), ..) => Ok((baseline, same)),
            (None, Some(only), None) if self.trials.variants().len() == 1 => Ok((baseline, only)),
            _ => Err(QueryError::usage(format!("the baseline has no program `{name}`"))),
        }
    }

    fn of_variant(
        &self,
        measure: &TrialMeasure,
        variant: VariantId,
        comparison: Comparison,
        limit: TrialLimit,
    ) -> Result<Judgement, QueryError> {
        let unit = figure(self.trials, measure)?;
        check_unit(unit, limit, measure)?;
        let name = variant_of(self.trials, variant).name.as_str();
        let of_program = |why: String| if self.trials.variants().len() > 1 { format!("`{name}`: {why}") } else { why };
        let baseline = match limit.limit.factor {
            None => 0.0,
            Some(_) => {
                let (trials, variant) = self.of_baseline(variant)?;
                if figure(trials, measure)? != unit {
                    return Err(QueryError::usage("the baseline measures it in another unit"));
                }
                match found(trials, measure, variant)? {
                    Ok(found) => found.value,
                    Err(why) => return Ok(undecided(of_program(format!("of the baseline, {why}")), unit)),
                }
            }
        };
        let amount = limit.limit.of(baseline);
        let found = match found(self.trials, measure, variant)? {
            Ok(found) => found,
            Err(why) => return Ok(undecided(of_program(why), unit)),
        };
        let sure = |value: f64| comparison.may_hold(value, value, amount);
        let holds = sure(found.value);
        // Where the interval reaches the limit, the values do not say on which side of it the true value is.
        if sure(found.low) != holds || sure(found.high) != holds {
            let why = format!(
                "it is known to be from {} to {} only, and the limit of {} is between them; more runs tell",
                unit.text(found.low),
                unit.text(found.high),
                unit.text(amount)
            );
            return Ok(Judgement { found: found.value, limit: amount, ..undecided(of_program(why), unit) });
        }
        let witness = (!holds).then(|| self.witness(measure, variant));
        let verdict = if holds { Verdict::Holds } else { Verdict::Fails };
        Ok(Judgement { verdict, found: found.value, limit: amount, witness, ..undecided(String::new(), unit) })
    }

    /// Which program it is, and which runs.
    fn witness(&self, measure: &TrialMeasure, variant: VariantId) -> Witness {
        let name = variant_of(self.trials, variant).name.as_str();
        let mut fields = vec![("program".to_owned(), Value::text(name))];
        let mut lines = Vec::new();
        if self.trials.variants().len() > 1 {
            lines.push(format!("program `{name}`"));
        }
        let series = measure.metric.as_deref().and_then(|metric| self.trials.metric(metric).ok());
        let series = series.map(|metric| Series::of(self.trials, metric, variant));
        let runs: Vec<u32> = match (measure.quantity, &series) {
            (Quantity::Failed, _) => {
                let runs = (0_u32..).zip(self.trials.runs());
                runs.filter(|(_, run)| run.variant == variant && is_failed(run)).map(|(number, _)| number).collect()
            }
            (Quantity::Maximum, Some(series)) => extreme(series, |one, other| one > other),
            (Quantity::Minimum, Some(series)) => extreme(series, |one, other| one < other),
            _ => Vec::new(),
        };
        let shown: Vec<String> = runs.iter().take(SHOWN_RUNS).map(|run| format!("run {run}")).collect();
        if !shown.is_empty() {
            let more =
                if runs.len() > SHOWN_RUNS { format!(" and {} more", runs.len() - SHOWN_RUNS) } else { String::new() };
            lines.push(format!("{}{more}; `runs RUN` shows one", shown.join(", ")));
            fields.push(("runs".to_owned(), Value::List(runs.iter().map(|&run| run.into()).collect())));
        }
        if let (Quantity::Modes, Some(series)) = (measure.quantity, &series) {
            let unit = &metric_of(self.trials, series.metric()).unit;
            let modes = Modes::of(&series.sample()).modes;
            lines.extend((1..).zip(&modes).map(|(number, mode)| {
                format!("mode {number}: {}, {:.0} % of the values", text(mode.location, unit), mode.weight * 100.0)
            }));
        }
        Witness { lines, fields }
    }

    /// `compare(METRIC) <= 5%`: the second program, or this recording beside the baseline, is not worse by more.
    fn compare(
        &self,
        measure: &TrialMeasure,
        comparison: Comparison,
        limit: TrialLimit,
    ) -> Result<Judgement, QueryError> {
        if !matches!(comparison, Comparison::Less | Comparison::AtMost) {
            return Err(QueryError::usage("`compare(…)` is how much worse it became: it takes `<=` and `<`"));
        }
        if limit.limit.factor.is_some() {
            return Err(QueryError::usage(
                "`compare(…)` compares with the baseline already: the limit is a part or an amount, like 5% or 64K",
            ));
        }
        let pairs = self.pairs(measure)?;
        let mut all = Vec::new();
        for (a, b) in pairs {
            all.push(compared(measure, limit, a, b)?);
        }
        worst(all).ok_or_else(|| QueryError::usage("there are no programs to compare"))
    }

    /// What is compared: two programs of the recording, or each program with that of the baseline.
    fn pairs(&self, measure: &TrialMeasure) -> Result<Vec<(Side<'_>, Side<'_>)>, QueryError> {
        let side = |variant| Side { trials: self.trials, variant };
        match (&measure.programs[..], self.baseline) {
            ([a, b], _) => Ok(vec![(side(self.trials.variant(a)?), side(self.trials.variant(b)?))]),
            ([], None) => {
                let mut ids = self.trials.variant_ids();
                match (ids.next(), ids.next(), ids.next()) {
                    (Some(a), Some(b), None) => Ok(vec![(side(a), side(b))]),
                    _ => Err(QueryError::usage(
                        "what is it compared with? add `--baseline FILE`, or name two programs: `compare(wall, A, B)`",
                    )),
                }
            }
            (_, _) => {
                let of_baseline = |variant| {
                    let (trials, of_baseline) = self.of_baseline(variant)?;
                    Ok((Side { trials, variant: of_baseline }, side(variant)))
                };
                self.variants(measure)?.into_iter().map(of_baseline).collect()
            }
        }
    }
}

/// A program of a recording.
struct Side<'t> {
    trials: &'t Trials,
    variant: VariantId,
}

impl<'t> Side<'t> {
    fn series(&self, metric: &str) -> Result<(&'t Metric, Series<'t>), QueryError> {
        let id = self.trials.metric(metric)?;
        Ok((metric_of(self.trials, id), Series::of(self.trials, id, self.variant)))
    }

    fn name(&self) -> &'t str {
        &variant_of(self.trials, self.variant).name
    }
}

/// Whether the second program is not worse than the first.
fn compared(measure: &TrialMeasure, limit: TrialLimit, a: Side<'_>, b: Side<'_>) -> Result<Judgement, QueryError> {
    let name = measure.metric.as_deref().unwrap_or_default();
    let ((old, of_a), (metric, of_b)) = (a.series(name)?, b.series(name)?);
    if old.unit != metric.unit {
        return Err(QueryError::usage(format!("{name} is in {} in A and in {} in B", old.unit, metric.unit)));
    }
    let amount = limit.limit.plus;
    let is_share = limit.unit == LimitUnit::Share;
    let unit = if is_share { Figure::Share } else { Figure::Measured(MeasuredUnit::of(&metric.unit)) };
    if !is_share {
        check_unit(unit, limit, measure)?;
    }
    if of_a.is_empty() || of_b.is_empty() {
        let empty = if of_a.is_empty() { &a } else { &b };
        return Ok(undecided(format!("no run of `{}` that counts has a value of {name}", empty.name()), unit));
    }
    let asked = match is_share {
        // The limit is what the assertion says, however small the values are.
        true => Asked { relative: Some(amount), floor: Some(0.0), weight: limit.weight },
        false => Asked { relative: Some(0.0), floor: Some(amount), weight: limit.weight },
    };
    let compared = Compared::of(metric, &of_a, &of_b, b.name(), asked);
    let Some(change) = change(&compared, metric) else {
        return Ok(undecided("the values cannot be compared".to_owned(), unit));
    };
    let base = compared.medians[0].unwrap_or_default().abs();
    let found = match is_share {
        true if base > 0.0 => change / base,
        _ => change,
    };
    // No change has no sign.
    let found = found + 0.0;
    let mut judgement = Judgement { found, limit: amount, ..undecided(String::new(), unit) };
    let verdict = compared.comparison.verdict;
    let said = word(metric, verdict);
    match verdict {
        ComparisonVerdict::Worse | ComparisonVerdict::WorseWeight => {
            judgement.verdict = Verdict::Fails;
            judgement.witness = Some(witness(&compared, metric, &a, &b));
        }
        ComparisonVerdict::Equal | ComparisonVerdict::Better => judgement.verdict = Verdict::Holds,
        // Whatever else is not known, all intervals say that it is not worse.
        ComparisonVerdict::MovedWeight | ComparisonVerdict::Unknown if compared.comparison.is_not_worse => {
            judgement.verdict = Verdict::Holds;
            judgement.notes.extend(compared.headline());
        }
        ComparisonVerdict::MovedWeight | ComparisonVerdict::Unknown => {
            judgement.verdict = Verdict::Undecided(compared.why_unknown());
        }
    }
    judgement.said = Some(said);
    Ok(judgement)
}

/// By how much it became worse, in the unit of the metric: of the worst mode that did, otherwise of all values.
fn change(compared: &Compared<'_>, metric: &Metric) -> Option<f64> {
    let sign = if metric.better == Better::Higher { -1.0 } else { 1.0 };
    let comparison = &compared.comparison;
    let of_modes = comparison.modes.iter().filter(|pair| pair.verdict == ComparisonVerdict::Worse);
    let worst = of_modes.filter_map(|pair| pair.location_change).map(|change| sign * change);
    worst.max_by(f64::total_cmp).or_else(|| comparison.shift.map(|shift| sign * shift))
}

/// What became worse, mode by mode.
fn witness(compared: &Compared<'_>, metric: &Metric, a: &Side<'_>, b: &Side<'_>) -> Witness {
    let unit = metric.unit.as_str();
    let [old, new] = compared.medians.map(|median| median.map_or_else(String::new, |median| text(median, unit)));
    let mut lines = vec![format!("`{}` has a median of {old}, `{}` one of {new}", a.name(), b.name())];
    let of = |value: Option<f64>| match value.map(|value| difference(value, unit)) {
        Some(Value::Measured { text, .. }) => text,
        _ => String::new(),
    };
    let is_worse = |verdict| matches!(verdict, ComparisonVerdict::Worse | ComparisonVerdict::WorseWeight);
    for pair in compared.comparison.modes.iter().filter(|pair| is_worse(pair.verdict)) {
        let points = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{:+.0}", value * 100.0));
        lines.push(match (pair.a, pair.b) {
            _ if pair.verdict == ComparisonVerdict::WorseWeight => format!(
                "mode {} has {:+.0} points of the values ({} to {}), and {:.0} matter",
                pair.b.or(pair.a).map_or(0, |mode| mode + 1),
                pair.weight_change * 100.0,
                points(pair.weight_low),
                points(pair.weight_high),
                compared.threshold.weight * 100.0
            ),
            (Some(a), Some(b)) => format!(
                "mode {} to mode {}: {} by {} ({} to {})",
                a + 1,
                b + 1,
                word(metric, pair.verdict),
                of(pair.location_change),
                of(pair.location_low),
                of(pair.location_high)
            ),
            (_, mode) => format!(
                "mode {} is new and worse, with {:.0} % of the values",
                mode.map_or(0, |mode| mode + 1),
                pair.weight_change * 100.0
            ),
        });
    }
    let name = |side: &Side<'_>| Value::text(side.name());
    Witness { lines, fields: vec![("a".to_owned(), name(a)), ("b".to_owned(), name(b))] }
}

/// What is measured of one program; an inner error says why that is not known.
fn found(trials: &Trials, measure: &TrialMeasure, variant: VariantId) -> Result<Result<Found, String>, QueryError> {
    let runs = || trials.runs().iter().filter(|run| run.variant == variant);
    match measure.quantity {
        Quantity::Runs => return Ok(Ok(Found::exactly(runs().filter(|run| run.counts()).count() as f64))),
        Quantity::Failed => return Ok(Ok(Found::exactly(runs().filter(|run| is_failed(run)).count() as f64))),
        _ => {}
    }
    let name = measure.metric.as_deref().unwrap_or_default();
    let id = trials.metric(name)?;
    let series = Series::of(trials, id, variant);
    let Some(location) = Location::of(&series.sample()) else {
        return Ok(Err(format!("no run that counts has a value of {name}")));
    };
    Ok(match measure.quantity {
        Quantity::Minimum => Ok(Found::exactly(location.minimum)),
        Quantity::Maximum => Ok(Found::exactly(location.maximum)),
        Quantity::Modes => {
            let modes = Modes::of(&series.sample());
            match modes.verdict {
                ModesVerdict::TooFew => {
                    let values = units::counted(series.len() as u64, "value");
                    Err(format!("{values} are too few for a statement about modes; 12 or more can have one"))
                }
                ModesVerdict::AllEqual | ModesVerdict::Found => Ok(Found::exactly(modes.modes.len() as f64)),
            }
        }
        _ if location.minimum == location.maximum && metric_of(trials, id).is_exact => {
            Ok(Found::exactly(location.median))
        }
        // The interval is about independent runs.
        _ if dependence(&[&series.sample_by_run()]).is_some() => {
            Ok(Found { value: location.median, low: location.minimum, high: location.maximum })
        }
        _ => match median_interval(&series.sample_by_run()) {
            Some((low, high)) => {
                let (low, high) = (low.min(location.median), high.max(location.median));
                Ok(Found { value: location.median, low, high })
            }
            None => {
                let runs = units::counted(series.run_count() as u64, "run");
                Err(format!("{runs} do not tell where the median is; {LEAST_GROUPS} or more do"))
            }
        },
    })
}

fn is_failed(run: &barrow_trials::Run) -> bool {
    !run.is_warmup && run.has_failed()
}

/// The runs of the most extreme value.
fn extreme(series: &Series, is_beyond: fn(f64, f64) -> bool) -> Vec<u32> {
    let values = series.values();
    let Some(first) = values.clone().next() else { return Vec::new() };
    let more = |most: f64, one: barrow_trials::Value| if is_beyond(one.value, most) { one.value } else { most };
    let most = values.clone().fold(first.value, more);
    let mut runs: Vec<u32> = values.filter(|one| one.value == most).map(|one| one.run.0).collect();
    runs.dedup();
    runs
}

/// What the figures count.
fn figure(trials: &Trials, measure: &TrialMeasure) -> Result<Figure, QueryError> {
    match (measure.quantity, &measure.metric) {
        (Quantity::Median | Quantity::Minimum | Quantity::Maximum, Some(name)) => {
            Ok(Figure::Measured(MeasuredUnit::of(&metric_of(trials, trials.metric(name)?).unit)))
        }
        (quantity, _) => Ok(quantity.unit()),
    }
}

/// A limit has to be in the unit of what is measured.
fn check_unit(unit: Figure, limit: TrialLimit, measure: &TrialMeasure) -> Result<(), QueryError> {
    let name = measure.metric.as_deref().unwrap_or("it");
    let is_nothing = limit.limit.plus == 0.0;
    match (unit, limit.unit) {
        (_, LimitUnit::Share) => {
            Err(QueryError::usage("only `compare(…)` takes a part; others a number, or `baseline + 5%`"))
        }
        (Figure::Measured(MeasuredUnit::Time), LimitUnit::Number | LimitUnit::Size) if !is_nothing => {
            Err(QueryError::usage(format!("{name} is a time: give the limit a unit, like 10ms")))
        }
        (Figure::Measured(MeasuredUnit::Time), _) => Ok(()),
        (_, LimitUnit::Time) => Err(QueryError::usage(format!("{name} is no time"))),
        _ => Ok(()),
    }
}

/// The judgement that decides for all programs: one that fails, otherwise one that is undecided. The others' notes stay.
fn worst(all: Vec<Judgement>) -> Option<Judgement> {
    let rank = |judgement: &Judgement| match judgement.verdict {
        Verdict::Fails => 0,
        Verdict::Undecided(_) => 1,
        Verdict::Holds => 2,
    };
    all.into_iter().min_by_key(rank)
}
