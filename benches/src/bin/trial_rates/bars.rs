//! The tables of what trials promise, through the command line of barrow: each cell imports as many pairs of samples as it
//! has trials, each a metric of its own, and asks once.
//!
//! ```text
//!   draw ──▶ a.csv, b.csv ──▶ barrow import ──▶ barrow compare --format json ──▶ rates of verdicts and of intervals
//!                                         └───▶ barrow trials, modes         ──▶ rates of numbers of modes
//! ```
//!
//! With `--library` the same values go to the library of statistics, which computes what the command line prints.
//! Each row is told with its bar. Where a cell has several numbers, their order is told in the heading.

mod coverage;
mod library;
mod modes;
mod outcome;
mod through;
mod verdicts;

use std::time::Instant;

use barrow_benches::Random;
use outcome::Outcome;
pub(crate) use through::{CommandLine, Through};

use crate::draw::{Mode, Shape, chosen};

/// A table: its name, and what prints it.
type Table = (&'static str, fn(&Through, u64));

const TABLES: [Table; 10] = [
    ("false", verdicts::same),
    ("spread", verdicts::spread),
    ("order", verdicts::order),
    ("equal", verdicts::equal),
    ("unequal", verdicts::unequal),
    ("moved", verdicts::moved),
    ("found", verdicts::found),
    ("coverage", coverage::shifts),
    ("located", coverage::modes),
    ("number", modes::table),
];

/// Prints the tables that are named, or all of them.
pub(crate) fn print(through: &Through, pairs: u64, only: &[String]) {
    for (name, print) in TABLES {
        if only.is_empty() || only.iter().any(|only| only == name) {
            let began = Instant::now();
            print(through, pairs);
            eprintln!("{name}: {:.1} s", began.elapsed().as_secs_f64());
        }
    }
}

/// Both sides of a pair, each value a run.
type Pair = [Vec<f64>; 2];

/// Draws pairs and compares them; each pair has a seed of its own.
fn outcomes(through: &Through, pairs: u64, seed: u64, mut draw: impl FnMut(&mut Random) -> Pair) -> Vec<Outcome> {
    let drawn: Vec<Pair> = (0..pairs).map(|number| draw(&mut seeded(seed, number))).collect();
    through.compare(&drawn)
}

fn seeded(seed: u64, number: u64) -> Random {
    Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (number << 20))
}

/// The part of the outcomes for which something holds, in percent.
fn rate(outcomes: &[Outcome], holds: impl Fn(&Outcome) -> bool) -> f64 {
    100.0 * outcomes.iter().filter(|outcome| holds(outcome)).count() as f64 / outcomes.len().max(1) as f64
}

/// Values of one mode whose median is at a location.
fn single(shape: Shape, location: f64, sigma: f64, count: usize, random: &mut Random) -> Vec<f64> {
    (0..count).map(|_| location + sigma * (shape.draw(random) - shape.median())).collect()
}

/// Values of several normal modes.
fn several(modes: &[Mode], count: usize, random: &mut Random) -> Vec<f64> {
    let of = |_| {
        let mode = chosen(modes, random);
        mode.location + mode.sigma * crate::draw::normal(random)
    };
    (0..count).map(of).collect()
}

/// Modes at these locations with these weights, each 2 % wide.
fn modes_at<const N: usize>(modes: [(f64, f64); N]) -> [Mode; N] {
    modes.map(|(location, weight)| Mode { location, sigma: 0.02 * location, weight })
}

/// Prints the first lines of a table.
fn heading(title: &str, columns: &[&str]) {
    crate::heading(title, columns);
}

/// Prints a row whose cells are texts.
fn row(name: &str, cells: &[String]) {
    println!("| {name} | {} |", cells.join(" | "));
}

/// Percentages, one after the other.
fn text(rates: &[f64]) -> String {
    rates.iter().map(|rate| format!("{rate:.1}")).collect::<Vec<_>>().join(" / ")
}
