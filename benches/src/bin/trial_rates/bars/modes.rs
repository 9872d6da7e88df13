//! How often the right number of modes is found, where the mode of each value is drawn at random.

use super::{Through, heading, row, seeded, text};
use crate::counts::planted;
use crate::draw::{Mode, Shape, chosen};

/// Values of a sample.
const COUNTS: [usize; 3] = [60, 100, 200];

fn samples(modes: &[Mode], shape: Shape, count: usize, draws: u64) -> Vec<Vec<f64>> {
    let of = |number: u64| {
        let mut random = seeded(241, number);
        let value = |_| {
            let mode = chosen(modes, &mut random);
            mode.location + mode.sigma * shape.draw(&mut random)
        };
        (0..count).map(value).collect()
    };
    (0..draws).map(of).collect()
}

/// Standard deviations of a mode, as shares of the location. What is nearer than 1 % of a location is one mode, so that
/// wide modes are the harder ones.
const DEVIATIONS: [f64; 3] = [0.01, 0.05, 0.2];

/// Both tables.
pub(super) fn table(through: &Through, draws: u64) {
    right_number(through, draws);
    false_modes(through, draws);
}

fn right_number(through: &Through, draws: u64) {
    let columns = ["shape, separation, width", "60 values", "100", "200"];
    heading("The right number of modes: two equal / 80:20 / three equal, %", &columns);
    let bars = [
        (4.0, ["82 / 50 / 55", "94 / 75 / 80", "99 / 94 / 98"]),
        (5.0, ["97 / 88 / 95", "99 / 99 / 99", "99 / 99 / 99"]),
        (6.0, ["97 / 97 / 97", "99 / 99 / 99", "99 / 99 / 99"]),
    ];
    for shape in [Shape::Normal, Shape::LogNormal(0.4), Shape::Gamma] {
        for deviation in DEVIATIONS {
            for (apart, bars) in bars {
                let cells: Vec<String> = COUNTS
                    .iter()
                    .zip(bars)
                    .map(|(&count, bar)| {
                        let rates = [&[0.5, 0.5][..], &[0.8, 0.2], &[1.0, 1.0, 1.0]].map(|weights| {
                            let modes = planted(weights, apart, deviation);
                            let found = through.numbers(&samples(&modes, shape, count, draws));
                            let right = found.iter().filter(|number| **number == weights.len() as u64).count();
                            100.0 * right as f64 / draws as f64
                        });
                        let bar = if shape == Shape::Normal { format!(" (bar {bar})") } else { String::new() };
                        format!("{}{bar}", text(&rates))
                    })
                    .collect();
                row(&format!("{}, {apart} sigma, {} % wide", shape.name(), 100.0 * deviation), &cells);
            }
        }
    }
}

fn false_modes(through: &Through, draws: u64) {
    let columns = ["shape, 1 / 5 / 20 % wide", "bar", "12 values", "20", "30", "60", "100", "120", "200", "600"];
    heading("One mode called several, %", &columns);
    for (shape, bar) in [
        (Shape::Normal, "≤ 2"),
        (Shape::LogNormal(0.4), "≤ 2"),
        (Shape::LogNormal(1.0), "≤ 2"),
        (Shape::Gamma, "≤ 2"),
        (Shape::Exponential, "≤ 2"),
        (Shape::Heavy, "≤ 2"),
        (Shape::Uniform, "≤ 12"),
    ] {
        let cells = [12, 20, 30, 60, 100, 120, 200, 600].map(|count| {
            let rates = DEVIATIONS.map(|deviation| {
                let found = through.numbers(&samples(&planted(&[1.0], 0.0, deviation), shape, count, draws));
                100.0 * found.iter().filter(|number| **number > 1).count() as f64 / draws as f64
            });
            text(&rates)
        });
        row(&shape.name(), &[&[bar.to_owned()][..], &cells].concat());
    }
}
