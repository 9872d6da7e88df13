//! Several dumps of one program as one recording.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use barrow_writer::{SnapshotInfo, Writer};

use crate::context::{Context, Vocabulary};
use crate::error::{Damage, ImportError, Loss};
use crate::format::{Format, recognise};
use crate::options::ImportOptions;
use crate::progress::Progress;
use crate::{Imported, dump, first_bytes, hprof, import_dump};

/// When a dump was taken, in nanoseconds since 1970: what it says itself, or else when the file was
/// changed last.
///
/// # Errors
/// The system's.
pub fn taken_ns(source: &Path) -> io::Result<u64> {
    let mut file = File::open(source)?;
    let changed = file.metadata()?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let first_bytes = first_bytes(&mut file)?;
    let own = if recognise(&first_bytes) == Some(Format::Hprof) { hprof::taken_ms(&first_bytes) } else { None };
    let own_ns = own.and_then(|taken_ms| taken_ms.checked_mul(1_000_000));
    Ok(own_ns.unwrap_or_else(|| u64::try_from(changed.as_nanos()).unwrap_or(u64::MAX)))
}

/// Imports dumps of one format, one after the other, into one recording. Types and names that several
/// of them have are the same there.
pub struct Series<'w> {
    writer: &'w Writer,
    options: &'w ImportOptions,
    progress: &'w dyn Progress,
    vocabulary: Vocabulary<'w>,
    format: Option<Format>,
    /// When the first was taken.
    start_ns: Option<u64>,
}

impl<'w> Series<'w> {
    /// A series without any dump yet.
    pub fn new(writer: &'w Writer, options: &'w ImportOptions, progress: &'w dyn Progress) -> Self {
        let vocabulary = Vocabulary::new(writer);
        Series { writer, options, progress, vocabulary, format: None, start_ns: None }
    }

    /// Imports the next dump, which may be compressed; its snapshot is labelled with the file's name. Dumps
    /// come in the order in which they were taken.
    ///
    /// # Errors
    /// [`ImportError`], among them [`ImportError::MixedFormats`]; the writer then holds the snapshots that
    /// were whole.
    pub fn import(&mut self, source: &Path) -> Result<Imported, ImportError> {
        let open = |error| ImportError::Open { path: source.to_path_buf(), source: error };
        let taken_ns = taken_ns(source).map_err(open)?;
        let start_ns = *self.start_ns.get_or_insert(taken_ns);
        let label = source.file_name().map(|name| name.to_string_lossy().into_owned());
        let info = SnapshotInfo { time_ns: Some(taken_ns.saturating_sub(start_ns)), label, ..SnapshotInfo::default() };
        self.import_as(source, info)
    }

    pub(crate) fn import_as(&mut self, source: &Path, info: SnapshotInfo) -> Result<Imported, ImportError> {
        let (dump, damage) = dump::Dump::open(source, self.options, self.progress)?;
        let found = recognise(dump.bytes());
        if let (Some(expected), Some(found)) = (self.format, found)
            && expected != found
        {
            return Err(ImportError::MixedFormats { expected, found });
        }
        self.format = found;
        let progress = &dump::Releasing::new(&dump, self.progress);
        let &mut Series { writer, options, ref vocabulary, .. } = self;
        let imported = import_dump(dump.bytes(), &Context { writer, progress, options, info, vocabulary });
        let Some(damage) = damage else { return imported };
        // Where unpacking was ended, the dump does not end.
        let is_ours = |found: &Damage| {
            matches!(damage, Damage::Screened { .. })
                && matches!(found, Damage::Ends { .. } | Damage::Unfinished { .. })
        };
        let mut imported = imported.map_err(|error| match error {
            ImportError::NoWholeSnapshot { damage: found } if is_ours(&found) => {
                ImportError::NoWholeSnapshot { damage: damage.clone() }
            }
            other => other,
        })?;
        let snapshots = imported.snapshots.len() as u64;
        match &mut imported.lost {
            Some(lost) if is_ours(&lost.damage) => lost.damage = damage,
            Some(_) => {}
            lost => *lost = Some(Loss { damage, snapshot: None, imported: snapshots, is_last_partial: false }),
        }
        Ok(imported)
    }
}
