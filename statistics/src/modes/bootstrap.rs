//! Intervals by the bootstrap of Efron (1979): whole groups are drawn again, with the percentile method.

use crate::random::Random;
use crate::sample::{Sample, midpoint, sorted};

/// Resamples, and fewer where there are very many values.
const RESAMPLES: usize = 999;
const LEAST_RESAMPLES: usize = 199;
/// Values that are drawn in all.
const MOST_DRAWN: usize = 4_000_000;
/// The part of the resamples on each side of an interval.
const OUTSIDE: f64 = 0.025;

/// What is known of a mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    /// Of the median of its values.
    pub(crate) location: (f64, f64),
    /// The part of the values that are in it; each group has the same weight.
    pub(crate) share: f64,
    /// Of this part.
    pub(crate) weight: (f64, f64),
}

/// The interval of each of `modes` modes; `place` says which one a value is in.
pub(crate) fn intervals(sample: &Sample, modes: usize, place: impl Fn(f64) -> usize) -> Vec<Interval> {
    // For each group its values by mode.
    let parts: Vec<Vec<Vec<f64>>> = sample
        .groups()
        .iter()
        .map(|group| {
            let mut parts = vec![Vec::new(); modes];
            group.iter().for_each(|&value| parts[place(value)].push(value));
            parts
        })
        .collect();
    let share_of = |part: &[Vec<f64>], mode: usize| {
        part[mode].len() as f64 / part.iter().map(Vec::len).sum::<usize>().max(1) as f64
    };
    let groups = parts.len();
    let resamples = (MOST_DRAWN / sample.len().max(1)).clamp(LEAST_RESAMPLES, RESAMPLES);
    let mut drawn: Vec<(Vec<f64>, Vec<f64>)> = vec![(Vec::new(), Vec::new()); modes];
    let mut random = Random::new(groups as u64);
    let mut values = Vec::new();
    for _ in 0..resamples {
        let chosen: Vec<usize> = (0..groups).map(|_| random.place(groups)).collect();
        for (mode, (locations, weights)) in drawn.iter_mut().enumerate() {
            weights.push(chosen.iter().map(|&group| share_of(&parts[group], mode)).sum::<f64>() / groups as f64);
            values.clear();
            chosen.iter().for_each(|&group| values.extend_from_slice(&parts[group][mode]));
            if !values.is_empty() {
                locations.push(middle(&mut values));
            }
        }
    }
    let share = |mode: usize| parts.iter().map(|part| share_of(part, mode)).sum::<f64>() / groups.max(1) as f64;
    let both = drawn.into_iter().enumerate();
    both.map(|(mode, (locations, weights))| Interval {
        location: between(locations),
        share: share(mode),
        weight: between(weights),
    })
    .collect()
}

/// The median of values in any order, of which there is at least one.
fn middle(values: &mut [f64]) -> f64 {
    let (middle, is_even) = (values.len() / 2, values.len().is_multiple_of(2));
    let (below, &mut high, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if is_even { midpoint(below.iter().copied().fold(f64::MIN, f64::max), high) } else { high }
}

/// The interval between the outermost resamples that count.
fn between(values: Vec<f64>) -> (f64, f64) {
    let values = sorted(values);
    let outside = (values.len() as f64 * OUTSIDE) as usize;
    match (values.get(outside), values.get(values.len().saturating_sub(outside + 1))) {
        (Some(&low), Some(&high)) => (low, high),
        _ => (f64::NAN, f64::NAN),
    }
}
