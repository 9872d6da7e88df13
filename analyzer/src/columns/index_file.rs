//! The index file next to a recording: columns that were computed once and are mapped in later runs.
//!
//! ```text
//!   FILE.index   magic · analysis version · uuid of the recording · checksum of its content
//!                directory: {snapshot, column, offset, length, checksum} …, and its own checksum
//!                columns, little-endian, each at a multiple of 64 bytes: values, then the
//!                checksum of each 256 KiB of them; the directory has the checksum of these
//! ```
//!
//! The checksum of the content comes from the last COMMIT. That checksum chains over all frames before it, so the
//! recording need not be hashed again. An index file of other content is never used, even if all totals are equal.
//!
//! The index file is optional. If it is stale, damaged, truncated or belongs to another recording, its columns are
//! computed again and the file is replaced. A new file is written under a temporary name and then renamed, so readers
//! see the old file or the new one, never a part of one.

mod checksums;
mod sparse_column;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use barrow_format::SnapshotId;
use bytemuck::Pod;
use byteorder::{ByteOrder, LittleEndian};
use rayon::prelude::*;

use crate::columns::temporary::{restrict_to, temporary};
use crate::columns::values::Values;
use crate::error::{AnalyzerError, Result};
use crate::file::bytes::Bytes;
use crate::file::recording::Recording;
use crate::progress::{Progress, check};

pub(crate) use self::sparse_column::SparseColumn;

use self::checksums::Checksums;

const MAGIC: [u8; 8] = *b"\x89BRWIX\r\n";
/// Must change whenever the meaning of a column changes. Columns in the order of the dominator tree also change their
/// meaning when that order does.
const ANALYSIS_VERSION: u32 = 7;
const HEADER_BYTES: usize = 56;
/// Magic, analysis version, 4 bytes of zeros, uuid, checksum of the content.
const KEY_BYTES: usize = 40;
/// Offset of the header's checksum. It covers the bytes before it and the directory.
const CHECKSUM_AT: usize = 52;
const ENTRY_BYTES: usize = 32;
const CHECKSUM_BYTES: usize = 4;
const ALIGNMENT: usize = 64;
/// Bytes of a column that share one checksum.
const PIECE_BYTES: usize = 1 << 18;
/// The maximum number of directory entries.
const MAX_ENTRIES: usize = 1 << 20;
/// Suffix of the temporary name of an unfinished file.
const HALF: &str = ".half";
/// An unfinished file older than this was left by a process that was killed.
const ABANDONED: Duration = Duration::from_secs(600);

/// Where columns are kept between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexPlace {
    /// No index file.
    Nowhere,
    /// In `FILE.index`; in this other folder if the folder of the recording is not writable.
    Beside {
        /// The other folder.
        otherwise: Option<PathBuf>,
    },
}

/// Number of a column within a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ColumnId(pub(crate) u32);

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
    key: [u8; KEY_BYTES],
    /// Path of the recording. The index file gets no more permissions than it has.
    recording: PathBuf,
    /// The index files that exist. Each column is in one of them.
    open: Mutex<Vec<OpenIndex>>,
    /// Held while columns are added.
    writing: Mutex<()>,
}

#[derive(Debug, Clone)]
struct OpenIndex {
    bytes: Arc<Bytes>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    snapshot: SnapshotId,
    column: ColumnId,
    offset: u64,
    /// Length of the values, in bytes.
    length: u64,
    /// Checksum of the checksums of its pieces.
    checksum: u32,
}

impl IndexFile {
    /// Looks for the index file of a recording. `None` if `place` excludes one, or if the last commit of the recording
    /// is damaged: then there is no checksum that identifies its content.
    pub(crate) fn find(recording: &Recording, place: &IndexPlace) -> Option<Self> {
        let (IndexPlace::Beside { otherwise }, Some(path)) = (place, recording.path()) else { return None };
        if cfg!(target_endian = "big") {
            return None;
        }
        let content = recording.content_checksum().ok()?;
        let mut beside = path.as_os_str().to_owned();
        beside.push(".index");
        let uuid: String = recording.uuid().iter().map(|byte| format!("{byte:02x}")).collect();
        let mut places = vec![PathBuf::from(beside)];
        places.extend(otherwise.iter().map(|folder| folder.join(format!("{uuid}.index"))));
        let mut key = [0; KEY_BYTES];
        key[..8].copy_from_slice(&MAGIC);
        LittleEndian::write_u32(&mut key[8..12], ANALYSIS_VERSION);
        key[16..32].copy_from_slice(&recording.uuid());
        LittleEndian::write_u64(&mut key[32..], content);
        let open = Mutex::new(Self::read(&places, &key));
        Some(IndexFile { places, key, recording: path.to_owned(), open, writing: Mutex::new(()) })
    }

    fn read(places: &[PathBuf], key: &[u8; KEY_BYTES]) -> Vec<OpenIndex> {
        places.iter().filter_map(|path| OpenIndex::read(path, key)).collect()
    }

    /// The number of values of type `T` in a kept column.
    pub(crate) fn length<T>(&self, snapshot: SnapshotId, column: ColumnId) -> Option<usize> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = open.iter().find_map(|index| index.entry(snapshot, column))?;
        Some(usize::try_from(entry.length).ok()? / size_of::<T>())
    }

    /// A kept column, if it is undamaged and valid. `is_valid` is called for each piece, with the position of its first
    /// value. It is needed because a checksum detects damage, but not values that were wrong when they were written.
    pub(crate) fn column<T: Pod + Sync>(
        &self,
        snapshot: SnapshotId,
        column: ColumnId,
        is_valid: impl Fn(usize, &[T]) -> bool + Sync,
    ) -> Option<Values<T>> {
        const { assert!(PIECE_BYTES.is_multiple_of(size_of::<T>()), "pieces hold whole values") };
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        open.iter().find_map(|index| {
            let entry = index.entry(snapshot, column)?;
            let bytes = index.bytes_of(entry).filter(|bytes| bytes.len() % size_of::<T>() == 0)?;
            index.bytes.will_be_read(entry.offset as usize, bytes.len());
            let checksums = index.checksums(entry)?;
            let values: &[T] = bytemuck::cast_slice(bytes);
            let per_piece = PIECE_BYTES / size_of::<T>();
            let is_whole =
                values.par_chunks(per_piece).zip(&checksums).enumerate().all(|(number, (piece, &checksum))| {
                    is_valid(number * per_piece, piece) && crc32c::crc32c(bytemuck::cast_slice(piece)) == checksum
                });
            is_whole.then(|| Values::kept(Arc::clone(&index.bytes), entry.offset as usize, bytes.len()))?
        })
    }

    /// A kept column whose pieces are checked when they are first read, by checksum and by `is_valid` as in
    /// [`IndexFile::column`].
    pub(crate) fn sparse_column<T: Pod>(
        &self,
        snapshot: SnapshotId,
        column: ColumnId,
        is_valid: impl Fn(usize, &[T]) -> bool + Send + Sync + 'static,
    ) -> Option<SparseColumn<T>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (values, checksums) = open.iter().find_map(|index| {
            let entry = index.entry(snapshot, column)?;
            let checksums = index.checksums(entry)?;
            let length = usize::try_from(entry.length).ok()?;
            Some((Values::kept(Arc::clone(&index.bytes), entry.offset as usize, length)?, checksums))
        })?;
        Some(SparseColumn::new(values, checksums, is_valid))
    }

    /// Adds columns of a snapshot to the index file.
    ///
    /// # Errors
    /// [`AnalyzerError::Io`] if no place can be written to; [`AnalyzerError::Cancelled`]. The old file is
    /// then as it was.
    pub(crate) fn keep(
        &self,
        snapshot: SnapshotId,
        columns: &[(ColumnId, ColumnValues<'_>)],
        progress: &dyn Progress,
    ) -> Result<()> {
        // Only writers take this lock: readers do not block on writers.
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        // Another process may have added columns since.
        let old = Self::read(&self.places, &self.key);
        let mut failure = None;
        for path in &self.places {
            match self.write(path, &old, (snapshot, columns), progress) {
                Ok(()) => {
                    let written = Self::read(&self.places, &self.key);
                    *self.open.lock().unwrap_or_else(PoisonError::into_inner) = written;
                    return Ok(());
                }
                Err(AnalyzerError::Cancelled) => return Err(AnalyzerError::Cancelled),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn write(
        &self,
        path: &Path,
        old: &[OpenIndex],
        (snapshot, new): (SnapshotId, &[(ColumnId, ColumnValues<'_>)]),
        progress: &dyn Progress,
    ) -> Result<()> {
        let io = |action| AnalyzerError::io(path, action);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The folder of the recording exists; the other folder may not.
        fs::create_dir_all(folder).map_err(io("write"))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let prefix = format!(".{name}.");
        remove_abandoned(folder, &prefix);
        let mut columns: Vec<(Entry, ColumnValues<'_>)> = Vec::new();
        let entry = |column, length| Entry { snapshot, column, offset: 0, length, checksum: 0 };
        columns.extend(new.iter().map(|&(column, values)| (entry(column, values.length()), values)));
        let mut are_there: BTreeSet<(SnapshotId, ColumnId)> =
            new.iter().map(|&(column, _)| (snapshot, column)).collect();
        for index in old {
            for entry in &index.entries {
                check(progress)?;
                if let Some(bytes) = index.whole(entry)
                    && are_there.insert((entry.snapshot, entry.column))
                {
                    columns.push((*entry, ColumnValues::InMemory(bytes)));
                }
            }
        }
        let mut offset = HEADER_BYTES + columns.len() * ENTRY_BYTES;
        let head_bytes = offset;
        for (entry, _) in &mut columns {
            offset = offset.next_multiple_of(ALIGNMENT);
            entry.offset = offset as u64;
            offset += (entry.length + entry.checksum_bytes()) as usize;
        }
        progress.begin("keeping the index", offset as u64, "bytes");
        let temporary = temporary(folder, &prefix, HALF).map_err(io("write"))?;
        restrict_to(&temporary, &self.recording).map_err(io("write"))?;
        let mut out = BufWriter::with_capacity(PIECE_BYTES, temporary.as_file());
        // The head contains the checksums, so it is written last.
        out.write_all(&vec![0; head_bytes]).map_err(io("write"))?;
        let mut at = head_bytes as u64;
        for (entry, values) in &mut columns {
            out.write_all(&[0; ALIGNMENT][..(entry.offset - at) as usize]).map_err(io("write"))?;
            let mut checksums = Checksums::default();
            let mut write = |values: &[u8]| {
                for piece in values.chunks(PIECE_BYTES) {
                    check(progress)?;
                    out.write_all(piece).map_err(io("write"))?;
                    progress.advance(piece.len() as u64);
                }
                checksums.add(values);
                Ok(())
            };
            match values {
                ColumnValues::InMemory(values) => write(values)?,
                ColumnValues::Streamed(_, make) => make(&mut write)?,
            }
            assert_eq!(checksums.length(), entry.length, "a column is as long as it was announced");
            let checksums = checksums.finish();
            out.write_all(&checksums).map_err(io("write"))?;
            entry.checksum = crc32c::crc32c(&checksums);
            at = entry.offset + entry.length + entry.checksum_bytes();
        }
        out.rewind().map_err(io("write"))?;
        out.write_all(&head(&self.key, columns.iter().map(|(entry, _)| entry))).map_err(io("write"))?;
        out.flush().map_err(io("write"))?;
        drop(out);
        temporary.persist(path).map_err(|error| io("write")(error.error))?;
        Ok(())
    }
}

impl ColumnValues<'_> {
    /// Length of the values, in bytes.
    fn length(&self) -> u64 {
        match self {
            ColumnValues::InMemory(values) => values.len() as u64,
            ColumnValues::Streamed(length, _) => *length,
        }
    }
}

impl OpenIndex {
    /// Reads header and directory. `None` if the file is missing, stale, truncated, damaged, or belongs to another
    /// recording.
    fn read(path: &Path, key: &[u8; KEY_BYTES]) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        let mut header = [0; HEADER_BYTES];
        file.read_exact(&mut header).ok()?;
        let count = LittleEndian::read_u32(&header[40..44]) as usize;
        if header[..KEY_BYTES] != *key || count > MAX_ENTRIES {
            return None;
        }
        let mut directory = vec![0; count * ENTRY_BYTES];
        file.read_exact(&mut directory).ok()?;
        let length = file.seek(io::SeekFrom::End(0)).ok()?;
        let found = crc32c::crc32c_append(crc32c::crc32c(&header[..CHECKSUM_AT]), &directory);
        if LittleEndian::read_u32(&header[CHECKSUM_AT..]) != found || LittleEndian::read_u64(&header[44..52]) != length
        {
            return None;
        }
        let entries: Vec<Entry> = directory.chunks_exact(ENTRY_BYTES).map(Entry::read).collect();
        // Columns must not overlap: entries that share bytes would be copied into a huge file.
        let mut free = (HEADER_BYTES + directory.len()) as u64;
        for entry in &entries {
            if entry.offset < free || entry.offset % ALIGNMENT as u64 != 0 {
                return None;
            }
            free = entry.end().filter(|&end| end <= length)?;
        }
        Some(OpenIndex { bytes: Arc::new(Bytes::of(&file, path).ok()?), entries })
    }

    fn entry(&self, snapshot: SnapshotId, column: ColumnId) -> Option<&Entry> {
        self.entries.iter().find(|entry| (entry.snapshot, entry.column) == (snapshot, column))
    }

    /// The bytes of a column, without checking them.
    fn bytes_of(&self, entry: &Entry) -> Option<&[u8]> {
        let start = usize::try_from(entry.offset).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(entry.length).ok()?)?)
    }

    /// The checksums of a column's pieces; `None` if these are damaged.
    fn checksums(&self, entry: &Entry) -> Option<Vec<u32>> {
        let start = usize::try_from(entry.offset.checked_add(entry.length)?).ok()?;
        let bytes = self.bytes.get(start..usize::try_from(entry.end()?).ok()?)?;
        let are_whole = crc32c::crc32c(bytes) == entry.checksum;
        are_whole.then(|| bytes.chunks_exact(CHECKSUM_BYTES).map(LittleEndian::read_u32).collect())
    }

    /// The bytes of a column; `None` if they are damaged.
    fn whole(&self, entry: &Entry) -> Option<&[u8]> {
        let (bytes, expected) = (self.bytes_of(entry)?, self.checksums(entry)?);
        let pieces = bytes.par_chunks(PIECE_BYTES).zip(&expected);
        pieces.all(|(piece, &checksum)| crc32c::crc32c(piece) == checksum).then_some(bytes)
    }
}

impl Entry {
    /// Number of bytes of the checksums that follow the values.
    fn checksum_bytes(&self) -> u64 {
        self.length.div_ceil(PIECE_BYTES as u64) * CHECKSUM_BYTES as u64
    }

    /// Offset of the end of the column, checksums included.
    fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.length)?.checked_add(self.checksum_bytes())
    }

    fn read(bytes: &[u8]) -> Self {
        Entry {
            snapshot: SnapshotId(LittleEndian::read_u32(&bytes[..4])),
            column: ColumnId(LittleEndian::read_u32(&bytes[4..8])),
            offset: LittleEndian::read_u64(&bytes[8..16]),
            length: LittleEndian::read_u64(&bytes[16..24]),
            checksum: LittleEndian::read_u32(&bytes[24..28]),
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        let mut bytes = [0; ENTRY_BYTES];
        LittleEndian::write_u32(&mut bytes[..4], self.snapshot.0);
        LittleEndian::write_u32(&mut bytes[4..8], self.column.0);
        LittleEndian::write_u64(&mut bytes[8..16], self.offset);
        LittleEndian::write_u64(&mut bytes[16..24], self.length);
        LittleEndian::write_u32(&mut bytes[24..28], self.checksum);
        out.extend_from_slice(&bytes);
    }
}

/// Builds header and directory.
fn head<'e>(key: &[u8; KEY_BYTES], entries: impl ExactSizeIterator<Item = &'e Entry> + Clone) -> Vec<u8> {
    let mut out = vec![0; HEADER_BYTES];
    out[..KEY_BYTES].copy_from_slice(key);
    LittleEndian::write_u32(&mut out[40..44], u32::try_from(entries.len()).unwrap_or(u32::MAX));
    let length = entries.clone().filter_map(Entry::end).max().unwrap_or(HEADER_BYTES as u64);
    LittleEndian::write_u64(&mut out[44..52], length);
    entries.for_each(|entry| entry.put(&mut out));
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&out[..CHECKSUM_AT]), &out[HEADER_BYTES..]);
    LittleEndian::write_u32(&mut out[CHECKSUM_AT..HEADER_BYTES], checksum);
    out
}

/// Removes unfinished files of processes that were killed.
fn remove_abandoned(folder: &Path, prefix: &str) {
    let Ok(files) = fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let is_old =
            || file.metadata().and_then(|data| data.modified()).ok()?.elapsed().ok().map(|age| age > ABANDONED);
        let name = file.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(prefix) && name.ends_with(HALF) && is_old() == Some(true) {
            // Another process may have removed it already.
            let _ = fs::remove_file(file.path());
        }
    }
}
