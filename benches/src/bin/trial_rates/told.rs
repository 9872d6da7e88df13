//! What can be expected of any method: how often the right number of modes is found by one that is told what nobody knows
//! of measured values, namely that all modes are normal and equally wide.
//!
//! It fits mixtures of one to five such modes by the expectation-maximisation of Dempster, Laird and Rubin (1977), and
//! takes the number of the highest likelihood, less a price for each mode. The price is the best one for the cell in
//! hindsight, of those for which one mode is called several in at most 2 %, be it normal, log-normal or gamma: it must not
//! take the tail of a real mode for another.

use barrow_benches::Random;
use rayon::prelude::*;

use crate::counts::{SHAPES, drawn, planted, weights};
use crate::draw::Shape;
use crate::{heading, row};

/// Values of a draw.
const VALUES: usize = 60;
/// Modes that are tried.
const MOST: usize = 5;
/// Steps of a fit.
const STEPS: usize = 200;
/// Prices of a mode, in units of log-likelihood: this many, so far apart.
const PRICES: usize = 120;
const PRICE: f64 = 0.25;
/// How often one mode must be called one, in percent.
const LEAST_RIGHT: f64 = 98.0;

/// Prints the table.
pub(crate) fn table(trials: u64) {
    let columns =
        ["modes, weights, values", "4 sigma, normal ones are one", "5 sigma", "4 sigma, all shapes are one", "5 sigma"];
    heading(
        "Normal modes, by a method that is told that they are normal and equally wide: the right number, %",
        &columns,
    );
    let singles = SHAPES.map(|shape| rates(trials, &[1.0], shape, 0.0));
    let normal = |price: usize| singles[0][price] >= LEAST_RIGHT;
    let all = |price: usize| singles.iter().all(|right| right[price] >= LEAST_RIGHT);
    for count in 2..=3 {
        for (balance, weights) in weights(count) {
            let found = [4.0, 5.0].map(|apart| rates(trials, &weights, Shape::Normal, apart));
            let best = |is_allowed: &dyn Fn(usize) -> bool| {
                found.map(|found| {
                    (0..PRICES).filter(|price| is_allowed(*price)).map(|price| found[price]).fold(0.0, f64::max)
                })
            };
            row(&format!("{count} {balance}, {VALUES}"), &[best(&normal), best(&all)].concat());
        }
    }
}

/// For each price how often the number of modes is right, in percent.
fn rates(trials: u64, weights: &[f64], shape: Shape, apart: f64) -> [f64; PRICES] {
    let modes = planted(weights, apart, 0.01);
    let is_right = |number: u64| {
        let values = drawn(&modes, VALUES, shape, &mut Random::new((number << 20) ^ modes.len() as u64));
        let fits: Vec<f64> = (1..=MOST).map(|count| fit(&values, count)).collect();
        std::array::from_fn(|price| {
            let worth = |at: usize| fits[at] - PRICE * (price * at) as f64;
            let best = (0..MOST).max_by(|one, other| worth(*one).total_cmp(&worth(*other)));
            u64::from(best == Some(modes.len() - 1))
        })
    };
    let add = |one: [u64; PRICES], other: [u64; PRICES]| std::array::from_fn(|at| one[at] + other[at]);
    let right = (0..trials).into_par_iter().map(is_right).reduce(|| [0; PRICES], add);
    right.map(|right| 100.0 * right as f64 / trials.max(1) as f64)
}

/// The log-likelihood of the best mixture of so many modes, from several beginnings.
fn fit(values: &[f64], count: usize) -> f64 {
    let mut ascending = values.to_vec();
    ascending.sort_by(f64::total_cmp);
    let (first, last) = (ascending[0], ascending[ascending.len() - 1]);
    let part = |at: usize| (at as f64 + 0.5) / count as f64;
    let even: Vec<f64> = (0..count).map(|at| first + part(at) * (last - first)).collect();
    let quantiles: Vec<f64> = (0..count).map(|at| ascending[(part(at) * ascending.len() as f64) as usize]).collect();
    // Where modes have unequal weights, neither is near; ends and random places are tried, too.
    let mut random = Random::new(count as u64);
    let others = (0..6).map(|_| (0..count).map(|_| ascending[random.below(ascending.len() as u64) as usize]).collect());
    let wide = (last - first) / (2 * count) as f64;
    [even, quantiles].into_iter().chain(others).map(|begin| climb(&ascending, begin, wide)).fold(f64::MIN, f64::max)
}

/// The log-likelihood that is reached from these locations and this width.
fn climb(values: &[f64], mut locations: Vec<f64>, mut sigma: f64) -> f64 {
    let count = locations.len();
    let mut weights = vec![1.0 / count as f64; count];
    let mut reached = f64::MIN;
    for _ in 0..STEPS {
        let (mut members, mut sums, mut squares) = (vec![0.0; count], vec![0.0; count], 0.0);
        let mut log_likelihood = 0.0;
        for value in values {
            let density = |at: usize| {
                let distance = (value - locations[at]) / sigma;
                weights[at] * (-distance * distance / 2.0).exp() / (sigma * (2.0 * std::f64::consts::PI).sqrt())
            };
            let densities: Vec<f64> = (0..count).map(density).collect();
            let all = densities.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            log_likelihood += all.ln();
            for (at, density) in densities.iter().enumerate() {
                let part = density / all;
                members[at] += part;
                sums[at] += part * value;
                squares += part * (value - locations[at]) * (value - locations[at]);
            }
        }
        if log_likelihood - reached < 1e-6 {
            return log_likelihood.max(reached);
        }
        reached = log_likelihood;
        for at in 0..count {
            locations[at] = sums[at] / f64::max(members[at], f64::MIN_POSITIVE);
            weights[at] = members[at] / values.len() as f64;
        }
        sigma = (squares / values.len() as f64).sqrt().max(1e-3);
    }
    reached
}
