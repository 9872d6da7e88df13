//! Whether intervals of 95 % hold the truth.

use super::{Through, heading, modes_at, outcomes, row, seeded, several, single, text};
use crate::draw::Shape;

/// Draws for a truth that no formula gives.
const DRAWS: usize = 1_000_000;

/// The shift: the median of all differences of pairs.
pub(super) fn shifts(through: &Through, pairs: u64) {
    const COUNTS: [[usize; 2]; 8] = [[6, 6], [8, 8], [60, 6], [10, 10], [60, 10], [10, 60], [20, 20], [60, 60]];
    let names = COUNTS.map(|[m, n]| format!("{m} and {n} runs"));
    let columns: Vec<&str> = std::iter::once("shape, spreads").chain(names.iter().map(String::as_str)).collect();
    heading("Intervals of the shift hold it, % (bars: 93 to 97; ≥ 93 for fewer than 10 runs and for ticks)", &columns);
    let shapes = [Shape::Normal, Shape::LogNormal(1.0), Shape::Exponential, Shape::Uniform, Shape::Heavy, Shape::Ticks];
    for shape in shapes {
        for [narrow, wide] in [[50.0, 50.0], [20.0, 60.0], [20.0, 300.0]] {
            let truth = truth(shape, narrow, wide);
            let cells = COUNTS.map(|[m, n]| {
                let found = outcomes(through, pairs, 231, |random| {
                    [single(shape, 1000.0, narrow, m, random), single(shape, 1000.0, wide, n, random)]
                });
                // Where dependence was found by chance, there is no interval.
                let shown: Vec<(f64, f64)> = found.iter().filter_map(|one| one.shift).collect();
                holds(&shown, truth)
            });
            row(&format!("{}, {narrow} and {wide}", shape.name()), &cells.map(|cell| text(&[cell])));
        }
    }
}

/// The part of the intervals that hold a number, in percent.
fn holds(intervals: &[(f64, f64)], truth: f64) -> f64 {
    let count = intervals.iter().filter(|(low, high)| (*low..=*high).contains(&truth)).count();
    100.0 * count as f64 / intervals.len().max(1) as f64
}

/// The median of all differences.
fn truth(shape: Shape, narrow: f64, wide: f64) -> f64 {
    let mut random = seeded(233, 0);
    let draw = |random: &mut _, sigma: f64| sigma * (shape.draw(random) - shape.median());
    let mut differences: Vec<f64> = (0..DRAWS).map(|_| draw(&mut random, wide) - draw(&mut random, narrow)).collect();
    *differences.select_nth_unstable_by(DRAWS / 2, f64::total_cmp).1
}

/// Locations and weights of modes.
pub(super) fn modes(through: &Through, pairs: u64) {
    let columns = ["what", "10 runs", "12 runs", "20 runs", "60 runs", "300 runs"];
    heading(
        "Intervals of modes hold the truth, % of the samples whose number of modes is right (bars: 93 to 97; ≥ 93 for weights): \
         location / weight (number right)",
        &columns,
    );
    for shape in [Shape::Normal, Shape::LogNormal(1.0), Shape::Exponential, Shape::Heavy] {
        let cells = [10, 12, 20, 60, 300].map(|count| {
            let samples: Vec<Vec<f64>> =
                (0..pairs).map(|number| single(shape, 1000.0, 50.0, count, &mut seeded(237, number))).collect();
            let found: Vec<(f64, f64)> = through
                .modes(&samples)
                .iter()
                .filter(|modes| modes.len() == 1)
                .map(|modes| modes[0].location)
                .collect();
            format!("{} ({:.0})", text(&[holds(&found, 1000.0)]), 100.0 * found.len() as f64 / pairs as f64)
        });
        row(&format!("one mode, {}", shape.name()), &cells);
    }
    for (name, weight) in [("two modes 80:20, of the second", 0.2), ("two modes 50:50, of the second", 0.5)] {
        let modes = modes_at([(1000.0, 1.0 - weight), (1200.0, weight)]);
        let cells = [10, 12, 20, 60, 300].map(|count| {
            let samples: Vec<Vec<f64>> =
                (0..pairs).map(|number| several(&modes, count, &mut seeded(239, number))).collect();
            let told = through.modes(&samples);
            let found: Vec<_> = told.iter().filter(|modes| modes.len() == 2).map(|modes| modes[1]).collect();
            let [locations, weights] = [
                found.iter().map(|mode| mode.location).collect::<Vec<_>>(),
                found.iter().map(|mode| mode.weight).collect(),
            ];
            let share = 100.0 * found.len() as f64 / pairs as f64;
            format!("{} ({share:.0})", text(&[holds(&locations, 1200.0), holds(&weights, weight)]))
        });
        row(name, &cells);
    }
}
