//! Imports one dump that is in memory.

use barrow_writer::{Shortened, Totals, Word};

use crate::context::{Context, Outcome};
use crate::error::{ImportError, Kept, Loss};
use crate::format::{Format, Holds};
use crate::table::{recognise, unrecognised};

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// The format of the dump.
    pub format: Format,
    /// The snapshots in the recording, as the writer counted them.
    pub snapshots: Vec<Totals>,
    /// Number of processes in the recording, if the dump was a log of processes.
    pub processes: u64,
    /// Number of measured values in the recording, if the dump was a file of such.
    pub values: u64,
    /// Number of runs that these values belong to.
    pub runs: u64,
    /// Set if the dump is cut or damaged: the damage, and the loss.
    pub lost: Option<Loss>,
    /// Notes for the user: harmless contradictions in the dump.
    pub notes: Vec<String>,
}

/// Imports a dump. The result describes any loss.
pub(crate) fn import_dump(dump: &[u8], context: &Context<'_>) -> Result<Imported, ImportError> {
    let format = recognise(dump).ok_or_else(|| unrecognised(dump))?;
    let before = context.vocabulary.shortened();
    context.progress.begin("importing", dump.len() as u64, "bytes");
    context.writer.own_fact(Word::of_settings("producer"), "barrow import")?;
    context.writer.own_fact(Word::of_settings("source format"), &format.to_string())?;
    let Outcome { snapshots, processes, values, runs, mut notes, end } = (format.0.import)(dump, context)?;
    notes.extend(shortened_note(before, context.vocabulary.shortened()));
    let mut imported = Imported { format, snapshots, processes, values, runs, lost: None, notes };
    imported.lost = Loss::of(end, imported.kept(), dump.len() as u64)?;
    Ok(imported)
}

impl Imported {
    /// The amount of data in the recording.
    pub(crate) fn kept(&self) -> Kept {
        match self.format.holds() {
            Holds::Snapshots => Kept::Snapshots(self.snapshots.len() as u64),
            Holds::Processes => Kept::Processes(self.processes),
            Holds::Values => Kept::Values(self.values),
        }
    }
}

/// Note on texts that were shortened.
fn shortened_note(before: Shortened, after: Shortened) -> Option<String> {
    let (texts, bytes) = (after.texts - before.texts, after.bytes - before.bytes);
    (texts > 0).then(|| {
        format!(
            "names and texts that are too long for a recording: {texts}; each ends with `…` and the number of bytes left \
             out, together {bytes}"
        )
    })
}
