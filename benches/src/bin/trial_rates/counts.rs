//! How often the right number of modes is found.

use barrow_benches::Random;
use barrow_statistics::{Modes, Sample};

use crate::draw::{By, Mode, Plan, Shape};
use crate::{heading, rates, row};

/// Shapes of modes.
pub(crate) const SHAPES: [Shape; 3] = [Shape::Normal, Shape::LogNormal(0.4), Shape::Gamma];
/// Every mode of a draw has at least this many values.
const LEAST_IN_A_MODE: usize = 6;

/// Weights of modes: equal ones, and unequal ones.
pub(crate) fn weights(modes: usize) -> Vec<(&'static str, Vec<f64>)> {
    let unequal = match modes {
        2 => vec![0.75, 0.25],
        3 => vec![0.55, 0.25, 0.2],
        _ => vec![0.4, 0.3, 0.2, 0.1],
    };
    match modes {
        1 => vec![("", vec![1.0])],
        _ => vec![("equal", vec![1.0; modes]), ("unequal", unequal)],
    }
}

/// Modes of these weights with a standard deviation of 1, which is this share of the first location, and whose
/// neighbours are so many standard deviations apart.
pub(crate) fn planted(weights: &[f64], apart: f64, deviation: f64) -> Vec<Mode> {
    let location = |number: usize| deviation.recip() + apart * number as f64;
    let mode = |(number, &weight): (usize, &f64)| Mode { location: location(number), sigma: 1.0, weight };
    weights.iter().enumerate().map(mode).collect()
}

/// Values of which each mode has enough.
pub(crate) fn drawn(modes: &[Mode], count: usize, shape: Shape, random: &mut Random) -> Vec<f64> {
    loop {
        let drawn: Vec<Mode> = (0..count).map(|_| crate::draw::chosen(modes, random)).collect();
        let has_enough = |mode: &Mode| drawn.iter().filter(|one| *one == mode).count() >= LEAST_IN_A_MODE;
        if modes.iter().all(has_enough) {
            return drawn.iter().map(|mode| mode.location + mode.sigma * shape.draw(random)).collect();
        }
    }
}

/// How many modes are found in such values.
fn found(modes: &[Mode], count: usize, shape: Shape, seed: u64) -> usize {
    let values = drawn(modes, count, shape, &mut Random::new(seed));
    Modes::of(&Sample::new(values.into_iter().map(|value| vec![value]).collect())).modes.len()
}

/// The tables of planted modes, of one mode of other shapes, and of runs with several values.
pub(crate) fn table(trials: u64) {
    heading(
        "Modes: the right number, %",
        &["shape, modes, weights, values", "4 sigma", "5 sigma", "6 sigma", "8 sigma"],
    );
    for shape in SHAPES {
        for count in 1..=4 {
            let values = if count == 4 { 200 } else { 60 };
            for (balance, weights) in weights(count) {
                let rates: Vec<f64> = [4.0, 5.0, 6.0, 8.0]
                    .into_iter()
                    .take(if count == 1 { 1 } else { 4 })
                    .map(|apart: f64| {
                        let modes = planted(&weights, apart, 0.01);
                        let seed = 11 + count as u64;
                        rates(trials, seed, |seed| [found(&modes, values, shape, seed) == count])[0]
                    })
                    .collect();
                row(&format!("{}, {count} {balance}, {values}", shape.name()), &rates);
            }
        }
    }
    heading("One mode: called several, %", &["shape", "12 values", "20", "60", "200", "2000"]);
    for shape in [
        Shape::Normal,
        Shape::LogNormal(0.4),
        Shape::Gamma,
        Shape::LogNormal(1.0),
        Shape::Exponential,
        Shape::Uniform,
        Shape::Heavy,
        Shape::Ticks,
    ] {
        let one = [Mode { location: 100.0, sigma: 1.0, weight: 1.0 }];
        let several = |count: usize| {
            let trial = |seed| {
                let plan = Plan { runs: count, ..Plan::SINGLE };
                [Modes::of(&plan.draw(&one, shape, &mut Random::new(seed))).modes.len() > 1]
            };
            rates(trials, 31, trial)[0]
        };
        row(&shape.name(), &[12, 20, 60, 200, 2000].map(several));
    }
    by_run(trials);
}

/// Modes of values that share a layout.
fn by_run(trials: u64) {
    let columns =
        ["runs × values", "one mode: several", "two modes of 70 % and 30 %, 20 sigma apart: two", "no verdict"];
    heading("Runs of several values: the number of modes, %", &columns);
    let plans = [
        Plan::of(10, 6, 0.0, By::Value),
        Plan::of(10, 6, 1.0, By::Value),
        Plan::of(10, 30, 1.0, By::Value),
        Plan::of(10, 30, 5.0, By::Value),
        Plan::of(20, 3, 1.0, By::Value),
        Plan::of(20, 15, 3.0, By::Value),
        Plan::of(60, 5, 0.3, By::Value),
        Plan::of(20, 3, 1.0, By::Run),
        Plan::of(30, 10, 1.0, By::Run),
        Plan::of(60, 5, 0.0, By::Run),
        Plan::of(60, 5, 1.0, By::Run),
        Plan::of(60, 5, 3.0, By::Run),
    ];
    for plan in plans {
        let sigma = 1.0 / (1.0 + plan.run_effect * plan.run_effect).sqrt();
        let mode = |location, weight| Mode { location, sigma, weight };
        let (one, two) = ([mode(100.0, 1.0)], [mode(100.0, 0.7), mode(120.0, 0.3)]);
        let found = rates(trials, 53, |seed| {
            let mut random = Random::new(seed);
            let one = Modes::of(&plan.draw(&one, Shape::Normal, &mut random)).modes.len();
            let two = Modes::of(&plan.draw(&two, Shape::Normal, &mut random)).modes.len();
            [one > 1, two == 2, two == 0]
        });
        row(&plan.name(), &found);
    }
}
