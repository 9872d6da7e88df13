//! The trailing index: a row for every section, so that a reader need not scan the file.

use crate::commit::Commit;
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;

/// The position of a section. The blocks of one snapshot are one section, as are its roots; each chunk of a table is
/// its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexRow {
    /// Its contents.
    pub section: SectionType,
    /// The snapshot it belongs to, or [`crate::frame::NO_SNAPSHOT`].
    pub snapshot: u32,
    /// Start of its first frame in the file.
    pub offset: u64,
    /// From there to the end of its last frame, in bytes. Frames of other sections may lie between them.
    pub length: u64,
    /// Rows, or objects for blocks.
    pub rows: u64,
    /// The start of its second half; `offset` if it has one frame only. A commit's block directory holds all further
    /// split points.
    pub split_offset: u64,
}

impl IndexRow {
    /// The blocks of a snapshot as one section, split at its middle, and its patches as another.
    #[must_use]
    pub fn of_blocks(commit: &Commit) -> Vec<Self> {
        let sections = [SectionType::BLOCK, SectionType::PATCH].into_iter().filter_map(|section| {
            let blocks = || commit.own_blocks().filter(|&(own, _)| own == section).map(|(_, block)| block);
            let offset = blocks().map(|block| block.offset).min()?;
            let end = blocks().map(|block| block.offset.saturating_add(block.length)).max()?;
            let middle = commit.blocks.get(commit.middle()).map_or(offset, |block| block.offset);
            Some(IndexRow {
                section,
                snapshot: commit.snapshot,
                offset,
                length: end - offset,
                rows: blocks().map(|block| u64::from(block.objects)).sum(),
                split_offset: if (offset..end).contains(&middle) { middle } else { offset },
            })
        });
        sections.collect()
    }
}

/// The body of an INDEX frame.
#[must_use]
pub fn encode_index(rows: &[IndexRow]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, rows.len() as u64);
    for row in rows {
        put_varint(&mut out, row.section.0.into());
        // NO_SNAPSHOT becomes 0.
        put_varint(&mut out, row.snapshot.wrapping_add(1).into());
        put_varint(&mut out, row.offset);
        put_varint(&mut out, row.length);
        put_varint(&mut out, row.rows);
        put_varint(&mut out, row.split_offset.wrapping_sub(row.offset));
    }
    out
}

/// Reads the body of an INDEX frame of a file of `file_length` bytes.
///
/// # Errors
/// Any error in its bytes; [`FormatError::OutOfRange`] for a section outside of the file.
pub fn parse_index(body: &[u8], file_length: u64) -> Result<Vec<IndexRow>> {
    let mut fields = Fields::new("index", body);
    let count = fields.count()?;
    let mut rows = Vec::new();
    for _ in 0..count {
        let section = fields.varint()?;
        let row = IndexRow {
            section: u16::try_from(section).map(SectionType).map_err(|_| FormatError::OutOfRange {
                what: "section type in index",
                value: section,
                limit: u16::MAX.into(),
            })?,
            snapshot: fields.varint_u32()?.wrapping_sub(1),
            offset: fields.varint()?,
            length: fields.varint()?,
            rows: fields.varint()?,
            split_offset: 0,
        };
        let split_offset = row.offset.wrapping_add(fields.varint()?);
        let end = row.offset.checked_add(row.length).filter(|&end| end <= file_length && split_offset <= end);
        if end.is_none() {
            return Err(FormatError::OutOfRange { what: "section in index", value: row.offset, limit: file_length });
        }
        rows.push(IndexRow { split_offset, ..row });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::NO_SNAPSHOT;

    #[test]
    fn an_index_is_read_back_and_stays_in_the_file() {
        let rows = [
            IndexRow {
                section: SectionType::STRINGS,
                snapshot: NO_SNAPSHOT,
                offset: 64,
                length: 48,
                rows: 3,
                split_offset: 64,
            },
            IndexRow {
                section: SectionType::BLOCK,
                snapshot: 0,
                offset: 112,
                length: 960,
                rows: 70_000,
                split_offset: 512,
            },
        ];
        let bytes = encode_index(&rows);
        assert_eq!(parse_index(&bytes, 2000).unwrap(), rows);
        assert!(parse_index(&bytes, 1000).is_err());
    }
}
