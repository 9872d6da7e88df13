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
//! median or a mean of all values does not see that a mode of one fifth of the values became slower; its own test does.
//!
//! *Worse* and *better* answer two questions. There is a difference: all tests together have a chance of 1 % to find one
//! where there is none. It is more than the threshold: 5 %, where it is exactly the threshold. *Equal* needs evidence, too:
//! intervals of 95 % within the threshold, and weights of all modes within their limit. What is neither is unknown.
//!
//! | module | what is in it |
//! |---|---|
//! | `sides` | both samples, cut into modes at their own and at common places |
//! | `matching` | which mode of one sample is which of the other |
//! | `location` | whether one sample is beyond another |
//! | `pairs` | the verdicts on pairs of modes |
//! | `weight`, `moved` | how weights changed, and whether that matters |
//! | `stretch` | whether modes differ only because one sample is wider |
//! | `evidence` | what speaks against equality, and how many runs decide |

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

/// Fewer groups that vary say nothing.
pub const LEAST_GROUPS: usize = 6;
/// The change of a weight that does not matter, unless told otherwise.
pub const WEIGHT_LIMIT: f64 = 0.1;
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
    /// Modes are where they were, and worse ones have more of the values, by more than matters.
    WorseWeight,
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
    /// The interval that holds the true change in 95 of 100 cases; `None` if runs depend on their order.
    pub weight_low: Option<f64>,
    /// Its upper end.
    pub weight_high: Option<f64>,
    /// The verdict on this mode.
    pub verdict: ComparisonVerdict,
}

/// How two samples differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The verdict: that of the worst mode whose difference is significant.
    pub verdict: ComparisonVerdict,
    /// The pair of modes that the verdict is about; `None` if it is about all values.
    pub about: Option<usize>,
    /// What speaks against *equal*, and which runs would decide it; `None` if nothing does.
    pub doubt: Option<Doubt>,
    /// How runs depend on their order. Then nothing else is known, and there are no intervals.
    pub dependence: Option<Dependence>,
    /// Whether all intervals say that the second sample is worse by no more than matters, whatever the verdict.
    pub is_not_worse: bool,
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
        shift_low: shift.map(|shift| shift.low),
        shift_high: shift.map(|shift| shift.high),
        modes: pairs(test, &sides),
        smallest_detectable: shift.and_then(|shift| detectable(&levels, shift, threshold)),
    };
    if let Some(verdict) = test.of_constants(&levels) {
        found.modes.iter_mut().for_each(|pair| pair.verdict = verdict);
        found.verdict = verdict;
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
    /// Nothing is said of the whole and of modes.
    fn without_verdict(&mut self, doubt: Doubt) {
        self.modes.iter_mut().for_each(|pair| pair.verdict = ComparisonVerdict::Unknown);
        self.doubt = Some(doubt);
    }

    /// Intervals are about independent runs.
    fn without_intervals(&mut self) {
        (self.shift_low, self.shift_high, self.smallest_detectable) = (None, None, None);
        for pair in &mut self.modes {
            (pair.location_low, pair.location_high) = (None, None);
            (pair.weight_low, pair.weight_high) = (None, None);
        }
    }

    /// The verdict on all modes together.
    fn judge(&mut self, test: Test, sides: &Sides, levels: &[Vec<f64>; 2], samples: [&Sample; 2]) {
        use ComparisonVerdict::{Better, Equal, MovedWeight, Unknown, Worse, WorseWeight};
        let weights = moved::bounds(test, sides);
        moved::mark(&mut self.modes, sides, &weights);
        if self.modes.iter().any(|pair| !matches!(pair.verdict, Equal | Unknown)) && stretch::is_stretched(sides) {
            self.modes.iter_mut().for_each(|pair| pair.verdict = Unknown);
        }
        let all = test.of_all(levels, self.modes.len());
        let shift = self.shift.unwrap_or_default();
        // Whatever is between modes, one shift may explain it, even one that is too small to be called more than matters.
        let is_explained = test.is_one_shift(levels, shift);
        let is_one_shift = matches!(all, Better | Worse) && is_explained;
        let is_some_shift = is_explained
            && (self.shift_low > Some(0.0) || self.shift_high < Some(0.0))
            && moved::is_whole(samples, shift, &sides.bounds);
        let beyond = |pair: &ModePair| pair.location_change.map_or(f64::MAX, f64::abs);
        let about = |wanted: ComparisonVerdict| {
            let pairs = self.modes.iter().enumerate().filter(|(_, pair)| pair.verdict == wanted);
            pairs.max_by(|one, other| beyond(one.1).total_cmp(&beyond(other.1))).map(|(at, _)| at)
        };
        let of_modes = [Worse, WorseWeight, MovedWeight, Better].map(|verdict| (verdict, about(verdict)));
        let first = of_modes.into_iter().find(|(_, about)| about.is_some());
        let is_weight = |verdict| matches!(verdict, WorseWeight | MovedWeight);
        let doubt = evidence::doubt(test, sides, levels, self);
        self.is_not_worse = evidence::is_not_worse(test, sides, levels, self);
        (self.verdict, self.about) = match first {
            Some((verdict, _)) if is_weight(verdict) && is_one_shift => (all, None),
            Some((verdict, _)) if is_weight(verdict) && is_some_shift => (Unknown, None),
            Some((MovedWeight, _)) if all == Worse => (Worse, None),
            Some((Better, _)) if all == Worse => (Worse, None),
            Some((verdict, about)) => (verdict, about.filter(|_| self.modes.len() > 1)),
            None if matches!(all, Better | Worse) => (all, None),
            None if doubt.is_none() => (Equal, None),
            None => (Unknown, None),
        };
        self.doubt = doubt;
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
