//! Dumps and logs that are made and then damaged, both as an input decides: whatever is recovered was there, and once.
//!
//! ```text
//!   input ─▶ choices ─▶ a whole dump ─▶ damage ─▶ import ─▶ a part of what the whole one holds
//! ```

mod choices;
mod hprof;
mod lines;
mod logs;
mod objects;
mod ruby;
mod v8;

use barrow_analyzer::Recording;
use barrow_importers::{Silent, import_bytes};
use barrow_testdata::Shelf;
use barrow_writer::{Compression, Options, Writer};

pub use hprof::damaged_hprof;
pub use logs::damaged_logs;
pub use ruby::damaged_ruby;
pub use v8::damaged_v8;

/// The recording that a dump becomes; `None` if it is refused.
fn recorded(dump: &[u8]) -> Option<Recording> {
    let shelf = Shelf::default();
    let options = Options { compression: Compression::None, ..Options::without_threads() };
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).expect("a stream in memory");
    let imported = import_bytes(dump, &writer, &Silent);
    writer.finish().expect("the writer is usable after any import");
    imported.ok()?;
    Some(Recording::from_bytes(shelf.take()).expect("what the writer wrote"))
}
