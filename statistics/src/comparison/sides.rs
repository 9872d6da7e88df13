//! Two samples, cut into modes at their own places and at common ones.

use super::Threshold;
use super::weight::Weight;
use crate::modes::{Gap, cuts, place};
use crate::sample::{Sample, median, sorted};

/// One of this many values may lie between two modes.
const STRAY: usize = 100;

/// Both samples, each cut at its own places, and both cut at the same ones.
pub(super) struct Sides {
    pub(super) own: [Side; 2],
    pub(super) cut_as_a: [Side; 2],
    pub(super) cut_as_b: [Side; 2],
    /// Both cut at these places.
    pub(super) common: [Side; 2],
    /// The bounds where both samples are cut by themselves, or one of them and all values together. A sample that was
    /// cut by chance is not cut there, because values of the other one fill the gap; and if modes moved, all values
    /// together are not cut where one sample is.
    pub(super) bounds: Vec<f64>,
    /// Both cut at these bounds, and also where only all values together are cut into modes farther apart than the
    /// threshold.
    pub(super) doubtful: [Side; 2],
}

impl Sides {
    pub(super) fn of(a: &Sample, b: &Sample, threshold: Threshold) -> Self {
        let gaps = [a, b].map(|sample| cuts(sample).1);
        let together = cuts(&a.with(b)).1;
        let samples = [a, b];
        let cut_as_a = Side::both(samples, &bounds(&gaps[0], &gaps[1]));
        let cut_as_b = Side::both(samples, &bounds(&gaps[1], &gaps[0]));
        let own = [cut_as_a[0].clone(), cut_as_b[1].clone()];
        let widened = [(a, &gaps[0]), (b, &gaps[1])].map(|(sample, gaps)| {
            let values = sample.sorted();
            gaps.iter().map(|gap| gap.widened(&values, values.len() / STRAY)).collect::<Vec<Gap>>()
        });
        let bounds = common(&gaps, &widened, &together);
        let doubtful = together.iter().filter(|gap| {
            let is_own = widened.iter().flatten().any(|own| own.common(**gap).is_some());
            !is_own && is_apart(&Side::both(samples, &[gap.middle()]), 0, threshold)
        });
        let doubtful = doubtful.map(|gap| gap.middle());
        let doubtful = Side::both(samples, &sorted(bounds.iter().copied().chain(doubtful).collect()));
        let common = Side::both(samples, &bounds);
        Sides { own, cut_as_a, cut_as_b, common, bounds, doubtful }
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

/// Whether the modes beside a bound are farther apart than the threshold.
pub(super) fn is_apart(sides: &[Side; 2], bound: usize, threshold: Threshold) -> bool {
    let locations = [bound, bound + 1].map(|mode| {
        let levels = sorted(sides.iter().flat_map(|side| side.levels(mode)).copied().collect());
        (!levels.is_empty()).then(|| median(&levels))
    });
    let [Some(below), Some(above)] = locations else { return true };
    above - below > threshold.at(below)
}

/// The common bounds of two samples with these gaps, ascending. Each gap of the first makes one with the gap of the
/// second with which it has the widest intersection. A gap without such a partner needs one of all values together;
/// stray values may lie between the two.
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
    let all = |gap: Gap| Some(widest(gap, together.iter().enumerate())?.1.middle());
    bounds.extend(lone.into_iter().filter_map(all));
    let mut bounds = sorted(bounds);
    bounds.dedup();
    bounds
}

/// The widest intersection of a gap with others, and the position of the other gap.
fn widest<'g>(gap: Gap, others: impl Iterator<Item = (usize, &'g Gap)>) -> Option<(usize, Gap)> {
    let common = others.filter_map(|(at, other)| Some((at, gap.common(*other)?)));
    common.max_by(|one, other| one.1.half_width().total_cmp(&other.1.half_width()))
}

/// A bound in each gap of one sample, as near as possible to a bound of the other: any place in a wide gap is as good,
/// and a mode of the other sample may be there.
fn bounds(gaps: &[Gap], others: &[Gap]) -> Vec<f64> {
    let bounds = gaps.iter().map(|gap| {
        let middles = others.iter().map(|other| other.middle());
        let distances = middles.map(|middle| (middle, (middle / 2.0 - gap.middle() / 2.0).abs()));
        let near = distances.min_by(|one, other| one.1.total_cmp(&other.1));
        near.map_or_else(|| gap.middle(), |(near, _)| gap.nearest(near))
    });
    bounds.collect()
}

/// A sample cut into modes.
#[derive(Debug, Clone)]
pub(super) struct Side {
    /// For each mode, the median of the values of each group there, ascending, for the groups that have any.
    levels: Vec<Vec<f64>>,
    /// For each mode, the share of the values of each group that are there.
    shares: Vec<Vec<f64>>,
}

impl Side {
    fn both(samples: [&Sample; 2], bounds: &[f64]) -> [Self; 2] {
        samples.map(|sample| Side::of(sample, bounds))
    }

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

    /// Number of modes; one if none were found, 0 without values.
    pub(super) fn count(&self) -> usize {
        if self.shares[0].is_empty() { 0 } else { self.levels.len() }
    }

    /// The level of each group in a mode, ascending, for the groups that have values there.
    pub(super) fn levels(&self, mode: usize) -> &[f64] {
        &self.levels[mode]
    }

    /// The share of each group's values in a mode; 0 for no mode.
    pub(super) fn shares(&self, mode: Option<usize>) -> Vec<f64> {
        mode.map_or_else(|| vec![0.0; self.shares[0].len()], |mode| self.shares[mode].clone())
    }

    /// The share of each group's values above a bound.
    fn shares_above(&self, bound: usize) -> Vec<f64> {
        let above = &self.shares[bound + 1..];
        (0..self.shares[0].len()).map(|group| above.iter().map(|shares| shares[group]).sum()).collect()
    }

    /// The location of a mode.
    pub(super) fn location(&self, mode: usize) -> f64 {
        median(self.levels(mode))
    }
}
