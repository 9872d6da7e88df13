//! The results of hyperfine's `--export-json`, which its scripts read.
//!
//! ```text
//!   "results": [{"command": "seq 10000", "mean": 0.0053, "stddev": 0.0004, "median": …, "user": …, "system": …, "min": …,
//!                "max": …, "times": [0.0053, …], "memory_usage_byte": [2002944, …], "exit_codes": [0, …],
//!                "parameters": {"n": "10000"}}, …]
//! ```
//!
//! Times are in seconds. Runs that failed and warm-ups are not there.

use std::collections::HashMap;
use std::io::{self, Write};

use barrow_trials::{Series, Trials};

use crate::answer::json::string;
use crate::tables::trials::presentation::parameters;
use crate::tables::trials::variant_of;

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// Writes the key `results` and its value: an element for each program that has times.
///
/// # Errors
/// Those of `out` and of `check`.
pub(crate) fn write(
    trials: &Trials,
    check: &(dyn Fn() -> io::Result<()> + Sync),
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "\"results\":[")?;
    let [walls, others @ ..] = ["wall", "user", "system", "peak_resident"]
        .map(|metric| trials.metric(metric).map(|id| Series::of_metric(trials, id)).unwrap_or_default());
    for (at, wall) in walls.iter().enumerate() {
        check()?;
        let beside = others.each_ref().map(|all| all.iter().find(|series| series.variant() == wall.variant()));
        write!(out, "{}\n{}", if at == 0 { "" } else { "," }, result(trials, wall, beside))?;
    }
    write!(out, "\n]")
}

/// The results of a program, with its user time, its system time and its memory.
fn result(trials: &Trials, wall: &Series<'_>, [user, system, memory]: [Option<&Series<'_>>; 3]) -> String {
    let variant = variant_of(trials, wall.variant());
    let times: Vec<f64> = wall.values().map(|value| value.value / SECOND).collect();
    let summary = Summary::of(&times);
    let mut fields = vec![
        ("command", string(&variant.name)),
        ("mean", json(summary.mean)),
        ("stddev", summary.deviation.map_or_else(|| "null".to_owned(), json)),
        ("median", json(summary.median)),
    ];
    for (key, series) in [("user", user), ("system", system)] {
        fields.extend(series.map(|series| {
            let sum: f64 = series.values().map(|value| value.value / SECOND).sum();
            (key, json(sum / series.len() as f64))
        }));
    }
    fields.extend([("min", json(summary.least)), ("max", json(summary.most))]);
    fields.push(("times", list(times.iter().copied().map(json))));
    // Both have an element for each time, or none.
    let bytes: HashMap<u32, f64> =
        memory.into_iter().flat_map(Series::values).map(|value| (value.run.0, value.value)).collect();
    let bytes: Option<Vec<String>> =
        wall.values().map(|value| bytes.get(&value.run.0).map(|bytes| (*bytes as u64).to_string())).collect();
    fields.extend(bytes.map(|bytes| ("memory_usage_byte", list(bytes.into_iter()))));
    let ends = wall.values().map(|value| trials.runs().get(value.run.index()).and_then(|run| run.end.as_ref()));
    let codes: Option<Vec<String>> =
        ends.map(|end| Some(end?.exit_status.map_or_else(|| "null".to_owned(), |status| status.to_string()))).collect();
    fields.extend(codes.map(|codes| ("exit_codes", list(codes.into_iter()))));
    let parameters: Vec<String> =
        parameters(variant).map(|(name, value)| format!("{}:{}", string(name), string(value))).collect();
    if !parameters.is_empty() {
        fields.push(("parameters", format!("{{{}}}", parameters.join(","))));
    }
    let fields: Vec<String> = fields.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", fields.join(","))
}

fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(","))
}

/// A finite number, with a point also if it is whole.
fn json(number: f64) -> String {
    format!("{number:?}")
}

/// The statistics of times that hyperfine computes.
struct Summary {
    mean: f64,
    /// Of the sample; nothing for a single time.
    deviation: Option<f64>,
    median: f64,
    least: f64,
    most: f64,
}

impl Summary {
    /// Of at least one time.
    fn of(times: &[f64]) -> Self {
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let [low, high] = [(sorted.len() - 1) / 2, sorted.len() / 2].map(|at| sorted[at]);
        Summary {
            mean,
            deviation: (times.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            median: f64::midpoint(low, high),
            least: sorted[0],
            most: sorted[sorted.len() - 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of Python's `statistics`.
    #[test]
    fn times_are_summed_up_as_by_hyperfine() {
        let summary = Summary::of(&[0.25, 0.5, 2.0, 1.0]);
        assert_eq!((summary.mean, summary.median, summary.least, summary.most), (0.9375, 0.75, 0.25, 2.0));
        assert!((summary.deviation.unwrap() - 0.773_923_984_208_613).abs() < 1e-12);
        assert_eq!(Summary::of(&[3.0]).deviation, None);
    }
}
