//! Hyperfine's results (`--export-json`).
//!
//! ```text
//!   {"results": [{"command": "seq 10000", "times": [0.0053, …], "memory_usage_byte": [2002944, …], "exit_codes": [0, …],
//!                 "parameters": {"n": "10000"}}, …]}
//! ```
//!
//! `docs/imports.md` lists the use of each field.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::ImportError;
use crate::format::Importer;
use crate::values::measurements::{Head, Number, ParsedValues, Range, Text, Values, each, import, standard, strict};

/// Results of hyperfine.
pub(crate) const IMPORTER: Importer = Importer {
    key: "hyperfine",
    name: "results of hyperfine (JSON)",
    heading: "hyperfine",
    sample: "hyperfine-1.15.json",
    recognises: |first_bytes| {
        let head = Head::of(first_bytes);
        head.first() == b"results" && head.has("results", "command")
    },
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// The measurements of a command.
#[derive(Deserialize)]
struct Measurement {
    command: String,
    times: Option<Vec<Number>>,
    memory_usage_byte: Option<Vec<Number>>,
    exit_codes: Option<Vec<Option<i64>>>,
    #[serde(default)]
    parameters: BTreeMap<String, Text>,
}

fn read(text: &[u8], _: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let mut values = Values::default();
    let mut without_times = 0_u64;
    let end = each(&strict(text), "results", |measured: Measurement| match &measured.times {
        Some(times) => add(&mut values, &measured, times),
        None => without_times += 1,
    });
    if without_times > 0 {
        values.note(format!("commands that hold only means, without the times of their runs: {without_times}"));
    }
    if !values.is_empty() {
        values.note("hyperfine writes `user` and `system` as means only; they were left out");
    }
    Ok(ParsedValues { values, end: end.map_err(Into::into) })
}

/// Adds the runs of a command.
fn add(values: &mut Values, measured: &Measurement, times: &[Number]) {
    let parameters = measured
        .parameters
        .iter()
        .filter_map(|(name, value)| Some((format!("{}{name}", standard::PARAMETER.text()), value.0.as_deref()?)));
    let parameters: Vec<(String, &str)> = parameters.collect();
    let attributes: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    values.word(standard::PARAMETER);
    let variant = values.variant(&measured.command, &attributes);
    let wall = values.own_metric(&standard::WALL);
    let memory = measured.memory_usage_byte.as_deref();
    tell_lengths(values, measured, times.len());
    for (at, seconds) in times.iter().enumerate() {
        let run = values.run(variant);
        values.amount(wall, run, None, seconds.0 * 1e9, || format!("time {at} of `{}`", measured.command));
        if let Some(bytes) = memory.and_then(|memory| memory.get(at)) {
            let peak = values.own_metric(&standard::PEAK_RESIDENT);
            values.value_in(Range::Count, (peak, run, None), bytes.0, || {
                format!("memory {at} of `{}`", measured.command)
            });
        }
        if let Some(codes) = &measured.exit_codes {
            values.end_run(run, codes.get(at).copied().flatten());
        }
    }
}

/// Notes lists that do not have one entry for each time.
fn tell_lengths(values: &mut Values, measured: &Measurement, times: usize) {
    let lists = [
        ("exit codes", "a run without one has failed", measured.exit_codes.as_ref().map(Vec::len)),
        ("figures of memory", "a run without one has none", measured.memory_usage_byte.as_ref().map(Vec::len)),
    ];
    for (entries, rule, length) in lists {
        let Some(length) = length.filter(|&length| length != times) else { continue };
        let rule = if length < times { rule } else { "the surplus was left out" };
        let command = &measured.command;
        values.note(format!("`{command}`: the number of times is {times}, that of {entries} {length}: {rule}"));
    }
}
