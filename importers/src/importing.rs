//! Imports one dump that is in memory.

use barrow_writer::{Shortened, Totals};

use crate::context::{Context, Outcome};
use crate::error::{ImportError, Loss, Stop};
use crate::format::Format;
use crate::table::{recognise, unrecognised};

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

/// Imports a dump; says what was lost of it.
pub(crate) fn import_dump(dump: &[u8], context: &Context<'_>) -> Result<Imported, ImportError> {
    let format = recognise(dump).ok_or_else(|| unrecognised(dump))?;
    let before = context.vocabulary.shortened();
    context.progress.begin("importing", dump.len() as u64, "bytes");
    context.writer.fact("producer", "barrow import")?;
    context.writer.fact("source format", &format.to_string())?;
    let Outcome { snapshots, mut notes, end } = (format.0.import)(dump, context)?;
    notes.extend(shortened_note(before, context.vocabulary.shortened()));
    let lost = lost(end, snapshots.len() as u64, dump)?;
    Ok(Imported { format, snapshots, lost, notes })
}

/// What a dump lost, of which `imported` snapshots are there.
///
/// # Errors
/// Those of the system, and dumps without any whole snapshot.
pub(crate) fn lost(end: Result<(), Stop>, imported: u64, dump: &[u8]) -> Result<Option<Loss>, ImportError> {
    match end {
        Ok(()) if imported == 0 => Err(ImportError::NoSnapshot { length: dump.len() as u64 }),
        Ok(()) => Ok(None),
        Err(Stop::Import(error)) => Err(error),
        Err(Stop::Damage(damage, _)) if imported == 0 => Err(ImportError::NoWholeSnapshot { damage }),
        Err(Stop::Damage(damage, snapshot)) => Ok(Some(Loss { damage, snapshot, imported, is_last_partial: false })),
        Err(Stop::Partial(damage)) => Ok(Some(Loss::partial(damage, imported))),
    }
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
