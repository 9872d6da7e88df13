//! The modes of measured values, and of values with heavy tails. The files of `real` are wall times in nanoseconds; those
//! of `two_layouts`, `one_layout` and `steady` are every third of 600, those of `true` are of a program that does nothing.
//! `run` is the number of the layout.

#![allow(missing_docs)]

use barrow_statistics::{ComparisonVerdict, Direction, Modes, Sample, Threshold, compare};

fn sample(text: &str) -> Sample {
    let mut groups = std::collections::BTreeMap::<usize, Vec<f64>>::new();
    for line in text.lines().skip(1) {
        let (run, value) = line.split_once(',').unwrap();
        groups.entry(run.parse().unwrap()).or_default().push(value.parse().unwrap());
    }
    Sample::new(groups.into_values().collect())
}

fn locations(sample: &Sample) -> Vec<f64> {
    Modes::of(sample).modes.iter().map(|mode| mode.location.round()).collect()
}

#[test]
fn narrow_peaks_with_disturbances_are_a_mode_each() {
    assert_eq!(locations(&sample(include_str!("real/two_layouts.csv"))), [117.0, 152.0]);
    assert_eq!(locations(&sample(include_str!("real/one_layout.csv"))), [117.0]);
    assert_eq!(locations(&sample(include_str!("real/steady.csv"))), [5033.0]);
}

#[test]
fn the_end_of_a_long_tail_is_no_mode() {
    let modes = Modes::of(&sample(include_str!("real/true.csv"))).modes;
    assert!(modes.len() <= 2 && modes.iter().all(|mode| mode.weight > 0.2), "{modes:?}");
}

#[test]
fn a_program_whose_slower_mode_became_slower_is_worse() {
    let (old, new) = (sample(include_str!("real/scan.csv")), sample(include_str!("real/scan_new.csv")));
    assert_eq!((Modes::of(&old).modes.len(), Modes::of(&new).modes.len()), (2, 2));
    let found = compare(&old, &new, Threshold { relative: 0.05, floor: 1.0, weight: 0.1 }, Direction::Lower);
    let verdicts: Vec<ComparisonVerdict> = found.modes.iter().map(|pair| pair.verdict).collect();
    assert_eq!(verdicts, [ComparisonVerdict::Equal, ComparisonVerdict::Worse]);
}

/// Quantiles of a distribution, each a group.
fn quantiles(count: u32, quantile: impl Fn(f64) -> f64) -> Sample {
    Sample::new((0..count).map(|at| vec![quantile((f64::from(at) + 0.5) / f64::from(count))]).collect())
}

#[test]
fn heavy_tails_are_one_mode() {
    for count in [20, 60, 200, 1000] {
        let exponential = quantiles(count, |part| 100.0 - 5.0 * (1.0 - part).ln());
        let pareto = quantiles(count, |part| 100.0 * (1.0 - part).powf(-0.5));
        // Student's t with two degrees of freedom.
        let student = quantiles(count, |part| 100.0 + (2.0 * part - 1.0) / (2.0 * part * (1.0 - part)).sqrt());
        for one in [exponential, pareto, student] {
            assert_eq!(Modes::of(&one).modes.len(), 1, "{count}");
        }
    }
}

#[test]
fn structure_that_matters_to_nobody_is_none() {
    let two = |distance: f64| {
        let value = |run: u32| 1000.0 + if run.is_multiple_of(2) { 0.0 } else { distance } + f64::from(run % 7) / 10.0;
        Modes::of(&Sample::new((0..60).map(|run| vec![value(run)]).collect())).modes.len()
    };
    assert_eq!((two(5.0), two(30.0)), (1, 2));
}

#[test]
fn two_exact_numbers_are_two_modes() {
    let of = |one: f64, other: f64| {
        let value = |run: u32| vec![if run.is_multiple_of(3) { one } else { other }];
        Modes::of(&Sample::new((0..60).map(value).collect())).modes.len()
    };
    assert_eq!((of(222.0, 223.0), of(8_875_584.0, 8_875_600.0)), (2, 2));
    // A clock that ticks is no count.
    assert_eq!(of(5033.2, 5033.45), 1);
}
