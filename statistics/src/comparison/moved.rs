//! Whether weight moved between modes, and whether that is for the worse.

use super::location::{OF_WEIGHTS, Test};
use super::sides::{Sides, is_apart};
use super::weight::Weight;
use super::{ComparisonVerdict, ModePair};
use crate::modes::place;
use crate::sample::{Sample, median};

/// The significance level for the weight of a single mode, given a change of the weight of all modes on a side of a
/// bound.
const OF_MODE: f64 = 0.05;

/// A shift explains weights if the probability that chance makes the rest differ as much exceeds this.
const EXPLAINED: f64 = 0.01;

/// Minimum number of groups of a mode in each sample for comparing locations.
const LEAST_MEMBERS: usize = 6;

/// A common bound of both samples, with the result for the weight on its worse side.
pub(super) struct Bound {
    /// The number of the bound: modes up to this number are below it.
    pub(super) number: usize,
    /// The change of the weight above it.
    above: Weight,
    /// Moved weight, worse weight, worse if no value of the first sample was as bad, or unknown.
    pub(super) verdict: ComparisonVerdict,
}

/// The results for the weights at each common bound.
pub(super) fn bounds(test: Test, sides: &Sides) -> Vec<Bound> {
    let count = sides.bounds.len();
    let limit = OF_WEIGHTS / count.max(1) as f64;
    let bounds = (0..count).map(|number| {
        let above = sides.above(number);
        let verdict = match above.p_value <= limit && stay(test, sides) {
            true => of_moved(test, sides, number, &above),
            false => ComparisonVerdict::Unknown,
        };
        Bound { number, above, verdict }
    });
    bounds.collect()
}

/// Whether the modes that both samples have did not move. A wide sample that chance cut in two has no mode where a
/// narrow one lies.
fn stay(test: Test, sides: &Sides) -> bool {
    (0..=sides.bounds.len()).all(|mode| {
        let [a, b] = sides.common.each_ref().map(|side| side.levels(mode));
        let is_few = a.len().min(b.len()) < LEAST_MEMBERS;
        is_few || (median(b) - median(a)).abs() <= test.threshold.at(median(a))
    })
}

/// Lower bound of the gain of weight on the worse side: upwards if smaller values are better.
fn gained_at_least(test: Test, above: &Weight) -> f64 {
    if test.worsening(1.0) > 0.0 { above.at_least() } else { -above.at_most() }
}

/// The verdict on weight that significantly moved across a bound.
fn of_moved(test: Test, sides: &Sides, number: usize, above: &Weight) -> ComparisonVerdict {
    let is_more = gained_at_least(test, above) > test.threshold.weight;
    if !is_more || !is_apart(&sides.common, number, test.threshold) {
        return ComparisonVerdict::MovedWeight;
    }
    let worse: Vec<usize> = match test.worsening(1.0) > 0.0 {
        true => (number + 1..=sides.bounds.len()).collect(),
        false => (0..=number).collect(),
    };
    let is_new = worse.iter().all(|mode| sides.common[0].levels(*mode).is_empty());
    if is_new { ComparisonVerdict::Worse } else { ComparisonVerdict::WorseWeight }
}

/// Whether the first sample, moved by a shift, has as much above each bound as the second one: above the bound itself,
/// and above the place to which it moves. The medians of few groups alone do not tell, even if a mode is gone.
pub(super) fn is_whole([a, b]: [&Sample; 2], shift: f64, bounds: &[f64]) -> bool {
    let places = bounds.iter().flat_map(|bound| [*bound, bound + shift]);
    places
        .into_iter()
        .all(|place| Weight::of([shares_above(a, place - shift), shares_above(b, place)]).p_value > EXPLAINED)
}

fn shares_above(sample: &Sample, place: f64) -> Vec<f64> {
    let counts = sample.groups().map(|group| (group.iter().filter(|value| **value > place).count(), group.len()));
    counts.map(|(above, all)| above as f64 / all as f64).collect()
}

/// Gives pairs the verdicts on their weights, unless the verdict on their location takes precedence. The weight of an
/// unpaired mode is that between the common bounds, since the other sample may have values there that are too few for a
/// mode.
pub(super) fn mark(pairs: &mut [ModePair], sides: &Sides, bounds: &[Bound]) {
    use ComparisonVerdict::{Better, MovedWeight, Unknown, Worse, WorseWeight};
    let places: Vec<Option<usize>> = pairs
        .iter()
        .map(|pair| {
            let of_b = pair.b.map(|mode| sides.own[1].location(mode));
            let location = of_b.or_else(|| pair.a.map(|mode| sides.own[0].location(mode)));
            location.map(|location| place(&sides.bounds, location))
        })
        .collect();
    for (pair, at) in pairs.iter_mut().zip(&places) {
        let Some(at) = *at else { continue };
        let alone = places.iter().filter(|other| **other == Some(at)).count() == 1;
        let weight = sides.between(at);
        if alone && !bounds.is_empty() && (pair.a.is_none() || pair.b.is_none()) {
            pair.weight_change = weight.change;
            (pair.weight_low, pair.weight_high) = (Some(weight.low), Some(weight.high));
        }
        if matches!(pair.verdict, Worse | Better) || weight.p_value > OF_MODE {
            continue;
        }
        let gains = weight.change > 0.0;
        let of_gain = bounds.iter().filter(|bound| gains && (at > bound.number) == (bound.above.change > 0.0));
        let of_gain = of_gain.map(|bound| bound.verdict);
        let has_moved = bounds.iter().any(|bound| bound.verdict != Unknown);
        let verdict = match [Worse, WorseWeight].into_iter().find(|wanted| of_gain.clone().any(|one| one == *wanted)) {
            Some(verdict) => verdict,
            None if has_moved => MovedWeight,
            None => continue,
        };
        pair.verdict = verdict;
    }
}
