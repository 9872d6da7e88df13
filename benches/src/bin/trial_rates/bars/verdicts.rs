//! How often verdicts are right.

use barrow_benches::Random;

use super::{Outcome, Through, heading, modes_at, outcomes, rate, row, several, single, text};
use crate::draw::{Mode, Shape, normal};

/// Shapes of one mode, and numbers of runs, of A against A.
const SHAPES: [Shape; 9] = [
    Shape::Normal,
    Shape::LogNormal(0.4),
    Shape::LogNormal(1.0),
    Shape::Gamma,
    Shape::Exponential,
    Shape::Uniform,
    Shape::Heavy,
    Shape::Ticks,
    Shape::Outliers,
];
const COUNTS: [[usize; 2]; 8] = [[6, 6], [8, 8], [10, 10], [20, 20], [60, 60], [6, 60], [60, 10], [20, 60]];

/// A against A: all that is called a difference is wrong.
pub(super) fn same(through: &Through, pairs: u64) {
    let names = COUNTS.map(|[m, n]| format!("{m} and {n} runs"));
    let columns: Vec<&str> =
        std::iter::once("shape, 5 % wide / 20 % wide").chain(names.iter().map(String::as_str)).collect();
    heading("A against A: called a difference, % (bar: ≤ 1.0)", &columns);
    let mut total = Vec::new();
    for shape in SHAPES {
        let cell = |[m, n]: [usize; 2]| {
            let of = |sigma: f64| {
                let found =
                    outcomes(through, pairs, 201, |random| [m, n].map(|n| single(shape, 1000.0, sigma, n, random)));
                rate(&found, Outcome::is_alarm)
            };
            [of(50.0), of(200.0)]
        };
        let cells = COUNTS.map(cell);
        total.extend(cells.into_iter().flatten());
        row(&shape.name(), &cells.map(|cell| text(&cell)));
    }
    for (name, modes) in [
        ("two modes 80:20, 20 % apart", &modes_at([(1000.0, 0.8), (1200.0, 0.2)])[..]),
        ("two modes 50:50, 8 % apart", &modes_at([(1000.0, 0.5), (1080.0, 0.5)])),
        ("three modes", &modes_at([(1000.0, 0.5), (1200.0, 0.3), (1500.0, 0.2)])),
    ] {
        let cells = COUNTS.map(|[m, n]| {
            let found = outcomes(through, pairs, 203, |random| [m, n].map(|n| several(modes, n, random)));
            rate(&found, Outcome::is_alarm)
        });
        total.extend(cells);
        row(name, &cells.map(|cell| text(&[cell])));
    }
    println!(
        "\nAll cells: {:.2} %; the largest is {:.1} %.",
        total.iter().sum::<f64>() / total.len() as f64,
        most(&total)
    );
}

fn most(rates: &[f64]) -> f64 {
    rates.iter().copied().fold(0.0, f64::max)
}

/// Equal medians, unequal spreads.
pub(super) fn spread(through: &Through, pairs: u64) {
    const COUNTS: [[usize; 2]; 7] = [[6, 6], [60, 6], [10, 10], [60, 10], [10, 60], [20, 20], [60, 60]];
    let names = COUNTS.map(|[m, n]| format!("{m} and {n} runs"));
    let columns: Vec<&str> = std::iter::once("shape, spreads").chain(names.iter().map(String::as_str)).collect();
    heading("Equal medians, B wider than A: called a difference, % (bar: ≤ 1.0)", &columns);
    let mut total = Vec::new();
    for shape in [Shape::Normal, Shape::LogNormal(1.0), Shape::Exponential, Shape::Uniform, Shape::Heavy] {
        for [narrow, wide] in [[20.0, 60.0], [20.0, 300.0], [200.0, 600.0]] {
            let cells = COUNTS.map(|[m, n]| {
                let found = outcomes(through, pairs, 207, |random| {
                    [single(shape, 1000.0, narrow, m, random), single(shape, 1000.0, wide, n, random)]
                });
                rate(&found, Outcome::is_alarm)
            });
            total.extend(cells);
            row(&format!("{}, {narrow} and {wide}", shape.name()), &cells.map(|cell| text(&[cell])));
        }
    }
    println!(
        "\nAll cells: {:.2} %; the largest is {:.1} %.",
        total.iter().sum::<f64>() / total.len() as f64,
        most(&total)
    );
}

/// Values of which each has a part of the one before.
fn like_the_one_before(part: f64, count: usize, random: &mut Random) -> Vec<f64> {
    let rest = (1.0 - part * part).sqrt();
    let mut value = normal(random);
    let next = |_| {
        let now = 1000.0 + 100.0 * value;
        value = part * value + rest * normal(random);
        now
    };
    (0..count).map(next).collect()
}

/// Runs that depend on the one before, A against A.
pub(super) fn order(through: &Through, pairs: u64) {
    let columns = ["runs like the one before", "difference", "noticed", "interval where noticed"];
    heading(
        "Runs that depend on their order, A against A, % (bars: ≤ 1; ≥ 80 for 0.5, ≥ 99 for 0.9, ≤ 1 for 0; 0)",
        &columns,
    );
    for part in [0.0, 0.5, 0.9] {
        for count in [10, 30, 60] {
            let found =
                outcomes(through, pairs, 211, |random| [(); 2].map(|()| like_the_one_before(part, count, random)));
            let shown = rate(&found, |one| one.depends && one.shift.is_some());
            let cells = [rate(&found, Outcome::is_alarm), rate(&found, |one| one.depends), shown];
            row(&format!("correlation {part}, {count} runs"), &cells.map(|cell| text(&[cell])));
        }
    }
}

/// A against A: equal.
pub(super) fn equal(through: &Through, pairs: u64) {
    heading("A against A: equal, %", &["what", "bar", "equal", "unknown"]);
    let cell = |name: &str, bar: &str, found: Vec<Outcome>| {
        let cells = [rate(&found, |one| one.is("equal")), rate(&found, |one| one.is("unknown"))];
        row(name, &[bar.to_owned(), text(&cells[..1]), text(&cells[1..])]);
    };
    for (count, bar) in [(20, "≥ 70"), (30, "≥ 90"), (60, "≥ 99")] {
        let found = outcomes(through, pairs, 213, |random| {
            [(); 2].map(|()| single(Shape::Normal, 1000.0, 50.0, count, random))
        });
        cell(&format!("one mode 5 % wide, {count} runs"), bar, found);
    }
    for (count, bar) in [(60, ""), (300, "≥ 80")] {
        let modes = modes_at([(1000.0, 0.8), (1200.0, 0.2)]);
        let found = outcomes(through, pairs, 217, |random| [(); 2].map(|()| several(&modes, count, random)));
        cell(&format!("two modes 80:20, {count} runs"), bar, found);
    }
}

/// Not equal: never called so.
pub(super) fn unequal(through: &Through, pairs: u64) {
    let columns = ["what", "20 runs", "60 runs", "300 runs"];
    heading("Not equal: equal / slower / worse or moved weight / unknown, % (bar: equal ≤ 1)", &columns);
    let line = |name: &str, draw: &dyn Fn(usize, &mut Random) -> [Vec<f64>; 2]| {
        let cells = [20, 60, 300].map(|count| {
            let found = outcomes(through, pairs, 219, |random| draw(count, random));
            let of = |verdicts: &[&str]| rate(&found, |one| verdicts.iter().any(|verdict| one.is(verdict)));
            text(&[of(&["equal"]), of(&["slower"]), of(&["worse weight", "moved weight"]), of(&["unknown"])])
        });
        row(name, &cells);
    };
    for (before, after) in [(0.0, 0.2), (0.2, 0.4), (0.2, 0.5), (0.2, 0.6), (0.5, 0.7), (0.4, 0.2)] {
        let modes = |weight: f64| modes_at([(1000.0, 1.0 - weight), (1200.0, weight)]);
        line(&format!("a mode 20 % slower has {:.0} → {:.0} %", before * 100.0, after * 100.0), &|count, random| {
            [several(&modes(before), count, random), several(&modes(after), count, random)]
        });
    }
    line("5 % wide, 10 % slower", &|count, random| {
        [1000.0, 1100.0].map(|location| single(Shape::Normal, location, 50.0, count, random))
    });
    line("10 % wide, 10 % slower", &|count, random| {
        [1000.0, 1100.0].map(|location| single(Shape::Normal, location, 100.0, count, random))
    });
    line("a mode of 20 % is 10 % slower", &|count, random| {
        [1200.0, 1320.0].map(|slow| several(&modes_at([(1000.0, 0.8), (slow, 0.2)]), count, random))
    });
}

/// Only the location moved.
pub(super) fn moved(through: &Through, pairs: u64) {
    let columns = ["slower by", "20 runs", "30 runs", "60 runs"];
    heading("Only the location moved: moved or worse weight, % (bar: ≤ 1); slower, %", &columns);
    let line = |name: &str, draw: &dyn Fn(usize, &mut Random) -> [Vec<f64>; 2]| {
        let cells = [20, 30, 60].map(|count| {
            let found = outcomes(through, pairs, 223, |random| draw(count, random));
            let is_weight = |one: &Outcome| one.is("moved weight") || one.is("worse weight");
            text(&[rate(&found, is_weight), rate(&found, |one| one.is("slower"))])
        });
        row(name, &cells);
    };
    for by in [1.05, 1.08, 1.1, 1.2, 1.4] {
        line(&format!("one mode 5 % wide, {:.0} %", (by - 1.0) * 100.0), &|count, random| {
            [1000.0, 1000.0 * by].map(|location| single(Shape::Normal, location, 50.0, count, random))
        });
    }
    for by in [1.03, 1.1, 1.2] {
        line(&format!("two modes 70:30, {:.0} %", (by - 1.0) * 100.0), &|count, random| {
            [1.0, by].map(|by| several(&modes_at([(1000.0 * by, 0.7), (1200.0 * by, 0.3)]), count, random))
        });
    }
    line("log-normal 1, 20 % wide, 20 %", &|count, random| {
        [1000.0, 1200.0].map(|location| single(Shape::LogNormal(1.0), location, 200.0, count, random))
    });
}

/// What must be found.
pub(super) fn found(through: &Through, pairs: u64) {
    let columns = ["what", "bar", "slower", "worse weight", "moved weight", "equal", "unknown"];
    heading("What must be found, %", &columns);
    let line = |name: &str, bar: &str, draw: &mut dyn FnMut(&mut Random) -> [Vec<f64>; 2]| {
        let found = outcomes(through, pairs, 227, draw);
        let of = |verdict: &str| text(&[rate(&found, |one| one.is(verdict))]);
        let cells = ["slower", "worse weight", "moved weight", "equal", "unknown"].map(of);
        row(name, &[&[bar.to_owned()][..], &cells].concat());
    };
    line("a mode of 20 % is 30 % slower, 60 runs", "slower ≥ 97", &mut |random| {
        [1200.0, 1560.0].map(|slow| several(&modes_at([(1000.0, 0.8), (slow, 0.2)]), 60, random))
    });
    let by = |by: f64, count: usize| {
        move |random: &mut Random| {
            [1000.0, 1000.0 * by].map(|location| single(Shape::Normal, location, 50.0, count, random))
        }
    };
    line("5 % wide, 10 % slower, 20 runs", "slower ≥ 75", &mut by(1.1, 20));
    line("the same, 30 runs", "slower ≥ 95", &mut by(1.1, 30));
    for count in [10, 20, 60] {
        line(&format!("5 % wide, slower by exactly the threshold, {count} runs"), "slower ≤ 5", &mut by(1.05, count));
    }
    for slow in [0, 1, 3] {
        line(&format!("a new mode of 40 % at + 50 %, {slow} such values in A, 60 runs"), "", &mut |random| {
            let value = |at: usize, random: &mut Random| {
                let location = if at < slow { 1500.0 } else { 1000.0 };
                location * (1.0 + 0.02 * normal(random))
            };
            let mut a: Vec<f64> = (0..60).map(|at| value(at, random)).collect();
            for last in (1..a.len()).rev() {
                a.swap(last, random.below(last as u64 + 1) as usize);
            }
            [a, several(&modes_at([(1000.0, 0.6), (1500.0, 0.4)]), 60, random)]
        });
    }
    for after in [0.3, 0.4, 0.5, 0.6] {
        let modes = |weight: f64| modes_at([(1000.0, 1.0 - weight), (1200.0, weight)]);
        line(&format!("a mode 20 % slower has 20 → {:.0} %, 60 runs", after * 100.0), "equal ≤ 1", &mut |random| {
            [several(&modes(0.2), 60, random), several(&modes(after), 60, random)]
        });
    }
    let equal: [Mode; 2] = modes_at([(1000.0, 0.8), (1200.0, 0.2)]);
    let faster = equal.map(|mode| Mode { location: mode.location * 0.8, ..mode });
    line("two modes, both 20 % faster, 60 runs", "faster", &mut |random| {
        [several(&equal, 60, random), several(&faster, 60, random)]
    });
}
