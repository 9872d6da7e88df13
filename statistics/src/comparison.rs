//! Compares two samples: as a whole, and mode by mode.
//!
//! ```text
//!   modes of A ────┐
//!   modes of B ────┼─▶ matching ──▶ pair: is one location beyond the other?   ──┐
//!                  │                                                            ├─▶ verdict, and what it is about
//!   modes of both ─┴─▶ bounds that one of them has, too: did weight move?     ──┤
//!   all values ──────▶ is one sample beyond the other?                        ──┤
//!   runs in order ───▶ do they depend on the one before, or on time?          ──┘
//! ```
//!
//! Values of a group share a layout, so each group counts once in each mode, with the median of its values there. A
//! median or a mean of all values misses that a mode with a fifth of the values became slower; its own test does not.
//!
//! *Worse* and *better* require two things. There is a difference: all tests together have a probability of 1 % of
//! finding one where there is none. It exceeds the threshold: this probability is 5 % if it is exactly the threshold.
//! *Equal* needs evidence, too: intervals of 95 % within the threshold, and weights of all modes within their limit.
//! Everything else is unknown.
//!
//! | module | contents |
//! |---|---|
//! | `sides` | both samples, cut into modes at their own and at common places |
//! | `matching` | pairs of modes of both samples |
//! | `location` | whether one sample is beyond another |
//! | `pairs` | the verdicts on pairs of modes |
//! | `weight`, `moved` | changes of weights, and whether they matter |
//! | `stretch` | whether modes differ only because one sample is wider |
//! | `evidence` | evidence against equality, and the number of runs that decide |

mod evidence;
mod location;
mod matching;
mod moved;
mod pairs;
mod sides;
mod stretch;
mod weight;

use crate::dependence::{Dependence, dependence};
use crate::sample::{Sample, median, sorted};
use crate::shift::Shift;
pub use evidence::Doubt;
use location::Test;
#[cfg(test)]
pub(crate) use location::welch;
use pairs::pairs;
use sides::Sides;

/// Minimum number of groups of varying samples. Two samples of 6 values do not overlap by chance in 2 of 924 pairs, two
/// of 5 in 2 of 252: that is 0.8 %, more than the 0.5 % that locations may differ by chance.
pub const LEAST_GROUPS: usize = 6;
/// The default change of a weight that does not matter.
pub const WEIGHT_LIMIT: f64 = 0.1;
/// Minimum number of groups of constant samples.
const LEAST_CONSTANT: usize = 3;
/// Standard normal quantiles: that 0.5 % exceed plus that 10 % exceed; and the half width of an interval of 95 %.
const FOUND_IN_NINE_OF_TEN: f64 = 2.575_829 + 1.281_552;
const HALF_WIDTH: f64 = 1.959_964;

/// The direction of better values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The smaller ones.
    Lower,
    /// The larger ones.
    Higher,
}

/// The difference that matters: the larger of the first two for locations, the last for weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Relative to the location of the first sample.
    pub relative: f64,
    /// In the unit of the values.
    pub floor: f64,
    /// Of the part of the values that are in a mode.
    pub weight: f64,
}

impl Threshold {
    /// The difference that matters for values at a location.
    fn at(self, location: f64) -> f64 {
        (self.relative * location.abs()).max(self.floor)
    }
}

/// The difference of the second sample from the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// The difference is below the threshold.
    Equal,
    /// Better by more than the threshold.
    Better,
    /// Worse by more than the threshold.
    Worse,
    /// The modes have not moved, but their shares of the values have changed.
    MovedWeight,
    /// The modes have not moved, but the share of worse ones has grown by more than the limit.
    WorseWeight,
    /// The values support no statement.
    Unknown,
}

/// A mode of each sample, or an unpaired mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModePair {
    /// The mode of the first sample.
    pub a: Option<usize>,
    /// The mode of the second sample.
    pub b: Option<usize>,
    /// The shift from `a` to `b`; `None` for an unpaired mode.
    pub location_change: Option<f64>,
    /// The lower end of the 95 % confidence interval of the change.
    pub location_low: Option<f64>,
    /// Its upper end.
    pub location_high: Option<f64>,
    /// The share of the values in `b` minus that in `a`.
    pub weight_change: f64,
    /// The lower end of the 95 % confidence interval of the change; `None` if runs depend on their order.
    pub weight_low: Option<f64>,
    /// Its upper end.
    pub weight_high: Option<f64>,
    /// The verdict on this mode.
    pub verdict: ComparisonVerdict,
}

/// The difference of two samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The verdict: that of the worst mode whose difference is significant.
    pub verdict: ComparisonVerdict,
    /// The pair of modes that the verdict is about; `None` if it is about all values.
    pub about: Option<usize>,
    /// Evidence against *equal*, with the number of runs that decide it; `None` if there is none.
    pub doubt: Option<Doubt>,
    /// The dependence of runs on their order. If there is any, nothing else is known, and there are no intervals.
    pub dependence: Option<Dependence>,
    /// Whether all intervals exclude that the second sample is worse by more than the threshold, whatever the verdict.
    pub is_not_worse: bool,
    /// The shift of the second sample: the estimate of Hodges and Lehmann over the medians of groups.
    pub shift: Option<f64>,
    /// The lower end of the 95 % confidence interval of the shift; `None` if there are too few groups for one.
    pub shift_low: Option<f64>,
    /// Its upper end.
    pub shift_high: Option<f64>,
    /// The pairs of modes; one pair if neither sample has several, none if a sample is empty.
    pub modes: Vec<ModePair>,
    /// The smallest shift, relative to the median of the first sample, that samples like these show in about nine of
    /// ten cases. It is an estimate: for fewer than 20 groups, heavy tails or several modes the true probability is 60
    /// to 95 %. `None` if there are too few values.
    pub smallest_detectable: Option<f64>,
}

/// Compares two samples. Takes O(n log n) time for n values.
#[must_use]
pub fn compare(a: &Sample, b: &Sample, threshold: Threshold, direction: Direction) -> Comparison {
    let levels = [a, b].map(|sample| sorted(sample.medians()));
    let shift = Shift::of(&levels[0], &levels[1]);
    let test = Test { threshold, direction };
    let sides = Sides::of(a, b, threshold);
    let mut found = Comparison {
        verdict: ComparisonVerdict::Unknown,
        about: None,
        doubt: None,
        dependence: None,
        is_not_worse: false,
        shift: shift.map(|shift| shift.estimate),
        shift_low: shift.and_then(Shift::known_low),
        shift_high: shift.and_then(Shift::known_high),
        modes: pairs(test, &sides),
        smallest_detectable: shift.and_then(|shift| detectable(&levels, shift, threshold)),
    };
    if let Some(verdict) = test.of_constants(&levels) {
        found.modes.iter_mut().for_each(|pair| pair.verdict = verdict);
        found.verdict = verdict;
        (found.shift_low, found.shift_high) = (found.shift, found.shift);
        found.is_not_worse = verdict != ComparisonVerdict::Worse;
    } else if levels.iter().any(|levels| levels.len() < LEAST_GROUPS) {
        found.without_verdict(Doubt::TooFew);
    } else if let Some(dependence) = dependence(&[a, b]) {
        found.dependence = Some(dependence);
        found.without_verdict(Doubt::Order);
        found.without_intervals();
    } else {
        found.judge(test, &sides, &levels, [a, b]);
    }
    found
}

impl Comparison {
    /// Withdraws the verdicts on modes.
    fn without_verdict(&mut self, doubt: Doubt) {
        self.modes.iter_mut().for_each(|pair| pair.verdict = ComparisonVerdict::Unknown);
        self.doubt = Some(doubt);
    }

    /// Removes the intervals: they assume independent runs.
    fn without_intervals(&mut self) {
        (self.shift_low, self.shift_high, self.smallest_detectable) = (None, None, None);
        for pair in &mut self.modes {
            (pair.location_low, pair.location_high) = (None, None);
            (pair.weight_low, pair.weight_high) = (None, None);
        }
    }

    /// Determines the verdict on all modes together.
    fn judge(&mut self, test: Test, sides: &Sides, levels: &[Vec<f64>; 2], samples: [&Sample; 2]) {
        use ComparisonVerdict::{Better, Equal, MovedWeight, Unknown, Worse, WorseWeight};
        let weights = moved::bounds(test, sides);
        moved::mark(&mut self.modes, sides, &weights);
        if self.modes.iter().any(|pair| !matches!(pair.verdict, Equal | Unknown)) && stretch::is_stretched(sides) {
            self.modes.iter_mut().for_each(|pair| pair.verdict = Unknown);
        }
        let all = test.of_all(levels, self.modes.len());
        let shift = self.shift.unwrap_or_default();
        // A single shift may explain the differences between modes, even one that is too small to exceed the threshold.
        let is_explained = test.is_one_shift(levels, shift);
        let is_one_shift = matches!(all, Better | Worse) && is_explained;
        if all == Better && is_explained && sides.own[0].count() != sides.own[1].count() {
            // Chance cut a mode in two, and a part of it was paired with a mode that it does not belong to.
            let worse = self.modes.iter_mut().filter(|pair| pair.verdict == Worse);
            worse.for_each(|pair| pair.verdict = Unknown);
        }
        let is_some_shift = is_explained
            && (self.shift_low > Some(0.0) || self.shift_high < Some(0.0))
            && moved::is_whole(samples, shift, &sides.bounds);
        let of_modes = [Worse, WorseWeight, MovedWeight, Better].map(|verdict| (verdict, self.farthest(verdict)));
        let first = of_modes.into_iter().find(|(_, about)| about.is_some());
        let doubt = evidence::doubt(test, sides, levels, self);
        self.is_not_worse = evidence::is_not_worse(test, sides, levels, self);
        (self.verdict, self.about) = match first {
            Some((WorseWeight | MovedWeight, _)) if is_one_shift => (all, None),
            Some((WorseWeight | MovedWeight, _)) if is_some_shift => (Unknown, None),
            Some((MovedWeight, _)) if all == Worse => (Worse, None),
            Some((Better, _)) if all == Worse => (Worse, None),
            Some((verdict, about)) => (verdict, about.filter(|_| self.modes.len() > 1)),
            None if matches!(all, Better | Worse) => (all, None),
            None if doubt.is_none() => (Equal, None),
            None => (Unknown, None),
        };
        self.doubt = doubt.filter(|_| matches!(self.verdict, Unknown | MovedWeight));
        if self.verdict == Equal && sides.bounds.is_empty() {
            self.modes = pairs::whole(test, levels);
        }
        let is_other_weight = |pair: &&mut ModePair| pair.weight_low > Some(0.0) || pair.weight_high < Some(0.0);
        let equal = self.modes.iter_mut().filter(|pair| pair.verdict == Equal);
        equal.filter(is_other_weight).for_each(|pair| pair.verdict = Unknown);
    }

    /// The pair with this verdict whose location changed most.
    fn farthest(&self, verdict: ComparisonVerdict) -> Option<usize> {
        let pairs = self.modes.iter().enumerate().filter(|(_, pair)| pair.verdict == verdict);
        let changes = pairs.map(|(at, pair)| (at, pair.location_change.map_or(f64::MAX, f64::abs)));
        changes.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(at, _)| at)
    }
}

/// The smallest relative shift that is found in nine of ten cases.
fn detectable([a, b]: &[Vec<f64>; 2], shift: Shift, threshold: Threshold) -> Option<f64> {
    let location = median(a);
    let error = (shift.high / 2.0 - shift.low / 2.0) / HALF_WIDTH;
    let smallest = (threshold.at(location) + FOUND_IN_NINE_OF_TEN * error) / location.abs();
    let has_enough = a.len() >= LEAST_GROUPS && b.len() >= LEAST_GROUPS
        || error == 0.0 && a.len() >= LEAST_CONSTANT && b.len() >= LEAST_CONSTANT;
    (has_enough && smallest.is_finite()).then_some(smallest)
}

#[cfg(test)]
mod tests;
