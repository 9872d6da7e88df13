//! A against B: a rare mode that is slower, modes that trade values, and nothing at all.

use barrow_benches::Random;
use barrow_statistics::{Comparison, ComparisonVerdict, Direction, Modes, Sample, Threshold, compare};

use crate::draw::{By, Mode, Plan, Shape};
use crate::{heading, others, rates, row};

/// A difference of 5 % matters.
pub(crate) const USUAL: Threshold = Threshold { relative: 0.05, floor: 0.0, weight: 0.1 };
/// Any difference matters.
const ANY: Threshold = Threshold { relative: 0.0, floor: 0.0, weight: 0.1 };

/// Two modes at 100 and at `rare`, each 2 % wide.
pub(crate) fn two(rare: f64, weight: f64) -> [Mode; 2] {
    let mode = |location: f64, weight| Mode { location, sigma: 0.02 * location, weight };
    [mode(100.0, 1.0 - weight), mode(rare, weight)]
}

/// How runs are made in the tables below.
pub(crate) fn plans() -> [Plan; 8] {
    [
        Plan::SINGLE,
        Plan::of(20, 3, 0.0, By::Value),
        Plan::of(20, 3, 1.0, By::Value),
        Plan::of(10, 6, 1.0, By::Value),
        Plan::of(10, 30, 1.0, By::Value),
        Plan::of(20, 3, 1.0, By::Run),
        Plan::of(60, 5, 1.0, By::Run),
        Plan::of(100, 3, 1.0, By::Run),
    ]
}

/// Whether some mode of B is at most 10 % away from `location` and has this verdict, and the other modes have none that
/// says a difference.
pub(crate) fn is_named(comparison: &Comparison, b: &Sample, location: f64, verdict: ComparisonVerdict) -> bool {
    use ComparisonVerdict::{Equal, Unknown};
    let modes = Modes::of(b).modes;
    let is_it = |mode: Option<usize>| {
        mode.and_then(|mode| modes.get(mode)).is_some_and(|mode| (mode.location / location - 1.0).abs() < 0.1)
    };
    comparison.verdict == verdict
        && comparison.modes.iter().any(|pair| is_it(pair.b) && pair.a.is_some() && pair.verdict == verdict)
        && comparison.modes.iter().all(|pair| is_it(pair.b) || matches!(pair.verdict, Equal | Unknown))
}

fn verdict(comparison: &Comparison, wanted: ComparisonVerdict) -> bool {
    comparison.verdict == wanted
}

/// The rare mode is 30 % slower in B.
pub(crate) fn slower(trials: u64) {
    let columns =
        ["runs × values, shape", "found and named", "worse", "equal", "other", "Mood", "Welch", "Kolmogorov–Smirnov"];
    heading("A mode of 20 % goes from 120 to 156, the other stays at 100, %", &columns);
    for shape in [Shape::Normal, Shape::LogNormal(0.4), Shape::Gamma] {
        for plan in plans().into_iter().take(if shape == Shape::Normal { 8 } else { 1 }) {
            let found = rates(trials, 71, |seed| {
                let mut random = Random::new(seed);
                let a = plan.draw(&two(120.0, 0.2), shape, &mut random);
                let b = plan.draw(&two(156.0, 0.2), shape, &mut random);
                let comparison = compare(&a, &b, USUAL, Direction::Lower);
                let [mood, welch, smirnov] = others::found(&a, &b);
                let [worse, equal, unknown] =
                    [ComparisonVerdict::Worse, ComparisonVerdict::Equal, ComparisonVerdict::Unknown]
                        .map(|wanted| verdict(&comparison, wanted));
                let is_named = is_named(&comparison, &b, 156.0, ComparisonVerdict::Worse);
                [is_named, worse, equal, !worse && !equal && !unknown, mood, welch, smirnov]
            });
            row(&format!("{}, {}", plan.name(), shape.name()), &found);
        }
    }
}

/// The rare mode gets more of the values.
pub(crate) fn moved_weight(trials: u64) {
    let columns = ["runs × values", "30 %", "40 %", "45 %", "50 %", "60 %", "60 %: worse or better", "60 %: Welch"];
    heading("A mode of 20 % at 120 gets this part of the values: reported as moved weight, %", &columns);
    for plan in plans() {
        let moved = |weight: f64| {
            rates(trials, 83, |seed| {
                let mut random = Random::new(seed);
                let a = plan.draw(&two(120.0, 0.2), Shape::Normal, &mut random);
                let b = plan.draw(&two(120.0, weight), Shape::Normal, &mut random);
                let comparison = compare(&a, &b, USUAL, Direction::Lower);
                let is_wrong =
                    verdict(&comparison, ComparisonVerdict::Worse) || verdict(&comparison, ComparisonVerdict::Better);
                let is_moved = verdict(&comparison, ComparisonVerdict::MovedWeight)
                    || verdict(&comparison, ComparisonVerdict::WorseWeight);
                [is_moved, is_wrong, others::found(&a, &b)[1]]
            })
        };
        let cells = [0.3, 0.4, 0.45, 0.5, 0.6].map(moved);
        let mut rates: Vec<f64> = cells.iter().map(|cell| cell[0]).collect();
        rates.extend(&cells[4][1..]);
        row(&plan.name(), &rates);
    }
}

/// What two samples of the same distribution are said to differ by.
fn alarms(plan: Plan, modes: &[Mode], shape: Shape, trials: u64) -> [f64; 6] {
    use ComparisonVerdict::{Better, Equal, MovedWeight, Worse, WorseWeight};
    rates(trials, 97, |seed| {
        let mut random = Random::new(seed);
        let [a, b] = [(); 2].map(|()| plan.draw(modes, shape, &mut random));
        let usual = compare(&a, &b, USUAL, Direction::Lower).verdict;
        let any = compare(&a, &b, ANY, Direction::Lower).verdict;
        let [mood, welch, smirnov] = others::found(&a, &b);
        let is_alarm = |verdict| matches!(verdict, Worse | Better | MovedWeight | WorseWeight);
        [is_alarm(usual), is_alarm(any), usual == Equal, mood, welch, smirnov]
    })
}

/// A against A.
pub(crate) fn nothing(trials: u64) {
    let columns = ["runs × values, distribution", "5 %", "any", "5 %: equal", "Mood", "Welch", "Kolmogorov–Smirnov"];
    heading(
        "A against A: false alarms (worse, better or moved weight) where 5 % matters, and any difference, %",
        &columns,
    );
    for plan in plans() {
        row(&format!("{}, two modes", plan.name()), &alarms(plan, &two(120.0, 0.2), Shape::Normal, trials));
    }
    for plan in plans() {
        let one = [Mode { location: 100.0, sigma: 10.0, weight: 1.0 }];
        row(&format!("{}, one mode 10 % wide", plan.name()), &alarms(plan, &one, Shape::Normal, trials));
    }
    let wide = [Mode { location: 100.0, sigma: 20.0, weight: 1.0 }];
    for shape in [
        Shape::LogNormal(1.0),
        Shape::Exponential,
        Shape::Uniform,
        Shape::Heavy,
        Shape::Unclear,
        Shape::Ticks,
        Shape::Outliers,
    ] {
        for runs in [6, 20, 60, 200] {
            let plan = Plan { runs, ..Plan::SINGLE };
            row(&format!("{}, {}, 20 % wide", plan.name(), shape.name()), &alarms(plan, &wide, shape, trials));
        }
    }
    let drift = Plan { drift: 3.0, ..Plan::SINGLE };
    row(&format!("{}, two modes", drift.name()), &alarms(drift, &two(120.0, 0.2), Shape::Normal, trials));
    let near = [Mode { location: 100.0, sigma: 2.0, weight: 0.8 }, Mode { location: 108.0, sigma: 2.0, weight: 0.2 }];
    row("60 × 1, two modes 4 sigma apart", &alarms(Plan::SINGLE, &near, Shape::Normal, trials));
    let three = [(100.0, 0.5), (130.0, 0.3), (170.0, 0.2)];
    let three = three.map(|(location, weight)| Mode { location, sigma: 3.0, weight });
    row("60 × 1, three modes", &alarms(Plan::SINGLE, &three, Shape::Normal, trials));
}
