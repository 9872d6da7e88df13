//! Two samples, cut into modes in three ways.

use super::weight::Weight;
use crate::modes::{Gap, cuts, place};
use crate::sample::{Sample, median, sorted};

/// Both samples, each cut at its own places, and both cut at the places of one.
pub(super) struct Sides {
    pub(super) own: [Side; 2],
    pub(super) cut_as_a: [Side; 2],
    pub(super) cut_as_b: [Side; 2],
    /// For each sample the negative of the smallest value of each group, and its largest value, ascending.
    pub(super) extremes: [[Vec<f64>; 2]; 2],
}

impl Sides {
    pub(super) fn of(a: &Sample, b: &Sample) -> Self {
        let gaps = [a, b].map(|sample| cuts(sample).1);
        let cut = |gaps: &[Gap], others: &[Gap]| {
            let bounds = bounds(gaps, others);
            [a, b].map(|sample| Side::of(sample, &bounds))
        };
        let (cut_as_a, cut_as_b) = (cut(&gaps[0], &gaps[1]), cut(&gaps[1], &gaps[0]));
        let own = [cut_as_a[0].clone(), cut_as_b[1].clone()];
        let extremes = [a, b].map(|sample| {
            let most = |sign: f64| {
                let of_group = |group: &[f64]| group.iter().map(|value| sign * value).fold(f64::MIN, f64::max);
                sorted(sample.groups().map(of_group).collect())
            };
            [most(-1.0), most(1.0)]
        });
        Sides { own, cut_as_a, cut_as_b, extremes }
    }

    /// The weights of a mode of the first sample in both.
    pub(super) fn cut_as_a(&self, mode: usize) -> Weight {
        Weight::of(self.cut_as_a.each_ref().map(|side| side.shares(Some(mode))))
    }

    /// The weights of a mode of the second sample in both.
    pub(super) fn cut_as_b(&self, mode: usize) -> Weight {
        Weight::of(self.cut_as_b.each_ref().map(|side| side.shares(Some(mode))))
    }
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

    /// Where a mode lies.
    pub(super) fn location(&self, mode: usize) -> f64 {
        median(self.levels(mode))
    }
}
