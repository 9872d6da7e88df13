//! Google Benchmark's results (`--benchmark_out=FILE --benchmark_out_format=json`).
//!
//! ```text
//!   {"context": {"date": …, "host_name": …, "executable": "./sums", "num_cpus": 2, …},
//!    "benchmarks": [{"name": "BM_sum/1000", "run_type": "iteration", "repetition_index": 0, "real_time": 0.92, "cpu_time": 0.37,
//!                    "time_unit": "us", "bytes_per_second": 2.14e+10}, …]}
//! ```
//!
//! `docs/imports.md` lists the use of each field.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use barrow_writer::{Better, Word};
use serde::{Deserialize, Deserializer};

use crate::error::{ImportError, Stop};
use crate::format::Importer;
use crate::values::measurements::{Head, MetricText, Number, ParsedValues, Text, Values, each, field, import, strict};

/// Results of Google Benchmark.
pub(crate) const IMPORTER: Importer = Importer {
    key: "google-benchmark",
    name: "results of Google Benchmark (JSON)",
    heading: "Google Benchmark",
    sample: "google-benchmark-1.7.json",
    recognises,
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// The name of the variant if that of the program is unknown.
const UNNAMED: &str = "benchmarks";

fn recognises(first_bytes: &[u8]) -> bool {
    let head = Head::of(first_bytes);
    match head.first() {
        b"context" => head.has("context", "num_cpus"),
        b"benchmarks" => head.has("benchmarks", "real_time"),
        _ => false,
    }
}

/// The machine and build of the benchmarks.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Environment {
    date: Text,
    host_name: Text,
    executable: Text,
    num_cpus: Text,
    mhz_per_cpu: Text,
    library_build_type: Text,
}

/// A repetition of a benchmark, or an aggregate of several.
#[derive(Deserialize)]
struct Repetition {
    name: String,
    run_type: Option<String>,
    repetition_index: Option<u64>,
    #[serde(default, deserialize_with = "present")]
    real_time: Option<Number>,
    #[serde(default, deserialize_with = "present")]
    cpu_time: Option<Number>,
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    #[serde(default)]
    error_message: Text,
    /// Since 1.8.
    #[serde(default)]
    skipped: bool,
    #[serde(default)]
    skip_message: Text,
    bytes_per_second: Option<Number>,
    items_per_second: Option<Number>,
}

/// A number that is present, even if it is `null`.
fn present<'de, D: Deserializer<'de>>(number: D) -> Result<Option<Number>, D::Error> {
    Number::deserialize(number).map(Some)
}

impl Repetition {
    /// Returns whether it is an aggregate of several repetitions, as far as that can be determined.
    fn is_aggregate(&self, own_names: &OwnNames) -> bool {
        match self.run_type.as_deref() {
            Some(run_type) => run_type == "aggregate",
            // Only of the complexity: `BM_sort_BigO` and `BM_sort_RMS`.
            None if self.real_time.is_none() && self.cpu_time.is_none() => true,
            None => own_names.is_aggregate(&self.name),
        }
    }
}

/// The names in a file from before 1.5, which does not mark aggregates.
#[derive(Default)]
struct OwnNames(HashSet<String>);

/// The ends of names of aggregates of times.
const AGGREGATES: [&str; 3] = ["_mean", "_median", "_stddev"];

impl OwnNames {
    fn of(text: &[u8]) -> Self {
        let mut names = HashSet::new();
        // Damage is reported when the values are read.
        let _ = each(text, "benchmarks", |repetition: Repetition| {
            if repetition.run_type.is_none() {
                names.insert(repetition.name);
            }
        });
        OwnNames(names)
    }

    /// Returns whether the repetitions, or the other aggregates of the same benchmark, exist too: a benchmark can be
    /// named `geo_mean`.
    fn is_aggregate(&self, name: &str) -> bool {
        let Some(own) = AGGREGATES.iter().find_map(|suffix| name.strip_suffix(suffix)) else { return false };
        self.has(own, "") || self.has(own, "_mean") && self.has(own, "_stddev")
    }

    fn has(&self, own: &str, suffix: &str) -> bool {
        self.0.contains(&format!("{own}{suffix}"))
    }
}

fn read(text: &[u8], _: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let text = strict(text);
    let mut adding = ResultCollector { own_names: OwnNames::of(&text), ..ResultCollector::default() };
    let executable = field(&text, "context").and_then(|context| adding.facts(context));
    let name = executable.as_deref().map_or(UNNAMED, |path| path.rsplit(['/', '\\']).next().unwrap_or(path));
    let variant = adding.values.variant(name, &[]);
    let run = adding.values.run(variant);
    let end = each(&text, "benchmarks", |repetition: Repetition| adding.add(run, &repetition));
    Ok(ParsedValues { values: adding.finish(), end: end.map_err(Stop::from) })
}

/// Adds repetitions.
#[derive(Default)]
struct ResultCollector {
    values: Values,
    /// Number of repetitions of each benchmark.
    repetitions: HashMap<String, u64>,
    /// The names of metrics, each with the benchmark and the suffix of its measurement: a benchmark may be named
    /// `sort cpu`.
    names: HashMap<String, (String, &'static str)>,
    own_names: OwnNames,
    aggregates: u64,
    odd_units: EmptyRepetitions,
    errors: EmptyRepetitions,
    skipped: EmptyRepetitions,
}

/// Repetitions without values.
#[derive(Default)]
struct EmptyRepetitions {
    count: u64,
    /// The name of the first, and its message.
    first: String,
}

impl EmptyRepetitions {
    fn add(&mut self, name: &str, message: &Text) {
        if self.count == 0 {
            self.first = format!("`{name}`: {}", message.0.as_deref().unwrap_or_default());
        }
        self.count += 1;
    }
}

impl ResultCollector {
    /// Adds the facts of the machine. Returns the path of the program.
    fn facts(&mut self, context: Environment) -> Option<String> {
        self.values.known_facts([
            (Word::of_settings("date"), context.date),
            (Word::of_names("host"), context.host_name),
            (Word::of_settings("processors"), context.num_cpus),
            (Word::of_settings("MHz per processor"), context.mhz_per_cpu),
            (Word::of_settings("build type of Google Benchmark"), context.library_build_type),
        ]);
        context.executable.0
    }

    fn add(&mut self, run: usize, repetition: &Repetition) {
        let name = repetition.name.as_str();
        if repetition.is_aggregate(&self.own_names) {
            self.aggregates += 1;
            return;
        }
        if repetition.error_occurred {
            self.errors.add(name, &repetition.error_message);
            return;
        }
        if repetition.skipped {
            self.skipped.add(name, &repetition.skip_message);
            return;
        }
        let iteration = match (repetition.repetition_index, self.repetitions.get_mut(name)) {
            (Some(index), _) => index,
            (None, Some(count)) => {
                *count += 1;
                *count
            }
            (None, None) => {
                self.repetitions.insert(name.to_owned(), 0);
                0
            }
        };
        let ns = nanoseconds(repetition.time_unit.as_deref());
        if ns.is_none() {
            self.odd_units.add(name, &Text(repetition.time_unit.clone()));
        }
        let (bytes, items) = (repetition.bytes_per_second, repetition.items_per_second);
        let times = [("", repetition.real_time), (" cpu", repetition.cpu_time)].map(|(suffix, time)| {
            (suffix, "ns", Better::Lower, time.zip(ns).map(|(Number(time), ns)| Number(time * ns)))
        });
        let measured = [
            times[0],
            times[1],
            (" bytes_per_second", "bytes/s", Better::Higher, bytes),
            (" items_per_second", "items/s", Better::Higher, items),
        ];
        for (suffix, unit, better, value) in measured {
            let Some(Number(value)) = value else { continue };
            self.values.word(Word::new(suffix).behind_names());
            self.values.word(unit);
            let name = self.metric_name(name, suffix);
            let metric = self.values.metric(&MetricText { name: &name, unit, better, exact: false });
            self.values.amount(metric, run, Some(iteration), value, || format!("repetition {iteration} of `{name}`"));
        }
    }

    /// A unique name for a measurement of a benchmark.
    fn metric_name(&mut self, benchmark: &str, suffix: &'static str) -> String {
        let mut name = format!("{benchmark}{suffix}");
        for number in 2.. {
            let of = self.names.entry(name.clone()).or_insert_with(|| (benchmark.to_owned(), suffix));
            if of.0 == benchmark && of.1 == suffix {
                break;
            }
            name = format!("{benchmark}{suffix} #{number}");
        }
        name
    }

    fn finish(mut self) -> Values {
        let EmptyRepetitions { count, first } = &self.odd_units;
        if *count > 0 {
            self.values.note(format!(
                "repetitions whose times are in no known unit and left out: {count}; the first: {first}"
            ));
        }
        for (what, EmptyRepetitions { count, first }) in [("failed", &self.errors), ("were skipped", &self.skipped)] {
            if *count > 0 {
                self.values.note(format!("repetitions that {what} and have no values: {count}; the first: {first}"));
            }
        }
        if self.values.is_empty() && self.aggregates > 0 {
            self.values.note(
                "it holds only aggregates; run without `--benchmark_report_aggregates_only` and \
                 `--benchmark_display_aggregates_only`",
            );
        }
        self.values
    }
}

/// Nanoseconds in a unit of time; `None` for units that the library does not write.
fn nanoseconds(unit: Option<&str>) -> Option<f64> {
    match unit {
        Some("s") => Some(1e9),
        Some("ms") => Some(1e6),
        Some("us") => Some(1e3),
        // The default, and the only unit of early versions.
        Some("ns") | None => Some(1.0),
        Some(_) => None,
    }
}
