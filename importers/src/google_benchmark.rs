//! Google Benchmark's results (`--benchmark_out=FILE --benchmark_out_format=json`).
//!
//! ```text
//!   {"context": {"date": …, "host_name": …, "executable": "./sums", "num_cpus": 2, …},
//!    "benchmarks": [{"name": "BM_sum/1000", "run_type": "iteration", "repetition_index": 0, "real_time": 0.92, "cpu_time": 0.37,
//!                    "time_unit": "us", "bytes_per_second": 2.14e+10}, …]}
//! ```
//!
//! What becomes of each field is in `docs/imports.md`.

use std::collections::HashMap;
use std::path::Path;

use barrow_writer::Better;
use serde::Deserialize;

use crate::error::{ImportError, Stop};
use crate::format::Importer;
use crate::measurements::{Head, MetricText, Number, Read, Text, Values, each, field, import, strict};

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

/// What the variant is called if the name of the program is not known.
const UNNAMED: &str = "benchmarks";

fn recognises(first_bytes: &[u8]) -> bool {
    let head = Head::of(first_bytes);
    match head.first() {
        b"context" => head.has("context", "num_cpus"),
        b"benchmarks" => head.has("benchmarks", "real_time"),
        _ => false,
    }
}

/// Where the benchmarks ran.
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
    #[serde(default)]
    real_time: Number,
    #[serde(default)]
    cpu_time: Number,
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    #[serde(default)]
    error_message: Text,
    bytes_per_second: Option<Number>,
    items_per_second: Option<Number>,
}

fn read(text: &[u8], _: Option<&Path>) -> Result<Read, ImportError> {
    let text = strict(text);
    let mut adding = Adding::default();
    let executable = field(&text, "context").and_then(|context| adding.facts(context));
    let name = executable.as_deref().map_or(UNNAMED, |path| path.rsplit(['/', '\\']).next().unwrap_or(path));
    let variant = adding.values.variant(name, &[]);
    let run = adding.values.run(variant);
    let end = each(&text, "benchmarks", |repetition: Repetition| adding.add(run, &repetition));
    Ok(Read { values: adding.finish(), end: end.map_err(Stop::from) })
}

/// Adds repetitions.
#[derive(Default)]
struct Adding {
    values: Values,
    /// How many repetitions of each benchmark there were.
    repetitions: HashMap<String, u64>,
    aggregates: u64,
    errors: u64,
    first_error: String,
}

impl Adding {
    /// Takes what is known of the machine; returns the path of the program.
    fn facts(&mut self, context: Environment) -> Option<String> {
        self.values.known_facts([
            ("date", context.date),
            ("host", context.host_name),
            ("processors", context.num_cpus),
            ("MHz per processor", context.mhz_per_cpu),
            ("build type of Google Benchmark", context.library_build_type),
        ]);
        context.executable.0
    }

    fn add(&mut self, run: usize, repetition: &Repetition) {
        let name = repetition.name.as_str();
        if repetition.run_type.as_deref() == Some("aggregate") {
            self.aggregates += 1;
            return;
        }
        if repetition.error_occurred {
            if self.errors == 0 {
                let message = repetition.error_message.0.as_deref().unwrap_or_default();
                self.first_error = format!("`{name}`: {message}");
            }
            self.errors += 1;
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
        let (bytes, items) = (repetition.bytes_per_second, repetition.items_per_second);
        let time = |suffix: &'static str, time: Number| (suffix, "ns", Better::Lower, Some(Number(time.0 * ns)));
        let measured = [
            time("", repetition.real_time),
            time(" cpu", repetition.cpu_time),
            (" bytes_per_second", "bytes/s", Better::Higher, bytes),
            (" items_per_second", "items/s", Better::Higher, items),
        ];
        for (suffix, unit, better, value) in measured {
            let Some(Number(value)) = value else { continue };
            let name = format!("{name}{suffix}");
            let metric = self.values.metric(&MetricText { name: &name, unit, better, exact: false });
            self.values.value(metric, run, Some(iteration), value, || format!("repetition {iteration} of `{name}`"));
        }
    }

    fn finish(mut self) -> Values {
        if self.errors > 0 {
            let note =
                format!("repetitions that failed and have no values: {}; the first: {}", self.errors, self.first_error);
            self.values.note(note);
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

/// Nanoseconds in a unit of time.
fn nanoseconds(unit: Option<&str>) -> f64 {
    match unit {
        Some("s") => 1e9,
        Some("ms") => 1e6,
        Some("us") => 1e3,
        // What the library writes by default, and always did before it had units.
        _ => 1.0,
    }
}
