//! `compare(METRIC) <= 5%`: the second program, or this recording beside the baseline, is not worse by more.

use barrow_analyzer::AmountUnit;
use barrow_statistics::ComparisonVerdict;
use barrow_trials::{Better, Metric, Series, Trials, VariantId};

use super::judgement::{Judgement, Verdict};
use super::trials::{Programs, counterpart};
use super::{Figure, witness::Witness};
use crate::answer::measured::{difference, text};
use crate::answer::{Column, Fact};
use crate::error::QueryError;
use crate::tables::trials::comparison::{Asked, Compared, plain, word};
use crate::tables::trials::{metric_of, variant_of};

/// A program of a recording.
#[derive(Clone, Copy)]
struct Side<'t> {
    trials: &'t Trials,
    variant: VariantId,
}

impl<'t> Side<'t> {
    fn series(self, metric: &str) -> Result<(&'t Metric, Series<'t>), QueryError> {
        let id = self.trials.metric(metric)?;
        Ok((metric_of(self.trials, id), Series::of(self.trials, id, self.variant)))
    }

    fn name(self) -> &'t str {
        &variant_of(self.trials, self.variant).name
    }
}

impl Programs {
    /// Judges that no program became worse by more than the limit.
    ///
    /// # Errors
    /// A usage error: no such metric or program, no baseline, a limit in another unit.
    pub(super) fn change(
        &self,
        trials: &Trials,
        baseline: Option<&Trials>,
        asserted: &super::Compared,
    ) -> Result<Judgement, QueryError> {
        let pairs = self.pairs(trials, baseline)?.into_iter();
        let all = pairs.map(|[a, b]| self.worse(asserted, a, b)).collect::<Result<_, _>>()?;
        Judgement::decisive(all).ok_or_else(|| QueryError::usage("there are no programs to compare"))
    }

    /// The pairs that are compared: two programs of the recording, or each program with that of the baseline.
    fn pairs<'t>(&self, trials: &'t Trials, baseline: Option<&'t Trials>) -> Result<Vec<[Side<'t>; 2]>, QueryError> {
        let all: Vec<VariantId> = trials.variant_ids().collect();
        let pair = match (&self.programs[..], &all[..], baseline) {
            ([a, b], ..) => [trials.variant(a)?, trials.variant(b)?],
            ([], &[a, b], None) => [a, b],
            ([], _, None) => {
                return Err(QueryError::usage(
                    "what is it compared with? add `--baseline FILE`, or name two programs: `compare(wall, A, B)`",
                ));
            }
            (_, _, None) => return Err(QueryError::usage("which baseline? add `--baseline FILE`")),
            (_, _, Some(baseline)) => {
                let variants = self.variants(trials)?.into_iter();
                let pairs = variants.map(|variant| {
                    let before = counterpart(trials, variant, baseline)?;
                    Ok([Side { trials: baseline, variant: before }, Side { trials, variant }])
                });
                return pairs.collect();
            }
        };
        Ok(vec![pair.map(|variant| Side { trials, variant })])
    }

    /// Judges that `b` is not worse than `a`.
    fn worse(&self, asserted: &super::Compared, a: Side<'_>, b: Side<'_>) -> Result<Judgement, QueryError> {
        let name = self.metric.as_str();
        let ((old, of_a), (metric, of_b)) = (a.series(name)?, b.series(name)?);
        if old.unit != metric.unit {
            return Err(QueryError::usage(format!("{name} is in {} in A and in {} in B", old.unit, metric.unit)));
        }
        let amount = asserted.limit.plus.value;
        let is_share = asserted.limit.plus.unit == AmountUnit::Share;
        let unit = if is_share { Figure::Share } else { Figure::of_metric(&metric.unit) };
        if !is_share {
            self.check_unit(unit, asserted.limit)?;
        }
        if of_a.is_empty() || of_b.is_empty() {
            let empty = if of_a.is_empty() { a } else { b };
            let why = format!("no run of `{}` that counts has a value of {name}", empty.name());
            return Ok(Judgement::undecided(why, unit));
        }
        // The limit is what the assertion says, however small the values are.
        let (relative, floor) = if is_share { (amount, 0.0) } else { (0.0, amount) };
        let asked = Asked { relative: Some(relative), floor: Some(floor), weight: asserted.weight };
        let compared = Compared::of(metric, &of_a, &of_b, b.name(), asked);
        let Some(change) = change(&compared, metric) else {
            return Ok(Judgement::undecided("the values cannot be compared", unit));
        };
        let base = compared.medians[0].unwrap_or_default().abs();
        // No change has no sign. Of a median of 0 there is no share: the change itself is compared with 0.
        let mut judgement = match is_share && base == 0.0 {
            true => Judgement::new(Verdict::Holds, change + 0.0, 0.0, Figure::of_metric(&metric.unit)),
            false if is_share => Judgement::new(Verdict::Holds, change / base + 0.0, amount, unit),
            false => Judgement::new(Verdict::Holds, change + 0.0, amount, unit),
        };
        let verdict = compared.comparison.verdict;
        judgement.said = Some(word(metric, verdict));
        match verdict {
            ComparisonVerdict::Worse | ComparisonVerdict::WorseWeight => {
                judgement.verdict = Verdict::Fails;
                judgement.witness = Some(witness(&compared, metric, a, b));
            }
            ComparisonVerdict::Equal | ComparisonVerdict::Better => {}
            // Although something is not known, all intervals say that it is not worse.
            ComparisonVerdict::MovedWeight | ComparisonVerdict::Unknown if compared.comparison.is_not_worse => {
                judgement.notes.extend(compared.headline());
            }
            ComparisonVerdict::MovedWeight | ComparisonVerdict::Unknown => {
                judgement.verdict = Verdict::Undecided(compared.why_unknown());
            }
        }
        Ok(judgement)
    }
}

/// The change for the worse, in the unit of the metric: of the mode that became worst, otherwise of all values.
fn change(compared: &Compared<'_>, metric: &Metric) -> Option<f64> {
    let sign = if metric.better == Better::Higher { -1.0 } else { 1.0 };
    let comparison = &compared.comparison;
    let of_modes = comparison.modes.iter().filter(|pair| pair.verdict == ComparisonVerdict::Worse);
    let worst = of_modes.filter_map(|pair| pair.location_change).map(|change| sign * change);
    worst.max_by(f64::total_cmp).or_else(|| comparison.shift.map(|shift| sign * shift))
}

/// The medians, and the modes that became worse.
fn witness(compared: &Compared<'_>, metric: &Metric, a: Side<'_>, b: Side<'_>) -> Witness {
    let unit = metric.unit.as_str();
    let [old, new] = compared.medians.map(|median| known(median, |median| text(median, unit)));
    let mut lines = Vec::new();
    for pair in &compared.comparison.modes {
        if !matches!(pair.verdict, ComparisonVerdict::Worse | ComparisonVerdict::WorseWeight) {
            continue;
        }
        let mode = pair.b.or(pair.a).map_or(0, |mode| mode + 1);
        let points = pair.weight_change * 100.0;
        lines.push(match (pair.a, pair.b) {
            _ if pair.verdict == ComparisonVerdict::WorseWeight => format!(
                "mode {mode} has {points:+.0} points of the values ({} to {}), and {:.0} matter",
                known(pair.weight_low, |weight| format!("{:+.0}", weight * 100.0)),
                known(pair.weight_high, |weight| format!("{:+.0}", weight * 100.0)),
                compared.threshold.weight * 100.0
            ),
            (Some(a), Some(b)) => {
                let [by, low, high] = [pair.location_change, pair.location_low, pair.location_high]
                    .map(|value| known(value, |value| plain(&difference(value, unit))));
                format!("mode {} to mode {}: {} by {by} ({low} to {high})", a + 1, b + 1, word(metric, pair.verdict))
            }
            _ => format!("mode {mode} is new and worse, with {points:.0} % of the values"),
        });
    }
    lines.push(format!("`{}` has a median of {old}, `{}` one of {new}", a.name(), b.name()));
    let fields = [("a", a), ("b", b)].map(|(key, side)| Fact::new(Column::text(key), side.name()));
    Witness { lines, fields: fields.into() }
}

/// A number in words; empty if it is not known.
fn known(value: Option<f64>, words: impl Fn(f64) -> String) -> String {
    value.map_or_else(String::new, words)
}
