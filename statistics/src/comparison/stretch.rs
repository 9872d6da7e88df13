//! Whether one sample is the other one stretched about its median.
//!
//! Chance cuts some samples of one mode in two, most often those whose ends are as dense as their middle. If one of two
//! such samples is wider, each of its halves is farther out than that of the other, or lies where the other has
//! nothing. This shows only that the spreads differ, not that modes do.

use super::sides::{Side, Sides};
use crate::kolmogorov;
use crate::modes::place;
use crate::sample::{median, midpoint, sorted};

/// Spreads that differ by a smaller factor do not move modes past each other.
const LEAST_FACTOR: f64 = 2.0;
/// A stretch explains the difference if the probability that chance moves distributions as far apart exceeds this.
const EXPLAINED: f64 = 0.01;

/// Whether one sample may be the other one stretched about its median, and the parts between the bounds of modes are
/// stretched, too. Modes that moved are farther apart, but each is as wide as before.
pub(super) fn is_stretched(sides: &Sides) -> bool {
    let [a, b] = &sides.own;
    let (plain_side, cut) = if a.count() > b.count() { (b, a) } else { (a, b) };
    let [plain, all] =
        [plain_side, cut].map(|side| sorted((0..side.count()).flat_map(|mode| side.levels(mode)).copied().collect()));
    let factor = spread(&all) / spread(&plain);
    if cut.count() < 2 || !factor.is_finite() || (1.0 / LEAST_FACTOR..LEAST_FACTOR).contains(&factor) {
        return false;
    }
    let shift = median(&all) - factor * median(&plain);
    let stretched: Vec<f64> = plain.iter().map(|value| factor * value + shift).collect();
    // The ratio of the widths of modes is about the factor, or about 1 if only modes moved. A sample with fewer modes
    // is stretched to be cut like the other one.
    let cuts = bounds(cut);
    let narrow = match plain_side.count() == cut.count() {
        true => spread_within(&plain, &bounds(plain_side)),
        false => spread_within(&stretched, &cuts) / factor,
    };
    let within = spread_within(&all, &cuts) / narrow;
    within.is_finite()
        && within.ln() / factor.ln() >= 0.5
        && kolmogorov::chance(&plain, factor, shift, &all) > EXPLAINED
}

/// Bounds between the modes of a side.
fn bounds(side: &Side) -> Vec<f64> {
    let bounds = (0..side.count() - 1).map(|mode| {
        let (below, above) = (side.levels(mode), side.levels(mode + 1));
        midpoint(below[below.len() - 1], above[0])
    });
    bounds.collect()
}

/// The median distance of ascending values from their median.
fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    median(&sorted(values.iter().map(|value| (value - middle).abs()).collect()))
}

/// The mean distance of ascending values from the median of those between the same bounds; chance changes it less than
/// [`spread`].
fn spread_within(values: &[f64], bounds: &[f64]) -> f64 {
    let mut sum = 0.0;
    for part in values.chunk_by(|one, other| place(bounds, *one) == place(bounds, *other)) {
        let middle = median(part);
        sum += part.iter().map(|value| (value - middle).abs()).sum::<f64>();
    }
    sum / values.len() as f64
}
