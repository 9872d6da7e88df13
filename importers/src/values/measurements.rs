//! Code shared by the importers of measured values.
//!
//! ```text
//!   file ──read of its row──▶ Values, a neutral list ──┬─▶ announce ──▶ barrow_writer::Writer
//!                                                      └─▶ `read_value` ──▶ ReadValues, for other recorders
//! ```
//!
//! In reading order: `values` (the neutral list), `range` (what a value can be), `standard` (metrics that `barrow trial` measures too), `head` (the
//! first keys of a JSON text), `json` (elements of a list, one by one; lenient numbers and texts), `announcer`.

mod announcer;
mod head;
mod json;
mod range;
pub(crate) mod standard;
mod values;

pub(crate) use announcer::{import, import_reading, no_values};
pub(crate) use head::Head;
pub(crate) use json::{Number, Text, damage_of, each, each_in_list, field, strict, without_mark};
pub(crate) use range::Range;
pub(crate) use values::{MetricText, ParsedValues, ReadFile, Values};
