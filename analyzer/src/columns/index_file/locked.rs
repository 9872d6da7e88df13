//! An index file that this process may change.
//!
//! One process at a time changes an index file: it holds the lock of the file. Readers take no lock. So sections that
//! are there never change or move. They are removed only by writing the others to a new file, which takes the name;
//! readers of the old one keep it.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::section::{ENTRY_BYTES, FILE_HEADER_BYTES, HEAD_BYTES, Section};
use super::section_writer::SectionWriter;
use super::{ColumnId, ColumnValues};
use crate::columns::temporary::{restrict_to, temporary};
use crate::error::{AnalyzerError, Result};
use crate::progress::{Progress, check};

/// Suffix of the temporary name of an unfinished file.
const HALF: &str = ".half";
/// An unfinished file older than this was left by a process that was killed: a section is written within seconds. This
/// is a judgement.
const ABANDONED: Duration = Duration::from_secs(600);
/// The time between two attempts to lock the file, since no system offers to lock with a time limit.
const LOCK_INTERVAL: Duration = Duration::from_millis(5);
/// The number of times that other processes may replace the file while this process tries to lock it: a file is
/// replaced seldom, so more would be an error that repeats.
const MOST_TRIES: usize = 100;

/// An index file and its lock, which ends with it.
pub(super) struct Locked<'l> {
    file: File,
    place: &'l IndexLocation<'l>,
    sections: Vec<Section>,
    /// The offset after the last section, where the file ends.
    end: u64,
}

/// The place of an index file, which need not exist.
pub(super) struct IndexLocation<'p> {
    pub(super) path: &'p Path,
    /// The first bytes of the file.
    pub(super) header: &'p [u8; FILE_HEADER_BYTES],
    /// Path of the recording. The file gets no more permissions than it has.
    pub(super) recording: &'p Path,
}

/// The undamaged sections at the start of a file, and the offset after the last of them. `None` if the file has another
/// header.
///
/// # Errors
/// The system's.
pub(super) fn sections(mut file: &File, header: &[u8; FILE_HEADER_BYTES]) -> io::Result<Option<(Vec<Section>, u64)>> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut found = [0; FILE_HEADER_BYTES];
    if length < FILE_HEADER_BYTES as u64 {
        return Ok(None);
    }
    file.rewind()?;
    file.read_exact(&mut found)?;
    if found != *header {
        return Ok(None);
    }
    let (mut sections, mut end) = (Vec::new(), FILE_HEADER_BYTES as u64);
    while end + HEAD_BYTES as u64 <= length {
        let mut head = [0; HEAD_BYTES];
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut head)?;
        let Some(columns) = Section::columns_of(&head) else { break };
        let mut directory = vec![0; columns * ENTRY_BYTES];
        if end + (HEAD_BYTES + directory.len()) as u64 > length {
            break;
        }
        file.read_exact(&mut directory)?;
        let Some(section) = Section::parse(end, &head, &directory, length) else { break };
        end = section.end();
        sections.push(section);
    }
    Ok(Some((sections, end)))
}

impl<'l> Locked<'l> {
    /// Opens and locks the file. Makes a new one if there is none, or if it belongs to another recording.
    ///
    /// # Errors
    /// [`AnalyzerError::Io`]; [`AnalyzerError::Cancelled`].
    pub(super) fn open(place: &'l IndexLocation<'l>, progress: &dyn Progress) -> Result<Self> {
        // The folder of the recording exists; another one may not.
        fs::create_dir_all(place.folder()).map_err(place.error("write"))?;
        place.remove_abandoned();
        for _ in 0..MOST_TRIES {
            let file = match File::options().read(true).write(true).open(place.path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    // Another process may have made it meanwhile: that one stays.
                    let made = place.new_file(&[], None).map_err(place.error("write"))?.persist_noclobber(place.path);
                    made.map(drop).or_else(|error| exists(error.error)).map_err(place.error("write"))?;
                    continue;
                }
                // A file that cannot be read is replaced.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    place.replace(&[], None).map_err(place.error("write"))?;
                    continue;
                }
                Err(error) => return Err(place.error("write")(error)),
            };
            lock(&file, progress)?.map_err(place.error("lock"))?;
            if !is_at(&file, place.path) {
                continue;
            }
            let length = file.metadata().map_err(place.error("read"))?.len();
            match sections(&file, place.header).map_err(place.error("read"))? {
                Some((sections, end)) if end == length => {
                    restrict_to(&file, place.recording).map_err(place.error("write"))?;
                    return Ok(Locked { file, place, sections, end });
                }
                // The bytes after the last whole section are damaged, or a killed process left them. A reader may have
                // the file mapped, so it is not cut.
                Some((sections, _)) => place.replace(&sections, Some(&file)).map_err(place.error("write"))?,
                None => place.replace(&[], None).map_err(place.error("write"))?,
            }
        }
        Err(place.error("lock")(io::Error::other("other processes replace it all the time")))
    }

    /// Adds columns as a section, whose start and length `section` need not say. If it fails, the file is as before.
    ///
    /// # Errors
    /// [`AnalyzerError::Io`]; [`AnalyzerError::Cancelled`]; those of streamed columns.
    pub(super) fn append(
        &mut self,
        section: Section,
        columns: &[(ColumnId, ColumnValues<'_>)],
        most_bytes: u64,
        progress: &dyn Progress,
    ) -> Result<()> {
        let added = self.try_append(section, columns, most_bytes, progress);
        if !matches!(added, Ok(Some(_))) {
            // Readers stop at a section without a head, so none of them has read beyond this end.
            self.file.set_len(self.end).map_err(self.place.error("write"))?;
        }
        if let Some(section) = added? {
            self.end = section.end();
            self.sections.push(section);
            self.make_room(most_bytes)?;
        }
        Ok(())
    }

    /// The section; `None` if it alone has more than `most_bytes`.
    fn try_append(
        &self,
        section: Section,
        columns: &[(ColumnId, ColumnValues<'_>)],
        most_bytes: u64,
        progress: &dyn Progress,
    ) -> Result<Option<Section>> {
        let section = Section { start: self.end, ..section };
        let mut writer = SectionWriter::new(&self.file, section, columns.len(), self.place.path, progress)?;
        for &(id, values) in columns {
            if let Err(error) = writer.column(id, values) {
                writer.discard();
                return Err(error);
            }
        }
        if FILE_HEADER_BYTES as u64 + writer.length() > most_bytes {
            writer.discard();
            return Ok(None);
        }
        writer.finish().map(Some)
    }

    /// Removes sections until the file has at most `most_bytes`, the least recently used ones first, but never the last
    /// one. Also removes those of which newer ones have all columns, once they are more than half of the file.
    fn make_room(&self, most_bytes: u64) -> Result<()> {
        let (replaced, mut rest) = self.replaced_and_rest();
        let replaced_bytes: u64 = replaced.iter().map(|section| section.length).sum();
        if self.end <= most_bytes && replaced_bytes <= self.end / 2 {
            return Ok(());
        }
        let last = rest.pop();
        rest.sort_by_key(|section| std::cmp::Reverse((section.used, section.start)));
        // A little more is removed, so that the file is not written again for each addition.
        let mut room = if self.end <= most_bytes { u64::MAX } else { most_bytes / 8 * 7 };
        room = room.saturating_sub(FILE_HEADER_BYTES as u64 + last.map_or(0, |section| section.length));
        let mut kept: Vec<Section> = Vec::new();
        for section in rest {
            let Some(left) = room.checked_sub(section.length) else { break };
            room = left;
            kept.push(section.clone());
        }
        kept.sort_by_key(|section| section.start);
        kept.extend(last.cloned());
        self.place.replace(&kept, Some(&self.file)).map_err(self.place.error("write"))
    }

    /// The sections of which newer ones of the same snapshot have all columns, and the others in the order of the file.
    fn replaced_and_rest(&self) -> (Vec<&Section>, Vec<&Section>) {
        let mut newer = BTreeSet::new();
        let (replaced, mut rest): (Vec<_>, Vec<_>) = self.sections.iter().rev().partition(|section| {
            let columns = section.entries.iter().map(|entry| (section.snapshot, section.content, entry.column));
            columns.map(|column| newer.insert(column)).filter(|&is_new| is_new).count() == 0
        });
        rest.reverse();
        (replaced, rest)
    }
}

impl IndexLocation<'_> {
    fn error(&self, action: &'static str) -> impl FnOnce(io::Error) -> AnalyzerError {
        AnalyzerError::io(self.path, action)
    }

    fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// The beginning of the names of unfinished files.
    fn prefix(&self) -> String {
        format!(".{}.", self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Lets a new file with these sections of `from` take the name.
    fn replace(&self, sections: &[Section], from: Option<&File>) -> io::Result<()> {
        self.new_file(sections, from)?.persist(self.path).map(drop).map_err(|error| error.error)
    }

    fn new_file(&self, sections: &[Section], from: Option<&File>) -> io::Result<NamedTempFile> {
        let mut file = temporary(self.folder(), &self.prefix(), HALF)?;
        restrict_to(file.as_file(), self.recording)?;
        file.write_all(self.header)?;
        if let Some(mut from) = from {
            for section in sections {
                from.seek(SeekFrom::Start(section.start))?;
                let copied = io::copy(&mut from.take(section.length), file.as_file_mut())?;
                if copied != section.length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
        Ok(file)
    }

    /// Removes unfinished files of processes that were killed.
    fn remove_abandoned(&self) {
        let Ok(files) = fs::read_dir(self.folder()) else { return };
        let prefix = self.prefix();
        for file in files.flatten() {
            let name = file.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(&prefix) && name.ends_with(HALF) && age(&file).is_some_and(|age| age > ABANDONED) {
                // Another process may have removed it already.
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

/// The time since a file was modified.
fn age(file: &fs::DirEntry) -> Option<Duration> {
    file.metadata().ok()?.modified().ok()?.elapsed().ok()
}

/// Waits for the lock of a file.
fn lock(file: &File, progress: &dyn Progress) -> Result<io::Result<()>> {
    loop {
        check(progress)?;
        match file.try_lock() {
            Ok(()) => return Ok(Ok(())),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_INTERVAL),
            // Some file systems have no locks. Then two processes that add to a file at the same time damage it.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => return Ok(Ok(())),
            Err(TryLockError::Error(error)) => return Ok(Err(error)),
        }
    }
}

/// Returns whether this file still has this name; another process may have given the name to a new file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(own), Ok(named)) => (own.dev(), own.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// A file that is open cannot lose its name on this system.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

fn exists(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}
