//! Where everything is in a file: from its index, or by scanning a file that has none.
//!
//! ```text
//!   trailer whole, index whole ──────────────▶ rows of the index
//!   otherwise: hop from frame to frame ──────▶ table chunks and commits as they come
//!       a header that does not hold: look at every eighth byte for the next one that does
//! ```
//!
//! A snapshot counts if its commit is whole and the tables it names are there.

use barrow_format::codec::Decompressor;
use barrow_format::commit::{Commit, TableCounts};
use barrow_format::frame::{Frame, SectionType, next_frame};
use barrow_format::header::{HEADER_BYTES, TRAILER_BYTES, Trailer};
use barrow_format::index::parse_index;
use barrow_format::rows::{Chunk, KeyValue, Kind, Shape, Site, Strength, Type};
use barrow_format::{FormatError, SnapshotId};

use crate::tables::{CheckedRow, TableRoom};

/// Where the sections of a file are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents {
    /// Committed snapshots and the offsets of their COMMIT frames, by number.
    pub(crate) commits: Vec<(SnapshotId, u64)>,
    /// Chunks of the tables, in the order of the file.
    pub(crate) chunks: Vec<(SectionType, u64)>,
    /// Chunks of the threads of snapshots, by snapshot and in the order of the file.
    threads: Vec<(SnapshotId, u64)>,
    /// Sections this version does not know.
    unknown: Vec<u64>,
    /// What is missing, if the file is not whole.
    pub(crate) damage: Option<Damage>,
}

/// What was lost of a recording that is not whole. Its text is one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Length of the file, in bytes.
    pub file_length: u64,
    /// What first showed that the file is not whole.
    pub reason: String,
    /// Committed snapshots that can be read.
    pub whole_snapshots: usize,
    /// The first and the last of them, if they are several.
    pub first_and_last: Option<(SnapshotId, SnapshotId)>,
    /// Where the last of them ends, in bytes.
    pub committed_end: u64,
    /// Commits that cannot be used, because tables before them are lost.
    pub unusable_snapshots: Vec<SnapshotId>,
    /// Bytes that belong to no readable frame.
    pub unreadable_bytes: u64,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the recording is not whole: {}; ", self.reason)?;
        match self.whole_snapshots {
            0 => f.write_str("no snapshot was complete")?,
            1 => f.write_str("1 complete snapshot is kept")?,
            count => write!(f, "{count} complete snapshots are kept")?,
        }
        if let Some((first, last)) = self.first_and_last {
            write!(f, " ({first} to {last})")?;
        }
        let after = self.file_length.saturating_sub(self.committed_end);
        if after > 0 {
            write!(f, ", {after} bytes after the last of them are lost")?;
        }
        if self.unreadable_bytes > 0 {
            write!(f, ", {} bytes are unreadable", self.unreadable_bytes)?;
        }
        for snapshot in &self.unusable_snapshots {
            write!(f, ", snapshot {snapshot} is lost with its tables")?;
        }
        Ok(())
    }
}

impl Contents {
    /// Finds out where everything is.
    ///
    /// # Errors
    /// [`FormatError::UnknownCriticalSection`]: a newer writer says that the file cannot be
    /// understood without that section.
    pub(crate) fn find(file: &[u8]) -> Result<Self, FormatError> {
        match Self::from_index(file) {
            Ok(contents) => contents.refuse_critical(file),
            Err(reason) => Self::scan(file, reason),
        }
    }

    /// What the index lists, if there is a whole one.
    ///
    /// # Errors
    /// [`FormatError::UnknownCriticalSection`].
    pub(crate) fn of_finished(file: &[u8]) -> Result<Option<Self>, FormatError> {
        Self::from_index(file).ok().map(|contents| contents.refuse_critical(file)).transpose()
    }

    /// Puts the snapshots in order, each once.
    pub(crate) fn sort(&mut self) {
        self.commits.sort_unstable();
        self.commits.dedup_by_key(|commit| commit.0);
        self.threads.sort_unstable();
    }

    /// Where the chunks of the threads of a snapshot are, in order.
    pub(crate) fn threads_of(&self, snapshot: SnapshotId) -> impl Iterator<Item = u64> + '_ {
        let first = self.threads.partition_point(|&(id, _)| id < snapshot);
        self.threads[first..].iter().take_while(move |&&(id, _)| id == snapshot).map(|&(_, offset)| offset)
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
        let broken = |error: FormatError| format!("its index is damaged ({error})");
        let frame = Frame::parse(file, trailer.index_offset).map_err(broken)?;
        if frame.header.section != SectionType::INDEX || frame.end() + TRAILER_BYTES as u64 != file.len() as u64 {
            return Err("its index is not where its end says".to_owned());
        }
        let rows = frame.body().and_then(|body| parse_index(body, file.len() as u64)).map_err(broken)?;
        let mut contents = Contents::default();
        for row in rows {
            match row.section {
                SectionType::COMMIT => contents.commits.push((SnapshotId(row.snapshot), row.offset)),
                section if is_table(section) => contents.chunks.push((section, row.offset)),
                SectionType::THREADS => contents.threads.push((SnapshotId(row.snapshot), row.offset)),
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
        if !contents.threads.is_sorted_by(|one, other| one < other) {
            return Err("its index lists threads out of order".to_owned());
        }
        Ok(contents)
    }

    /// Hops over all frames of a file without index.
    pub(crate) fn scan(file: &[u8], reason: String) -> Result<Self, FormatError> {
        Self::scan_with(Scan::new(), file, reason)
    }

    /// The same; a chunk of strings counts only if all of it can be decoded, which takes as long as there are strings.
    pub(crate) fn scan_thoroughly(file: &[u8], reason: String) -> Result<Self, FormatError> {
        let mut scan = Scan::new();
        scan.known.decodes_strings = true;
        Self::scan_with(scan, file, reason)
    }

    fn scan_with(mut scan: Scan, file: &[u8], reason: String) -> Result<Self, FormatError> {
        scan.whole_frames(file)?;
        while let Some(next) = next_frame(file, scan.offset + 1) {
            scan.unreadable_bytes += next - scan.offset;
            scan.offset = next;
            scan.whole_frames(file)?;
        }
        let Scan { mut contents, .. } = scan;
        contents.sort();
        contents.damage = Some(Damage {
            file_length: file.len() as u64,
            reason,
            whole_snapshots: contents.commits.len(),
            first_and_last: contents.first_and_last(),
            committed_end: scan.committed_end.min(file.len() as u64),
            unusable_snapshots: scan.unusable_snapshots,
            unreadable_bytes: scan.unreadable_bytes,
        });
        Ok(contents)
    }
}

/// A scan that can go on when the file has grown.
pub(crate) struct Scan {
    /// What was found.
    pub(crate) contents: Contents,
    /// Where the first frame begins that was not whole.
    pub(crate) offset: u64,
    known: KnownRows,
    threads: UncommittedThreads,
    committed_end: u64,
    unusable_snapshots: Vec<SnapshotId>,
    unreadable_bytes: u64,
}

impl Scan {
    /// A scan of a file of which nothing was looked at.
    pub(crate) fn new() -> Self {
        let start = HEADER_BYTES as u64;
        Scan {
            contents: Contents::default(),
            offset: start,
            known: KnownRows::new(),
            threads: UncommittedThreads::default(),
            committed_end: start,
            unusable_snapshots: Vec::new(),
            unreadable_bytes: 0,
        }
    }

    /// Goes on to the first frame that is not whole, or to the end.
    ///
    /// # Errors
    /// [`FormatError::UnknownCriticalSection`].
    pub(crate) fn whole_frames(&mut self, file: &[u8]) -> Result<(), FormatError> {
        self.known.room.of(file);
        while (self.offset as usize) < file.len() {
            match Frame::parse(file, self.offset) {
                Ok(frame) => {
                    self.take_in(&frame);
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
            }
        } else if section == SectionType::THREADS {
            self.threads.add(frame);
        } else if section == SectionType::COMMIT
            && let Ok(commit) = frame.body().and_then(Commit::parse)
        {
            let threads = self.threads.take(commit.snapshot);
            let base = commit.patched.as_ref().map(|patched| SnapshotId(patched.base));
            let has_base = base.is_none_or(|base| self.contents.commits.iter().any(|&(id, _)| id == base));
            if self.known.suffice(&commit.tables) && has_base {
                let id = SnapshotId(commit.snapshot);
                self.contents.commits.push((id, frame.offset));
                self.contents.threads.extend(threads.into_iter().map(|offset| (id, offset)));
                self.committed_end = frame.end();
            } else {
                self.unusable_snapshots.push(SnapshotId(commit.snapshot));
            }
        }
    }
}

/// Whether the section is a table that all snapshots share.
pub(crate) fn is_table(section: SectionType) -> bool {
    [
        SectionType::META,
        SectionType::STRINGS,
        SectionType::KINDS,
        SectionType::STRENGTHS,
        SectionType::TYPES,
        SectionType::SHAPES,
        SectionType::SITES,
    ]
    .contains(&section)
}

/// The threads that a scan has met since the last commit.
#[derive(Default)]
struct UncommittedThreads {
    snapshot: u32,
    rows: u64,
    offsets: Vec<u64>,
}

impl UncommittedThreads {
    /// Adds a chunk. One that begins anew says that those before it were given up; one that continues nothing has lost
    /// what it belongs to, and part of a table is no table.
    fn add(&mut self, frame: &Frame<'_>) {
        let chunk = frame.directory().and_then(|directory| Chunk::parse(directory, &[]));
        let chunk = chunk
            .ok()
            .filter(|chunk| chunk.first == 0 || (chunk.first == self.rows && frame.header.snapshot == self.snapshot));
        if chunk.is_none_or(|chunk| chunk.first == 0) {
            self.offsets.clear();
        }
        self.snapshot = frame.header.snapshot;
        // No chunk continues after as many rows.
        self.rows = chunk.map_or(u64::MAX, |chunk| chunk.first + chunk.count);
        self.offsets.extend(chunk.map(|_| frame.offset));
    }

    /// Those of the snapshot that is committed.
    fn take(&mut self, snapshot: u32) -> Vec<u64> {
        let threads = std::mem::take(self);
        if threads.snapshot == snapshot { threads.offsets } else { Vec::new() }
    }
}

/// How many rows of each table a scan has met without a gap.
struct KnownRows {
    counts: [u64; SectionType::SITES.0 as usize + 1],
    room: TableRoom,
    decompressor: Decompressor,
    /// Whether strings are decoded, too.
    decodes_strings: bool,
}

impl KnownRows {
    fn new() -> Self {
        KnownRows {
            counts: Default::default(),
            room: TableRoom::new(&[]),
            decompressor: Decompressor::new(),
            decodes_strings: false,
        }
    }

    /// Counts a chunk, if it continues its table, all its rows can be read, and what they name in
    /// other tables has been met: after a lost chunk, what builds on it is lost too.
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

    fn tables(&self) -> TableCounts {
        let known = |section: SectionType| {
            self.counts.get(section.0 as usize).map_or(0, |&count| u32::try_from(count).unwrap_or(u32::MAX))
        };
        TableCounts {
            strings: known(SectionType::STRINGS),
            kinds: known(SectionType::KINDS),
            strengths: known(SectionType::STRENGTHS),
            types: known(SectionType::TYPES),
            shapes: known(SectionType::SHAPES),
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

    /// Whether all rows of the chunk, with which its table has `end`, can be read and used.
    fn is_readable(&mut self, section: SectionType, chunk: &Chunk<'_>, end: u64) -> bool {
        fn rows<R: CheckedRow>(chunk: &Chunk<'_>, known: &TableCounts, decompressor: &mut Decompressor) -> bool {
            let mut ids = chunk.first..;
            let checked = |row: R| row.check(ids.next().unwrap_or(u64::MAX), known);
            chunk.for_each(decompressor, checked).is_ok()
        }
        let mut known = self.tables();
        let decompressor = &mut self.decompressor;
        match section {
            SectionType::META => rows::<KeyValue>(chunk, &known, decompressor),
            // The frame's checksums hold. Strings name nothing, and are decoded when they are asked for.
            SectionType::STRINGS => !self.decodes_strings || chunk.for_each_text(decompressor, |_| {}).is_ok(),
            SectionType::KINDS => rows::<Kind>(chunk, &known, decompressor),
            SectionType::STRENGTHS => rows::<Strength>(chunk, &known, decompressor),
            SectionType::TYPES => {
                // A type may be derived from one of the same chunk.
                known.types = u32::try_from(end).unwrap_or(u32::MAX);
                rows::<Type>(chunk, &known, decompressor)
            }
            SectionType::SHAPES => rows::<Shape>(chunk, &known, decompressor),
            SectionType::SITES => rows::<Site>(chunk, &known, decompressor),
            _ => false,
        }
    }
}
