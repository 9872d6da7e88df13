//! Cuts ascending values into clusters.
//!
//! A cluster is a split normal distribution: two halves of normal curves with scales of their own that meet at the peak,
//! so that a skewed cluster is one and not two. Dynamic programming finds the cuts of highest classification likelihood
//! (Symons 1981) for each number of clusters; each cluster has a price that grows as it gets small, each further one a
//! price of its own. At last, neighbours without a valley between their peaks become one.
//!
//! The prices were chosen by simulation: `trial_rates` in `benches/` prints how often one cluster is taken for several,
//! and several for fewer. The lowland detector of Akinshin (2020) was tried first: with 60 values it took one normal
//! cluster for several in more than 20 % of the cases.

/// Values that a cluster has at least, in numbers and as a part of all.
const LEAST_MEMBERS: usize = 6;
const LEAST_SHARE: f64 = 0.03;
/// More values are thinned.
const MOST_VALUES: usize = 240;
/// Clusters that are looked for.
const MOST_CLUSTERS: usize = 8;
/// Candidates for the peak of a cluster.
const PEAKS: usize = 12;
/// The price of the second cluster, in units of log-likelihood, and that of each further one.
const SECOND: f64 = 5.75;
const FURTHER: f64 = 3.0;
/// Parameters of a cluster: peak and two scales.
const PARAMETERS: f64 = 3.0;
/// A valley is lower than this part of the lower peak beside it.
const VALLEY: f64 = 0.75;
/// Places where the density is looked at between two peaks.
const VALLEY_STEPS: usize = 64;

/// The bounds between clusters, ascending; none if there is one cluster. A value up to a bound is below it.
pub(crate) fn bounds(sorted: &[f64]) -> Vec<f64> {
    let Some(scaled) = Scaled::of(sorted) else { return Vec::new() };
    let clusters = merged(best(&scaled.values), &scaled.values);
    let cuts = clusters.windows(2).map(|pair| pair[1].first);
    cuts.map(|cut| scaled.bound(sorted, cut)).collect()
}

/// Values moved and scaled to 0 to 1, thinned, with equal ones spread over the resolution.
struct Scaled {
    values: Vec<f64>,
    /// The place of each in the original values.
    places: Vec<usize>,
}

impl Scaled {
    /// `None` for values that are too few or all equal.
    fn of(sorted: &[f64]) -> Option<Self> {
        let (&first, &last) = (sorted.first()?, sorted.last()?);
        let range = last / 2.0 - first / 2.0;
        if range <= 0.0 || sorted.len() < 2 * LEAST_MEMBERS {
            return None;
        }
        let unit: Vec<f64> = sorted.iter().map(|value| (value / 2.0 - first / 2.0) / range).collect();
        let spread = spread(&unit, resolution(sorted) / 2.0 / range);
        let count = spread.len().min(MOST_VALUES);
        let places: Vec<usize> = (0..count).map(|at| (2 * at + 1) * spread.len() / (2 * count)).collect();
        Some(Scaled { values: places.iter().map(|&at| spread[at]).collect(), places })
    }

    /// The largest original value below the cluster that begins with this value.
    fn bound(&self, sorted: &[f64], first: usize) -> f64 {
        let (low, high) = (self.places[first - 1], self.places[first]);
        // Of what was thinned out between both, the widest gap is the bound.
        let gap = |at: &usize| sorted[at + 1] / 2.0 - sorted[*at] / 2.0;
        let widest = (low..high).max_by(|one, other| gap(one).total_cmp(&gap(other)));
        sorted[widest.unwrap_or(low)]
    }
}

/// The distance of neighbouring numbers that can be told apart: for whole numbers their greatest common divisor, otherwise
/// the smallest distance of different ones.
fn resolution(sorted: &[f64]) -> f64 {
    const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
    if sorted.iter().all(|value| value.fract() == 0.0 && value.abs() < MOST_EXACT) {
        let divisor = sorted.iter().fold(0, |divisor, value| greatest_common_divisor(divisor, value.abs() as u64));
        return divisor as f64;
    }
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0);
    gaps.fold(f64::MAX, f64::min)
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

    /// What it adds to the score of a partition.
    fn score(&self, all: usize) -> f64 {
        let members = self.len() as f64;
        let price = PARAMETERS * members / (members - PARAMETERS - 1.0);
        self.log_likelihood + members * (members / all as f64).ln() - price
    }
}

/// Sums of values and of their squares, so that each cluster takes constant time per candidate for its peak.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        let sums = |of: &dyn Fn(f64) -> f64| {
            let mut sum = 0.0;
            let running = values.iter().map(|value| {
                sum += of(*value);
                sum
            });
            std::iter::once(0.0).chain(running.collect::<Vec<f64>>()).collect()
        };
        Sums { values: sums(&|value| value), squares: sums(&|value| value * value) }
    }

    /// Squared distances of the values from `first` to before `end` to a peak, added up.
    fn squared(&self, first: usize, end: usize, peak: f64) -> f64 {
        let (sum, squares) = (self.values[end] - self.values[first], self.squares[end] - self.squares[first]);
        (squares - 2.0 * peak * sum + peak * peak * (end - first) as f64).max(0.0)
    }
}

/// The most likely cluster of these values.
fn cluster(values: &[f64], sums: &Sums, first: usize, last: usize, least_scale: f64) -> Cluster {
    let members = (last + 1 - first) as f64;
    let candidate = |peak_at: usize| {
        let peak = values[peak_at];
        let (left, right) = (sums.squared(first, peak_at, peak).cbrt(), sums.squared(peak_at, last + 1, peak).cbrt());
        let both = left + right;
        let scale = |half: f64| (half * both.sqrt() / members.sqrt()).max(least_scale);
        Cluster { first, last, peak, left: scale(left), right: scale(right), log_likelihood: 0.0 }
    };
    let step = |number: usize| first + (last - first) * number / PEAKS;
    let narrowest = |one: &Cluster, other: &Cluster| (one.left + one.right).total_cmp(&(other.left + other.right));
    let best = (0..=PEAKS).map(|number| candidate(step(number))).min_by(narrowest);
    let best = best.unwrap_or_else(|| candidate(first));
    let height = (2.0 / std::f64::consts::PI).sqrt() / (best.left + best.right);
    Cluster { log_likelihood: members * (height.ln() - 0.5), ..best }
}

/// The clusters of the highest score.
fn best(values: &[f64]) -> Vec<Cluster> {
    let n = values.len();
    let least = LEAST_MEMBERS.max((n as f64 * LEAST_SHARE).ceil() as usize);
    let sums = Sums::of(values);
    // No scale is less than that of the values themselves.
    let least_scale = 1e-9;
    let made = |first: usize, last: usize| cluster(values, &sums, first, last, least_scale);
    let score = |first: usize, end: usize| made(first, end - 1).score(n);
    // best_up_to[k][end]: the score of the first `end` values in k + 1 clusters, and where the last of them begins.
    let mut best_up_to: Vec<Vec<Option<(f64, usize)>>> =
        vec![(0..=n).map(|end| (end >= least).then(|| (score(0, end), 0))).collect()];
    let scores: Vec<Vec<f64>> = (0..n)
        .map(|first| (first + least..=n).map(|end| if first < least { f64::NAN } else { score(first, end) }).collect())
        .collect();
    for number in 1..MOST_CLUSTERS.min(n / least) {
        let before = &best_up_to[number - 1];
        let row = (0..=n).map(|end| {
            let starts = (number * least)..=end.checked_sub(least)?;
            let choice = |first: usize| Some((before[first]?.0 + scores[first][end - first - least], first));
            starts.filter_map(choice).max_by(|one, other| one.0.total_cmp(&other.0))
        });
        let row = row.collect();
        best_up_to.push(row);
    }
    let price = |number: usize| if number == 0 { 0.0 } else { SECOND + FURTHER * (number - 1) as f64 };
    let total = |number: usize| best_up_to[number][n].map_or(f64::NEG_INFINITY, |(score, _)| score - price(number));
    let count = (0..best_up_to.len()).max_by(|one, other| total(*one).total_cmp(&total(*other))).unwrap_or(0);
    let mut clusters = Vec::new();
    let mut end = n;
    for number in (0..=count).rev() {
        let first = best_up_to[number][end].map_or(0, |(_, first)| first);
        clusters.push(made(first, end - 1));
        end = first;
    }
    clusters.reverse();
    clusters
}

/// Joins neighbours without a valley between them, the shallowest first.
fn merged(mut clusters: Vec<Cluster>, values: &[f64]) -> Vec<Cluster> {
    let sums = Sums::of(values);
    loop {
        let depths = clusters.windows(2).enumerate().map(|(at, pair)| (at, valley(&clusters, pair, values.len())));
        let shallowest = depths.max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((at, _)) = shallowest.filter(|(_, depth)| *depth > VALLEY) else { return clusters };
        let joined = cluster(values, &sums, clusters[at].first, clusters[at + 1].last, 1e-9);
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

    #[test]
    fn whole_numbers_have_a_common_divisor() {
        assert_eq!(resolution(&[4096.0, 8192.0, 20480.0]), 4096.0);
        assert_eq!(resolution(&[0.25, 0.25, 0.75, 1.0]), 0.25);
        assert_eq!(resolution(&[-6.0, 0.0, 9.0]), 3.0);
    }

    #[test]
    fn equal_values_are_spread_around_their_value() {
        assert_eq!(spread(&[0.0, 0.5, 0.5, 1.0], 0.25), [0.0, 0.4375, 0.5625, 1.0]);
    }

    #[test]
    fn the_cuts_are_those_of_the_highest_score() {
        // By definition: all cuts into two clusters are tried.
        let values: Vec<f64> = (0..12).map(|at| f64::from(at * at) / 300.0 + if at > 6 { 0.3 } else { 0.0 }).collect();
        let sums = Sums::of(&values);
        let n = values.len();
        let score = |first, last| cluster(&values, &sums, first, last, 1e-9).score(n);
        let of_two = (6..=6).map(|cut| score(0, cut - 1) + score(cut, n - 1) - SECOND).fold(f64::MIN, f64::max);
        let found = best(&values);
        let found_score: f64 = found.iter().map(|one| one.score(n)).sum::<f64>() - SECOND * (found.len() - 1) as f64;
        assert!((found_score - of_two.max(score(0, n - 1))).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn far_groups_are_clusters_and_near_ones_are_not() {
        let two: Vec<f64> = (0..30).map(|at| f64::from(at % 10) + if at < 10 { 0.0 } else { 100.0 }).collect();
        let mut two = two;
        two.sort_by(f64::total_cmp);
        assert_eq!(bounds(&two), [9.0]);
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
