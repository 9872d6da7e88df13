//! What can be expected of any comparison: how often one finds the change of a rare mode that is told which values are in
//! it, and asks about nothing else. The values are those of the tables of `rare`.

use barrow_benches::Random;
use barrow_statistics::Sample;

use crate::draw::Shape;
use crate::others::welch;
use crate::rare::{plans, two};
use crate::{heading, rates, row};

/// Prints the table.
pub(crate) fn table(trials: u64) {
    let columns = [
        "runs × values",
        "120 to 156: ranks, 1 %",
        "ranks, 0.5 %",
        "ranks, 0.25 %",
        "Welch, 1 %",
        "20 % to 60 %: Welch, 1 %",
        "0.5 %",
    ];
    heading("The rare mode, by a method that is told which values are in it: found, %", &columns);
    for plan in plans() {
        let draw = |seed: u64, [rare, weight]: [f64; 2]| {
            let mut random = Random::new(seed);
            let a = plan.draw(&two(120.0, 0.2), Shape::Normal, &mut random);
            [a, plan.draw(&two(rare, weight), Shape::Normal, &mut random)]
        };
        let slower = rates(trials, 71, |seed| {
            let [a, b] = draw(seed, [156.0, 0.2]);
            let (a, b) = (levels(&a, 110.0), levels(&b, 128.0));
            let (ranks, means) = (ranks(&a, &b), if a.len() > 1 && b.len() > 1 { welch(&a, &b) } else { 1.0 });
            [ranks <= 0.01, ranks <= 0.005, ranks <= 0.0025, means <= 0.01]
        });
        let moved = rates(trials, 83, |seed| {
            let p_value = {
                let [a, b] = draw(seed, [120.0, 0.6]).map(|sample| shares(&sample, 110.0));
                welch(&a, &b)
            };
            [p_value <= 0.01, p_value <= 0.005]
        });
        row(&plan.name(), &[&slower[..], &moved].concat());
    }
}

/// The mean of each run's values above a bound, for the runs that have any.
fn levels(sample: &Sample, bound: f64) -> Vec<f64> {
    let of_run = |values: &[f64]| {
        let above: Vec<f64> = values.iter().copied().filter(|value| *value > bound).collect();
        (!above.is_empty()).then(|| above.iter().sum::<f64>() / above.len() as f64)
    };
    sample.groups().filter_map(of_run).collect()
}

/// The part of each run's values that is above a bound.
fn shares(sample: &Sample, bound: f64) -> Vec<f64> {
    let of_run = |values: &[f64]| values.iter().filter(|value| **value > bound).count() as f64 / values.len() as f64;
    sample.groups().map(of_run).collect()
}

/// The two-sided p-value of the test of Mann and Whitney for numbers that are apart; 1 if they are not.
fn ranks(a: &[f64], b: &[f64]) -> f64 {
    let most = a.iter().copied().fold(f64::MIN, f64::max);
    if a.is_empty() || b.iter().any(|value| *value <= most) {
        return 1.0;
    }
    // Of all orders of both, this is one.
    2.0 / (1..=b.len()).fold(1.0, |orders, at| orders * (a.len() + at) as f64 / at as f64)
}
