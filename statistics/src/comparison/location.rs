//! Whether one sample is beyond another: there is a difference, and it exceeds the threshold.

use super::{ComparisonVerdict, Direction, LEAST_CONSTANT, Threshold};
use crate::brunner_munzel::{Tendency, mean_and_error};
use crate::kolmogorov;
use crate::rank_test::{Chances, least_chance};
use crate::sample::median;
use crate::shift::Shift;
use crate::tails;

/// The probability of a false alarm of all questions together is 1 %: this part is for all values, if there are several
/// modes;
const OF_ALL: f64 = 0.002;
/// this one for the locations of modes;
const OF_LOCATIONS: f64 = 0.005;
/// and this one for their weights.
pub(super) const OF_WEIGHTS: f64 = 0.003;
/// Without several modes, all values are the only question. It has three approximate tests, whose errors are largest at
/// ratios of spreads from 1 to 3 and from 1 to 15: with 0.005, uniform values, 60 against 6 or 10, have a difference in
/// 1.2 % of the pairs.
const OF_ONE: f64 = 0.004;
/// The probability of finding that a difference of exactly the threshold exceeds it, of all questions together.
pub(super) const PASSES: f64 = 0.05;
/// If a sample is much wider than the other and has fewer groups than this, all of it is on one side of the other too
/// often: of six, in 1 of 32 cases. Then the distance must be large relative to their spread, too.
const FEW_GROUPS: usize = 12;
/// A shift explains a difference if the probability that chance moves the distributions as far apart exceeds this.
const EXPLAINED: f64 = 0.05;

/// The parameters of a test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Test {
    pub(super) threshold: Threshold,
    pub(super) direction: Direction,
}

impl Test {
    /// The verdict on samples that do not vary, both ascending.
    pub(super) fn of_constants(self, [a, b]: &[Vec<f64>; 2]) -> Option<ComparisonVerdict> {
        let is_constant = [a, b].map(|values| values.len() >= LEAST_CONSTANT && values.first() == values.last());
        if is_constant != [true, true] {
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

    /// A change, positive if it is for the worse.
    pub(super) fn worsening(self, change: f64) -> f64 {
        if self.direction == Direction::Lower { change } else { -change }
    }

    /// The verdict on the location of all values of `b` relative to those of `a`, if there are this many pairs of
    /// modes.
    pub(super) fn of_all(self, [a, b]: &[Vec<f64>; 2], pairs: usize) -> ComparisonVerdict {
        let limit = if pairs > 1 { OF_ALL } else { OF_ONE };
        self.location(a, b, self.threshold.at(median(a)), Limits { exists: limit, passes: PASSES })
    }

    /// The verdict on the location of `b` relative to `a`, both ascending, with this margin: better, worse, or unknown.
    pub(super) fn location(self, a: &[f64], b: &[f64], margin: f64, limits: Limits) -> ComparisonVerdict {
        let exists = chances(a, 0.0, b);
        let is_larger = exists.larger < exists.smaller;
        let margin = if is_larger { margin } else { -margin };
        let Some(passes) = Tendency::of(a, margin, b).map(Tendency::chances) else { return ComparisonVerdict::Unknown };
        let [exists, passes] = [exists, passes].map(|chances| if is_larger { chances.larger } else { chances.smaller });
        match exists <= limits.exists / 2.0 && passes <= limits.passes {
            true => self.better_or_worse(is_larger),
            false => ComparisonVerdict::Unknown,
        }
    }

    /// Whether the interval of a shift is within a margin.
    pub(super) fn is_within(shift: Shift, margin: f64) -> bool {
        shift.has_interval && shift.low >= -margin && shift.high <= margin
    }

    /// Whether the second sample may be the first one moved by a shift, or stretched by it: one of the tests finds no
    /// difference.
    pub(super) fn is_one_shift(self, [a, b]: &[Vec<f64>; 2], shift: f64) -> bool {
        let stretched = 1.0 + shift / median(a);
        kolmogorov::chance(a, 1.0, shift, b) > EXPLAINED || kolmogorov::chance(a, stretched, 0.0, b) > EXPLAINED
    }
}

/// Limits of the probabilities of false answers to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    /// Finding a difference where there is none, up or down.
    pub(super) exists: f64,
    /// Finding that a difference of exactly the threshold exceeds it.
    pub(super) passes: f64,
}

/// The probabilities of values as large, and as small, that hold even if spreads and numbers of values differ: the
/// larger ones of the tests of Mann and Whitney, which is exact for equal distributions, and of Brunner and Munzel; for
/// few values also of the test of Welch (1947).
fn chances(a: &[f64], by: f64, b: &[f64]) -> Chances {
    let ranks = Chances::of(a, by, b);
    let is_few = a.len().min(b.len()) < FEW_GROUPS;
    let tendency = Tendency::of(a, by, b).map(Tendency::chances);
    let means = if is_few { Some(welch(a, by, b)) } else { None };
    [tendency, means].into_iter().flatten().fold(ranks, |one, other| Chances {
        larger: one.larger.max(other.larger),
        smaller: one.smaller.max(other.smaller),
    })
}

/// Welch's test, with the degrees of freedom of Satterthwaite (1946).
pub(crate) fn welch(a: &[f64], by: f64, b: &[f64]) -> Chances {
    if a.len() < 2 || b.len() < 2 {
        return Chances { larger: 1.0, smaller: 1.0 };
    }
    let [(old, one), (new, other)] = [a, b].map(mean_and_error);
    let error = one + other;
    let difference = new - old - by;
    let t = if difference == 0.0 { 0.0 } else { difference / error.sqrt() };
    let freedom = match error > 0.0 {
        true => error * error / (one * one / (a.len() - 1) as f64 + other * other / (b.len() - 1) as f64),
        false => (a.len().min(b.len()) - 1) as f64,
    };
    Chances { larger: tails::student(t, freedom), smaller: tails::student(-t, freedom) }
}

/// The limits for the questions about the locations of modes with these numbers of groups in each sample. Each has an
/// equal part. But a mode of few groups may need more: that all groups of one sample are larger may not be as rare as
/// its part. The mode among these that needs least gets it, and the others share the rest, unless that is less than a
/// tenth of the whole. The numbers of groups are independent of locations, so the total probability is unchanged
/// (compare Tarone 1990).
pub(super) fn limits(groups: &[[usize; 2]]) -> Vec<Limits> {
    let all = if groups.len() > 1 { OF_LOCATIONS } else { OF_ONE };
    let equal = all / groups.len() as f64;
    let needed = groups.iter().map(|&[a, b]| 2.0 * least_chance(a, b));
    let needy = needed.enumerate().filter(|(_, needed)| *needed > equal);
    let favoured = needy.min_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, needed)| *needed <= 0.9 * all);
    let passes = PASSES / groups.len() as f64;
    let limits = (0..groups.len()).map(|at| {
        let exists = match favoured {
            Some((mode, needed)) if mode == at => needed,
            Some((_, needed)) => (all - needed) / (groups.len() - 1) as f64,
            None => equal,
        };
        Limits { exists, passes }
    });
    limits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_of_few_groups_gets_the_chance_that_it_needs() {
        let exists = |groups: &[[usize; 2]]| limits(groups).iter().map(|limits| limits.exists).collect::<Vec<f64>>();
        // Of 462 orders of five and six groups, one has all groups of one sample below.
        let favoured = exists(&[[10, 10], [5, 6]]);
        assert_eq!(favoured[1], 2.0 / 462.0);
        assert!((favoured.iter().sum::<f64>() - OF_LOCATIONS).abs() < 1e-15, "{favoured:?}");
        // Enough groups, too few for any part, and modes of one sample.
        for groups in [vec![[10, 10], [9, 9]], vec![[10, 10], [4, 4]], vec![[10, 10], [0, 6]]] {
            assert_eq!(exists(&groups), vec![OF_LOCATIONS / 2.0; 2], "{groups:?}");
        }
        assert_eq!((exists(&[[5, 5]]), exists(&[])), (vec![OF_ONE], vec![]));
    }
}
