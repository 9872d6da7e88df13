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
use barrow_format::rows::{Chunk, KeyValue, Kind, Row, Shape, Strength, Text, Type};
use barrow_format::{FormatError, SnapshotId};

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
        let mut known = KnownRows::default();
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
            if known.suffice(&commit.tables) {
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
    ]
    .contains(&section)
}

/// How many rows of each table a scan has met without a gap.
#[derive(Default)]
struct KnownRows {
    counts: [u64; SectionType::SHAPES.0 as usize + 1],
    decompressor: Decompressor,
}

impl KnownRows {
    /// Counts a chunk, if it continues its table and all its rows can be read.
    fn add(&mut self, section: SectionType, frame: &Frame<'_>) -> bool {
        let Ok(chunk) = frame.directory().and_then(|directory| Chunk::parse(directory, frame.body()?)) else {
            return false;
        };
        let Some(count) = self.counts.get_mut(section.0 as usize) else { return false };
        if chunk.first != *count || !is_readable(section, &chunk, &mut self.decompressor) {
            return false;
        }
        *count += chunk.count;
        true
    }

    fn suffice(&self, needed: &TableCounts) -> bool {
        let known = |section: SectionType| self.counts.get(section.0 as usize).copied().unwrap_or(0);
        known(SectionType::STRINGS) >= needed.strings.into()
            && known(SectionType::KINDS) >= needed.kinds.into()
            && known(SectionType::STRENGTHS) >= needed.strengths.into()
            && known(SectionType::TYPES) >= needed.types.into()
            && known(SectionType::SHAPES) >= needed.shapes.into()
    }
}

fn is_readable(section: SectionType, chunk: &Chunk<'_>, decompressor: &mut Decompressor) -> bool {
    fn rows<R: Row>(chunk: &Chunk<'_>, decompressor: &mut Decompressor) -> bool {
        chunk.for_each::<R>(decompressor, |_| Ok(())).is_ok()
    }
    match section {
        SectionType::META => rows::<KeyValue>(chunk, decompressor),
        SectionType::STRINGS => rows::<Text>(chunk, decompressor),
        SectionType::KINDS => rows::<Kind>(chunk, decompressor),
        SectionType::STRENGTHS => rows::<Strength>(chunk, decompressor),
        SectionType::TYPES => rows::<Type>(chunk, decompressor),
        SectionType::SHAPES => rows::<Shape>(chunk, decompressor),
        _ => false,
    }
}
