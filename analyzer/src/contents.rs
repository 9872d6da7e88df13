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
use barrow_format::rows::{Chunk, KeyValue, Kind, Shape, Site, Strength, Text, Type};
use barrow_format::{FormatError, SnapshotId};

use crate::tables::{CheckedRow, TableRoom};

/// Where the sections of a file are.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Committed snapshots and the offsets of their COMMIT frames, by number.
    pub(crate) commits: Vec<(SnapshotId, u64)>,
    /// Chunks of the tables, in the order of the file.
    pub(crate) chunks: Vec<(SectionType, u64)>,
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
            format!("it ends after {} bytes without an index, as if it were cut or its writer had died", file.len())
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

    /// Hops over all frames of a file without index.
    pub(crate) fn scan(file: &[u8], reason: String) -> Result<Self, FormatError> {
        let mut contents = Contents::default();
        let mut damage = Damage {
            file_length: file.len() as u64,
            reason,
            whole_snapshots: 0,
            committed_end: HEADER_BYTES.min(file.len()) as u64,
            unusable_snapshots: Vec::new(),
            unreadable_bytes: 0,
        };
        let mut known = KnownRows::new(file);
        let mut offset = HEADER_BYTES as u64;
        while (offset as usize) < file.len() {
            match Frame::parse(file, offset) {
                Ok(frame) => {
                    contents.take_in(&frame, &mut known, &mut damage);
                    offset = frame.end();
                }
                Err(error @ FormatError::UnknownCriticalSection { .. }) => return Err(error),
                Err(_) => {
                    let Some(next) = next_frame(file, offset + 1) else { break };
                    damage.unreadable_bytes += next - offset;
                    offset = next;
                }
            }
        }
        contents.commits.sort_unstable();
        contents.commits.dedup_by_key(|commit| commit.0);
        damage.whole_snapshots = contents.commits.len();
        contents.damage = Some(damage);
        Ok(contents)
    }

    fn take_in(&mut self, frame: &Frame<'_>, known: &mut KnownRows, damage: &mut Damage) {
        let section = frame.header.section;
        if is_table(section) {
            if known.add(section, frame) {
                self.chunks.push((section, frame.offset));
            }
        } else if section == SectionType::COMMIT
            && let Ok(commit) = frame.body().and_then(Commit::parse)
        {
            let base = commit.patched.as_ref().map(|patched| SnapshotId(patched.base));
            let has_base = base.is_none_or(|base| self.commits.iter().any(|&(id, _)| id == base));
            if known.suffice(&commit.tables) && has_base {
                self.commits.push((SnapshotId(commit.snapshot), frame.offset));
                damage.committed_end = frame.end();
            } else {
                damage.unusable_snapshots.push(SnapshotId(commit.snapshot));
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

/// How many rows of each table a scan has met without a gap.
struct KnownRows {
    counts: [u64; SectionType::SITES.0 as usize + 1],
    room: TableRoom,
    decompressor: Decompressor,
}

impl KnownRows {
    fn new(file: &[u8]) -> Self {
        KnownRows { counts: Default::default(), room: TableRoom::new(file), decompressor: Decompressor::new() }
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
            SectionType::STRINGS => rows::<Text>(chunk, &known, decompressor),
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
