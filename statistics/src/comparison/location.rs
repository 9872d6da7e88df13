//! Whether one sample is beyond another: that there is a difference, and that it is more than the threshold.

use super::{ComparisonVerdict, Direction, LEAST_CONSTANT, Threshold};
use crate::brunner_munzel::{Tendency, mean_and_error};
use crate::kolmogorov;
use crate::rank_test::{Chances, least_chance};
use crate::sample::median;
use crate::shift::Shift;
use crate::tails;

/// The chance of a false alarm of all questions together is 1 %: this part is for all values, if there are several modes;
const OF_ALL: f64 = 0.002;
/// this one for the locations of modes;
const OF_LOCATIONS: f64 = 0.005;
/// and this one for their weights.
pub(super) const OF_WEIGHTS: f64 = 0.003;
/// Where no sample has several modes, all values are the only question. Three tests of it are approximations, whose largest
/// errors are at spreads of 1 to 3 and of 1 to 15: even values, 60 beside 6 or 10, have a difference in 1.2 % of the pairs
/// with 0.005.
const OF_ONE: f64 = 0.004;
/// The chance that a difference of exactly the threshold is found to be more, of all questions together.
pub(super) const PASSES: f64 = 0.05;
/// Fewer groups of a sample that is much wider than the other are all on one side of it too often: of six, in 1 of 32 cases.
/// Then the distance must be large beside their spread, too.
const FEW_GROUPS: usize = 12;
/// A shift explains a difference if the distributions are not farther apart than chance makes them more often than this.
const EXPLAINED: f64 = 0.05;

/// What is tested.
#[derive(Debug, Clone, Copy)]
pub(super) struct Test {
    pub(super) threshold: Threshold,
    pub(super) direction: Direction,
}

impl Test {
    /// The verdict on samples that do not vary, both ascending.
    pub(super) fn of_constants(self, [a, b]: &[Vec<f64>; 2]) -> Option<ComparisonVerdict> {
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

    /// A change, positive if it is for the worse.
    pub(super) fn worsening(self, change: f64) -> f64 {
        if self.direction == Direction::Lower { change } else { -change }
    }

    /// Whether all values of `b` together lie elsewhere than those of `a`, where there are this many pairs of modes.
    pub(super) fn of_all(self, [a, b]: &[Vec<f64>; 2], pairs: usize) -> ComparisonVerdict {
        let limit = if pairs > 1 { OF_ALL } else { OF_ONE };
        self.location(a, b, self.threshold.at(median(a)), Limits { exists: limit, passes: PASSES })
    }

    /// Whether `b` lies elsewhere than `a`, both ascending, by more than the margin: better, worse, or unknown.
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
        shift.low >= -margin && shift.high <= margin
    }

    /// Whether the second sample is the first one moved by a shift, or stretched by it: no test tells them apart.
    pub(super) fn is_one_shift(self, [a, b]: &[Vec<f64>; 2], shift: f64) -> bool {
        let stretched = 1.0 + shift / median(a);
        kolmogorov::chance(a, 1.0, shift, b) > EXPLAINED || kolmogorov::chance(a, stretched, 0.0, b) > EXPLAINED
    }
}

/// The chances that a question may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    /// To find a difference where there is none, up or down.
    pub(super) exists: f64,
    /// To find that a difference of exactly the threshold is more.
    pub(super) passes: f64,
}

/// The chances of values as large, and as small, that hold where spreads and numbers of values differ: the larger ones of
/// the tests of Mann and Whitney, which is exact for samples that are alike, and of Brunner and Munzel; for few values also
/// of the test of Welch (1947).
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

/// The chances of the questions about the locations of modes with this many groups in each sample. Each has an equal part.
/// But a mode of few groups may need more: that all groups of one sample are larger may not be as rare as its part. The
/// mode among these that needs least gets it, and the others share the rest, unless that is less than a tenth of all. The
/// numbers of groups say nothing of locations, so all chances together stay what they are (compare Tarone 1990).
pub(super) fn limits(groups: &[[usize; 2]]) -> Vec<Limits> {
    let all = if groups.len() > 1 { OF_LOCATIONS } else { OF_ONE };
    let equal = all / groups.len() as f64;
    let needs = |&[a, b]: &[usize; 2]| 2.0 * least_chance(a, b);
    let needy = groups.iter().map(needs).enumerate().filter(|(_, needed)| *needed > equal);
    let favoured = needy.min_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, needed)| *needed <= 0.9 * all);
    let exists = |at: usize| match favoured {
        Some((mode, needed)) if mode == at => needed,
        Some((_, needed)) => (all - needed) / (groups.len() - 1) as f64,
        None => equal,
    };
    let passes = PASSES / groups.len() as f64;
    (0..groups.len()).map(|at| Limits { exists: exists(at), passes }).collect()
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
