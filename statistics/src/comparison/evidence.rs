//! Evidence against equality, and the number of runs that decide it.

use super::location::Test;
use super::sides::Sides;
use super::weight::{TEN_ABOVE, Weight};
use super::{Comparison, ComparisonVerdict, HALF_WIDTH, ModePair};
use crate::sample::{median, sorted};
use crate::shift::Shift;

/// Values may be a mode too rare to be found if they are this many standard deviations from the median of all. If one
/// sample lacks a mode of 20 % that is 6 deviations away, 2.8 to 3.0 % of 2,000 pairs of 20 runs are called equal, with
/// 4.5 deviations 2.1 to 2.6 %. But then two samples of one normal mode are called equal in 0.3 % fewer.
const FAR: f64 = 5.0;
/// Places of two samples are compared at this many standard deviations of the wider one, if that is more than the
/// threshold: the ends of wide samples differ by chance.
const WIDE: f64 = 2.0;
/// The share of values beyond a place may exceed the limit by this number of groups, because ends differ by chance. With
/// 2 groups, two samples of one normal mode, 20 runs each, are called equal in 1.6 % fewer of 1,500 pairs.
const STRAY_GROUPS: f64 = 2.6;
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
        /// The interval of the change of its weight.
        low: f64,
        /// Its upper end.
        high: f64,
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

/// Evidence against equality.
struct Found {
    doubt: Doubt,
    /// The same with the groups that show a change beyond its limit, if there seems to be one.
    beyond: Option<Doubt>,
}

/// The strongest evidence against equality: that which needs the most groups, since equality needs all to be settled. If
/// something seems to have changed beyond its limit, and fewer groups show that, it is that.
pub(super) fn doubt(test: Test, sides: &Sides, levels: &[Vec<f64>; 2], found: &Comparison) -> Option<Doubt> {
    let all = Shift::of(&levels[0], &levels[1]);
    let of_all = of_location(test, all, median(&levels[0]), None, counts(levels));
    let of_pairs = found.modes.iter().enumerate().filter(|_| has_modes(sides)).filter_map(|(at, pair)| {
        let (of_a, of_b) = (pair.a?, pair.b?);
        let shift = Shift::of(sides.own[0].levels(of_a), sides.own[1].levels(of_b));
        of_location(test, shift, sides.own[0].location(of_a), Some(at), counts(levels))
    });
    let doubts: Vec<Found> = of_all
        .into_iter()
        .chain(of_pairs)
        .chain(of_weights(test, sides, levels))
        .chain(of_rare(test, sides, levels))
        .chain(of_numbers(test, sides, &found.modes, levels))
        .collect();
    let needed = |doubt: &Doubt| doubt.groups().unwrap_or(u64::MAX);
    let least = doubts.iter().filter_map(|found| found.beyond).min_by_key(needed);
    let most = doubts.iter().map(|found| found.doubt).max_by_key(needed);
    let strongest = most.map(|most| least.filter(|least| needed(least) < needed(&most)).unwrap_or(most));
    strongest.or_else(|| differs_beyond(test, levels).then_some(Doubt::Extremes))
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
fn of_location(test: Test, shift: Option<Shift>, location: f64, pair: Option<usize>, groups: f64) -> Option<Found> {
    let margin = test.threshold.at(location);
    let Some(shift) = shift else {
        return Some(Found { doubt: Doubt::Location { pair, groups: None }, beyond: None });
    };
    if Test::is_within(shift, margin) {
        return None;
    }
    let error = (shift.high / 2.0 - shift.low / 2.0) / HALF_WIDTH;
    let distance = (margin - shift.estimate.abs()).abs();
    let factor = (HALF_WIDTH + TEN_ABOVE) * error / distance;
    let doubt = Doubt::Location { pair, groups: rounded(groups * (factor * factor).max(1.0)) };
    Some(Found { doubt, beyond: (shift.estimate.abs() > margin).then_some(doubt) })
}

/// Doubts about modes whose weights may have changed by more than their limit.
fn of_weights(test: Test, sides: &Sides, levels: &[Vec<f64>; 2]) -> Vec<Found> {
    let [a, b] = &sides.doubtful;
    let count = if a.count() > 1 { a.count() } else { 0 };
    let modes = (0..count).filter_map(|mode| {
        let weight = Weight::of([a.shares(Some(mode)), b.shares(Some(mode))]);
        let members = [a, b].map(|side| side.levels(mode)).concat();
        let is_known = members.is_empty() || weight.is_within(test.threshold.weight);
        (!is_known).then(|| of_weight(test, &weight, median(&sorted(members)), counts(levels)))
    });
    modes.collect()
}

fn of_weight(test: Test, weight: &Weight, location: f64, groups: f64) -> Found {
    let limit = test.threshold.weight;
    let doubt = |groups| Doubt::Weight { location, low: weight.low, high: weight.high, groups: rounded(groups) };
    let is_beyond = weight.change.abs() > limit;
    Found {
        doubt: doubt(weight.deciding_groups(limit, groups)),
        beyond: is_beyond.then(|| doubt(weight.groups_by_distance(limit, groups))),
    }
}

/// Doubts about values at one end, far from most others, that may be a mode whose weight changed.
fn of_rare(test: Test, sides: &Sides, levels: &[Vec<f64>; 2]) -> Vec<Found> {
    if sides.doubtful[0].count() > 1 {
        return Vec::new();
    }
    let all = sorted(levels.concat());
    let far = (FAR * middle_deviation(&all)).max(test.threshold.at(median(&all)));
    let ends = [1.0, -1.0].map(|sign| {
        let is_far = |value: f64| sign * (value - median(&all)) > far;
        let shares =
            levels.each_ref().map(|levels| levels.iter().map(|value| f64::from(u8::from(is_far(*value)))).collect());
        let weight = Weight::of(shares);
        let values: Vec<f64> = all.iter().copied().filter(|value| is_far(*value)).collect();
        let is_known = values.is_empty() || weight.is_within(test.threshold.weight);
        (!is_known).then(|| of_weight(test, &weight, median(&values), counts(levels)))
    });
    ends.into_iter().flatten().collect()
}

/// The doubt about modes of one sample that the other does not have, if all values together are cut there.
fn of_numbers(test: Test, sides: &Sides, pairs: &[ModePair], levels: &[Vec<f64>; 2]) -> Option<Found> {
    let lone = pairs.iter().find(|pair| pair.a.is_none() || pair.b.is_none())?;
    let own = if lone.b.is_some() { (&sides.own[1], lone.b) } else { (&sides.own[0], lone.a) };
    let weight = Weight::of([own.0.shares(own.1), own.0.shares(own.1)]);
    let groups = rounded(weight.deciding_groups(test.threshold.weight, counts(levels)));
    has_modes(sides).then_some(Found { doubt: Doubt::Modes { groups }, beyond: None })
}

/// A rounded number of groups, which is easy to remember.
fn rounded(groups: f64) -> Option<u64> {
    let step = if groups > 1000.0 { 100.0 } else { 10.0 };
    (groups.is_finite() && groups <= MOST_GROUPS).then(|| ((groups / step).ceil() * step).max(step) as u64)
}

/// Half of the width of the middle of ascending values: the standard deviation of normal ones.
fn middle_deviation(values: &[f64]) -> f64 {
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    (at(0.84) - at(0.16)) / 2.0
}

/// The standard deviation of the mode that holds most of ascending values: that of normal values whose shortest half is
/// as short. A mode of fewer values, wherever it is, makes it no wider.
fn deviation_of_most(values: &[f64]) -> f64 {
    /// The middle half of normal values is this many standard deviations wide.
    const HALF: f64 = 1.348_980;
    let last = values.len() / 2;
    values.windows(last + 1).map(|half| half[last] - half[0]).fold(f64::MAX, f64::min) / HALF
}

/// Whether every interval excludes that the second sample is worse by more than the threshold: that of all values, those
/// of pairs of modes, and those of the shares of values that are worse than any place.
pub(super) fn is_not_worse(test: Test, sides: &Sides, levels: &[Vec<f64>; 2], found: &Comparison) -> bool {
    use ComparisonVerdict::{Worse, WorseWeight};
    let all = found.shift_low.zip(found.shift_high);
    let of_all = all.is_some_and(|shift| worst(test, shift) <= test.threshold.at(median(&levels[0])));
    let of_pairs = found.modes.iter().filter(|_| has_modes(sides)).all(|pair| {
        let Some((mode, change)) = pair.a.zip(pair.location_low.zip(pair.location_high)) else { return true };
        worst(test, change) <= test.threshold.at(sides.own[0].location(mode))
    });
    !found.modes.iter().any(|pair| matches!(pair.verdict, Worse | WorseWeight))
        && of_all
        && of_pairs
        && most_worse(test, levels) <= test.threshold.weight
}

/// The largest share of the second sample that may be worse than a place, minus that of the first one. A few values in a
/// worse mode may be a mode that has more of the values than its limit.
fn most_worse(test: Test, [a, b]: &[Vec<f64>; 2]) -> f64 {
    let margin = test.threshold.at(median(a));
    match test.worsening(1.0) > 0.0 {
        true => most_beyond(b, a, margin),
        false => most_beyond(&negated(b), &negated(a), margin),
    }
}

/// Whether one sample may have more values beyond a place, at either end, than a change of weights within the limit and
/// stray values explain.
fn differs_beyond(test: Test, [a, b]: &[Vec<f64>; 2]) -> bool {
    let margin = test.threshold.at(median(a)).max(WIDE * deviation_of_most(a).max(deviation_of_most(b)));
    let most = test.threshold.weight + STRAY_GROUPS / a.len().min(b.len()) as f64;
    let [a_below, b_below] = [a, b].map(|values| negated(values));
    [(a, b), (b, a), (&a_below, &b_below), (&b_below, &a_below)]
        .into_iter()
        .any(|(one, other)| most_beyond(one, other, margin) > most)
}

/// The largest share of one sample beyond a place, minus that of the other beyond a place nearer by a margin: the upper
/// ends of one-sided intervals of 95 %, over the values of the first.
fn most_beyond(one: &[f64], other: &[f64], margin: f64) -> f64 {
    let beyond = |at: usize| {
        let others = other.len() - other.partition_point(|other| *other < one[at] - margin);
        match others == other.len() {
            // All of the other sample are there: no share exceeds that.
            true => 0.0,
            false => Weight::most_of_counts([others, one.len() - at], [other.len(), one.len()]),
        }
    };
    (0..one.len()).map(beyond).fold(0.0, f64::max)
}

/// Ascending values, negated and ascending again.
fn negated(values: &[f64]) -> Vec<f64> {
    values.iter().rev().map(|value| -value).collect()
}

/// The worse end of an interval of changes.
fn worst(test: Test, (low, high): (f64, f64)) -> f64 {
    test.worsening(low).max(test.worsening(high))
}
