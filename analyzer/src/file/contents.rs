//! The places of the sections of a file, from its index or, if it has none, from a scan.
//!
//! ```text
//!   trailer and index are undamaged ─────────▶ rows of the index
//!   otherwise: scan frame by frame ──────────▶ table chunks and commits in file order
//!       after a damaged header: try every eighth byte until a valid one is found
//! ```
//!
//! A snapshot counts if its commit is undamaged and the tables it needs are present. Rows about processes and
//! measurements need no commit.

use std::collections::BTreeSet;

use barrow_format::codec::Decompressor;
use barrow_format::commit::{Commit, TableCounts};
use barrow_format::frame::{Frame, SectionType, next_frame};
use barrow_format::header::{HEADER_BYTES, TRAILER_BYTES, Trailer};
use barrow_format::index::parse_index;
use barrow_format::rows::{Chunk, Field, KeyValue, Kind, Shape, Site, Strength, Type, WordRow};
use barrow_format::{FormatError, SnapshotId};

use crate::file::measurement_ids;
use crate::file::process_ids::IdChecker;
use crate::file::tables::{CheckedRow, TableRoom};

/// The places of the sections of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents {
    /// Committed snapshots in ascending order, with the offsets of their COMMIT frames.
    pub(crate) commits: Vec<(SnapshotId, u64)>,
    /// Chunks of the tables, in file order.
    pub(crate) chunks: Vec<(SectionType, u64)>,
    /// Offsets of sections that this version does not know.
    unknown: Vec<u64>,
    /// The loss, if the file is damaged or incomplete.
    pub(crate) damage: Option<Damage>,
}

/// The loss of a recording that is damaged or incomplete. Its text is one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Length of the file, in bytes.
    pub file_length: u64,
    /// The first sign that the file is not complete.
    pub reason: String,
    /// Number of committed snapshots that can be read.
    pub whole_snapshots: usize,
    /// The first and the last of them, if there are several.
    pub first_and_last: Option<(SnapshotId, SnapshotId)>,
    /// Number of processes of which something can be read.
    pub processes: u32,
    /// Number of runs of a trial of which something can be read.
    pub runs: u32,
    /// Offset of the end of the last of these snapshots, or of the last rows about processes or runs.
    pub committed_end: u64,
    /// Snapshots that were committed but cannot be used, in ascending order.
    pub lost: Vec<LostSnapshot>,
    /// Bytes that belong to no readable frame.
    pub unreadable_bytes: u64,
    /// Offset of the first bytes after the last commit that are not an unfinished frame; they may have contained a
    /// commit. `None` if the file merely ends before its last frame does.
    pub suspect_offset: Option<u64>,
}

/// Consecutive snapshots that were committed but cannot be read, for the same cause. Usually one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostSnapshot {
    /// The first snapshot.
    pub snapshot: SnapshotId,
    /// The last snapshot; equal to the first if there is one.
    pub last: SnapshotId,
    /// Its label, if that can still be read.
    pub label: Option<String>,
    /// Offset of the damage in the file; `None` if nothing of the snapshot was found.
    pub offset: Option<u64>,
    /// The reason why it cannot be read.
    pub cause: String,
}

impl LostSnapshot {
    /// Consecutive snapshots of which nothing was found.
    #[must_use]
    pub fn row(snapshot: SnapshotId, last: SnapshotId) -> Self {
        let cause = "no commit of that number can be read".to_owned();
        LostSnapshot { snapshot, last, label: None, offset: None, cause }
    }
}

impl std::fmt::Display for LostSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.snapshot == self.last {
            write!(f, "snapshot {}", self.snapshot)
        } else {
            write!(f, "snapshots {} to {}", self.snapshot, self.last)
        }
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the recording is not whole: {}; ", self.reason)?;
        match self.whole_snapshots {
            0 if self.processes > 0 => write!(f, "what was recorded of {} processes is kept", self.processes)?,
            0 if self.runs > 0 => write!(f, "what was recorded of {} runs is kept", self.runs)?,
            0 => f.write_str("no snapshot was complete")?,
            1 => f.write_str("1 complete snapshot is kept")?,
            count => write!(f, "{count} complete snapshots are kept")?,
        }
        if let Some((first, last)) = self.first_and_last {
            write!(f, " ({first} to {last})")?;
        }
        let after = self.file_length.saturating_sub(self.committed_end);
        if after > 0 {
            let last = if self.processes > 0 || self.runs > 0 { "it" } else { "the last of them" };
            write!(f, ", {after} bytes after {last} are lost")?;
        }
        if self.unreadable_bytes > 0 {
            write!(f, ", {} bytes are unreadable", self.unreadable_bytes)?;
        }
        for lost in &self.lost {
            write!(f, ", {lost} is lost: {}", lost.cause)?;
        }
        if let Some(offset) = self.suspect_offset {
            write!(f, ", later snapshots may be lost from byte {offset} on")?;
        }
        Ok(())
    }
}

impl Contents {
    /// Finds the sections of a file.
    ///
    /// # Errors
    /// [`FormatError::UnknownCriticalSection`]: a newer writer says that the file cannot be understood without this
    /// section.
    pub(crate) fn find(file: &[u8]) -> Result<Self, FormatError> {
        match Self::from_index(file) {
            Ok(contents) => contents.refuse_critical(file),
            Err(reason) => Self::scan(file, reason),
        }
    }

    /// The sections that the index lists; `None` if there is no complete index.
    ///
    /// # Errors
    /// [`FormatError::UnknownCriticalSection`].
    pub(crate) fn of_finished(file: &[u8]) -> Result<Option<Self>, FormatError> {
        Self::from_index(file).ok().map(|contents| contents.refuse_critical(file)).transpose()
    }

    /// Sorts snapshots and removes duplicates.
    pub(crate) fn sort(&mut self) {
        self.commits.sort_unstable();
        self.commits.dedup_by_key(|commit| commit.0);
    }

    /// The first and the last snapshot, if there are several.
    fn first_and_last(&self) -> Option<(SnapshotId, SnapshotId)> {
        match &self.commits[..] {
            [first, .., last] => Some((first.0, last.0)),
            _ => None,
        }
    }

    fn refuse_critical(self, file: &[u8]) -> Result<Self, FormatError> {
        for &offset in &self.unknown {
            if let Err(error @ FormatError::UnknownCriticalSection { .. }) = Frame::parse(file, offset) {
                return Err(error);
            }
        }
        Ok(self)
    }

    fn from_index(file: &[u8]) -> Result<Self, String> {
        let trailer = Trailer::parse(file).ok_or_else(|| {
            format!(
                "it ends after {} bytes without an index, as if it were cut, its writer had died or is still at work",
                file.len()
            )
        })?;
        let frame = Frame::parse(file, trailer.index_offset).map_err(damaged_index)?;
        if frame.header.section != SectionType::INDEX || frame.end() + TRAILER_BYTES as u64 != file.len() as u64 {
            return Err("its index is not where its end says".to_owned());
        }
        let rows = frame.body().and_then(|body| parse_index(body, file.len() as u64)).map_err(damaged_index)?;
        let mut contents = Contents::default();
        for row in rows {
            match row.section {
                SectionType::COMMIT => contents.commits.push((SnapshotId(row.snapshot), row.offset)),
                section if is_table(section) => contents.chunks.push((section, row.offset)),
                section if !section.is_read() => contents.unknown.push(row.offset),
                _ => {}
            }
        }
        if !contents.commits.is_sorted_by(|one, other| one.0 < other.0) {
            return Err("its index lists snapshots out of order".to_owned());
        }
        if !contents.chunks.is_sorted_by(|one, other| one.1 < other.1) {
            return Err("its index lists tables out of order".to_owned());
        }
        Ok(contents)
    }

    /// Scans all frames of a file without an index.
    pub(crate) fn scan(file: &[u8], reason: String) -> Result<Self, FormatError> {
        Self::scan_with(Scan::new(), file, reason)
    }

    /// As [`Contents::scan`], but decodes all strings too. A chunk of strings counts only if all of it can be decoded.
    pub(crate) fn scan_thoroughly(file: &[u8], reason: String) -> Result<Self, FormatError> {
        let mut scan = Scan::new();
        scan.known.decodes_strings = true;
        Self::scan_with(scan, file, reason)
    }

    fn scan_with(mut scan: Scan, file: &[u8], reason: String) -> Result<Self, FormatError> {
        scan.whole_frames(file)?;
        while let Some(next) = next_frame(file, scan.offset + 1) {
            scan.unreadable_bytes += next - scan.offset;
            scan.suspect();
            scan.offset = next;
            scan.sequence = None;
            scan.whole_frames(file)?;
        }
        if !is_harmless_end(file, scan.offset) {
            scan.suspect();
        }
        Ok(scan.finish(file.len() as u64, reason))
    }
}

fn damaged_index(error: FormatError) -> String {
    format!("its index is damaged ({error})")
}

/// Returns whether the bytes from `offset` to the end of the file cannot contain a lost commit. They do not begin with
/// a complete frame. They are harmless if they are a frame cut off by the end of the file, or the index and the bytes
/// after it.
fn is_harmless_end(file: &[u8], offset: u64) -> bool {
    let is_index = Trailer::parse(file).is_some_and(|trailer| offset >= trailer.index_offset);
    offset >= file.len() as u64 || is_index || matches!(Frame::parse(file, offset), Err(FormatError::Truncated { .. }))
}

/// A scan that can be continued when the file has grown.
pub(crate) struct Scan {
    /// The sections found so far.
    pub(crate) contents: Contents,
    /// Offset of the first frame that was not complete.
    pub(crate) offset: u64,
    /// Offset of the last complete frame.
    pub(crate) last_frame: Option<u64>,
    known: KnownRows,
    committed_end: u64,
    lost: Vec<LostSnapshot>,
    unreadable_bytes: u64,
    /// Offset of the first unreadable bytes after the last commit.
    suspect_offset: Option<u64>,
    /// The expected sequence number of the next frame; unknown after unreadable bytes.
    sequence: Option<u32>,
}

impl Scan {
    /// A scan that has read nothing yet.
    pub(crate) fn new() -> Self {
        let start = HEADER_BYTES as u64;
        Scan {
            contents: Contents::default(),
            offset: start,
            last_frame: None,
            known: KnownRows::new(),
            committed_end: start,
            lost: Vec::new(),
            unreadable_bytes: 0,
            suspect_offset: None,
            sequence: Some(0),
        }
    }

    /// Notes that the bytes at the current offset are unreadable.
    fn suspect(&mut self) {
        self.suspect_offset = self.suspect_offset.or(Some(self.offset));
    }

    /// The result: the sections found and the loss.
    fn finish(mut self, file_length: u64, reason: String) -> Contents {
        self.contents.sort();
        let commits = &self.contents.commits;
        // A snapshot is not lost if a complete commit of the same number follows its damaged one.
        self.lost.retain(|lost| commits.binary_search_by_key(&lost.snapshot, |&(id, _)| id).is_err());
        self.lost.extend(missing(commits, &self.lost));
        self.lost.sort_by_key(|lost| lost.snapshot);
        let contents = self.contents;
        let damage = Damage {
            file_length,
            reason,
            whole_snapshots: contents.commits.len(),
            first_and_last: contents.first_and_last(),
            processes: self.known.processes,
            runs: self.known.measured.runs,
            committed_end: self.committed_end.min(file_length),
            lost: self.lost,
            unreadable_bytes: self.unreadable_bytes,
            suspect_offset: self.suspect_offset,
        };
        Contents { damage: Some(damage), ..contents }
    }

    /// Notes that the snapshot whose commit is at `offset` cannot be used.
    fn lose(&mut self, snapshot: u32, offset: u64, cause: String) {
        let snapshot = SnapshotId(snapshot);
        self.lost.push(LostSnapshot { snapshot, last: snapshot, label: None, offset: Some(offset), cause });
    }

    /// Continues to the first frame that is not complete, or to the end.
    ///
    /// # Errors
    /// [`FormatError::UnknownCriticalSection`].
    pub(crate) fn whole_frames(&mut self, file: &[u8]) -> Result<(), FormatError> {
        self.known.room.of(file);
        while (self.offset as usize) < file.len() {
            match Frame::parse(file, self.offset) {
                Ok(frame) => {
                    let stored = frame.header.sequence;
                    if self.sequence.is_some_and(|expected| expected != stored) {
                        self.suspect();
                    }
                    self.sequence = Some(stored.wrapping_add(1));
                    self.take_in(&frame);
                    self.last_frame = Some(frame.offset);
                    self.offset = frame.end();
                }
                Err(error @ FormatError::UnknownCriticalSection { .. }) => return Err(error),
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn take_in(&mut self, frame: &Frame<'_>) {
        let section = frame.header.section;
        if is_table(section) {
            if self.known.add(section, frame) {
                self.contents.chunks.push((section, frame.offset));
                if [SectionType::PROCESSES, SectionType::MEASUREMENTS].contains(&section) {
                    self.committed_end = frame.end();
                }
            }
        } else if section == SectionType::COMMIT {
            // Snapshots are numbered without gaps, so a commit that was lost before this one is noticed by its number.
            self.suspect_offset = None;
            match frame.body().and_then(Commit::parse) {
                Ok(commit) => self.take_in_commit(&commit, frame),
                Err(error) => self.lose(
                    frame.header.snapshot,
                    frame.offset,
                    format!("its commit at byte {} is damaged ({error})", frame.offset),
                ),
            }
        }
    }

    fn take_in_commit(&mut self, commit: &Commit, frame: &Frame<'_>) {
        let base = commit.patched.as_ref().map(|patched| SnapshotId(patched.base));
        let lost_base = base.filter(|&base| !self.contents.commits.iter().any(|&(id, _)| id == base));
        if let Some(base) = lost_base {
            let cause = format!("it is stored as the difference to snapshot {base}, which is lost");
            self.lose(commit.snapshot, frame.offset, cause);
        } else if !self.known.suffice(&commit.tables) {
            self.lose(commit.snapshot, frame.offset, "tables that it needs are damaged".to_owned());
        } else {
            let id = SnapshotId(commit.snapshot);
            self.contents.commits.push((id, frame.offset));
            self.committed_end = frame.end();
        }
    }
}

/// Runs of snapshots, before the last known one, of which nothing was found.
fn missing(commits: &[(SnapshotId, u64)], lost: &[LostSnapshot]) -> Vec<LostSnapshot> {
    let known = commits.iter().map(|&(id, _)| id.0).chain(lost.iter().map(|lost| lost.snapshot.0));
    let known: BTreeSet<u32> = known.collect();
    let (mut next, mut missing) = (0, Vec::new());
    for id in known {
        if id > next {
            missing.push(LostSnapshot::row(SnapshotId(next), SnapshotId(id - 1)));
        }
        next = id.saturating_add(1);
    }
    missing
}

/// Returns whether the section is a table of the whole file.
#[must_use]
pub fn is_table(section: SectionType) -> bool {
    [
        SectionType::META,
        SectionType::STRINGS,
        SectionType::KINDS,
        SectionType::STRENGTHS,
        SectionType::TYPES,
        SectionType::SHAPES,
        SectionType::FIELDS,
        SectionType::SITES,
        SectionType::PROCESSES,
        SectionType::MEASUREMENTS,
        SectionType::WORDS,
    ]
    .contains(&section)
}

/// The number of rows of each table that a scan has seen without a gap.
struct KnownRows {
    counts: [u64; SectionType::WORDS.0 as usize + 1],
    room: TableRoom,
    decompressor: Decompressor,
    /// Strings are decoded too.
    decodes_strings: bool,
    /// Processes that began so far.
    processes: u32,
    /// Metrics, variants and runs so far.
    measured: measurement_ids::IdChecker,
}

impl KnownRows {
    fn new() -> Self {
        KnownRows {
            counts: Default::default(),
            room: TableRoom::new(&[]),
            decompressor: Decompressor::new(),
            decodes_strings: false,
            processes: 0,
            measured: measurement_ids::IdChecker::default(),
        }
    }

    /// Counts a chunk if it continues its table, all its rows can be read, and the rows of other tables that it refers
    /// to were seen. After a lost chunk, everything that depends on it is lost too.
    fn add(&mut self, section: SectionType, frame: &Frame<'_>) -> bool {
        let Ok(chunk) = frame.directory().and_then(|directory| Chunk::parse(directory, frame.body()?)) else {
            return false;
        };
        let Some(count) = self.counts.get(section.0 as usize) else { return false };
        let end = *count + chunk.count;
        if chunk.first != *count || self.room.take(section, &chunk).is_err() || !self.is_readable(section, &chunk, end)
        {
            return false;
        }
        self.counts[section.0 as usize] = end;
        true
    }

    fn count(&self, section: SectionType) -> u32 {
        self.counts.get(section.0 as usize).map_or(0, |&count| u32::try_from(count).unwrap_or(u32::MAX))
    }

    fn tables(&self) -> TableCounts {
        TableCounts {
            strings: self.count(SectionType::STRINGS),
            kinds: self.count(SectionType::KINDS),
            strengths: self.count(SectionType::STRENGTHS),
            types: self.count(SectionType::TYPES),
            shapes: self.count(SectionType::SHAPES),
        }
    }

    fn suffice(&self, needed: &TableCounts) -> bool {
        let known = self.tables();
        known.strings >= needed.strings
            && known.kinds >= needed.kinds
            && known.strengths >= needed.strengths
            && known.types >= needed.types
            && known.shapes >= needed.shapes
    }

    /// Returns whether all rows of the chunk can be read and used. `end` is the number of rows of the table with this
    /// chunk.
    fn is_readable(&mut self, section: SectionType, chunk: &Chunk<'_>, end: u64) -> bool {
        fn rows<R: CheckedRow>(chunk: &Chunk<'_>, known: &TableCounts, decompressor: &mut Decompressor) -> bool {
            let mut ids = chunk.first..;
            chunk.for_each(decompressor, |row: R| row.check(ids.next().unwrap_or(u64::MAX), known)).is_ok()
        }
        let mut known = self.tables();
        let decompressor = &mut self.decompressor;
        match section {
            SectionType::META => rows::<KeyValue>(chunk, &known, decompressor),
            // The frame's checksums are valid. Strings refer to no other table and are decoded only when they are used.
            SectionType::STRINGS => !self.decodes_strings || chunk.for_each_text(decompressor, |_| {}).is_ok(),
            SectionType::KINDS => rows::<Kind>(chunk, &known, decompressor),
            SectionType::STRENGTHS => rows::<Strength>(chunk, &known, decompressor),
            SectionType::TYPES => {
                // A type may be derived from another type of the same chunk.
                known.types = u32::try_from(end).unwrap_or(u32::MAX);
                rows::<Type>(chunk, &known, decompressor)
            }
            SectionType::SHAPES => rows::<Shape>(chunk, &known, decompressor),
            SectionType::FIELDS => rows::<Option<Field>>(chunk, &known, decompressor),
            SectionType::SITES => rows::<Site>(chunk, &known, decompressor),
            SectionType::WORDS => rows::<Option<WordRow>>(chunk, &known, decompressor),
            SectionType::PROCESSES => {
                let mut checked = IdChecker { strings: known.strings, processes: self.processes };
                let is_readable = chunk.for_each(decompressor, |row| checked.check(&row)).is_ok();
                if is_readable {
                    self.processes = checked.processes;
                }
                is_readable
            }
            SectionType::MEASUREMENTS => {
                let mut checked = self.measured.with_strings(known.strings);
                let is_readable = chunk.for_each(decompressor, |row| checked.check(&row)).is_ok();
                if is_readable {
                    self.measured = checked;
                }
                is_readable
            }
            _ => false,
        }
    }
}
