//! pyperf's results (`-o FILE` of a benchmark, `pyperf timeit`, `pyperf command`, pyperformance).
//!
//! ```text
//!   {"benchmarks": [{"metadata": {"name": "sum", …},
//!                    "runs": [{"metadata": {"mem_max_rss": 19304448, …}, "values": [5.4e-07, …], "warmups": [[2000, 4.7e-07]]},
//!                             …]}, …],
//!    "metadata": {"python_version": "3.11.7 (64-bit)", "unit": "second", …}, "version": "1.0"}
//! ```
//!
//! Metadata of the file hold for all benchmarks, those of a benchmark for all of its runs. `docs/imports.md` lists
//! the use of each field.

use std::path::Path;

use barrow_writer::{Better, Word};
use serde::Deserialize;

use crate::error::{ImportError, Stop};
use crate::format::Importer;
use crate::values::measurements::{
    Head, MetricText, Number, ParsedValues, Text, Values, each, field, import, standard, strict,
};

/// Results of pyperf.
pub(crate) const IMPORTER: Importer = Importer {
    key: "pyperf",
    name: "results of pyperf (JSON)",
    heading: "pyperf",
    sample: "pyperf-2.11.json",
    recognises: |first_bytes| {
        let head = Head::of(first_bytes);
        // Long metadata of the first benchmark come before its runs.
        head.has("benchmarks", "runs") || (head.first() == b"benchmarks" && head.has("benchmarks", "metadata"))
    },
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// The only variant: the name of a benchmark is that of its metric.
const VARIANT: &str = "pyperf";
/// The name of a benchmark without a name.
const UNNAMED: &str = "benchmark";

/// Metadata of all benchmarks, of one, or of a run.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    name: Text,
    unit: Option<Text>,
    date: Text,
    hostname: Text,
    cpu_count: Text,
    cpu_model_name: Text,
    platform: Text,
    python_implementation: Text,
    python_version: Text,
    mem_max_rss: Option<Number>,
    command_max_rss: Option<Number>,
}

/// A benchmark.
#[derive(Deserialize)]
struct Benchmark {
    #[serde(default)]
    metadata: Metadata,
    runs: Vec<Run>,
}

/// A process that measured a benchmark. One that only calibrates has no values.
#[derive(Deserialize)]
struct Run {
    #[serde(default)]
    metadata: Metadata,
    values: Option<Vec<Number>>,
}

fn read(text: &[u8], _: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let text = strict(text);
    let mut values = Values::default();
    let common: Metadata = field(&text, "metadata").unwrap_or_default();
    values.known_facts([
        (Word::of_settings("date"), common.date.clone()),
        (Word::of_names("host"), common.hostname.clone()),
        (Word::of_settings("processors"), common.cpu_count.clone()),
        (Word::new("processor"), common.cpu_model_name.clone()),
        (Word::new("system"), common.platform.clone()),
        (Word::of_settings("Python"), common.python_implementation.clone()),
        (Word::of_settings("version of Python"), common.python_version.clone()),
    ]);
    values.word(VARIANT);
    let variant = values.variant(VARIANT, &[]);
    let mut calibrations = 0_u64;
    let end = each(&text, "benchmarks", |benchmark: Benchmark| {
        // A file of one benchmark may have all metadata in one place.
        let name = benchmark.metadata.name.0.as_deref().or(common.name.0.as_deref()).unwrap_or(UNNAMED);
        let unit = benchmark.metadata.unit.as_ref().or(common.unit.as_ref());
        if unit.is_some_and(|unit| unit.0.is_none()) {
            values.note(format!("the unit of `{name}` is no text, so its values are taken for seconds"));
        }
        let unit = unit.and_then(|unit| unit.0.as_deref());
        let of_all = [&benchmark.metadata, &common].map(peak);
        for run in &benchmark.runs {
            match run.values.as_deref() {
                Some(measured) if !measured.is_empty() => {
                    let number = values.run(variant);
                    add(&mut values, number, (name, unit), measured);
                    let peak = [peak(&run.metadata), of_all[0], of_all[1]].into_iter().flatten().next();
                    add_peak(&mut values, number, name, peak);
                }
                _ => calibrations += 1,
            }
        }
    });
    if values.is_empty() && calibrations > 0 {
        values.note(format!("runs that only calibrated, without values: {calibrations}"));
    }
    Ok(ParsedValues { values, end: end.map_err(Stop::from) })
}

/// Maximum memory of the measured command, otherwise of the measuring process; NaN if it is not a number.
fn peak(metadata: &Metadata) -> Option<f64> {
    metadata.command_max_rss.or(metadata.mem_max_rss).map(|Number(bytes)| bytes)
}

/// Adds the values of a run.
fn add(values: &mut Values, run: usize, (name, unit): (&str, Option<&str>), measured: &[Number]) {
    let (unit, better, factor) = match unit {
        Some("second") | None => ("ns", Better::Lower, 1e9),
        Some("byte") => ("bytes", Better::Lower, 1.0),
        Some("integer") => ("", Better::Unknown, 1.0),
        Some(other) => (other, Better::Unknown, 1.0),
    };
    let metric = values.metric(&MetricText { name, unit, better, exact: false });
    for (at, value) in (0..).zip(measured) {
        values.amount(metric, run, Some(at), value.0 * factor, || format!("value {at} of `{name}`"));
    }
}

fn add_peak(values: &mut Values, run: usize, name: &str, peak: Option<f64>) {
    let Some(bytes) = peak else { return };
    values.word(Word::new(" peak_resident").behind_names());
    let name = format!("{name} {}", standard::PEAK_RESIDENT.name);
    let metric = values.metric(&MetricText { name: &name, ..standard::PEAK_RESIDENT });
    values.amount(metric, run, None, bytes, || format!("memory of `{name}`"));
}
