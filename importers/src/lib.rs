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
//! In reading order: [`Format`] (which dumps are known), `moarvm` (all of MoarVM's formats), and
//! beneath them `cursor` (a place in a dump), `map` (a dump in memory), [`Progress`] and the errors.

#![deny(unsafe_code)]

mod cursor;
mod error;
mod format;
mod map;
mod moarvm;
mod progress;

pub use barrow_writer::Totals;
pub use error::{Damage, ImportError, Loss};
pub use format::{FORMATS, Format, recognise};
pub use progress::{Progress, Silent};

use barrow_writer::Writer;
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

/// Imports the dump at `source` into the recording that `writer` is writing; the caller then calls
/// [`Writer::finish`].
///
/// # Errors
/// [`ImportError`]; the writer then holds the snapshots that were whole.
pub fn import(source: &Path, writer: &Writer, progress: &dyn Progress) -> Result<Imported, ImportError> {
    let dump = map::Dump::open(source)
        .map_err(|source_error| ImportError::Open { path: source.to_path_buf(), source: source_error })?;
    import_bytes(dump.bytes(), writer, &map::Releasing::new(&dump, progress))
}

/// [`import`] for a dump that is in memory already.
///
/// # Errors
/// As for [`import`].
pub fn import_bytes(dump: &[u8], writer: &Writer, progress: &dyn Progress) -> Result<Imported, ImportError> {
    let format = recognise(dump).ok_or_else(|| format::unrecognised(dump))?;
    progress.begin("importing", dump.len() as u64, "bytes");
    writer.fact("producer", "barrow import")?;
    writer.fact("source format", &format.to_string())?;
    let mut session = moarvm::Session::new(writer, progress)?;
    let stop = match format {
        Format::MoarVm1 => moarvm::format1::import(dump, &mut session),
        Format::MoarVm2 => moarvm::format2::import(dump, &mut session),
        Format::MoarVm3 => moarvm::format3::import(dump, &mut session),
    };
    let (snapshots, notes) = session.finish();
    let imported = snapshots.len() as u64;
    let lost = match stop {
        Ok(()) if imported == 0 => return Err(ImportError::NoSnapshot { length: dump.len() as u64 }),
        Ok(()) => None,
        Err(Stop::Import(error)) => return Err(error),
        Err(Stop::Damage(damage, _)) if imported == 0 => return Err(ImportError::NoWholeSnapshot { damage }),
        Err(Stop::Damage(damage, snapshot)) => Some(Loss { damage, snapshot, imported }),
    };
    Ok(Imported { format, snapshots, lost, notes })
}
