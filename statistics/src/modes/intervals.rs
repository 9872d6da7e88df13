//! Intervals of the locations and weights of modes.
//!
//! If each group has one value, no resampling is needed: the binomial distribution gives the probability that the
//! median of a mode lies between two values (Hettmansperger and Sheather 1986), and its weight is a share of
//! independent values (Clopper and Pearson 1934). Otherwise whole groups are resampled (the bootstrap of Efron 1979, with the
//! percentile method).

use crate::median_interval::interval;
use crate::random::Random;
use crate::sample::{Sample, midpoint, sorted};
use crate::tails::beta_up_to;

/// Minimum number of groups of several values for intervals: resamples of fewer hardly differ, those of one not at all.
const LEAST_GROUPS: usize = 6;
/// Number of resamples, and the minimum if there are very many values.
const RESAMPLES: usize = 999;
const LEAST_RESAMPLES: usize = 199;
/// Maximum number of values drawn in total, which bounds the time: samples of more than 4,004 values have fewer
/// resamples.
const MOST_DRAWN: usize = 4_000_000;
/// The share of the resamples on each side of an interval, whose confidence is thus 95 %.
const OUTSIDE: f64 = 0.025;
/// The standard normal quantile that 2.5 % exceed.
const TWO_SIDED_95: f64 = 1.959_963_984_540_054;

/// The intervals of a mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    /// The interval of the median of its values.
    pub(crate) location: (f64, f64),
    /// The share of the values that are in it; each group has the same weight.
    pub(crate) share: f64,
    /// The interval of this share.
    pub(crate) weight: (f64, f64),
}

/// The intervals of `modes` modes; `place` returns the mode of a value.
pub(crate) fn intervals(sample: &Sample, modes: usize, place: impl Fn(f64) -> usize) -> Vec<Interval> {
    // For each mode, its values in ascending order, with their groups.
    let mut members: Vec<Vec<(f64, usize)>> = vec![Vec::new(); modes];
    for (at, group) in sample.groups().enumerate() {
        group.iter().for_each(|&value| members[place(value)].push((value, at)));
    }
    members.iter_mut().for_each(|members| members.sort_unstable_by(|one, other| one.0.total_cmp(&other.0)));
    let sizes: Vec<usize> = sample.groups().map(<[f64]>::len).collect();
    match sizes.iter().all(|size| *size == 1) {
        true => members.iter().map(|members| of_independent(members, sizes.len())).collect(),
        false => of_groups(&members, &sizes),
    }
}

/// The interval of a mode of independent values; `all` is the number of values of all modes.
fn of_independent(members: &[(f64, usize)], all: usize) -> Interval {
    let share = members.len() as f64 / all.max(1) as f64;
    let weight = if members.len() == all { (1.0, 1.0) } else { exact(members.len(), all) };
    Interval { location: median_interval(members), share, weight }
}

/// The 95 % confidence interval of the median, or the range of the values if there are fewer than six.
fn median_interval(members: &[(f64, usize)]) -> (f64, f64) {
    let values: Vec<f64> = members.iter().map(|member| member.0).collect();
    let all = values.first().copied().zip(values.last().copied());
    interval(&values).or(all).unwrap_or((f64::NAN, f64::NAN))
}

/// The interval of the share of `count` of `n` independent values, which no share has a chance of more than 5 % to miss.
/// Narrower ones, which are right on average, are wrong for a mode that is found only when it has more than its share: of 20
/// runs with a mode of 20 % they held it in 87 % of the samples where the mode was found.
fn exact(count: usize, n: usize) -> (f64, f64) {
    let (k, rest) = (count as f64, (n - count) as f64);
    let low = if count == 0 { 0.0 } else { share_at(OUTSIDE, k, rest + 1.0) };
    let high = if count == n { 1.0 } else { share_at(1.0 - OUTSIDE, k + 1.0, rest) };
    (low, high)
}

/// The quantile of a beta distribution, by bisection.
fn share_at(below: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if beta_up_to(middle, a, b) < below { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The interval of a share of `n` independent values, right on average.
pub(crate) fn wilson(share: f64, n: f64) -> (f64, f64) {
    let square = TWO_SIDED_95 * TWO_SIDED_95;
    let middle = (share + square / (2.0 * n)) / (1.0 + square / n);
    let half = TWO_SIDED_95 / (1.0 + square / n) * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// The interval of each mode, by resampling groups of these sizes.
fn of_groups(members: &[Vec<(f64, usize)>], sizes: &[usize]) -> Vec<Interval> {
    let groups = sizes.len();
    // For each mode and group, the number of values.
    let counts: Vec<Vec<usize>> = members
        .iter()
        .map(|members| {
            let mut counts = vec![0; groups];
            members.iter().for_each(|&(_, group)| counts[group] += 1);
            counts
        })
        .collect();
    let all: usize = sizes.iter().sum();
    let resamples = (MOST_DRAWN / all.max(1)).clamp(LEAST_RESAMPLES, RESAMPLES);
    let mut drawn: Vec<(Vec<f64>, Vec<f64>)> = vec![(Vec::new(), Vec::new()); members.len()];
    let mut random = Random::new(groups as u64);
    let mut times = vec![0_u32; groups];
    for _ in 0..resamples {
        times.fill(0);
        (0..groups).for_each(|_| times[random.position(groups)] += 1);
        for (mode, (locations, weights)) in drawn.iter_mut().enumerate() {
            weights.push(share(&times, &counts[mode], sizes));
            let count = (0..groups).map(|group| times[group] as usize * counts[mode][group]).sum();
            locations.extend(middle(&members[mode], &times, count));
        }
    }
    let once = vec![1; groups];
    let between = |values| if groups < LEAST_GROUPS { (f64::NAN, f64::NAN) } else { between(values) };
    let both = drawn.into_iter().enumerate();
    both.map(|(mode, (locations, weights))| Interval {
        location: between(locations),
        share: share(&once, &counts[mode], sizes),
        weight: between(weights),
    })
    .collect()
}

/// The weight of a mode with these counts of values in groups of these sizes, each group drawn a number of times.
fn share(times: &[u32], counts: &[usize], sizes: &[usize]) -> f64 {
    let parts = times.iter().zip(counts).zip(sizes);
    let parts = parts.map(|((times, count), size)| f64::from(*times) * *count as f64 / *size as f64);
    parts.sum::<f64>() / sizes.len() as f64
}

/// The median of ascending values, each repeated as often as its group was drawn, `count` in total; `None` if that is
/// 0.
fn middle(members: &[(f64, usize)], times: &[u32], count: usize) -> Option<f64> {
    let lower = count.checked_sub(1)? / 2;
    let mut seen = 0;
    let mut values = members.iter().filter(|(_, group)| times[*group] > 0);
    let low = values.find(|(_, group)| {
        seen += times[*group] as usize;
        seen > lower
    })?;
    let is_both = seen > count / 2;
    let high = if is_both { low } else { values.next()? };
    Some(midpoint(low.0, high.0))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::median;

    #[test]
    fn a_median_counts_values_as_often_as_their_group() {
        let members = [(1.0, 0), (2.0, 1), (3.0, 2), (5.0, 0)];
        let of = |times: [u32; 3]| {
            let repeated = members.iter().flat_map(|&(value, group)| vec![value; times[group] as usize]);
            let expected: Vec<f64> = repeated.collect();
            let found = middle(&members, &times, expected.len());
            assert_eq!(found, (!expected.is_empty()).then(|| median(&expected)), "{times:?}");
        };
        for times in 0..64 {
            of([times % 4, times / 4 % 4, times / 16]);
        }
    }

    #[test]
    fn intervals_are_those_of_tables() {
        let members: Vec<(f64, usize)> = (1..=20).map(|value| (f64::from(value), 0)).collect();
        // Conover (1999), table A3: for 20 values the sixth and the fifteenth, with 95.9 %; the next ones with 88.5 %.
        let (low, high) = median_interval(&members);
        assert!((6.0..6.5).contains(&low) && (14.5..15.0).contains(&high), "{low} {high}");
        let (low, high) = median_interval(&members[..6]);
        assert!((1.0..1.5).contains(&low) && (5.5..6.0).contains(&high), "{low} {high}");
        assert_eq!(median_interval(&members[..5]), (1.0, 5.0));
        let (low, high) = wilson(0.2, 60.0);
        assert!((low - 0.118_285).abs() < 1e-5 && (high - 0.317_818).abs() < 1e-5, "{low} {high}");
        assert!(wilson(0.0, 10.0).0.abs() < 1e-15);
        // `scipy.stats.binomtest(k, n).proportion_ci(method="exact")`.
        let of_scipy = [
            (4, 20, 0.057_333_997, 0.436_614_003),
            (12, 60, 0.107_841_123, 0.323_300_424),
            (1, 12, 0.002_107_593, 0.384_796_165),
            (11, 12, 0.615_203_835, 0.997_892_407),
        ];
        for (count, n, low, high) in of_scipy {
            let found = exact(count, n);
            assert!((found.0 - low).abs() < 1e-8 && (found.1 - high).abs() < 1e-8, "{found:?}");
        }
    }
}
