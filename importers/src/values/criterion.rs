//! Criterion: messages of `cargo criterion --message-format=json`, and the samples in `target/criterion`.
//!
//! ```text
//!   {"reason":"benchmark-complete","id":"sum/fold/100","iteration_count":[18616, …],"measured_values":[1434802.0, …],"unit":"ns"}
//!
//!   target/criterion/sum/fold/100/new/sample.json      {"sampling_mode":"Linear","iters":[18616.0, …],"times":[1434802.0, …]}
//!                                 new/benchmark.json   {"full_id":"sum/fold/100","throughput":{"Elements":100}}
//! ```
//!
//! A sample is the time of several iterations; the time of one is imported. `docs/imports.md` lists the use of each
//! field.
//!
//! In reading order: `messages`, `samples`.

mod messages;
mod samples;

pub(crate) use messages::IMPORTER as MESSAGES;
pub(crate) use samples::IMPORTER as SAMPLES;

use barrow_writer::{Better, Word};

use crate::values::measurements::{MetricText, Number, Values};

/// The only variant: the name of a benchmark is that of its metric.
const VARIANT: &str = "criterion";

/// The beginning of the keys of throughputs, which go on with the name of the benchmark.
const THROUGHPUT: Word = Word::new("throughput of ").before_names();

/// Adds the samples of a benchmark as iterations of a run.
fn add(values: &mut Values, benchmark: &str, unit: &str, iterations: &[Number], measured: &[Number]) {
    values.word(VARIANT);
    let variant = values.variant(VARIANT, &[]);
    let metric = values.metric(&MetricText { name: benchmark, unit, better: Better::Lower, exact: false });
    let run = values.run(variant);
    if iterations.len() != measured.len() {
        let (counts, times) = (iterations.len(), measured.len());
        values.note(format!("{benchmark} has {counts} counts of iterations and {times} times; the shorter list holds"));
    }
    for (at, (iterations, measured)) in (0..).zip(iterations.iter().zip(measured)) {
        values.share((metric, run, at), measured.0, iterations.0, || format!("sample {at} of `{benchmark}`"));
    }
}
