//! JMH's results (`-rf json -rff FILE`).
//!
//! ```text
//!   [{"jmhVersion": "1.37", "benchmark": "cards.Sums.fold", "mode": "avgt", "params": {"n": "100"},
//!     "primaryMetric": {"scoreUnit": "us/op", "rawData": [[0.017, …], …]},            an inner list for each fork
//!     "secondaryMetrics": {"gc.alloc.rate.norm": {"scoreUnit": "B/op", "rawData": [[0.001, …], …]}}}, …]
//!
//!   in mode `sample`: "rawDataHistogram": [[[[1073152.0, 3], …], …], …]               times, with their counts
//! ```
//!
//! `docs/imports.md` lists the use of each field.

use std::collections::BTreeMap;
use std::path::Path;

use barrow_writer::{Better, Word};
use serde::Deserialize;

use crate::error::{ImportError, Stop};
use crate::format::Importer;
use crate::values::measurements::{
    Head, MetricText, Number, ParsedValues, Text, Values, each_in_list, import, strict, without_mark,
};

/// Results of JMH.
pub(crate) const IMPORTER: Importer = Importer {
    key: "jmh",
    name: "results of JMH (JSON)",
    heading: "JMH",
    sample: "jmh-1.38.json",
    recognises: |first_bytes| {
        let text = without_mark(first_bytes).trim_ascii_start();
        let Some(list) = text.strip_prefix(b"[") else { return false };
        let head = Head::of(list);
        // Versions before 1.20 do not give their number.
        head.first() == b"jmhVersion" || head.first() == b"benchmark" && head.has("", "mode")
    },
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// The only variant: the name of a benchmark is that of its metric.
const VARIANT: &str = "JMH";
/// Units of JMH and of its profilers.
const UNITS: [&str; 5] = ["MB/sec", "counts", "ms", "ops/s", "s"];
/// The ends of the names of metrics, which begin with that of the benchmark: its mode, or what a profiler measured.
const BEHIND_NAMES: [&str; 7] = [" allocated", " gc.alloc.rate", " gc.count", " gc.time", " sample", " ss", " thrpt"];
/// The most values that histograms of a file may stand for: 48 MB in memory.
const MOST_SAMPLES: u64 = 1_000_000;

/// A benchmark in one mode, with one set of parameters.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Benchmark {
    #[serde(default)]
    jmh_version: Text,
    benchmark: String,
    #[serde(default)]
    mode: Text,
    #[serde(default)]
    vm_name: Text,
    #[serde(default)]
    vm_version: Text,
    #[serde(default)]
    params: BTreeMap<String, Text>,
    primary_metric: Measurement,
    #[serde(default)]
    secondary_metrics: BTreeMap<String, Measurement>,
}

/// Times, each with its count.
type Histogram = Vec<(Number, Number)>;

/// The values of one metric of a benchmark.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Measurement {
    #[serde(default)]
    score_unit: Text,
    raw_data: Option<Vec<Vec<Number>>>,
    raw_data_histogram: Option<Vec<Vec<Histogram>>>,
}

fn read(text: &[u8], _: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let text = strict(text);
    let mut adding = ResultCollector::default();
    let end = each_in_list(&text, "benchmarks", |benchmark: Benchmark| adding.add(&benchmark));
    let ResultCollector { mut values, without, too_many, .. } = adding;
    if without > 0 {
        values.note(format!("benchmarks without raw data: {without}; `jmh.json.rawData` was false"));
    }
    if too_many > 0 {
        values.note(format!(
            "benchmarks of mode `sample` that were left out: {too_many}; a file may hold {MOST_SAMPLES} samples"
        ));
    }
    Ok(ParsedValues { values, end: end.map_err(Stop::from) })
}

/// Adds benchmarks.
#[derive(Default)]
struct ResultCollector {
    values: Values,
    has_facts: bool,
    samples: u64,
    without: u64,
    too_many: u64,
}

impl ResultCollector {
    fn add(&mut self, benchmark: &Benchmark) {
        if !std::mem::replace(&mut self.has_facts, true) {
            self.values.known_facts([
                (Word::of_settings("version of JMH"), benchmark.jmh_version.clone()),
                (Word::of_settings("runtime"), benchmark.vm_name.clone()),
                (Word::of_settings("version of the runtime"), benchmark.vm_version.clone()),
            ]);
        }
        let name = name(benchmark);
        self.values.word(VARIANT);
        let variant = self.values.variant(VARIANT, &[]);
        let primary = &benchmark.primary_metric;
        // Forks are processes. Their runs are added with the first value.
        let mut runs: Vec<usize> = Vec::new();
        if let Some(histograms) = &primary.raw_data_histogram {
            let entries = histograms.iter().flatten().flatten();
            for &(_, Number(count)) in entries.clone().filter(|(_, count)| times(*count).is_none()) {
                self.values.impossible(|| format!("a count in the histogram of `{name}` is {count}"));
            }
            let count = entries.filter_map(|&(_, count)| times(count)).fold(0, u64::saturating_add);
            if self.samples.saturating_add(count) > MOST_SAMPLES {
                self.too_many += 1;
                return;
            }
            self.samples += count;
            let forks = histograms.iter().map(|fork| {
                let each = fork.iter().flatten();
                each.flat_map(|&(time, count)| std::iter::repeat_n(time, times(count).unwrap_or(0) as usize)).collect()
            });
            let forks: Vec<Vec<Number>> = forks.collect();
            self.measured(variant, &mut runs, &Unit::of(&primary.score_unit, &name), &forks);
        } else if let Some(forks) = &primary.raw_data {
            self.measured(variant, &mut runs, &Unit::of(&primary.score_unit, &name), forks);
        }
        if runs.is_empty() {
            self.without += 1;
            return;
        }
        for (key, secondary) in benchmark.secondary_metrics.iter().filter(|(key, _)| !is_percentile(key)) {
            let Some(forks) = &secondary.raw_data else { continue };
            // Up to 1.36, the names of profilers' metrics begin with a dot.
            let key = key.trim_start_matches('·');
            self.measured(variant, &mut runs, &Unit::of_secondary(&secondary.score_unit, &name, key), forks);
        }
    }

    /// Adds the values of all forks.
    fn measured(&mut self, variant: usize, runs: &mut Vec<usize>, unit: &Unit, forks: &[Vec<Number>]) {
        if forks.iter().all(Vec::is_empty) {
            return;
        }
        let Unit { name, unit, better, factor } = unit;
        self.values.mark_known(unit, &UNITS);
        for &word in BEHIND_NAMES.iter().filter(|&&word| name.ends_with(word)) {
            self.values.word(Word::new(word).behind_names());
        }
        let metric = self.values.metric(&MetricText { name, unit, better: *better, exact: false });
        for (fork, measured) in forks.iter().enumerate() {
            if runs.len() <= fork {
                runs.push(self.values.run(variant));
            }
            for (at, value) in (0..).zip(measured) {
                let place = || format!("iteration {at} of `{name}`");
                if *better == Better::Unknown {
                    self.values.value(metric, runs[fork], Some(at), value.0 * factor, place);
                } else {
                    // A time, a throughput, or memory.
                    self.values.amount(metric, runs[fork], Some(at), value.0 * factor, place);
                }
            }
        }
    }
}

/// The name of a benchmark with its parameters, and with the mode unless that is the average time: a file may have the same
/// benchmark in each mode.
fn name(benchmark: &Benchmark) -> String {
    let mut name = benchmark.benchmark.clone();
    let parameters =
        benchmark.params.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.0.as_deref()?)));
    let parameters: Vec<String> = parameters.collect();
    if !parameters.is_empty() {
        name += &format!("({})", parameters.join(","));
    }
    match benchmark.mode.0.as_deref() {
        Some(mode @ ("thrpt" | "sample" | "ss")) => format!("{name} {mode}"),
        _ => name,
    }
}

/// The count of a time, if it is a whole number.
fn times(Number(count): Number) -> Option<u64> {
    // Not NaN or infinite, whose remainders are NaN; too large counts saturate.
    (count >= 0.0 && count.fract() == 0.0).then_some(count as u64)
}

/// Returns whether a key is a percentile of the samples, like `p0.50`.
fn is_percentile(key: &str) -> bool {
    key.trim_start_matches('·').strip_prefix('p').is_some_and(|share| share.parse::<f64>().is_ok())
}

/// The name of a metric, its unit in the recording, and the factor for its values.
struct Unit {
    name: String,
    unit: String,
    better: Better,
    factor: f64,
}

impl Unit {
    fn of(unit: &Text, name: &str) -> Self {
        let unit = unit.0.as_deref().unwrap_or_default();
        let name = name.to_owned();
        if let Some(ns) = unit.strip_suffix("/op").and_then(nanoseconds) {
            return Unit { name, unit: "ns".to_owned(), better: Better::Lower, factor: ns };
        }
        if let Some(ns) = unit.strip_prefix("ops/").and_then(nanoseconds) {
            return Unit { name, unit: "ops/s".to_owned(), better: Better::Higher, factor: 1e9 / ns };
        }
        Unit { name, unit: unit.to_owned(), better: Better::Unknown, factor: 1.0 }
    }

    /// The unit of a profiler or of a counter.
    fn of_secondary(unit: &Text, benchmark: &str, key: &str) -> Self {
        match (key, unit.0.as_deref()) {
            ("gc.alloc.rate.norm", Some("B/op")) => Unit {
                name: format!("{benchmark} allocated"),
                unit: "bytes".to_owned(),
                better: Better::Lower,
                factor: 1.0,
            },
            _ => Self::of(unit, &format!("{benchmark} {key}")),
        }
    }
}

/// Nanoseconds in a unit of time, in JMH's spelling.
fn nanoseconds(unit: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 7] =
        [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 6e10), ("hr", 3.6e12), ("day", 8.64e13)];
    UNITS.iter().find(|(known, _)| *known == unit).map(|&(_, ns)| ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_told_from_other_keys() {
        assert!(is_percentile("p0.50") && is_percentile("·p1.00"));
        assert!(!is_percentile("gc.time") && !is_percentile("p") && !is_percentile("parse"));
    }
}
