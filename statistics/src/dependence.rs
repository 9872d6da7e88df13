//! Whether runs depend on their order: on the run before, or on time.
//!
//! Tests and intervals of trials assume independent runs. If a machine warms up, or a neighbour comes and goes, each
//! run is like the one before it, and runs carry less information than their number suggests. Two tests use ranks, so
//! that single outliers do not matter: the correlation of each run with the next (Wald and Wolfowitz 1943), and that
//! with the order (Spearman 1904). Their p-values are counted by permutation, so they hold for any distribution and
//! with equal values.

use crate::random::Random;
use crate::ranks::midranks;
use crate::sample::Sample;
use crate::tails;

/// The significance levels of the tests: that runs are like the one before, and that they have a trend. With a smaller
/// first one, correlations of 0.5 in 30 runs are noticed in fewer than four of five cases.
const LAG: f64 = 0.0065;
const TREND: f64 = 0.001;
/// Maximum number of permutations, and the number of those with a larger measure that ends the search.
const PERMUTATIONS: usize = 1999;
const ENOUGH: usize = 10;
/// With more runs, the approximation by the normal distribution is good enough.
const MOST_PERMUTED: usize = 2000;
/// Minimum number of runs.
const LEAST_GROUPS: usize = 6;

/// The dependence of runs on their order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// The correlation of the ranks of a run and the next.
    pub lag: f64,
    /// The correlation of ranks with the order.
    pub trend: f64,
    /// Whether the trend was found, and not the correlation of neighbours.
    pub is_trend: bool,
}

/// The dependence on order of samples that are compared, whose groups are in order of time; `None` if none was found.
/// The correlations are means, weighted by the numbers of groups.
#[must_use]
pub fn dependence(samples: &[&Sample]) -> Option<Dependence> {
    let mut all: Vec<Vec<f64>> = samples.iter().filter_map(|sample| scaled_ranks(&sample.medians())).collect();
    let groups: usize = all.iter().map(Vec::len).sum();
    if all.is_empty() {
        return None;
    }
    let found = measures(&all);
    let [of_lag, of_trend] = match groups > MOST_PERMUTED {
        true => approximate(&all, found, groups),
        false => permuted(&mut all, found, groups),
    };
    let in_order: Vec<Vec<f64>> = samples.iter().filter_map(|sample| scaled_ranks(&sample.medians())).collect();
    let [lag, trend] = [lag, trend].map(|of: fn(&[f64]) -> f64| {
        in_order.iter().map(|ranks| of(ranks) * ranks.len() as f64).sum::<f64>() / groups as f64
    });
    let is_found = of_lag <= LAG || of_trend <= TREND;
    let is_trend = of_trend <= TREND && of_trend <= of_lag;
    is_found.then_some(Dependence { lag, trend, is_trend })
}

/// Ranks with mean 0 and sum of squares 1; `None` if there are too few, or if all are equal.
fn scaled_ranks(values: &[f64]) -> Option<Vec<f64>> {
    let n = values.len() as f64;
    let ranks = midranks(values);
    let squares: f64 = ranks.iter().map(|rank| (rank - (n + 1.0) / 2.0).powi(2)).sum();
    let scaled = ranks.iter().map(|rank| (rank - (n + 1.0) / 2.0) / squares.sqrt());
    (values.len() >= LEAST_GROUPS && squares > 0.0).then(|| scaled.collect())
}

/// The correlation of each rank with the next.
fn lag(ranks: &[f64]) -> f64 {
    ranks.windows(2).map(|pair| pair[0] * pair[1]).sum()
}

/// The correlation with the order.
fn trend(ranks: &[f64]) -> f64 {
    let n = ranks.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let scale = (n * (n * n - 1.0) / 12.0).sqrt();
    ranks.iter().enumerate().map(|(at, rank)| rank * (at as f64 - middle)).sum::<f64>() / scale
}

/// The measures of all samples together for neighbours, and for trends in either direction.
fn measures(all: &[Vec<f64>]) -> [f64; 2] {
    let of_lag = all.iter().map(|ranks| lag(ranks) * ranks.len() as f64);
    let of_trend = all.iter().map(|ranks| trend(ranks).powi(2) * ranks.len() as f64);
    [of_lag.sum(), of_trend.sum()]
}

/// The p-values by permutation of the ranks, which remain shuffled.
fn permuted(all: &mut [Vec<f64>], found: [f64; 2], groups: usize) -> [f64; 2] {
    // Values that are equal by definition may differ in the last digits.
    let least = found.map(|found| found - 1e-9);
    let mut random = Random::new(groups as u64);
    let mut as_much = [0_usize; 2];
    let mut made = 0;
    while made < PERMUTATIONS && as_much.iter().any(|count| *count < ENOUGH) {
        all.iter_mut().for_each(|ranks| random.shuffle(ranks));
        let other = measures(all);
        (0..2).for_each(|at| as_much[at] += usize::from(other[at] >= least[at]));
        made += 1;
    }
    as_much.map(|count| (count + 1) as f64 / (made + 1) as f64)
}

/// The p-values by the asymptotic distributions.
fn approximate(all: &[Vec<f64>], [lag, trend]: [f64; 2], groups: usize) -> [f64; 2] {
    // The mean of a correlation with the next is -1 / n for each sample.
    let z = (lag + all.len() as f64) / (groups as f64).sqrt();
    [tails::normal(z), tails::chi_squared(trend, all.len() as f64)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: impl Iterator<Item = f64>) -> Sample {
        Sample::new(values.map(|value| vec![value]).collect())
    }

    fn noise(random: &mut Random) -> f64 {
        (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    /// Values of which each has this part of the one before.
    fn like_the_one_before(part: f64, count: usize, random: &mut Random) -> Sample {
        let mut value = noise(random) / (1.0 - part * part).sqrt();
        let next = |_| {
            value = part * value + noise(random);
            value
        };
        sample((0..count).map(next))
    }

    #[test]
    fn correlations_are_those_of_their_definitions() {
        // SciPy 1.17: spearmanr of [3, 1, 4, 1, 5, 9, 2, 6] with the order is 0.5030.
        let ranks = scaled_ranks(&[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]).unwrap();
        assert!((trend(&ranks) - 0.503_003).abs() < 1e-5, "{}", trend(&ranks));
        // Ranks 1 to 6 less 3.5: of 17.5, neighbours share 8.75 + 3.75 − 0.25 + … in this order.
        let ranks = scaled_ranks(&[10.0, 20.0, 30.0, 40.0, 50.0, 60.0]).unwrap();
        assert!((lag(&ranks) - (3.75 + 0.75 - 0.25 + 0.75 + 3.75) / 17.5).abs() < 1e-12);
        assert_eq!((scaled_ranks(&[1.0; 9]), scaled_ranks(&[1.0, 2.0])), (None, None));
    }

    #[test]
    fn dependent_runs_are_noticed_and_independent_ones_are_not() {
        let mut random = Random::new(8);
        let mut found = |part: f64| {
            let pair = |_: &u32| {
                let [a, b] = [(); 2].map(|()| like_the_one_before(part, 30, &mut random));
                dependence(&[&a, &b]).is_some()
            };
            (0..200_u32).filter(pair).count()
        };
        let (independent, some, strong) = (found(0.0), found(0.5), found(0.9));
        assert!(independent <= 4 && some >= 158 && strong >= 197, "{independent} {some} {strong}");
    }

    #[test]
    fn a_trend_is_named() {
        let mut random = Random::new(9);
        let drift = sample((0..40).map(|at| f64::from(at) / 12.0 + noise(&mut random)));
        let found = dependence(&[&drift]).unwrap();
        assert!(found.is_trend && found.trend > 0.4, "{found:?}");
        let many = sample((0..3000).map(|at| f64::from(at) / 1000.0 + noise(&mut random)));
        assert!(dependence(&[&many]).is_some());
        let independent = sample((0..3000).map(|_| noise(&mut random)));
        assert_eq!(dependence(&[&independent]), None);
    }

    #[test]
    fn constant_and_few_values_say_nothing() {
        assert_eq!(dependence(&[&sample((0..40).map(|_| 5.0)), &sample((0..4).map(f64::from))]), None);
        assert_eq!(dependence(&[]), None);
    }
}
