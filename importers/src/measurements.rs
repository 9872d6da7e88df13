//! What the importers of measured values share.
//!
//! ```text
//!   file ──read of its row──▶ Values, a neutral list ──┬─▶ announce ──▶ barrow_writer::Writer
//!                                                      └─▶ read_values ──▶ ReadValues, for other recorders
//! ```
//!
//! In reading order: `values` (the neutral list), `standard` (metrics that `barrow trial` measures too), `head` (which keys
//! a JSON text begins with), `json` (elements of a list, one by one; lenient numbers and texts), `announcer`, `read_value`.

mod announcer;
mod head;
mod json;
mod read_value;
pub(crate) mod standard;
mod values;

pub(crate) use announcer::import;
pub(crate) use head::Head;
pub(crate) use json::{Number, Text, damage_of, each, field, strict, without_mark};
pub use read_value::{ReadValue, ReadValues, read_values};
pub(crate) use values::{MetricText, Read, ReadFile, Values};

use crate::context::{Context, Outcome};
use crate::error::ImportError;
use crate::format::{Holds, Importer};
use crate::screen;

/// What the rows of all formats of measured values have in common.
pub(crate) const ROW: Importer = Importer {
    key: "",
    name: "",
    heading: "",
    sample: "",
    recognises: |_| false,
    rejects: None,
    screen: |_| Some(Box::new(screen::Text)),
    import: no_import,
    read: None,
    totals: None,
    snapshots: None,
    announces_on_all_threads: true,
    taken_ns: None,
    holds: Holds::Values,
    options: &[],
};

/// The row above recognises nothing, so nothing is imported with it.
fn no_import(_: &[u8], _: &Context<'_>) -> Result<Outcome, ImportError> {
    Ok(Outcome::default())
}
