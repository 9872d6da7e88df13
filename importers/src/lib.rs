//! Turns foreign heap dumps into barrow recordings.
//!
//! ```text
//!   dump ──recognise──▶ Format ──▶ one module per format ──▶ barrow_writer::Writer
//!     │                               │
//!     └── mapped, never read whole    └── one snapshot's references in memory, nothing else grows
//! ```
//!
//! An importer announces to the writer what the dump says, in the dump's own words. Of a dump that is
//! cut or damaged it imports the snapshots up to the damage and says what was lost.
//!
//! ```
//! use barrow_importers::{Format, Silent, import_bytes};
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
//! assert_eq!(imported.format, Format::MoarVm1);
//! assert_eq!(imported.snapshots[0].objects, 2);
//! assert_eq!(imported.lost, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In reading order: [`Format`] (which dumps are known), `moarvm` (all of MoarVM's formats), `hprof` (JVMs),
//! `ruby` and `python` with `json_lines` (a JSON object a line), `v8` (V8's heap snapshots), and beneath them
//! `context` (what every importer works with), `cursor` (a place in a dump), `dump` (a dump in memory), `packing`
//! (gzip and zstd), `unpacking` with `screen` (what is compressed becomes a file), [`Progress`] and the errors.

#![deny(unsafe_code)]

mod context;
mod cursor;
mod dump;
mod error;
mod format;
mod hprof;
mod json_lines;
mod moarvm;
mod options;
mod packing;
mod python;
mod ruby;
mod screen;
mod series;
mod unpacking;
mod v8;

pub use barrow_progress::{Progress, Silent};
pub use barrow_writer::Totals;
pub use error::{Damage, ImportError, Loss};
pub use format::{FORMATS, Format, recognise};
pub use hprof::ObjectLayout;
pub use options::ImportOptions;
pub use packing::first_bytes;
pub use series::{Series, taken_ns};

use barrow_writer::{Shortened, SnapshotInfo, TypeId, Writer};
use context::{Context, Outcome, Vocabulary};
use error::Stop;
use std::path::Path;

/// What came of an import.
#[derive(Debug)]
pub struct Imported {
    /// What the dump was.
    pub format: Format,
    /// The snapshots in the recording, as the writer counted them.
    pub snapshots: Vec<Totals>,
    /// Set if the dump is cut or damaged: where, and what was lost.
    pub lost: Option<Loss>,
    /// Sentences for the user: where the dump contradicts itself without harm.
    pub notes: Vec<String>,
}

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

/// Objects of a type in a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeCount {
    /// The type, as the writer knows it.
    pub type_id: TypeId,
    /// How many there are.
    pub objects: u64,
    /// Their shallow sizes, summed.
    pub heap_bytes: u64,
}

/// What a dump holds, by type.
#[derive(Debug)]
pub struct Counted {
    /// The types with objects, by id.
    pub totals: Vec<TypeCount>,
    /// Set if the dump is cut or damaged.
    pub lost: Option<Loss>,
}

/// Counts what the dump at `source` holds, in a fraction of the time an import takes; declares its types.
/// `None` for formats, and compressed dumps, where there is no way that is much faster.
///
/// # Errors
/// As for [`import`].
pub fn totals(
    source: &Path,
    writer: &Writer,
    options: &ImportOptions,
    progress: &dyn Progress,
) -> Result<Option<Counted>, ImportError> {
    let Some(dump) = dump::Dump::open_plain(source)? else { return Ok(None) };
    if recognise(dump.bytes()) != Some(Format::Hprof) {
        return Ok(None);
    }
    let progress = &dump::Releasing::new(&dump, progress);
    let vocabulary = &Vocabulary::new(writer);
    let context = Context { writer, progress, options, info: SnapshotInfo::default(), vocabulary };
    hprof::totals(dump.bytes(), &context).map(Some)
}

/// [`import`] for a dump that is in memory already, and not compressed.
///
/// # Errors
/// As for [`import`].
pub fn import_bytes(dump: &[u8], writer: &Writer, progress: &dyn Progress) -> Result<Imported, ImportError> {
    let vocabulary = &Vocabulary::new(writer);
    let options = &ImportOptions::default();
    import_dump(dump, &Context { writer, progress, options, info: SnapshotInfo::default(), vocabulary })
}

fn import_dump(dump: &[u8], context: &Context<'_>) -> Result<Imported, ImportError> {
    let format = recognise(dump).ok_or_else(|| format::unrecognised(dump))?;
    let before = context.vocabulary.shortened();
    context.progress.begin("importing", dump.len() as u64, "bytes");
    context.writer.fact("producer", "barrow import")?;
    context.writer.fact("source format", &format.to_string())?;
    let Outcome { snapshots, mut notes, end } = match format {
        Format::Hprof => hprof::import(dump, context)?,
        Format::MoarVm1 | Format::MoarVm2 | Format::MoarVm3 => moarvm::import(dump, format, context)?,
        Format::Python => python::import(dump, context)?,
        Format::Ruby => ruby::import(dump, context)?,
        Format::V8 => v8::import(dump, context)?,
    };
    notes.extend(shortened_note(before, context.vocabulary.shortened()));
    let imported = snapshots.len() as u64;
    let lost = match end {
        Ok(()) if imported == 0 => return Err(ImportError::NoSnapshot { length: dump.len() as u64 }),
        Ok(()) => None,
        Err(Stop::Import(error)) => return Err(error),
        Err(Stop::Damage(damage, _)) if imported == 0 => return Err(ImportError::NoWholeSnapshot { damage }),
        Err(Stop::Damage(damage, snapshot)) => Some(Loss { damage, snapshot, imported, is_last_partial: false }),
        Err(Stop::Partial(damage)) => Some(Loss::partial(damage, imported)),
    };
    Ok(Imported { format, snapshots, lost, notes })
}

/// What the user should know of texts that were too long.
fn shortened_note(before: Shortened, after: Shortened) -> Option<String> {
    let (texts, bytes) = (after.texts - before.texts, after.bytes - before.bytes);
    (texts > 0).then(|| {
        format!(
            "names and texts that are too long for a recording: {texts}; each ends with `…` and the number of bytes left \
             out, together {bytes}"
        )
    })
}
