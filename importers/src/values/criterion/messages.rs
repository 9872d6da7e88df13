//! Messages of `cargo criterion --message-format=json`, one on each line.

use std::path::Path;

use serde::Deserialize;

use super::{THROUGHPUT, add};
use crate::error::ImportError;
use crate::format::Importer;
use crate::processes::process_logs::{Lines, UnreadableParts, readable};
use crate::values::measurements::{Number, ParsedValues, Text, Values, import, without_mark};

/// Messages of cargo-criterion.
pub(crate) const IMPORTER: Importer = Importer {
    key: "cargo-criterion",
    name: "messages of cargo-criterion (JSON)",
    heading: "Criterion",
    sample: "cargo-criterion-1.1.jsonl",
    recognises: |first_bytes| {
        let first = crate::heaps::json_lines::first_field(without_mark(first_bytes));
        matches!(first, Some((b"reason", b"benchmark-complete" | b"group-complete")))
    },
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// A message; those of groups have no id.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    iteration_count: Vec<Number>,
    #[serde(default)]
    measured_values: Vec<Number>,
    #[serde(default)]
    unit: String,
    #[serde(default)]
    throughput: Vec<Throughput>,
}

/// The amount of data that an iteration processes.
#[derive(Deserialize)]
struct Throughput {
    per_iteration: Text,
    unit: Text,
}

fn read(text: &[u8], _: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let (mut values, mut left_out) = (Values::default(), UnreadableParts::new("line"));
    for line in Lines::new(without_mark(text)) {
        if line.text.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Message>(line.text) {
            Ok(message) if message.reason == "benchmark-complete" => complete(&mut values, &message),
            Ok(_) => {}
            Err(_) if line.is_cut => left_out.ends_inside(text.len(), "a line"),
            Err(_) => left_out.add(line.offset, line.text.len(), || readable(line.text)),
        }
    }
    Ok(ParsedValues { values, end: left_out.end() })
}

/// Adds a benchmark.
fn complete(values: &mut Values, message: &Message) {
    for throughput in &message.throughput {
        if let (Some(count), Some(unit)) = (&throughput.per_iteration.0, &throughput.unit.0) {
            values.fact(THROUGHPUT, &message.id, &format!("{count} {unit} per iteration"));
        }
    }
    add(values, &message.id, &message.unit, &message.iteration_count, &message.measured_values);
}
