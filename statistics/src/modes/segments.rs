//! Cuts ascending values into clusters.
//!
//! A cluster is a split normal distribution: two halves of normal curves with scales of their own that meet at the peak,
//! so that a skewed cluster is one and not two. Dynamic programming finds the cuts of highest classification likelihood
//! (Symons 1981) for each number of clusters; each cluster has a price that grows as it gets small, each further one a
//! price of its own. A cluster has values of at least six groups, so a run whose values lie closely together is none. At last, neighbours without a valley between their peaks become one.
//!
//! The prices were chosen by simulation: `trial_rates` in `benches/` prints how often one cluster is taken for several,
//! and several for fewer. The lowland detector of Akinshin (2020) was tried first: with 60 values it took one normal
//! cluster for several in more than 20 % of the cases.

use crate::modes::groups::Groups;
use crate::sample::midpoint;

/// Values that a cluster has at least, in numbers and as a part of all.
pub(crate) const LEAST_MEMBERS: usize = 6;
const LEAST_SHARE: f64 = 0.03;
/// More values are thinned.
const MOST_VALUES: usize = 240;
/// Clusters that are looked for.
const MOST_CLUSTERS: usize = 8;
/// Candidates for the peak of a cluster.
const PEAKS: usize = 12;
/// The price of the second cluster, in units of log-likelihood, and that of each further one: for up to 60 values, and what
/// comes to it for 200.
const SECOND: [f64; 2] = [5.75, 1.5];
const FURTHER: [f64; 2] = [3.0, 2.5];
/// Parameters of a cluster: peak and two scales.
const PARAMETERS: f64 = 3.0;
/// No scale is less than this part of the range.
const LEAST_SCALE: f64 = 1e-9;
/// A valley is lower than this part of the lower peak beside it.
const VALLEY: f64 = 0.75;
/// Places where the density is looked at between two peaks.
const VALLEY_STEPS: usize = 64;

/// A value, and the number of its group.
pub(crate) type Grouped = (f64, usize);

/// The gaps between clusters of ascending values, themselves ascending; none if there is one cluster. Each is the last value
/// of a cluster and the first of the next. `None` if the values count for fewer than `least` independent ones.
pub(crate) fn gaps(sorted: &[Grouped], groups: usize, least: usize) -> Option<Vec<Gap>> {
    let Some(scaled) = Scaled::of(sorted) else { return (sorted.len() >= least).then(Vec::new) };
    let grouped = Groups::of(&scaled.groups, groups);
    let one = [0, scaled.values.len()];
    let independent = grouped.independent_part(&scaled.values, &one) * scaled.values.len() as f64;
    if independent < least as f64 {
        return None;
    }
    let clusters = merged(best(&scaled.values, &grouped), &scaled.values);
    let cuts = clusters.windows(2).map(|pair| pair[1].first);
    Some(cuts.map(|cut| scaled.gap(sorted, cut)).collect())
}

/// Values moved and scaled to 0 to 1, thinned, with equal ones spread over the resolution.
struct Scaled {
    values: Vec<f64>,
    groups: Vec<usize>,
    /// The place of each in the original values.
    places: Vec<usize>,
}

impl Scaled {
    /// `None` for values that are too few or all equal.
    fn of(sorted: &[Grouped]) -> Option<Self> {
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

    /// The gap between the cluster that begins with this value and what is below it.
    fn gap(&self, sorted: &[Grouped], first: usize) -> Gap {
        let (low, high) = (self.places[first - 1], self.places[first]);
        // Of what was thinned out between both, the widest gap counts.
        let width = |at: &usize| sorted[at + 1].0 / 2.0 - sorted[*at].0 / 2.0;
        let widest = (low..high).max_by(|one, other| width(one).total_cmp(&width(other))).unwrap_or(low);
        Gap { low: sorted[widest].0, high: sorted[widest + 1].0 }
    }
}

/// What is between two clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gap {
    low: f64,
    high: f64,
}

impl Gap {
    /// The bound in its middle: a value up to it is below.
    pub(crate) fn middle(self) -> f64 {
        self.nearest(midpoint(self.low, self.high))
    }

    /// The bound that is nearest to a number.
    pub(crate) fn nearest(self, to: f64) -> f64 {
        // The values beside the gap stay on their sides, unless they are equal.
        to.min(self.high.next_down()).max(self.low)
    }
}

/// The distance of neighbouring numbers that can be told apart: the tick of a clock, the greatest common divisor of whole
/// and of decimal numbers, otherwise the smallest distance of different ones.
fn resolution(sorted: &[Grouped]) -> f64 {
    /// Values are whole multiples of a tick if their distances differ from multiples by less than this part of it.
    const ROUNDED: f64 = 0.1;
    const LEAST_TICKS: usize = 4;
    let (first, last) = (sorted[0].0, sorted[sorted.len() - 1].0);
    // Distances in the last digits are errors of rounding.
    let rounding = 8.0 * f64::EPSILON * first.abs().max(last.abs());
    let distances = sorted.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(move |distance| *distance > rounding);
    let smallest = distances.clone().fold(f64::MAX, f64::min);
    let is_multiple = |distance: f64| (distance / smallest - (distance / smallest).round()).abs() < ROUNDED;
    if distances.clone().count() + 1 >= LEAST_TICKS && distances.clone().all(is_multiple) {
        return smallest;
    }
    divisor(sorted).unwrap_or(smallest)
}

/// The greatest common divisor of numbers with at most six decimals.
fn divisor(sorted: &[Grouped]) -> Option<f64> {
    const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = |value: f64, scale: f64| {
        let scaled = value * scale;
        let is_whole = (scaled - scaled.round()).abs() <= 4.0 * f64::EPSILON * scaled.abs();
        (is_whole && scaled.abs() < MOST_EXACT).then(|| scaled.round().abs() as u64)
    };
    [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6].into_iter().find_map(|scale| {
        let mut wholes = sorted.iter().map(|(value, _)| whole(*value, scale));
        let divisor = wholes.try_fold(0, |divisor, whole| Some(greatest_common_divisor(divisor, whole?)))?;
        Some(divisor as f64 / scale)
    })
}

fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Equal values get different places, all within the resolution around their value.
fn spread(values: &[f64], resolution: f64) -> Vec<f64> {
    let mut spread = Vec::with_capacity(values.len());
    for tie in values.chunk_by(|one, other| one == other) {
        let step = resolution / tie.len() as f64;
        spread.extend(tie.iter().enumerate().map(|(at, value)| value + step * (at as f64 + 0.5) - resolution / 2.0));
    }
    spread
}

/// A cluster of neighbouring values.
#[derive(Debug, Clone, Copy)]
struct Cluster {
    first: usize,
    last: usize,
    peak: f64,
    left: f64,
    right: f64,
    log_likelihood: f64,
}

impl Cluster {
    fn len(&self) -> usize {
        self.last + 1 - self.first
    }

    /// The density at a place, of all values.
    fn density(&self, at: f64, all: usize) -> f64 {
        let scale = if at < self.peak { self.left } else { self.right };
        let height = (2.0 / std::f64::consts::PI).sqrt() / (self.left + self.right);
        let distance = (at - self.peak) / scale.max(f64::MIN_POSITIVE);
        self.len() as f64 / all as f64 * height * (-distance * distance / 2.0).exp()
    }

    /// What it adds to the score of a partition, where this part of the values is independent.
    fn score(&self, all: usize, part: f64) -> f64 {
        let members = self.len() as f64;
        let independent = (part * members).max(PARAMETERS + 2.0);
        let price = PARAMETERS * independent / (independent - PARAMETERS - 1.0);
        part * (self.log_likelihood + members * (members / all as f64).ln()) - price
    }
}

/// For each half of a cluster the cube root of its squared distances to the peak, added up, so that a cluster takes an
/// addition per candidate for its peak.
struct Halves {
    count: usize,
    /// From a first value up to before the peak: row of the first value, column of the peak.
    left: Vec<f64>,
    /// From the peak up to a last value: row of the last value, column of the peak.
    right: Vec<f64>,
}

impl Halves {
    fn of(values: &[f64]) -> Self {
        let n = values.len();
        let mut halves = Halves { count: n, left: vec![0.0; n * n], right: vec![0.0; n * n] };
        for (at, peak) in values.iter().enumerate() {
            let squared = |sum: &mut f64, value: &f64| {
                *sum += (value - peak) * (value - peak);
                Some(*sum)
            };
            for (first, sum) in (0..at).rev().zip(values[..at].iter().rev().scan(0.0, squared)) {
                halves.left[first * n + at] = sum.cbrt();
            }
            for (last, sum) in (at..n).zip(values[at..].iter().scan(0.0, squared)) {
                halves.right[last * n + at] = sum.cbrt();
            }
        }
        halves
    }

    /// The most likely cluster of the values from `first` to `last`.
    fn cluster(&self, values: &[f64], first: usize, last: usize) -> Cluster {
        let members = (last + 1 - first) as f64;
        let (left, right) = (&self.left[first * self.count..], &self.right[last * self.count..]);
        let places = (0..=PEAKS).map(|number| first + (last - first) * number / PEAKS);
        let width = |at: &usize| left[*at] + right[*at];
        let peak = places.min_by(|one, other| width(one).total_cmp(&width(other))).unwrap_or(first);
        let scale = |half: f64| (half * width(&peak).sqrt() / members.sqrt()).max(LEAST_SCALE);
        let (left, right) = (scale(left[peak]), scale(right[peak]));
        let height = (2.0 / std::f64::consts::PI).sqrt() / (left + right);
        let log_likelihood = members * (height.ln() - 0.5);
        Cluster { first, last, peak: values[peak], left, right, log_likelihood }
    }
}

/// The clusters of the highest score. For each number of clusters the best cuts are found. One cluster is what is believed
/// at first; then the smallest larger number whose score is higher, and so on. Values of a group that say the same thing
/// several times would raise the score of any number, so likelihoods count as much as the values are independent within the
/// clusters that are believed.
fn best(values: &[f64], groups: &Groups) -> Vec<Cluster> {
    let partitions = partitions(values, groups);
    let mut believed = 0;
    loop {
        let part = groups.independent_part(values, &cuts(&partitions[believed]));
        let total = |number: usize| {
            let clusters = &partitions[number];
            clusters.iter().map(|cluster| cluster.score(values.len(), part)).sum::<f64>()
                - price(number, part * values.len() as f64)
        };
        let known = total(believed);
        match (believed + 1..partitions.len()).find(|&number| total(number) > known) {
            Some(more) => believed = more,
            None => break,
        }
    }
    partitions.into_iter().nth(believed).unwrap_or_default()
}

/// The price of a number of clusters beyond the first, for this many independent values: more values have more places for a
/// cut, of which the best counts.
fn price(number: usize, independent: f64) -> f64 {
    let growth = ((independent / 60.0).ln() / (200.0_f64 / 60.0).ln()).max(0.0);
    let at = |[price, more]: [f64; 2]| price + more * growth;
    if number == 0 { 0.0 } else { at(SECOND) + at(FURTHER) * (number - 1) as f64 }
}

/// Where clusters begin, and the end.
fn cuts(clusters: &[Cluster]) -> Vec<usize> {
    let end = clusters.last().map_or(0, |cluster| cluster.last + 1);
    clusters.iter().map(|cluster| cluster.first).chain([end]).collect()
}

/// The best clusters for each number of them, from one on.
fn partitions(values: &[f64], groups: &Groups) -> Vec<Vec<Cluster>> {
    let n = values.len();
    let least = LEAST_MEMBERS.max((n as f64 * LEAST_SHARE).ceil() as usize);
    let halves = Halves::of(values);
    // The first end at which the values from each place on are of enough groups.
    let ends = groups.ends(least);
    let scores: Vec<Vec<f64>> = (0..n)
        .map(|first| (ends[first]..=n).map(|end| halves.cluster(values, first, end - 1).score(n, 1.0)).collect())
        .collect();
    let score = |first: usize, end: usize| scores[first].get(end.checked_sub(ends[first])?).copied();
    // best_up_to[k][end]: the score of the first `end` values in k + 1 clusters, and where the last of them begins.
    let whole = halves.cluster(values, 0, n - 1).score(n, 1.0);
    let mut first_row: Vec<Option<(f64, usize)>> = (0..=n).map(|end| Some((score(0, end)?, 0))).collect();
    first_row[n] = first_row[n].or(Some((whole, 0)));
    let mut best_up_to = vec![first_row];
    for number in 1..MOST_CLUSTERS.min(n / least) {
        let before = &best_up_to[number - 1];
        let row = (0..=n).map(|end| {
            let choice = |first: usize| Some((before[first]?.0 + score(first, end)?, first));
            (1..end).filter_map(choice).max_by(|one, other| one.0.total_cmp(&other.0))
        });
        let row: Vec<Option<(f64, usize)>> = row.collect();
        if row[n].is_none() {
            break;
        }
        best_up_to.push(row);
    }
    let traced = |count: usize| {
        let mut clusters = Vec::new();
        let mut end = n;
        for number in (0..=count).rev() {
            let first = best_up_to[number][end].map_or(0, |(_, first)| first);
            clusters.push(halves.cluster(values, first, end - 1));
            end = first;
        }
        clusters.reverse();
        clusters
    };
    (0..best_up_to.len()).map(traced).collect()
}

/// Joins neighbours without a valley between them, the shallowest first.
fn merged(mut clusters: Vec<Cluster>, values: &[f64]) -> Vec<Cluster> {
    let halves = Halves::of(values);
    loop {
        let depths = clusters.windows(2).enumerate().map(|(at, pair)| (at, valley(&clusters, pair, values.len())));
        let shallowest = depths.max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((at, _)) = shallowest.filter(|(_, depth)| *depth > VALLEY) else { return clusters };
        let joined = halves.cluster(values, clusters[at].first, clusters[at + 1].last);
        clusters.splice(at..=at + 1, [joined]);
    }
}

/// The lowest density between two peaks, relative to the lower peak.
fn valley(clusters: &[Cluster], pair: &[Cluster], all: usize) -> f64 {
    let density = |at: f64| clusters.iter().map(|cluster| cluster.density(at, all)).sum::<f64>();
    let (from, to) = (pair[0].peak, pair[1].peak);
    let between = (1..VALLEY_STEPS).map(|step| from + (to - from) * step as f64 / VALLEY_STEPS as f64);
    let lowest = between.map(density).fold(f64::MAX, f64::min);
    lowest / density(from).min(density(to)).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of which each is a group.
    fn singles(values: &[f64]) -> Vec<Grouped> {
        values.iter().copied().zip(0..).collect()
    }

    fn bounds(sorted: &[f64]) -> Vec<f64> {
        let gaps = gaps(&singles(sorted), sorted.len(), 12).unwrap_or_default();
        gaps.into_iter().map(Gap::middle).collect()
    }

    fn resolution(values: &[f64]) -> f64 {
        super::resolution(&singles(values))
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

    #[test]
    fn the_cuts_are_those_of_the_highest_score() {
        // By definition: all cuts into two clusters are tried.
        let values: Vec<f64> = (0..12).map(|at| f64::from(at * at) / 300.0 + if at > 6 { 0.3 } else { 0.0 }).collect();
        let halves = Halves::of(&values);
        let n = values.len();
        let score = |first, last| halves.cluster(&values, first, last).score(n, 1.0);
        let of_two =
            (6..=6).map(|cut| score(0, cut - 1) + score(cut, n - 1) - price(1, n as f64)).fold(f64::MIN, f64::max);
        let groups: Vec<usize> = (0..n).collect();
        let found = best(&values, &Groups::of(&groups, n));
        let found_score: f64 =
            found.iter().map(|one| one.score(n, 1.0)).sum::<f64>() - price(found.len() - 1, n as f64);
        assert!((found_score - of_two.max(score(0, n - 1))).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn far_groups_are_clusters_and_near_ones_are_not() {
        let two: Vec<f64> = (0..30).map(|at| f64::from(at % 10) + if at < 10 { 0.0 } else { 100.0 }).collect();
        let mut two = two;
        two.sort_by(f64::total_cmp);
        assert_eq!(bounds(&two), [54.5]);
        let one: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(bounds(&one), [0.0; 0]);
        assert_eq!(bounds(&[1.0; 50]), [0.0; 0]);
        assert_eq!(bounds(&[]), [0.0; 0]);
    }

    #[test]
    fn any_finite_values_have_bounds() {
        let mut extreme = vec![-f64::MAX; 10];
        extreme.extend([0.0; 10]);
        extreme.extend([f64::MIN_POSITIVE / 16.0; 10]);
        extreme.extend([f64::MAX; 10]);
        let bounds = bounds(&extreme);
        assert!(bounds.windows(2).all(|pair| pair[0] < pair[1]), "{bounds:?}");
    }
}
