//! DHAT: Valgrind's (`dhat.out.PID`) and that of the Rust crate `dhat` (`dhat-heap.json`).
//!
//! ```text
//!   {"dhatFileVersion":2,"mode":"heap","cmd":"./heap arg","te":155675,"tg":150650,
//!    "pps":[{"tb":16000,"tbk":20,"gb":16000,"gbk":20,"eb":8000,"ebk":10, …}, …], "ftbl":[ … ]}
//!             total, in blocks   at t-gmax            at t-end                  of a program point
//! ```
//!
//! `docs/imports.md` lists the use of each field.

use std::path::Path;

use serde::Deserialize;

use crate::error::{ImportError, Stop};
use crate::format::Importer;
use crate::values::measurements::{Head, ParsedValues, Text, Values, each, field, import, standard, without_mark};

/// Files of DHAT.
pub(crate) const IMPORTER: Importer = Importer {
    key: "dhat",
    name: "file of DHAT (dhat.out, dhat-heap.json)",
    heading: "DHAT",
    sample: "heap.dhat.json",
    recognises: |first_bytes| Head::of(first_bytes).has("", "dhatFileVersion"),
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// The name of the variant if its command is unknown.
const UNNAMED: &str = "unnamed";

/// A program point: the allocations by one chain of calls.
#[derive(Deserialize)]
struct Point {
    tb: u64,
    tbk: u64,
    /// Absent if lifetimes of blocks are unknown.
    gb: Option<u64>,
    eb: Option<u64>,
}

/// The sums over all points; `None` if a point lacks the number.
#[derive(Debug, Clone, Copy)]
struct Sums {
    allocated: u128,
    blocks: u128,
    peak: Option<u128>,
    at_end: Option<u128>,
}

fn read(text: &[u8], _: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let text = without_mark(text);
    let mut values = Values::default();
    let mut sums = Sums { allocated: 0, blocks: 0, peak: Some(0), at_end: Some(0) };
    let mut points = 0_u64;
    let end = each(text, "pps", |point: Point| {
        points += 1;
        sums.allocated += u128::from(point.tb);
        sums.blocks += u128::from(point.tbk);
        sums.peak = sum_with(sums.peak, point.gb);
        sums.at_end = sum_with(sums.at_end, point.eb);
    });
    if let Err(damage) = end {
        // Sums of a part of the points would be wrong.
        return Ok(ParsedValues { values, end: Err(Stop::from(damage)) });
    }
    let (mode, cmd): (Text, Text) = (field(text, "mode").unwrap_or_default(), field(text, "cmd").unwrap_or_default());
    if !matches!(mode.0.as_deref(), None | Some("heap" | "rust-heap")) {
        return Err(ImportError::OtherKind {
            found: "a file of DHAT that is not about a heap",
            instead: "record with `--mode=heap`, or with `Profiler::new_heap`",
        });
    }
    if points == 0 {
        return Err(ImportError::NoValues { reason: "it lists no program point".to_owned() });
    }
    values.word(UNNAMED);
    let variant = values.variant(cmd.0.as_deref().unwrap_or(UNNAMED), &[]);
    let run = values.run(variant);
    let measured = [
        (standard::ALLOCATED, Some(sums.allocated)),
        (standard::BLOCKS, Some(sums.blocks)),
        (standard::PEAK_HEAP, sums.peak),
        (standard::LIVE_AT_END, sums.at_end),
    ];
    for (metric, sum) in measured {
        let Some(sum) = sum else { continue };
        let metric = values.own_metric(&metric);
        values.value(metric, run, None, sum as f64, || "a sum".to_owned());
    }
    if sums.peak.is_none() || sums.at_end.is_none() {
        values.note("it does not say how long blocks lived, so the peak and what is live at the end are not known");
    }
    Ok(ParsedValues { values, end: Ok(()) })
}

fn sum_with(sum: Option<u128>, bytes: Option<u64>) -> Option<u128> {
    Some(sum? + u128::from(bytes?))
}
