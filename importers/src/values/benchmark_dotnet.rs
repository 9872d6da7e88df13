//! BenchmarkDotNet's results (`JsonExporter`, full or brief).
//!
//! ```text
//!   {"Title": …, "HostEnvironmentInfo": {"BenchmarkDotNetVersion": …, …},
//!    "Benchmarks": [{"DisplayInfo": "Sums.Fold: DefaultJob [N=100]", "FullName": "Cards.Sums.Fold(N: 100)",
//!                    "Statistics": {"OriginalValues": [71.2, …]}, "Memory": {"BytesAllocatedPerOperation": 24},
//!                    "Measurements": [{"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 1,
//!                                      "IterationIndex": 1, "Operations": 4194304, "Nanoseconds": 298634444}, …]}, …]}
//! ```
//!
//! `docs/imports.md` lists the use of each field.
//!
//! In reading order: `stages` (selects the measurements that count).

mod stages;

use std::path::Path;

use barrow_writer::{Better, Word};
use serde::Deserialize;

use crate::error::{ImportError, Stop};
use crate::format::Importer;
use crate::values::measurements::{
    Head, MetricText, Number, ParsedValues, Range, Text, Values, each, field, import, strict,
};
use stages::{Measurement, Measurements};

/// Results of BenchmarkDotNet.
pub(crate) const IMPORTER: Importer = Importer {
    key: "benchmark-dotnet",
    name: "results of BenchmarkDotNet (JSON)",
    heading: "BenchmarkDotNet",
    sample: "benchmark-dotnet-full.json",
    recognises: |first_bytes| {
        let head = Head::of(first_bytes);
        ["BenchmarkDotNetCaption", "BenchmarkDotNetVersion"].iter().any(|key| head.has("HostEnvironmentInfo", key))
    },
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// The name of the variant of a benchmark without a job.
const UNNAMED: &str = "BenchmarkDotNet";

/// The machine and runtime of the benchmarks.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Environment {
    #[serde(rename = "BenchmarkDotNetVersion")]
    version: Text,
    os_version: Text,
    processor_name: Text,
    runtime_version: Text,
}

/// A benchmark under one job.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Benchmark {
    display_info: Option<String>,
    full_name: Option<String>,
    /// Its name before 0.10.1.
    short_info: Option<String>,
    statistics: Option<Statistics>,
    memory: Option<Memory>,
    measurements: Option<Measurements>,
}

/// Nanoseconds per operation.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Statistics {
    original_values: Option<Vec<Number>>,
}

/// The counts of the memory diagnoser.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Memory {
    bytes_allocated_per_operation: Option<Number>,
}

fn read(text: &[u8], _: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let text = strict(text);
    let mut values = Values::default();
    let environment: Environment = field(&text, "HostEnvironmentInfo").unwrap_or_default();
    values.known_facts([
        (Word::of_settings("version of BenchmarkDotNet"), environment.version),
        (Word::new("system"), environment.os_version),
        (Word::new("processor"), environment.processor_name),
        (Word::of_settings("runtime"), environment.runtime_version),
    ]);
    let mut without_values = 0_u64;
    let end = each(&text, "Benchmarks", |benchmark: Benchmark| {
        if !add(&mut values, &benchmark) {
            without_values += 1;
        }
    });
    if without_values > 0 {
        values.note(format!(
            "benchmarks without single values: {without_values}; they failed, or an exporter that excludes measurements \
             wrote the file"
        ));
    }
    Ok(ParsedValues { values, end: end.map_err(Stop::from) })
}

/// Adds a benchmark. Returns whether it has any times.
fn add(values: &mut Values, benchmark: &Benchmark) -> bool {
    let display = benchmark.display_info.as_deref().unwrap_or_default();
    let name = [&benchmark.full_name, &benchmark.display_info, &benchmark.short_info];
    let name = name.into_iter().flatten().map(String::as_str).find(|name| !name.is_empty()).unwrap_or("benchmark");
    let variant = values.variant(job(display), &[]);
    let metric = values.metric(&MetricText { name, unit: "ns", better: Better::Lower, exact: false });
    let measured = benchmark.measurements.as_ref().map_or(&[][..], Measurements::that_count);
    let mut first_run = None;
    for &Measurement { launch, iteration, nanoseconds, operations } in measured {
        let run = values.numbered_run(variant, launch.saturating_sub(1));
        first_run.get_or_insert(run);
        let iteration = iteration.saturating_sub(1);
        values
            .share((metric, run, iteration), nanoseconds, operations, || format!("iteration {iteration} of `{name}`"));
    }
    let original = benchmark.statistics.as_ref().and_then(|statistics| statistics.original_values.as_deref());
    if let (None, Some(original)) = (first_run, original) {
        let run = values.numbered_run(variant, 0);
        for (at, value) in (0..).zip(original) {
            first_run = Some(run);
            values.amount(metric, run, Some(at), value.0, || format!("iteration {at} of `{name}`"));
        }
    }
    let Some(run) = first_run else { return false };
    if let Some(Number(bytes)) = benchmark.memory.as_ref().and_then(|memory| memory.bytes_allocated_per_operation) {
        values.word(Word::new(" allocated").behind_names());
        let name = format!("{name} allocated");
        let metric = values.metric(&MetricText { name: &name, unit: "bytes", better: Better::Lower, exact: true });
        values.value_in(Range::Count, (metric, run, None), bytes, || format!("bytes of `{name}`"));
    }
    true
}

/// The job in a text like `Sums.Fold: DefaultJob [N=100]`.
fn job(display: &str) -> &str {
    let job = display.split_once(": ").map_or("", |(_, job)| job.split(" [").next().unwrap_or(job)).trim();
    if job.is_empty() { UNNAMED } else { job }
}

#[cfg(test)]
mod tests {
    use super::job;

    #[test]
    fn the_job_is_part_of_the_display() {
        assert_eq!(job("Sums.Fold: DefaultJob [N=100]"), "DefaultJob");
        assert_eq!(job("Sums.Fold: Job-ABC(Runtime=.NET 8.0)"), "Job-ABC(Runtime=.NET 8.0)");
        assert_eq!((job("Sums.Fold"), job("")), ("BenchmarkDotNet", "BenchmarkDotNet"));
    }
}
