//! Evidence against equality, and the number of runs that decide it.

use super::location::Test;
use super::sides::{Sides, is_apart};
use super::weight::{TEN_ABOVE, Weight};
use super::{Comparison, ComparisonVerdict, HALF_WIDTH, ModePair};
use crate::sample::{median, sorted};
use crate::shift::Shift;

/// Samples are not called equal if this many groups of one are beyond all of the other: with up to `FEW_GROUPS` groups,
/// and with more.
const UNUSUAL_OF_FEW: usize = 2;
const UNUSUAL: usize = 3;
const FEW_GROUPS: usize = 20;
/// Being beyond means by more than the threshold, and by this many standard deviations of the other: otherwise two of
/// 20 normal values with a deviation of the threshold are that far out in 1.5 % of the samples.
const BEYOND: f64 = 2.0;
/// Values may be a mode too rare to be found if they are this many standard deviations from all others: of 40 normal
/// values, some are in one of 500 samples.
const RARE_DISTANCE: f64 = 3.0;
/// Maximum number of values considered for such a mode; more are found as a mode of their own.
const RARE: usize = 8;
/// Larger numbers of groups are not reported: the change is too near to the threshold.
const MOST_GROUPS: f64 = 100_000.0;

/// The reason why values do not support that samples are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// Fewer groups than can be compared.
    TooFew,
    /// Runs depend on their order.
    Order,
    /// The interval of the shift of all values, or of a pair of modes, exceeds the threshold.
    Location {
        /// The pair; `None` for all values.
        pair: Option<usize>,
        /// The groups of each sample that decide it in eight of ten cases.
        groups: Option<u64>,
    },
    /// The change of the weight of a mode may exceed its limit.
    Weight {
        /// The location of the mode.
        location: f64,
        /// Half of the interval of the change of its weight.
        half_width: f64,
        /// The groups of each sample that decide it in eight of ten cases.
        groups: Option<u64>,
    },
    /// One sample has a mode that the other does not have.
    Modes {
        /// The groups of each sample that decide it in eight of ten cases.
        groups: Option<u64>,
    },
    /// Some values of one sample are beyond those of the other.
    Extremes,
}

impl Doubt {
    /// The groups of each sample that decide it in eight of ten cases.
    #[must_use]
    pub fn groups(self) -> Option<u64> {
        match self {
            Doubt::Location { groups, .. } | Doubt::Weight { groups, .. } | Doubt::Modes { groups } => groups,
            Doubt::TooFew | Doubt::Order | Doubt::Extremes => None,
        }
    }
}

/// The strongest evidence against equality: that which needs the most groups.
pub(super) fn doubt(test: Test, sides: &Sides, levels: &[Vec<f64>; 2], found: &Comparison) -> Option<Doubt> {
    let all = Shift::of(&levels[0], &levels[1]);
    let of_all = of_location(test, all, median(&levels[0]), None, counts(levels));
    let of_pairs = found.modes.iter().enumerate().filter(|_| has_modes(sides)).filter_map(|(at, pair)| {
        let (of_a, of_b) = (pair.a?, pair.b?);
        let shift = Shift::of(sides.own[0].levels(of_a), sides.own[1].levels(of_b));
        of_location(test, shift, sides.own[0].location(of_a), Some(at), counts(levels))
    });
    let doubts: Vec<Doubt> = of_all
        .into_iter()
        .chain(of_pairs)
        .chain(of_weights(test, sides))
        .chain(of_rare(test, sides, levels))
        .chain(of_numbers(test, sides, &found.modes))
        .collect();
    let most = doubts.into_iter().max_by_key(|doubt| doubt.groups().unwrap_or(u64::MAX));
    let is_beyond = is_beyond(test, sides, levels) || excess(test, levels).0 > most_excess(test, levels);
    most.or_else(|| is_beyond.then_some(Doubt::Extremes))
}

/// Whether the samples have modes other than those that chance cut from one sample.
fn has_modes(sides: &Sides) -> bool {
    !sides.bounds.is_empty()
}

/// The number of groups of each sample; for unequal numbers, the equal number with the same information.
fn counts(levels: &[Vec<f64>; 2]) -> f64 {
    let [m, n] = levels.each_ref().map(|levels| levels.len() as f64);
    2.0 * m * n / (m + n)
}

/// The doubt about a location, if the interval of a shift exceeds the threshold.
fn of_location(test: Test, shift: Option<Shift>, location: f64, pair: Option<usize>, groups: f64) -> Option<Doubt> {
    let margin = test.threshold.at(location);
    let Some(shift) = shift else { return Some(Doubt::Location { pair, groups: None }) };
    if Test::is_within(shift, margin) {
        return None;
    }
    let error = (shift.high / 2.0 - shift.low / 2.0) / HALF_WIDTH;
    let distance = (margin - shift.estimate.abs()).abs();
    let factor = (HALF_WIDTH + TEN_ABOVE) * error / distance;
    Some(Doubt::Location { pair, groups: rounded(groups * (factor * factor).max(1.0)) })
}

/// Doubts about modes whose weights may have changed by more than their limit.
fn of_weights(test: Test, sides: &Sides) -> Vec<Doubt> {
    let [a, b] = &sides.doubtful;
    let count = if a.count() > 1 { a.count() } else { 0 };
    let modes = (0..count).filter_map(|mode| {
        let weight = Weight::of([a.shares(Some(mode)), b.shares(Some(mode))]);
        let levels = [a, b].map(|side| side.levels(mode)).concat();
        let is_known = levels.is_empty() || weight.is_within(test.threshold.weight);
        (!is_known).then(|| of_weight(test, &weight, median(&sorted(levels))))
    });
    modes.collect()
}

fn of_weight(test: Test, weight: &Weight, location: f64) -> Doubt {
    let groups = rounded(weight.deciding_groups(test.threshold.weight));
    Doubt::Weight { location, half_width: weight.half_width(), groups }
}

/// Doubts about a few values at one end, far from all others, that may be a mode whose weight changed. The first gap
/// that is wide enough counts.
fn of_rare(test: Test, sides: &Sides, levels: &[Vec<f64>; 2]) -> Vec<Doubt> {
    if sides.doubtful[0].count() > 1 {
        return Vec::new();
    }
    let ends = [1.0, -1.0].map(|sign| {
        let [a, b] = levels.each_ref().map(|levels| levels.iter().map(|level| sign * level).collect::<Vec<f64>>());
        let all = sorted([&a[..], &b].concat());
        let n = all.len();
        let deviation = (all[(n - 1) * 84 / 100] - all[(n - 1) * 16 / 100]) / 2.0;
        let first = (n.saturating_sub(RARE).max(n / 2 + 1)..n).find(|&first| {
            let gap = all[first] - all[first - 1];
            gap > RARE_DISTANCE * deviation && gap > test.threshold.at(all[first - 1])
        })?;
        let shares = [a, b].map(|values| {
            values.iter().map(|value| if *value >= all[first] { 1.0 } else { 0.0 }).collect::<Vec<f64>>()
        });
        let weight = Weight::of(shares);
        (!weight.is_within(test.threshold.weight)).then(|| of_weight(test, &weight, sign * median(&all[first..])))
    });
    ends.into_iter().flatten().collect()
}

/// The doubt about modes of one sample that the other does not have, if all values together are cut there.
fn of_numbers(test: Test, sides: &Sides, pairs: &[ModePair]) -> Option<Doubt> {
    let lone = pairs.iter().find(|pair| pair.a.is_none() || pair.b.is_none())?;
    let own = if lone.b.is_some() { (&sides.own[1], lone.b) } else { (&sides.own[0], lone.a) };
    let weight = Weight::of([own.0.shares(own.1), own.0.shares(own.1)]);
    has_modes(sides).then(|| Doubt::Modes { groups: rounded(weight.deciding_groups(test.threshold.weight)) })
}

/// A rounded number of groups, which is easy to remember.
fn rounded(groups: f64) -> Option<u64> {
    let step = if groups > 1000.0 { 100.0 } else { 10.0 };
    (groups.is_finite() && groups <= MOST_GROUPS).then(|| ((groups / step).ceil() * step).max(step) as u64)
}

/// Whether several groups of one sample have values farther out than all of the other, by more than the threshold:
/// perhaps a mode too rare to be found.
fn is_beyond(test: Test, sides: &Sides, levels: &[Vec<f64>; 2]) -> bool {
    [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().any(|(one, end)| {
        let (values, others) = (&sides.extremes[one][end], &sides.extremes[1 - one][end]);
        let unusual = if values.len() > FEW_GROUPS { UNUSUAL } else { UNUSUAL_OF_FEW };
        let (Some(at), Some(most)) = (values.len().checked_sub(unusual), others.last()) else { return false };
        values[at] > most + test.threshold.at(*most).max(BEYOND * deviation_of_most(&levels[1 - one]))
    })
}

/// The standard deviation of the mode that holds most of ascending values: that of normal values whose shortest half is
/// as short. A mode of fewer values, wherever it is, makes it no wider.
fn deviation_of_most(values: &[f64]) -> f64 {
    /// The middle half of normal values is this many standard deviations wide.
    const HALF: f64 = 1.348_980;
    let last = values.len() / 2;
    values.windows(last + 1).map(|half| half[last] - half[0]).fold(f64::MAX, f64::min) / HALF
}

/// Maximum excess if weights changed by no more than their limit: one group more is hardly chance.
fn most_excess(test: Test, [a, b]: &[Vec<f64>; 2]) -> f64 {
    test.threshold.weight + 1.0 / a.len().min(b.len()) as f64
}

/// The largest share of the groups of one sample beyond a place, minus that of the other beyond a place nearer by the
/// threshold: over both samples and ends, and for the second sample at its worse end.
fn excess(test: Test, [a, b]: &[Vec<f64>; 2]) -> (f64, f64) {
    let margin = test.threshold.at(median(a));
    let [a_below, b_below] = [a, b].map(|values| values.iter().rev().map(|value| -value).collect::<Vec<f64>>());
    let ends = [excess_above(b, a, margin), excess_above(&b_below, &a_below, margin)];
    let worse = if test.worsening(1.0) > 0.0 { ends[0] } else { ends[1] };
    let of_a = excess_above(a, b, margin).max(excess_above(&a_below, &b_below, margin));
    (ends[0].max(ends[1]).max(of_a), worse)
}

fn excess_above(one: &[f64], other: &[f64], margin: f64) -> f64 {
    one.iter().enumerate().fold(0.0, |most: f64, (at, value)| {
        let beyond = (one.len() - at) as f64 / one.len() as f64;
        let others = other.len() - other.partition_point(|other| *other < value - margin);
        most.max(beyond - others as f64 / other.len() as f64)
    })
}

/// Whether every interval excludes that the second sample is worse by more than the threshold: those of all values, of
/// each pair of modes, and of the weights of modes that are farther apart than the threshold.
pub(super) fn is_not_worse(test: Test, sides: &Sides, levels: &[Vec<f64>; 2], found: &Comparison) -> bool {
    use ComparisonVerdict::{Worse, WorseWeight};
    let all = found.shift_low.zip(found.shift_high);
    let of_all = all.is_some_and(|shift| worst(test, shift) <= test.threshold.at(median(&levels[0])));
    let of_pairs = found.modes.iter().filter(|_| has_modes(sides)).all(|pair| {
        let Some((mode, change)) = pair.a.zip(pair.location_low.zip(pair.location_high)) else { return true };
        worst(test, change) <= test.threshold.at(sides.own[0].location(mode))
    });
    let of_weights =
        (0..sides.bounds.len()).filter(|bound| is_apart(&sides.common, *bound, test.threshold)).all(|bound| {
            let above = sides.above(bound);
            let gained = if test.worsening(1.0) > 0.0 { above.at_most() } else { -above.at_least() };
            gained <= test.threshold.weight
        });
    let has_new = found.modes.iter().any(|pair| pair.a.is_none()) && sides.bounds.is_empty();
    !found.modes.iter().any(|pair| matches!(pair.verdict, Worse | WorseWeight))
        && of_all
        && of_pairs
        && of_weights
        && !has_new
        && excess(test, levels).1 <= most_excess(test, levels)
}

/// The worse end of an interval of changes.
fn worst(test: Test, (low, high): (f64, f64)) -> f64 {
    test.worsening(low).max(test.worsening(high))
}
