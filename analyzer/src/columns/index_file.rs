//! The index file next to a recording: columns that were computed once and are read in later runs.
//!
//! ```text
//!   FILE.index   header · section · section …      columns that were kept together are a section
//!                            │                     a new section is appended, none is written twice
//!                            ├─ head, directory    the snapshot, and the identity of the recording
//!                            └─ columns            in pieces, each with its checksum
//! ```
//!
//! A section belongs to a snapshot. It identifies the content of the recording up to the commit of this snapshot by the
//! checksum that chains over all frames. So the recording need not be hashed again, the sections of other content are
//! never used, even if all totals are equal, and those of a recording that grows stay valid.
//!
//! The index file is optional. Columns that are stale or damaged are computed again. If the file would exceed its
//! largest size, the sections that were not used for the longest time are removed.
//!
//! In reading order: [`piece`] (the encodings of values), [`section`] (the layout), [`section_writer`], [`locked`]
//! (exclusive writing, and the removal of sections), [`stored_column`] (a column in the mapped file), [`sparse_column`]
//! and [`narrow_column`] (read piece by piece).

mod decoded;
mod locked;
mod narrow;
mod narrow_column;
mod piece;
mod planes;
mod section;
mod section_writer;
mod sparse_column;
mod stored_column;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use barrow_format::SnapshotId;
use bytemuck::{Pod, cast_slice};
use parking_lot::Mutex;
use rayon::prelude::*;

use crate::columns::memory::{Column, Memory};
use crate::columns::values::Values;
use crate::error::{AnalyzerError, Result};
use crate::file::bytes::Bytes;
use crate::file::recording::Recording;
use crate::progress::Progress;

pub(crate) use self::narrow_column::NarrowColumn;
pub(crate) use self::piece::Form;
pub(crate) use self::sparse_column::SparseColumn;

use self::locked::{IndexLocation, Locked, sections};
use self::section::{FILE_HEADER_BYTES, Section, USED_AT, file_header};
use self::sparse_column::with_decoder;
use self::stored_column::StoredColumn;

/// Seconds until the use of a section is noted again, so that a run of questions writes to the file once.
const MARKED_EVERY: u64 = 60;
/// The largest size of an index file, unless one is given: bytes for each object of all snapshots, and for all else.
/// The columns of a whole session took 18 bytes per object when they were measured.
const BYTES_PER_OBJECT: u64 = 20;
const OTHER_BYTES: u64 = 64 << 20;

/// Where columns are kept between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexPlace {
    /// No index file.
    Nowhere,
    /// In `FILE.index`; in this other folder if the folder of the recording is not writable.
    Beside {
        /// The other folder.
        otherwise: Option<PathBuf>,
        /// The largest size of the file, in bytes. `None`: 20 bytes for each object of all snapshots, and 64 MiB.
        most_bytes: Option<u64>,
    },
}

impl IndexPlace {
    /// In `FILE.index`, of the usual largest size.
    pub const BESIDE: Self = IndexPlace::Beside { otherwise: None, most_bytes: None };
}

/// A column of a snapshot: its number, and how it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ColumnId {
    number: u32,
    form: Form,
    /// Bytes of a value.
    width: usize,
}

impl ColumnId {
    /// A column of values of type `T`.
    pub(crate) const fn new<T>(number: u32, form: Form) -> Self {
        ColumnId { number, form, width: size_of::<T>() }
    }

    /// Its number within a snapshot.
    pub(crate) const fn number(self) -> u32 {
        self.number
    }

    /// The column of the same values whose number is greater by `more`.
    pub(crate) const fn after(self, more: u32) -> Self {
        ColumnId { number: self.number + more, ..self }
    }
}

/// The values of a column that will be kept.
#[derive(Clone, Copy)]
pub(crate) enum ColumnValues<'a> {
    /// The values are in memory.
    InMemory(&'a [u8]),
    /// The number of bytes, and a function that produces them while they are written, so that they are never all in
    /// memory.
    Streamed(u64, &'a MakeValues<'a>),
}

/// Produces values and passes them on in order.
pub(crate) type MakeValues<'a> = dyn Fn(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + 'a;

/// The index file of one recording.
#[derive(Debug)]
pub(crate) struct IndexFile {
    /// Paths where the file may be, in the order of search. It is written to the first path that is writable.
    places: Vec<PathBuf>,
    header: [u8; FILE_HEADER_BYTES],
    /// Path of the recording. The index file gets no more permissions than it has.
    recording: PathBuf,
    memory: Memory,
    /// The largest size of the file, if one is given.
    most_bytes: Option<u64>,
    /// The index files that exist. Each column is in one of them.
    open: Mutex<Vec<OpenIndex>>,
    /// Held while columns are added.
    writing: Mutex<()>,
}

#[derive(Debug, Clone)]
struct OpenIndex {
    file: Arc<File>,
    bytes: Arc<Bytes>,
    /// The sections of this content, the newest first.
    sections: Vec<Arc<OpenSection>>,
}

#[derive(Debug)]
struct OpenSection {
    section: Section,
    /// An upper bound of the bytes of a column of this snapshot.
    most_bytes: u64,
    /// This process has noted its use in the file.
    is_marked: AtomicBool,
}

impl IndexFile {
    /// Looks for the index file of a recording. `None` if `place` excludes one.
    pub(crate) fn find(recording: &Recording, place: &IndexPlace, memory: &Memory) -> Option<Self> {
        let (IndexPlace::Beside { otherwise, most_bytes }, Some(path)) = (place, recording.path()) else { return None };
        if cfg!(target_endian = "big") {
            return None;
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push(".index");
        let uuid: String = recording.uuid().iter().map(|byte| format!("{byte:02x}")).collect();
        let mut places = vec![PathBuf::from(beside)];
        places.extend(otherwise.iter().map(|folder| folder.join(format!("{uuid}.index"))));
        let index = IndexFile {
            places,
            header: file_header(recording.uuid()),
            recording: path.to_owned(),
            memory: memory.clone(),
            most_bytes: *most_bytes,
            open: Mutex::default(),
            writing: Mutex::default(),
        };
        index.read(recording);
        Some(index)
    }

    /// Reads the list of sections.
    fn read(&self, recording: &Recording) {
        let found = self.places.iter().filter_map(|path| self.open_at(path, recording)).collect();
        *self.open.lock() = found;
    }

    fn open_at(&self, path: &Path, recording: &Recording) -> Option<OpenIndex> {
        // In a file that is not writable, the use of sections is not marked.
        let file = File::options().read(true).write(true).open(path).or_else(|_| File::open(path)).ok()?;
        let (sections, _) = sections(&file, &self.header).ok()??;
        let bytes = Arc::new(Bytes::of(&file, path).ok()?);
        let sections = sections.into_iter().rev().filter_map(|section| OpenSection::of(section, recording)).collect();
        Some(OpenIndex { file: Arc::new(file), bytes, sections })
    }

    /// Returns the first result of `find` over all stored copies of the column: file by file, the newest section first.
    fn first<T: Pod, F>(
        &self,
        snapshot: SnapshotId,
        column: ColumnId,
        mut find: impl FnMut(StoredColumn) -> Option<F>,
    ) -> Option<F> {
        let open = self.open.lock().clone();
        open.iter().find_map(|index| {
            index.sections.iter().filter(|section| section.section.snapshot == snapshot).find_map(|section| {
                let entry = *section.section.entry(column.number)?;
                let is_possible = entry.values.checked_mul(entry.width as u64)? <= section.most_bytes;
                let stored = is_possible.then(|| StoredColumn::of::<T>(&index.bytes, &section.section, entry))??;
                let found = find(stored)?;
                section.mark_used(&index.file);
                Some(found)
            })
        })
    }

    /// The number of values of type `T` in a kept column.
    pub(crate) fn length<T: Pod>(&self, snapshot: SnapshotId, column: ColumnId) -> Option<usize> {
        self.first::<T, _>(snapshot, column, |stored| Some(stored.len()))
    }

    /// A kept column, if it is undamaged and valid. `is_valid` is called for each piece, with the position of its first
    /// value. It is needed because a checksum detects damage, but not values that were wrong when they were written.
    pub(crate) fn column<T: Pod + Send + Sync>(
        &self,
        snapshot: SnapshotId,
        column: ColumnId,
        is_valid: impl Fn(usize, &[T]) -> bool + Sync,
    ) -> Option<Values<T>> {
        self.first::<T, _>(snapshot, column, |stored| {
            stored.will_be_read();
            let Some(mapped) = stored.mapped::<T>() else { return self.decoded(&stored, &is_valid) };
            let are_whole = (0..stored.pieces()).into_par_iter().all(|piece| {
                let range = stored.values_of(piece);
                stored.whole_bytes_of(piece).is_some() && is_valid(range.start, &mapped[range])
            });
            are_whole.then_some(mapped)
        })
    }

    /// A column in memory.
    fn decoded<T: Pod + Send + Sync>(
        &self,
        stored: &StoredColumn,
        is_valid: &(impl Fn(usize, &[T]) -> bool + Sync),
    ) -> Option<Values<T>> {
        let mut values: Column<T> = self.memory.column(stored.len()).ok()?;
        let pieces = values.par_chunks_mut(stored.piece_values()).enumerate();
        let are_whole = pieces.map(|(piece, values)| {
            with_decoder(|decoder| stored.decode(piece, decoder, values))?;
            is_valid(stored.values_of(piece).start, values).then_some(())
        });
        are_whole.collect::<Option<()>>()?;
        Some(values.into())
    }

    /// A kept column whose pieces are checked when they are first read, by checksum and by `is_valid` as in
    /// [`IndexFile::column`].
    pub(crate) fn sparse_column<T: Pod>(
        &self,
        snapshot: SnapshotId,
        column: ColumnId,
        is_valid: impl Fn(usize, &[T]) -> bool + Send + Sync + 'static,
    ) -> Option<SparseColumn<T>> {
        let stored = self.first::<T, _>(snapshot, column, Some)?;
        SparseColumn::new(stored, &self.memory, is_valid)
    }

    /// The same for a column of narrow numbers, which are read in place.
    pub(crate) fn narrow_column(
        &self,
        snapshot: SnapshotId,
        column: ColumnId,
        is_valid: impl Fn(usize, &[u32]) -> bool + Send + Sync + 'static,
    ) -> Option<NarrowColumn> {
        let stored =
            self.first::<u32, _>(snapshot, column, |stored| (stored.form() == Form::Narrow).then_some(stored))?;
        NarrowColumn::new(stored, is_valid)
    }

    /// Adds columns of a snapshot to the index file. Nothing is kept of a snapshot whose commit is damaged: then nothing
    /// identifies its content.
    ///
    /// # Errors
    /// [`AnalyzerError::Io`] if no place can be written to; [`AnalyzerError::Cancelled`]. The columns that were there
    /// still are.
    pub(crate) fn keep(
        &self,
        recording: &Recording,
        snapshot: SnapshotId,
        columns: &[(ColumnId, ColumnValues<'_>)],
        progress: &dyn Progress,
    ) -> Result<()> {
        let Ok(content) = recording.content_up_to(snapshot) else { return Ok(()) };
        // Threads of this process: readers do not block on writers.
        let _writing = self.writing.lock();
        let length = columns.iter().map(|(_, values)| values.length()).sum();
        progress.begin("keeping the index", length, "bytes");
        let most_bytes = self.most_bytes.unwrap_or_else(|| usual_bytes(recording));
        let mut failure = None;
        for path in &self.places {
            let place = IndexLocation { path, header: &self.header, recording: &self.recording };
            let section = Section { start: 0, length: 0, content, snapshot, used: now(), entries: Vec::new() };
            let added = Locked::open(&place, progress)
                .and_then(|mut locked| locked.append(section, columns, most_bytes, progress));
            match added {
                Ok(()) => {
                    self.read(recording);
                    return Ok(());
                }
                Err(AnalyzerError::Cancelled) => return Err(AnalyzerError::Cancelled),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

impl OpenSection {
    /// `None` if the recording has other content than when the section was written.
    fn of(section: Section, recording: &Recording) -> Option<Arc<Self>> {
        if recording.content_up_to(section.snapshot).ok()? != section.content {
            return None;
        }
        let totals = recording.commit(section.snapshot).ok()?.totals;
        let numbers = totals.objects.saturating_add(totals.references).saturating_add(totals.roots);
        let most_bytes = numbers.saturating_mul(16).saturating_add(OTHER_BYTES);
        Some(Arc::new(OpenSection { section, most_bytes, is_marked: AtomicBool::new(false) }))
    }

    /// Notes in the file that the section was used.
    fn mark_used(&self, file: &File) {
        let now = now();
        let is_recent = now.checked_sub(self.section.used).is_some_and(|seconds| seconds < MARKED_EVERY);
        // Relaxed: marking it twice does no harm.
        if !is_recent && !self.is_marked.swap(true, Ordering::Relaxed) {
            // A section that cannot be marked is removed a little earlier.
            let _ = write_at(file, self.section.start + USED_AT, &now.to_le_bytes());
        }
    }
}

impl ColumnValues<'_> {
    /// Values in memory.
    pub(crate) fn of<T: Pod>(values: &[T]) -> ColumnValues<'_> {
        ColumnValues::InMemory(cast_slice(values))
    }

    /// Length of the values, in bytes.
    fn length(&self) -> u64 {
        match self {
            ColumnValues::InMemory(values) => values.len() as u64,
            ColumnValues::Streamed(length, _) => *length,
        }
    }
}

/// The largest size of the index file of a recording, unless one is given.
fn usual_bytes(recording: &Recording) -> u64 {
    let commits = recording.snapshot_ids().filter_map(|snapshot| recording.commit(snapshot).ok());
    let objects = commits.map(|commit| commit.totals.objects).fold(0, u64::saturating_add);
    objects.saturating_mul(BYTES_PER_OBJECT).saturating_add(OTHER_BYTES)
}

#[cfg(unix)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, offset).map(drop)
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
