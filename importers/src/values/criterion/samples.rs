//! Samples in `target/criterion`: `…/new/sample.json`, with the name of the benchmark in `benchmark.json` beside it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;

use super::{THROUGHPUT, add};
use crate::error::{ImportError, Stop};
use crate::format::Importer;
use crate::values::measurements::{Head, Number, ParsedValues, Text, Values, damage_of, import, strict};

/// Maximum length of a description of a benchmark, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// The name of a benchmark without a description.
const UNNAMED: &str = "benchmark";

/// Samples of Criterion.
pub(crate) const IMPORTER: Importer = Importer {
    key: "criterion",
    name: "samples of Criterion (sample.json)",
    heading: "Criterion",
    sample: "criterion/sum/fold/100/new/sample.json",
    recognises: |first_bytes| {
        let head = Head::of(first_bytes);
        matches!(head.first(), b"sampling_mode" | b"iters") && head.has("", "iters") || is_two_lists(first_bytes)
    },
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// Returns whether a list of numbers begins in a list, as in samples of Criterion up to 0.3.
fn is_two_lists(first_bytes: &[u8]) -> bool {
    let inner = first_bytes.trim_ascii_start().strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    let numbers = inner.and_then(|inner| inner.strip_prefix(b"[")).unwrap_or_default();
    numbers.trim_ascii_start().first().is_some_and(u8::is_ascii_digit)
        && numbers.iter().all(|byte| b"0123456789.eE+-, \r\n\t[]".contains(byte))
}

/// The samples of a benchmark. As a list of lists, the iterations come first.
#[derive(Deserialize)]
struct Samples {
    iters: Vec<Number>,
    times: Vec<Number>,
}

/// The description of the benchmark.
#[derive(Deserialize)]
struct Benchmark {
    full_id: String,
    throughput: Option<BTreeMap<String, Text>>,
}

fn read(text: &[u8], source: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let text = strict(text);
    let mut values = Values::default();
    let samples: Samples = match serde_json::from_slice(&text) {
        Ok(samples) => samples,
        Err(error) => {
            let end = Err(Stop::from(damage_of(&text, "samples", &error)));
            return Ok(ParsedValues { values, end });
        }
    };
    let benchmark = source.and_then(|source| described(&source.with_file_name("benchmark.json")));
    match &benchmark {
        Some(benchmark) => {
            let throughput = benchmark.throughput.iter().flatten();
            for (unit, count) in throughput.filter_map(|(unit, count)| Some((unit, count.0.as_ref()?))) {
                let per_iteration = format!("{count} {} per iteration", unit.to_lowercase());
                values.fact(THROUGHPUT, &benchmark.full_id, &per_iteration);
            }
        }
        None => values.note(format!(
            "no `benchmark.json` with the name of the benchmark is beside the samples; it is called `{UNNAMED}` here"
        )),
    }
    let name = benchmark.as_ref().map_or(UNNAMED, |benchmark| &benchmark.full_id);
    add(&mut values, name, "ns", &samples.iters, &samples.times);
    Ok(ParsedValues { values, end: Ok(()) })
}

/// The description of the benchmark, if it can be read.
fn described(path: &Path) -> Option<Benchmark> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
