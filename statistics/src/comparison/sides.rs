//! Two samples, cut into modes at their own places and at common ones.

use super::Threshold;
use super::weight::Weight;
use crate::modes::{Gap, cuts, place};
use crate::sample::{Sample, median, sorted};

/// Groups that a mode has at least on its side of a cut.
const LEAST_MEMBERS: usize = 6;
/// One of so many values may lie between two modes.
const STRAY: usize = 100;

/// Both samples, each cut at its own places, and both cut at the same ones.
pub(super) struct Sides {
    pub(super) own: [Side; 2],
    pub(super) cut_as_a: [Side; 2],
    pub(super) cut_as_b: [Side; 2],
    /// Both cut at these places.
    pub(super) common: [Side; 2],
    /// Where both samples are cut for themselves; or one of them, and all values together. A sample that was cut by chance
    /// is not cut there, because values of the other one fill the gap; and where modes were moved, values of both are not
    /// cut where one of them is.
    pub(super) bounds: Vec<f64>,
    /// The same, with places where only all values together are cut into modes that are farther apart than what matters,
    /// unless each sample has enough of them to show it.
    pub(super) doubtful: [Side; 2],
    /// For each sample the negative of the smallest value of each group, and its largest value, ascending.
    pub(super) extremes: [[Vec<f64>; 2]; 2],
}

impl Sides {
    pub(super) fn of(a: &Sample, b: &Sample, threshold: Threshold) -> Self {
        let gaps = [a, b].map(|sample| cuts(sample).1);
        let together = cuts(&a.with(b)).1;
        let both = |bounds: &[f64]| [a, b].map(|sample| Side::of(sample, bounds));
        let cut = |gaps: &[Gap], others: &[Gap]| both(&bounds(gaps, others));
        let (cut_as_a, cut_as_b) = (cut(&gaps[0], &gaps[1]), cut(&gaps[1], &gaps[0]));
        let own = [cut_as_a[0].clone(), cut_as_b[1].clone()];
        let widened = [(a, &gaps[0]), (b, &gaps[1])].map(|(sample, gaps)| {
            let values = sample.sorted();
            gaps.iter().map(|gap| gap.widened(&values, values.len() / STRAY)).collect::<Vec<Gap>>()
        });
        let bounds = common(&gaps, &widened, &together);
        let is_doubtful = |gap: &&Gap| {
            let is_own = widened.iter().flatten().any(|own| own.common(**gap).is_some());
            let sides = both(&[gap.middle()]);
            let could_show = sides.iter().all(|side| (0..2).all(|mode| side.levels(mode).len() >= LEAST_MEMBERS));
            // Between modes that chance made of one, the gap is as narrow as those beside it.
            let is_wide = 2.0 * gap.half_width() > threshold.at(gap.middle());
            !is_own && !could_show && is_wide && is_apart(&sides, 0, threshold)
        };
        let doubtful = together.iter().filter(is_doubtful).map(|gap| gap.middle());
        let doubtful = both(&sorted(bounds.iter().copied().chain(doubtful).collect()));
        let extremes = [a, b].map(|sample| {
            let most = |sign: f64| {
                let of_group = |group: &[f64]| group.iter().map(|value| sign * value).fold(f64::MIN, f64::max);
                sorted(sample.groups().map(of_group).collect())
            };
            [most(-1.0), most(1.0)]
        });
        Sides { own, cut_as_a, cut_as_b, common: both(&bounds), bounds, doubtful, extremes }
    }

    /// The change of the weight above a common bound.
    pub(super) fn above(&self, bound: usize) -> Weight {
        Weight::of(self.common.each_ref().map(|side| side.shares_above(bound)))
    }

    /// The change of the weight between two common bounds.
    pub(super) fn between(&self, mode: usize) -> Weight {
        Weight::of(self.common.each_ref().map(|side| side.shares(Some(mode))))
    }
}

/// Whether the modes beside a bound are farther apart than what matters.
pub(super) fn is_apart(sides: &[Side; 2], bound: usize, threshold: Threshold) -> bool {
    let locations = [bound, bound + 1].map(|mode| {
        let levels = sorted(sides.iter().flat_map(|side| side.levels(mode)).copied().collect());
        (!levels.is_empty()).then(|| median(&levels))
    });
    let [Some(below), Some(above)] = locations else { return true };
    above - below > threshold.at(below)
}

/// The common bounds of two samples with these gaps, ascending. Each gap of the first and the one of the second that it
/// has most in common with make one; a gap that has no such partner needs one of all values together, which may have stray
/// values between it and the gap.
fn common([a, b]: &[Vec<Gap>; 2], widened: &[Vec<Gap>; 2], together: &[Gap]) -> Vec<f64> {
    let mut is_free = vec![true; b.len()];
    let mut bounds = Vec::new();
    let mut lone = Vec::new();
    for (gap, wide) in a.iter().zip(&widened[0]) {
        let others = b.iter().enumerate().filter(|(at, _)| is_free[*at]);
        match widest(*gap, others) {
            Some((at, common)) => {
                is_free[at] = false;
                bounds.push(common.middle());
            }
            None => lone.push(*wide),
        }
    }
    lone.extend(widened[1].iter().zip(&is_free).filter(|(_, is_free)| **is_free).map(|(gap, _)| *gap));
    let with_all = |gap: Gap| Some(widest(gap, together.iter().enumerate())?.1.middle());
    bounds.extend(lone.into_iter().filter_map(with_all));
    let mut bounds = sorted(bounds);
    bounds.dedup();
    bounds
}

/// What a gap has most in common with, and what that is.
fn widest<'g>(gap: Gap, others: impl Iterator<Item = (usize, &'g Gap)>) -> Option<(usize, Gap)> {
    let common = others.filter_map(|(at, other)| Some((at, gap.common(*other)?)));
    common.max_by(|one, other| one.1.half_width().total_cmp(&other.1.half_width()))
}

/// A bound in each gap of one sample, as near as possible to a bound of the other: anywhere in a wide gap is as good, and a
/// mode of the other sample may be there.
fn bounds(gaps: &[Gap], others: &[Gap]) -> Vec<f64> {
    let bound = |gap: &Gap| {
        let distance = |one: f64| (one / 2.0 - gap.middle() / 2.0).abs();
        let middles = others.iter().map(|other| other.middle());
        let near = middles.min_by(|one, other| distance(*one).total_cmp(&distance(*other)));
        near.map_or_else(|| gap.middle(), |near| gap.nearest(near))
    };
    gaps.iter().map(bound).collect()
}

/// A sample cut into modes.
#[derive(Debug, Clone)]
pub(super) struct Side {
    /// For each mode the median of the values of each group there, ascending, for the groups that have any.
    levels: Vec<Vec<f64>>,
    /// For each mode the part of the values of each group that are there.
    shares: Vec<Vec<f64>>,
}

impl Side {
    fn of(sample: &Sample, bounds: &[f64]) -> Self {
        let count = bounds.len() + 1;
        let mut side = Side { levels: vec![Vec::new(); count], shares: vec![vec![0.0; sample.group_count()]; count] };
        for (at, group) in sample.groups().enumerate() {
            let values = sorted(group.to_vec());
            for part in values.chunk_by(|one, other| place(bounds, *one) == place(bounds, *other)) {
                let mode = place(bounds, part[0]);
                side.levels[mode].push(median(part));
                side.shares[mode][at] = part.len() as f64 / group.len() as f64;
            }
        }
        side.levels.iter_mut().for_each(|levels| levels.sort_by(f64::total_cmp));
        side
    }

    /// Modes; one if nothing is known of them, none without values.
    pub(super) fn count(&self) -> usize {
        if self.shares[0].is_empty() { 0 } else { self.levels.len() }
    }

    /// What each group has in a mode, ascending, for the groups that have values there.
    pub(super) fn levels(&self, mode: usize) -> &[f64] {
        &self.levels[mode]
    }

    /// The part of each group's values in a mode; 0 for no mode.
    pub(super) fn shares(&self, mode: Option<usize>) -> Vec<f64> {
        mode.map_or_else(|| vec![0.0; self.shares[0].len()], |mode| self.shares[mode].clone())
    }

    /// The part of each group's values above a bound.
    fn shares_above(&self, bound: usize) -> Vec<f64> {
        let above = &self.shares[bound + 1..];
        (0..self.shares[0].len()).map(|group| above.iter().map(|shares| shares[group]).sum()).collect()
    }

    /// Where a mode lies.
    pub(super) fn location(&self, mode: usize) -> f64 {
        median(self.levels(mode))
    }
}
