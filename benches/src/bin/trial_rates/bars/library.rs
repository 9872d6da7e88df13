//! The same values asked of the library, which is several times as fast: what the command line says is what it computes.

use barrow_statistics::{ComparisonVerdict, Direction, Modes, Sample, Threshold, compare};
use rayon::prelude::*;

use super::Pair;
use super::outcome::{Outcome, Told};

/// What the command line takes where nothing else is told: 5 %, 1 ns and 10 points.
const THRESHOLD: Threshold = Threshold { relative: 0.05, floor: 1.0, weight: 0.1 };

/// Compares pairs.
pub(super) fn compared(pairs: &[Pair]) -> Vec<Outcome> {
    let of = |[a, b]: &Pair| {
        let found = compare(&sample(a), &sample(b), THRESHOLD, Direction::Lower);
        Outcome {
            verdict: word(found.verdict).to_owned(),
            shift: found.shift_low.zip(found.shift_high),
            depends: found.dependence.is_some(),
        }
    };
    pairs.par_iter().map(of).collect()
}

/// The number of modes of each sample.
pub(super) fn numbers(samples: &[Vec<f64>]) -> Vec<u64> {
    samples.par_iter().map(|values| Modes::of(&sample(values)).modes.len() as u64).collect()
}

/// The modes of each sample.
pub(super) fn modes(samples: &[Vec<f64>]) -> Vec<Vec<Told>> {
    let of = |values: &Vec<f64>| {
        let told = |mode: &barrow_statistics::Mode| Told {
            location: (mode.location_low, mode.location_high),
            weight: (mode.weight_low, mode.weight_high),
        };
        Modes::of(&sample(values)).modes.iter().map(told).collect()
    };
    samples.par_iter().map(of).collect()
}

/// Each value is a run.
fn sample(values: &[f64]) -> Sample {
    Sample::new(values.iter().map(|value| vec![*value]).collect())
}

/// The word for a verdict on times.
fn word(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Equal => "equal",
        ComparisonVerdict::Better => "faster",
        ComparisonVerdict::Worse => "slower",
        ComparisonVerdict::MovedWeight => "moved weight",
        ComparisonVerdict::WorseWeight => "worse weight",
        ComparisonVerdict::Unknown => "unknown",
    }
}
