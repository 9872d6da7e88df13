//! Imports foreign heap dumps, logs of processes, and values of benchmarks into barrow recordings.
//!
//! ```text
//!   dump ──recognise──▶ row of the table ──▶ a folder per format ──▶ barrow_writer::Writer
//!     │                               │
//!     └── mapped, never read whole    └── one snapshot's references in memory, nothing else grows
//! ```
//!
//! An importer announces the contents of the dump to the writer, with the dump's own terms. If a dump is cut or
//! damaged, it imports the snapshots up to the damage and reports the loss.
//!
//! ```
//! use barrow_importers::{Silent, import_bytes};
//! use barrow_writer::{Options, Writer};
//!
//! // One root and one object, in MoarVM's first format.
//! let dump = br#"
//! strings: ["P6opaque","Document","<anon>"]
//! types: 0,1
//! static_frames:
//! snapshot 0
//! collectables: 9,0,0,0,0,1;1,0,24,0,0,0
//! references: 0,0,1
//! "#;
//! let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default())?;
//! let imported = import_bytes(dump, &writer, &Silent)?;
//! writer.finish()?;
//! assert_eq!(imported.format.key(), "moarvm-1");
//! assert_eq!(imported.snapshots[0].objects, 2);
//! assert_eq!(imported.lost, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In reading order: `table` (one row per format), `format` (the columns of a row), and the formats: `heaps` (`hprof`
//! for JVMs, `moarvm`, `python` and `ruby` with `json_lines`, `v8`), `processes` (logs of builds, with
//! `process_logs`), `values` (results of benchmarks, with `measurements`). They use `context` (shared by all
//! importers), `contents` (the extent to which contents of objects are recorded) and `intake::cursor` (a position in
//! a dump). `importing` and `series` call them. Before that, `intake` maps a file, and unpacks a compressed dump.

#![deny(unsafe_code)]

mod contents;
mod context;
mod counted;
mod error;
mod format;
mod heaps;
mod importing;
mod intake;
mod options;
mod other_kinds;
mod processes;
mod series;
mod table;
mod tally;
mod values;

pub use barrow_progress::{Progress, Silent};
pub use barrow_writer::{Better, Totals};
pub use contents::Contents;
pub use counted::{Counted, CountedSnapshot, CountedSnapshots, TypeCount};
pub use error::{Damage, ImportError, Kept, Loss};
pub use format::{Format, FormatOption, Holds};
pub use heaps::hprof::ObjectLayout;
pub use importing::Imported;
pub use intake::first_bytes::first_bytes;
pub use intake::packing::is_archive;
pub use options::{FormatOptions, ImportOptions};
pub use processes::kleknev::ClockOffsets;
pub use processes::strace::joined::{joined_strace, strace_siblings};
pub use series::{Series, began_ns, taken_ns};
pub use table::{FORMATS, named_otherwise, recognise};
pub use values::read_value::{ReadValue, ReadValues, read_values};

use std::path::Path;

use barrow_writer::{SnapshotInfo, Writer};

use context::{Context, Vocabulary};
use importing::import_dump;

/// Imports the dump at `source`, which may be compressed, into the recording that `writer` is writing;
/// the caller then calls [`Writer::finish`].
///
/// # Errors
/// [`ImportError`]; the writer then holds the snapshots that were whole.
pub fn import(
    source: &Path,
    writer: &Writer,
    options: &ImportOptions,
    progress: &dyn Progress,
) -> Result<Imported, ImportError> {
    Series::new(writer, options, progress).import_as(source, SnapshotInfo::default())
}

/// Counts the objects of the dump at `source`: [`Series::totals`].
///
/// # Errors
/// As for [`import`].
pub fn totals(
    source: &Path,
    writer: &Writer,
    options: &ImportOptions,
    progress: &dyn Progress,
) -> Result<Option<Counted>, ImportError> {
    Series::new(writer, options, progress).totals(source)
}

/// Counts the objects of each snapshot of the dump at `source`: [`Series::snapshot_totals`].
///
/// # Errors
/// As for [`import`].
pub fn snapshot_totals(
    source: &Path,
    writer: &Writer,
    options: &ImportOptions,
    progress: &dyn Progress,
) -> Result<Option<CountedSnapshots>, ImportError> {
    Series::new(writer, options, progress).snapshot_totals(source)
}

/// [`import`] for a dump that is in memory already, and not compressed.
///
/// # Errors
/// As for [`import`].
pub fn import_bytes(dump: &[u8], writer: &Writer, progress: &dyn Progress) -> Result<Imported, ImportError> {
    let vocabulary = &Vocabulary::new(writer);
    let options = &ImportOptions::default();
    let info = SnapshotInfo::default();
    import_dump(
        dump,
        &Context { writer, progress, source: None, pages: None, options, info, is_cut: false, vocabulary },
    )
}

/// The README, whose example is compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
