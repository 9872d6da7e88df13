//! pytest-benchmark's results (`--benchmark-json=FILE`).
//!
//! ```text
//!   {"machine_info": {"node": …, "python_version": …, …},
//!    "benchmarks": [{"fullname": "test_sums.py::test_sum[100]", "stats": {"mean": 9.8e-07, "data": [8.4e-07, …]}}, …]}
//! ```
//!
//! `docs/imports.md` lists the use of each field.

use std::path::Path;

use barrow_writer::{Better, Word};
use serde::Deserialize;

use crate::error::{ImportError, Stop};
use crate::format::Importer;
use crate::values::measurements::{Head, MetricText, Number, ParsedValues, Text, Values, each, field, import, strict};

/// Results of pytest-benchmark.
pub(crate) const IMPORTER: Importer = Importer {
    key: "pytest-benchmark",
    name: "results of pytest-benchmark (JSON)",
    heading: "pytest-benchmark",
    sample: "pytest-benchmark-5.3.json",
    recognises: |first_bytes| {
        let head = Head::of(first_bytes);
        match head.first() {
            b"machine_info" => head.has("machine_info", "python_version"),
            b"benchmarks" => head.has("benchmarks", "fullname"),
            _ => false,
        }
    },
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// The only variant: the name of a benchmark is that of its metric.
const VARIANT: &str = "pytest";

/// The machine of the benchmarks.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Machine {
    node: Text,
    python_implementation: Text,
    python_version: Text,
}

/// A benchmark.
#[derive(Deserialize)]
struct Benchmark {
    fullname: Option<String>,
    name: Option<String>,
    stats: Statistics,
}

/// Its times, in seconds. The means are not read.
#[derive(Deserialize)]
struct Statistics {
    data: Option<Vec<Number>>,
}

fn read(text: &[u8], _: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let text = strict(text);
    let mut values = Values::default();
    let machine: Machine = field(&text, "machine_info").unwrap_or_default();
    values.known_facts([
        (Word::of_settings("date"), field(&text, "datetime").unwrap_or_default()),
        (Word::of_names("host"), machine.node),
        (Word::of_settings("Python"), machine.python_implementation),
        (Word::of_settings("version of Python"), machine.python_version),
    ]);
    values.word(VARIANT);
    let variant = values.variant(VARIANT, &[]);
    let run = values.run(variant);
    let mut without_data = 0_u64;
    let end = each(&text, "benchmarks", |benchmark: Benchmark| {
        let name = benchmark.fullname.or(benchmark.name).unwrap_or_default();
        match benchmark.stats.data {
            Some(data) => add(&mut values, run, &name, &data),
            None => without_data += 1,
        }
    });
    if without_data > 0 {
        values.note(format!(
            "benchmarks that hold only means: {without_data}; record with `--benchmark-save-data` or `--benchmark-json`"
        ));
    }
    Ok(ParsedValues { values, end: end.map_err(Stop::from) })
}

/// Adds the rounds of a benchmark.
fn add(values: &mut Values, run: usize, name: &str, data: &[Number]) {
    let metric = values.metric(&MetricText { name, unit: "ns", better: Better::Lower, exact: false });
    for (at, seconds) in (0..).zip(data) {
        values.amount(metric, run, Some(at), seconds.0 * 1e9, || format!("round {at} of `{name}`"));
    }
}
