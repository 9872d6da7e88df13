//! Values mapped to the range 0 to 1, in which clusters are found, and the inverse mapping.

use crate::sample::midpoint;

/// Minimum number of values of a cluster.
pub(crate) const LEAST_MEMBERS: usize = 6;
/// Maximum number of values; more are thinned.
const MOST_VALUES: usize = 200;
/// Whole numbers are exact if this share of them occur at least `LEAST_MEMBERS` times.
const EXACT_SHARE: f64 = 0.8;
/// Minimum scale, as a share of the range.
pub(super) const LEAST_SCALE: f64 = 1e-9;
/// Minimum standard deviation of a cluster of inexact values, as a share of its peak: finer structure does not matter.
/// Peaks nearer than `LEAST_DISTANCE` of them, which is 1 %, are one.
const LEAST_DEVIATION: f64 = 0.002;
pub(super) const LEAST_DISTANCE: f64 = 5.0;

/// Gaps that differ by a smaller part are equal.
const ROUNDING: f64 = 1e-9;

/// A value, and the number of its group.
pub(crate) type Grouped = (f64, usize);

/// Whether values are counts with many repetitions: whole numbers, most of which occur several times.
fn is_exact(sorted: &[Grouped]) -> bool {
    let several =
        sorted.chunk_by(|one, other| one.0 == other.0).map(<[Grouped]>::len).filter(|&len| len >= LEAST_MEMBERS);
    sorted.iter().all(|(value, _)| value.fract() == 0.0)
        && several.sum::<usize>() as f64 >= EXACT_SHARE * sorted.len() as f64
}

/// Values mapped to 0 to 1, thinned, with equal ones spread over the resolution.
pub(super) struct Scaled {
    pub(super) values: Vec<f64>,
    pub(super) groups: Vec<usize>,
    /// The position of each in the original values.
    places: Vec<usize>,
}

impl Scaled {
    /// `None` for values that are too few or all equal.
    pub(super) fn of(sorted: &[Grouped]) -> Option<Self> {
        let (&(first, _), &(last, _)) = (sorted.first()?, sorted.last()?);
        let range = last / 2.0 - first / 2.0;
        if range <= 0.0 || sorted.len() < 2 * LEAST_MEMBERS {
            return None;
        }
        let unit: Vec<f64> = sorted.iter().map(|(value, _)| (value / 2.0 - first / 2.0) / range).collect();
        let spread = spread(&unit, resolution(sorted) / 2.0 / range);
        let count = spread.len().min(MOST_VALUES);
        let places: Vec<usize> = (0..count).map(|at| (2 * at + 1) * spread.len() / (2 * count)).collect();
        let (values, groups) = places.iter().map(|&at| (spread[at], sorted[at].1)).unzip();
        Some(Scaled { values, groups, places })
    }

    /// The least standard deviation of a cluster with its peak at each value.
    pub(super) fn least_scales(&self, sorted: &[Grouped]) -> Vec<f64> {
        let range = sorted[sorted.len() - 1].0 / 2.0 - sorted[0].0 / 2.0;
        let part = if is_exact(sorted) { 0.0 } else { LEAST_DEVIATION };
        let scales = self.places.iter().map(|&at| (sorted[at].0.abs() / 2.0 / range * part).max(LEAST_SCALE));
        scales.collect()
    }

    /// The places at which a cluster may begin, and the end: no cluster begins between equal values, or in a gap that is
    /// narrower than both beside it. So four ninths of the possible clusters of continuous values remain. If it had to be
    /// wider than both, a ninth would remain, but a stray value between two modes would always be of the nearer one.
    pub(super) fn bounds(&self, sorted: &[Grouped]) -> Vec<usize> {
        let n = self.values.len();
        // Equal values are spread at equal distances, but for rounding.
        let gap = |at: usize| (self.values[at] - self.values[at - 1]) * (1.0 + ROUNDING);
        let is_narrower = |at: usize, than: usize| gap(at) < self.values[than] - self.values[than - 1];
        let may_begin = |at: &usize| {
            let is_inner = *at > 1 && at + 1 < n;
            let is_wide = !is_inner || !is_narrower(*at, at - 1) || !is_narrower(*at, at + 1);
            is_wide && sorted[self.places[*at]].0 > sorted[self.places[at - 1]].0
        };
        std::iter::once(0).chain((1..n).filter(may_begin)).chain([n]).collect()
    }

    /// The gap between the cluster that begins with this value and the one below it.
    pub(super) fn gap(&self, sorted: &[Grouped], first: usize) -> Gap {
        let (low, high) = (self.places[first - 1], self.places[first]);
        // Of the gaps that thinning removed between both, the widest counts.
        let widths = (low..high).map(|at| (at, sorted[at + 1].0 / 2.0 - sorted[at].0 / 2.0));
        let widest = widths.max_by(|one, other| one.1.total_cmp(&other.1)).map_or(low, |(at, _)| at);
        Gap { low: sorted[widest].0, high: sorted[widest + 1].0 }
    }
}

/// The gap between two clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gap {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Gap {
    /// The bound in its middle: values up to it are below.
    pub(crate) fn middle(self) -> f64 {
        self.nearest(midpoint(self.low, self.high))
    }

    /// The intersection of both, if not empty.
    pub(crate) fn common(self, other: Gap) -> Option<Gap> {
        let common = Gap { low: self.low.max(other.low), high: self.high.min(other.high) };
        (common.low < common.high).then_some(common)
    }

    /// The same extended by this many of the ascending values on each side: a few values far from others are in no
    /// mode, and chance decides on which side of a cut they are.
    pub(crate) fn widened(self, values: &[f64], by: usize) -> Gap {
        let below = values.partition_point(|value| *value < self.low).saturating_sub(by);
        let above = (values.partition_point(|value| *value <= self.high) + by).min(values.len()).saturating_sub(1);
        match by {
            0 => self,
            _ => Gap { low: values[below].min(self.low), high: values[above].max(self.high) },
        }
    }

    /// Half of its width, since the width may overflow.
    pub(crate) fn half_width(self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }

    /// The bound nearest to a number.
    pub(crate) fn nearest(self, to: f64) -> f64 {
        // The values beside the gap stay on their sides, unless they are equal.
        to.min(self.high.next_down()).max(self.low)
    }
}

/// The smallest distance between distinguishable numbers: the tick of a clock, the greatest common divisor of whole and
/// of decimal numbers, otherwise the smallest distance of different ones.
fn resolution(sorted: &[Grouped]) -> f64 {
    /// Values are whole multiples of a tick if their distances differ from multiples by less than this part of it.
    const ROUNDED: f64 = 0.1;
    const LEAST_TICKS: usize = 4;
    let (first, last) = (sorted[0].0, sorted[sorted.len() - 1].0);
    // Distances in the last digits are rounding errors.
    let rounding = 8.0 * f64::EPSILON * first.abs().max(last.abs());
    let distances = sorted.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(move |distance| *distance > rounding);
    let smallest = distances.clone().fold(f64::MAX, f64::min);
    let mut ticks = distances.clone().map(|distance| distance / smallest);
    if distances.count() + 1 >= LEAST_TICKS && ticks.all(|ticks| (ticks - ticks.round()).abs() < ROUNDED) {
        return smallest;
    }
    divisor(sorted).unwrap_or(smallest)
}

/// The greatest common divisor of numbers with at most six decimals.
fn divisor(sorted: &[Grouped]) -> Option<f64> {
    [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6].into_iter().find_map(|scale| {
        let mut wholes = sorted.iter().map(|(value, _)| whole(*value, scale));
        let divisor = wholes.try_fold(0, |divisor, whole| Some(greatest_common_divisor(divisor, whole?)))?;
        Some(divisor as f64 / scale)
    })
}

/// A number times a scale, if that is whole and exact.
fn whole(value: f64, scale: f64) -> Option<u64> {
    const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
    let scaled = value * scale;
    let is_whole = (scaled - scaled.round()).abs() <= 4.0 * f64::EPSILON * scaled.abs();
    (is_whole && scaled.abs() < MOST_EXACT).then(|| scaled.round().abs() as u64)
}

fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Spreads equal values over the resolution around their value.
fn spread(values: &[f64], resolution: f64) -> Vec<f64> {
    let mut spread = Vec::with_capacity(values.len());
    for tie in values.chunk_by(|one, other| one == other) {
        let step = resolution / tie.len() as f64;
        spread.extend(tie.iter().enumerate().map(|(at, value)| value + step * (at as f64 + 0.5) - resolution / 2.0));
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolution(values: &[f64]) -> f64 {
        super::resolution(&values.iter().copied().zip(0..).collect::<Vec<Grouped>>())
    }

    #[test]
    fn whole_numbers_have_a_common_divisor() {
        assert_eq!(resolution(&[4096.0, 8192.0, 20480.0]), 4096.0);
        assert_eq!(resolution(&[0.25, 0.25, 0.75, 1.0]), 0.25);
        assert_eq!(resolution(&[-6.0, 0.0, 9.0]), 3.0);
        assert_eq!(resolution(&[1.5, 1.5, 2.7]), 0.3);
        // A clock of 24 MHz, in whole nanoseconds; and what rounding adds.
        assert_eq!(resolution(&[41.0, 83.0, 83.0, 125.0, 208.0]), 42.0);
        assert!((resolution(&[0.1 + 0.2, 0.3, 0.4, 0.5]) - 0.1).abs() < 1e-9);
    }

    #[test]
    fn equal_values_are_spread_around_their_value() {
        assert_eq!(spread(&[0.0, 0.5, 0.5, 1.0], 0.25), [0.0, 0.4375, 0.5625, 1.0]);
    }
}
