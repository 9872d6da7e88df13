//! Several dumps of one program as one recording.

use std::fs::File;
use std::io;
use std::path::Path;

use barrow_writer::{SnapshotInfo, Writer};

use crate::context::{Context, Vocabulary};
use crate::counted::{Counted, CountedSnapshots};
use crate::error::{ImportError, Loss};
use crate::format::{Format, Holds};
use crate::importing::{Imported, import_dump};
use crate::intake::dump;
use crate::intake::first_bytes::first_bytes;
use crate::options::ImportOptions;
use crate::processes::kleknev::{self, ClockOffsets};
use crate::table::recognise;
use barrow_progress::Progress;

/// The time at which a dump was taken, or a log of processes began, in nanoseconds since 1970, if it is in the file.
///
/// The file's own times are ignored: a copy, a download or an unpacked archive has others.
///
/// # Errors
/// Those of the system.
pub fn taken_ns(source: &Path) -> io::Result<Option<u64>> {
    Ok(format_and_time(source)?.1)
}

/// The time at which a log of processes began, like [`taken_ns`], by the clock that the options give its first host.
///
/// # Errors
/// Those of the system.
pub fn began_ns(source: &Path, options: &ImportOptions) -> io::Result<Option<u64>> {
    let began_ns = taken_ns(source)?;
    let Some(offsets) = options.of_formats.get::<ClockOffsets>() else { return Ok(began_ns) };
    let host = kleknev::first_host(&first_bytes(&mut File::open(source)?)?);
    Ok(began_ns.map(|began_ns| began_ns.saturating_add_signed(offsets.of(host.as_deref()))))
}

/// The format and time of a dump.
fn format_and_time(source: &Path) -> io::Result<(Option<Format>, Option<u64>)> {
    let first_bytes = first_bytes(&mut File::open(source)?)?;
    let format = recognise(&first_bytes);
    Ok((format, format.and_then(|format| format.0.taken_ns?(&first_bytes))))
}

/// Imports dumps of one format, one after the other, into one recording. Equal types and names of several of them are
/// the same in the recording.
pub struct Series<'w> {
    writer: &'w Writer,
    options: &'w ImportOptions,
    progress: &'w dyn Progress,
    vocabulary: Vocabulary<'w>,
    format: Option<Format>,
    /// The time of the first dump that has one.
    start_ns: Option<u64>,
}

impl<'w> Series<'w> {
    /// A series without any dump yet.
    pub fn new(writer: &'w Writer, options: &'w ImportOptions, progress: &'w dyn Progress) -> Self {
        let vocabulary = Vocabulary::new(writer);
        Series { writer, options, progress, vocabulary, format: None, start_ns: None }
    }

    /// Imports the next dump, which may be compressed; its snapshot is labelled with the file's name. Snapshots are
    /// in the order of the calls, and have a time only if the dump has one that is not before the first.
    ///
    /// # Errors
    /// [`ImportError`], among them [`ImportError::MixedFormats`]; the writer then holds the snapshots that
    /// were whole.
    pub fn import(&mut self, source: &Path) -> Result<Imported, ImportError> {
        let info = self.info(source)?;
        self.import_as(source, info)
    }

    /// What is known of the snapshot of the next dump: the file's name, and its time.
    ///
    /// # Errors
    /// A file that cannot be read; a log of processes without a time.
    pub fn info(&mut self, source: &Path) -> Result<SnapshotInfo, ImportError> {
        let (format, taken_ns) =
            format_and_time(source).map_err(|error| ImportError::Open { path: source.to_path_buf(), source: error })?;
        if let Some(format) = format.filter(|format| format.holds() == Holds::Processes && taken_ns.is_none()) {
            return Err(ImportError::NoTime { format: format.0.name });
        }
        self.start_ns = self.start_ns.or(taken_ns);
        let time_ns = taken_ns.zip(self.start_ns).and_then(|(taken_ns, start_ns)| taken_ns.checked_sub(start_ns));
        let label = source.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(SnapshotInfo { time_ns, label, ..SnapshotInfo::default() })
    }

    /// Counts the objects of the next dump, in a fraction of the time of an import, and declares its types. Returns
    /// `None` if there is no much faster way: for some formats, compressed dumps, and dumps of several heaps or with
    /// objects that are dumped twice.
    ///
    /// # Errors
    /// As for [`Series::import`].
    pub fn totals(&mut self, source: &Path) -> Result<Option<Counted>, ImportError> {
        let Some(dump) = dump::Dump::open_plain(source)? else { return Ok(None) };
        let Some(totals) = recognise(dump.bytes()).and_then(|format| format.0.totals) else { return Ok(None) };
        let pages = &dump::ReleasingProgress::new(&dump, self.progress);
        totals(dump.bytes(), &pages.context(source, self.writer, self.options, &self.vocabulary))
    }

    /// Counts the objects of each snapshot of the next dump, in a fraction of the time of an import and with the same
    /// checks, and declares its types. Returns `None` for compressed dumps, and for formats whose dumps hold one
    /// snapshot: see [`Series::totals`].
    ///
    /// # Errors
    /// As for [`Series::import`].
    pub fn snapshot_totals(&mut self, source: &Path) -> Result<Option<CountedSnapshots>, ImportError> {
        let Some(dump) = dump::Dump::open_plain(source)? else { return Ok(None) };
        let Some(snapshots) = recognise(dump.bytes()).and_then(|format| format.0.snapshots) else { return Ok(None) };
        let pages = &dump::ReleasingProgress::new(&dump, self.progress);
        snapshots(dump.bytes(), &pages.context(source, self.writer, self.options, &self.vocabulary)).map(Some)
    }

    pub(crate) fn import_as(&mut self, source: &Path, info: SnapshotInfo) -> Result<Imported, ImportError> {
        let (dump, damage) = dump::Dump::open(source, self.options, self.progress)?;
        let found = recognise(dump.bytes());
        if let (Some(expected), Some(found)) = (self.format, found)
            && expected != found
        {
            return Err(ImportError::MixedFormats { expected: expected.0.name, found: found.0.name });
        }
        self.format = found;
        let pages = &dump::ReleasingProgress::new(&dump, self.progress);
        let &mut Series { writer, options, ref vocabulary, .. } = self;
        let context = Context { info, is_cut: damage.is_some(), ..pages.context(source, writer, options, vocabulary) };
        let imported = import_dump(dump.bytes(), &context);
        let Some(damage) = damage else { return imported };
        // The dump does not end where unpacking was ended.
        let mut imported = imported.map_err(|error| match error {
            ImportError::NoWholeSnapshot { damage: found } => {
                ImportError::NoWholeSnapshot { damage: found.and_stream(damage.clone()) }
            }
            ImportError::NoWholeProcess { damage: found } => {
                ImportError::NoWholeProcess { damage: found.and_stream(damage.clone()) }
            }
            ImportError::NoWholeValue { damage: found } => {
                ImportError::NoWholeValue { damage: found.and_stream(damage.clone()) }
            }
            other => other,
        })?;
        let kept = imported.kept();
        imported.lost = Some(match imported.lost.take() {
            Some(lost) => Loss { damage: lost.damage.and_stream(damage), ..lost },
            None => Loss { damage, snapshot: None, kept, is_last_partial: false },
        });
        Ok(imported)
    }
}
