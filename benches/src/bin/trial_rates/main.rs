//! Prints how often the statistics of trials are right, on values whose truth is known: `trial_rates --trials 1000`.
//!
//! ```text
//!   draw      modes of known location, width and weight; runs with an effect of their own ──▶ Sample
//!   counts    the number of modes that is found
//!   told      the same by a method that knows more than is known of real values: what can be expected
//!   rare      A against B: a rare mode that is slower, modes that trade values, nothing at all
//!   oracle    the same by a method that is told which values are in the rare mode: what can be expected
//!   until     the same, where the precision of the values decides when the runs end
//!   honesty   whether intervals hold the truth, and whether `smallest_detectable` is found
//!   others    Mood's, Welch's and the Kolmogorov–Smirnov test on the same values, pooled
//!   bars      what is promised of verdicts, intervals and modes, through the command line of barrow
//! ```
//!
//! `trial_rates --bars --trials 2000` prints the tables of the bars; `--barrow` names the program, which lies beside this
//! one unless told. `--bars --library` asks the library instead, as the other tables do. All numbers come from seeds, so
//! every run prints the same, for any number of threads. Tables are Markdown.

mod bars;
mod counts;
mod draw;
mod honesty;
mod oracle;
mod others;
mod rare;
mod told;
mod until;

use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use rayon::prelude::*;

/// Prints how often the statistics of trials are right.
#[derive(Debug, Parser)]
#[command(name = "trial_rates")]
struct Flags {
    /// Simulated trials for each cell of a table.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    trials: u64,
    /// Only these tables, such as `modes,rare`; all if none is named.
    #[arg(long, value_name = "TABLES", value_delimiter = ',')]
    only: Vec<String>,
    /// Print what is promised, through the command line of barrow.
    #[arg(long)]
    bars: bool,
    /// With `--bars`, ask the library instead.
    #[arg(long)]
    library: bool,
    /// The program, which lies beside this one unless told.
    #[arg(long, value_name = "FILE")]
    barrow: Option<PathBuf>,
}

/// The name of a table, and what prints it.
type Table = (&'static str, fn(u64));

/// How many of `trials` trials each statement holds for, in percent. Each trial has a seed of its own.
fn rates<const N: usize>(trials: u64, seed: u64, trial: impl Fn(u64) -> [bool; N] + Sync) -> [f64; N] {
    let add = |mut sum: [u64; N], found: [bool; N]| {
        sum.iter_mut().zip(found).for_each(|(sum, found)| *sum += u64::from(found));
        sum
    };
    let merge = |mut one: [u64; N], other: [u64; N]| {
        one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
        one
    };
    let counts = (0..trials)
        .into_par_iter()
        .fold(|| [0; N], |sum, number| add(sum, trial(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (number << 20))))
        .reduce(|| [0; N], merge);
    counts.map(|count| 100.0 * count as f64 / trials.max(1) as f64)
}

/// Prints the first lines of a table.
fn heading(title: &str, columns: &[&str]) {
    println!("\n### {title}\n\n| {} |", columns.join(" | "));
    println!("|{}", "---|".repeat(columns.len()));
}

/// Prints a row: its name, and rates in percent.
fn row(name: &str, rates: &[f64]) {
    let cells: Vec<String> = rates.iter().map(|rate| format!("{rate:.1}")).collect();
    println!("| {name} | {} |", cells.join(" | "));
}

fn main() {
    let flags = Flags::parse();
    if flags.bars {
        let beside = || std::env::current_exe().unwrap_or_default().with_file_name("barrow");
        let program = flags.barrow.unwrap_or_else(beside);
        let program = program.canonicalize().unwrap_or(program);
        let through = match flags.library {
            true => bars::Through::Library,
            false => bars::Through::CommandLine(bars::CommandLine::new(&program)),
        };
        bars::print(&through, flags.trials, &flags.only);
        return;
    }
    let tables: [Table; 9] = [
        ("modes", counts::table),
        ("told", told::table),
        ("rare", rare::slower),
        ("weight", rare::moved_weight),
        ("same", rare::nothing),
        ("oracle", oracle::table),
        ("until", until::table),
        ("detectable", honesty::detectable),
        ("intervals", honesty::intervals),
    ];
    for (name, print) in tables {
        if flags.only.is_empty() || flags.only.iter().any(|only| only == name) {
            let began = Instant::now();
            print(flags.trials);
            eprintln!("{name}: {:.1} s", began.elapsed().as_secs_f64());
        }
    }
}
