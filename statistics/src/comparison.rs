//! Compares two samples: as a whole, and mode by mode.
//!
//! ```text
//!   modes of A ─┐
//!               ├─▶ matching ──▶ pair: location (two one-sided rank tests), weight (Fisher, or ranks) ──▶ verdict of the pair
//!   modes of B ─┘        └─────▶ a mode without partner: is it new?                         ──▶ verdict
//! ```
//!
//! Values of a group share a layout, so each group counts once in each mode, with the median of its values there. A
//! median or a mean of all values does not see that a mode of one fifth of the values became slower; its own test does.
//!
//! False alarms are rare for three reasons. All questions together have a chance of 1 %, divided among them (Bonferroni); a
//! mode of few groups gets the part that it needs.
//! A difference must be larger than the threshold, not than 0. And it must be there wherever the modes are cut: each sample
//! has its own cuts, and what differs only because of them is no difference. `trial_rates` in `benches/` prints the rates.

mod matching;
mod sides;
mod weight;

use crate::rank_test::{Chances, Shift, least_chance};
use crate::sample::{Sample, median, sorted};
use matching::matched;
use sides::{Side, Sides};
use weight::Weight;

/// The chance of a false alarm of all questions together.
const SIGNIFICANT: f64 = 0.01;
/// The chance that each of two tests is wrong that say that samples are equal.
const EQUIVALENT: f64 = 0.05;
/// Fewer groups that vary say nothing.
pub const LEAST_GROUPS: usize = 6;
/// Samples are not called equal if this many groups of one are beyond all of the other: of up to `FEW_GROUPS`, and of more.
const UNUSUAL_OF_FEW: usize = 2;
const UNUSUAL: usize = 3;
const FEW_GROUPS: usize = 30;
/// Fewer groups that do not vary say nothing.
const LEAST_CONSTANT: usize = 3;
/// Standard normal numbers: that 0.5 % are above, and 10 %; and the half width of an interval of 95 %.
const FOUND_IN_NINE_OF_TEN: f64 = 2.575_829 + 1.281_552;
const HALF_WIDTH: f64 = 1.959_964;

/// Which values are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The smaller ones.
    Lower,
    /// The larger ones.
    Higher,
}

/// The difference that matters: the larger of both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Relative to the location of the first sample.
    pub relative: f64,
    /// In the unit of the values.
    pub floor: f64,
}

impl Threshold {
    fn at(self, location: f64) -> f64 {
        (self.relative * location.abs()).max(self.floor)
    }
}

/// How the second sample differs from the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// By no more than matters.
    Equal,
    /// It is better by more than matters.
    Better,
    /// It is worse by more than matters.
    Worse,
    /// Modes are where they were, and have more or fewer of the values.
    MovedWeight,
    /// The values support no statement.
    Unknown,
}

/// A mode of each sample, or of one that has no partner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModePair {
    /// The mode of the first sample.
    pub a: Option<usize>,
    /// The mode of the second sample.
    pub b: Option<usize>,
    /// How far it is from `a` to `b`; `None` if one has no partner.
    pub location_change: Option<f64>,
    /// The interval that holds the true change in 95 of 100 cases.
    pub location_low: Option<f64>,
    /// Its upper end.
    pub location_high: Option<f64>,
    /// How much more of the values are in `b` than in `a`.
    pub weight_change: f64,
    /// The interval that holds the true change in 95 of 100 cases.
    pub weight_low: f64,
    /// Its upper end.
    pub weight_high: f64,
    /// The verdict on this mode.
    pub verdict: ComparisonVerdict,
}

/// How two samples differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The verdict: that of the worst mode whose difference is significant.
    pub verdict: ComparisonVerdict,
    /// How much larger the second sample is: the estimate of Hodges and Lehmann over the medians of groups.
    pub shift: Option<f64>,
    /// The interval that holds the true shift in 95 of 100 cases.
    pub shift_low: Option<f64>,
    /// Its upper end.
    pub shift_high: Option<f64>,
    /// The modes; one pair if neither sample has several, none if a sample is empty.
    pub modes: Vec<ModePair>,
    /// The smallest shift, relative to the median of the first sample, that samples like these show in about nine of ten
    /// cases. It is an estimate: for fewer than 20 groups, heavy tails or several modes the true chance is 60 to 95 %.
    /// `None` if there are too few values.
    pub smallest_detectable: Option<f64>,
}

/// Compares two samples. Time grows with n log n for n values.
#[must_use]
pub fn compare(a: &Sample, b: &Sample, threshold: Threshold, direction: Direction) -> Comparison {
    let levels = [a, b].map(|sample| sorted(sample.medians()));
    let [old, new] = &levels;
    let shift = Shift::of(old, new);
    let test = Test { threshold, direction };
    let sides = Sides::of(a, b);
    let mut modes = test.pairs(&sides);
    let verdict = match test.of_constants(old, new) {
        Some(verdict) => {
            modes.iter_mut().for_each(|pair| pair.verdict = verdict);
            verdict
        }
        None if old.len() < LEAST_GROUPS || new.len() < LEAST_GROUPS => {
            modes.iter_mut().for_each(|pair| pair.verdict = ComparisonVerdict::Unknown);
            ComparisonVerdict::Unknown
        }
        None => test.verdict(&modes, &sides, &levels),
    };
    Comparison {
        verdict,
        shift: shift.map(|shift| shift.estimate),
        shift_low: shift.map(|shift| shift.low),
        shift_high: shift.map(|shift| shift.high),
        modes,
        smallest_detectable: shift.and_then(|shift| detectable(old, new, shift, threshold)),
    }
}

/// The smallest relative shift that is found in nine of ten cases.
fn detectable(a: &[f64], b: &[f64], shift: Shift, threshold: Threshold) -> Option<f64> {
    let location = median(a);
    let error = (shift.high / 2.0 - shift.low / 2.0) / HALF_WIDTH;
    let smallest = (threshold.at(location) + FOUND_IN_NINE_OF_TEN * error) / location.abs();
    let has_enough = a.len() >= LEAST_GROUPS && b.len() >= LEAST_GROUPS
        || error == 0.0 && a.len() >= LEAST_CONSTANT && b.len() >= LEAST_CONSTANT;
    (has_enough && smallest.is_finite()).then_some(smallest)
}

/// What is tested.
#[derive(Debug, Clone, Copy)]
struct Test {
    threshold: Threshold,
    direction: Direction,
}

impl Test {
    /// The verdict on samples that do not vary, both ascending.
    fn of_constants(self, a: &[f64], b: &[f64]) -> Option<ComparisonVerdict> {
        let is_constant = |values: &[f64]| values.len() >= LEAST_CONSTANT && values.first() == values.last();
        if !is_constant(a) || !is_constant(b) {
            return None;
        }
        let margin = self.threshold.at(a[0]);
        Some(if (b[0] - a[0]).abs() <= margin { ComparisonVerdict::Equal } else { self.better_or_worse(b[0] > a[0]) })
    }

    fn better_or_worse(self, is_larger: bool) -> ComparisonVerdict {
        match is_larger == (self.direction == Direction::Higher) {
            true => ComparisonVerdict::Better,
            false => ComparisonVerdict::Worse,
        }
    }

    /// Whether `b` lies elsewhere than `a`, both ascending, where the chance of a false alarm may be `limit`.
    fn location(self, a: &[f64], b: &[f64], margin: f64, limit: f64) -> ComparisonVerdict {
        let above = Chances::of(a, margin, b);
        if above.larger <= limit / 2.0 {
            return self.better_or_worse(true);
        }
        let below = Chances::of(a, -margin, b);
        if below.smaller <= limit / 2.0 {
            return self.better_or_worse(false);
        }
        let is_equivalent = below.larger <= EQUIVALENT && above.smaller <= EQUIVALENT;
        if is_equivalent { ComparisonVerdict::Equal } else { ComparisonVerdict::Unknown }
    }

    /// The pairs of modes with their verdicts.
    fn pairs(self, sides: &Sides) -> Vec<ModePair> {
        let [a, b] = &sides.own;
        let locations = [a, b].map(|side| (0..side.count()).map(|mode| side.location(mode)).collect::<Vec<f64>>());
        let pairs = matched(&locations[0], &locations[1]);
        let levels = |side: &Side, mode: Option<usize>| mode.map_or(0, |mode| side.levels(mode).len());
        let groups: Vec<[usize; 2]> = pairs.iter().map(|pair| [levels(a, pair.0), levels(b, pair.1)]).collect();
        let of_weight = weight_limit(pairs.len());
        let made = pairs.iter().zip(location_limits(&groups)).map(|(&(of_a, of_b), limit)| {
            let weight = Weight::of([a.shares(of_a), b.shares(of_b)]);
            let mut pair = ModePair {
                a: of_a,
                b: of_b,
                location_change: None,
                location_low: None,
                location_high: None,
                weight_change: weight.change,
                weight_low: weight.low,
                weight_high: weight.high,
                verdict: ComparisonVerdict::Unknown,
            };
            match (of_a, of_b) {
                (Some(of_a), Some(of_b)) => {
                    if let Some(shift) = Shift::of(a.levels(of_a), b.levels(of_b)) {
                        pair.location_change = Some(shift.estimate);
                        (pair.location_low, pair.location_high) = (Some(shift.low), Some(shift.high));
                    }
                    pair.verdict = self.of_partners(sides, [of_a, of_b], &weight, [limit, of_weight]);
                }
                (None, Some(mode)) => pair.verdict = self.of_new(sides, mode, &locations, of_weight),
                (Some(mode), None) => {
                    let is_moved = sides.cut_as_a(mode).p_value <= of_weight;
                    pair.verdict = if is_moved { ComparisonVerdict::MovedWeight } else { ComparisonVerdict::Unknown };
                }
                (None, None) => {}
            }
            pair
        });
        made.collect()
    }

    /// The verdict on two modes that are partners. Modes are found in each sample for itself, so they may differ only because
    /// the samples were cut at different places. A difference must also be there if both are cut as the first, or as the
    /// second.
    fn of_partners(
        self,
        sides: &Sides,
        modes: [usize; 2],
        own: &Weight,
        [limit, of_weight]: [f64; 2],
    ) -> ComparisonVerdict {
        let [a, b] = &sides.own;
        let margin = self.threshold.at(a.location(modes[0]));
        let alike = [(&sides.cut_as_a, modes[0]), (&sides.cut_as_b, modes[1])];
        let location = self.location(a.levels(modes[0]), b.levels(modes[1]), margin, limit);
        let weights = alike.map(|([a, b], mode)| Weight::of([a.shares(Some(mode)), b.shares(Some(mode))]));
        if matches!(location, ComparisonVerdict::Better | ComparisonVerdict::Worse) {
            // Where a mode moved across a cut, the part of the values there differs, and levels say nothing.
            let is_confirmed = alike.iter().zip(&weights).all(|(([a, b], mode), weight)| {
                weight.p_value <= limit || self.location(a.levels(*mode), b.levels(*mode), margin, limit) == location
            });
            return if is_confirmed { location } else { ComparisonVerdict::Unknown };
        }
        let is_moved = own.p_value <= of_weight
            && weights.iter().all(|weight| weight.p_value <= of_weight && weight.change * own.change > 0.0);
        if is_moved { ComparisonVerdict::MovedWeight } else { location }
    }

    /// The verdict on a mode of the second sample that has no partner.
    fn of_new(self, sides: &Sides, mode: usize, locations: &[Vec<f64>; 2], limit: f64) -> ComparisonVerdict {
        if sides.cut_as_b(mode).p_value > limit {
            return ComparisonVerdict::Unknown;
        }
        let found = locations[1][mode];
        let is_beyond = |location: &f64| match self.direction {
            Direction::Lower => found > location + self.threshold.at(*location),
            Direction::Higher => found < location - self.threshold.at(*location),
        };
        // It is worse only if nothing of the first sample was as bad.
        let is_worse = sides.cut_as_b[0].levels(mode).is_empty() && locations[0].iter().all(is_beyond);
        if is_worse { ComparisonVerdict::Worse } else { ComparisonVerdict::MovedWeight }
    }

    /// The verdict on all modes together.
    fn verdict(self, pairs: &[ModePair], sides: &Sides, [old, new]: &[Vec<f64>; 2]) -> ComparisonVerdict {
        use ComparisonVerdict::{Better, Equal, MovedWeight, Unknown, Worse};
        for verdict in [Worse, MovedWeight, Better] {
            if pairs.iter().any(|pair| pair.verdict == verdict) {
                return verdict;
            }
        }
        let has_partners = pairs.iter().all(|pair| pair.a.is_some() && pair.b.is_some());
        if has_partners && pairs.iter().all(|pair| pair.verdict == Equal) {
            return if self.is_beyond(sides) { Unknown } else { Equal };
        }
        // Where modes were found differently, all values together may still show a difference.
        match self.location(old, new, self.threshold.at(median(old)), limit(pairs.len())) {
            Equal => Unknown,
            verdict => verdict,
        }
    }

    /// Whether several groups of one sample have values that are farther out than all of the other, by more than matters:
    /// perhaps a mode that is too rare to be found.
    fn is_beyond(self, sides: &Sides) -> bool {
        let [a, b] = &sides.extremes;
        let exceeds = |one: &[f64], other: &[f64]| {
            let unusual = if one.len() > FEW_GROUPS { UNUSUAL } else { UNUSUAL_OF_FEW };
            let (Some(at), Some(most)) = (one.len().checked_sub(unusual), other.last()) else { return false };
            one[at] > most + self.threshold.at(*most)
        };
        (0..2).any(|end| exceeds(&a[end], &b[end]) || exceeds(&b[end], &a[end]))
    }
}

/// The chance of a false alarm that each of the questions about this many pairs of modes may have: those about locations,
/// about weights, and about all values together.
fn limit(pairs: usize) -> f64 {
    let questions = if pairs > 1 { 2 * pairs } else { 1 };
    SIGNIFICANT / questions as f64
}

/// The chances of the questions about the locations of modes with this many groups in each sample. Each has an equal part. But
/// a mode of few groups may need more: that all groups of one sample are larger may not be as rare as its part. The mode
/// among these that needs least gets it, and the others share the rest, unless that is less than a tenth of all. The
/// numbers of groups say nothing of locations, so all chances together stay what they are (compare Tarone 1990).
fn location_limits(groups: &[[usize; 2]]) -> Vec<f64> {
    let equal = limit(groups.len());
    let all = equal * groups.len() as f64;
    let needs = |&[a, b]: &[usize; 2]| 2.0 * least_chance(a, b);
    let needy = groups.iter().map(needs).enumerate().filter(|(_, needed)| *needed > equal);
    let favoured = needy.min_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, needed)| *needed <= 0.9 * all);
    let limit = |at: usize| match favoured {
        Some((mode, needed)) if mode == at => needed,
        Some((_, needed)) => (all - needed) / (groups.len() - 1) as f64,
        None => equal,
    };
    (0..groups.len()).map(limit).collect()
}

/// The same for questions about weights, which are half of all. Weights add up to 1: of two modes one has what the other
/// lacks, which is one question.
fn weight_limit(pairs: usize) -> f64 {
    let questions = if pairs == 2 { 1 } else { pairs };
    SIGNIFICANT / 2.0 / questions as f64
}

#[cfg(test)]
mod tests;
