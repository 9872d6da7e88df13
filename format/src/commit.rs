//! Commits: the frame that completes a snapshot, with the positions of all its parts.
//!
//! A snapshot is *whole*, or a *patch* of the one before it, its base. The objects of a whole snapshot and of
//! the patches after it have *rows*, which never change: those of the whole snapshot are its objects, each
//! patch adds rows at the end. A row lives until its object dies; the objects of a patch are the living rows
//! in their order.
//!
//! ```text
//!   snapshot 3, whole   │ block 0  rows 0…65,535 │ block 1  rows 65,536…99,999 │
//!   snapshot 4          │ PATCH of group 0       │ same                        │ block 2  rows 100,000…100,411 │
//!   snapshot 5          │ same                   │ PATCH of group 1            │ gone      │ block 3 …          │
//! ```

use crate::block::{MAX_OBJECTS, MAX_REFERENCES, limit};
use crate::chain::Chain;
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_optional, put_u64, put_varint};
use crate::frame::SectionType;
use crate::ids::StringId;
use crate::numbered::numbered_enum;

/// The position and the objects of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEntry {
    /// Start of its frame in the file.
    pub offset: u64,
    /// The length of its frame, in bytes.
    pub length: u64,
    /// Its first object; for a continuation, the object it continues.
    pub first_object: u32,
    /// Objects that begin in it; 0 for a continuation.
    pub objects: u32,
    /// References in it.
    pub references: u32,
    /// The group of rows it holds, see [`Patched::groups`]; in a whole snapshot, its position among the blocks.
    pub group: u32,
}

/// The number of rows of each table of the file that a snapshot needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableCounts {
    /// Rows of the string table.
    pub strings: u32,
    /// Rows of the kind table.
    pub kinds: u32,
    /// Rows of the strength table.
    pub strengths: u32,
    /// Rows of the type table.
    pub types: u32,
    /// Rows of the shape table.
    pub shapes: u32,
}

/// Totals of a snapshot, counted by its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Objects.
    pub objects: u64,
    /// References.
    pub references: u64,
    /// Roots.
    pub roots: u64,
    /// Sum of shallow sizes, in bytes.
    pub heap_bytes: u64,
    /// Sum of unmanaged sizes, in bytes.
    pub unmanaged_bytes: u64,
}

/// The storage of a snapshot that is a patch of its base.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patched {
    /// The snapshot that it patches.
    pub base: u32,
    /// Number of rows, including dead ones.
    pub rows: u32,
    /// The state of each group of the base, and then of each new one. A group is the rows that began in one block, or
    /// the references of a continuation.
    pub groups: Vec<Group>,
}

numbered_enum! {
    /// The storage of a group of rows.
    pub enum Group("kind of a group", up to 3) {
        /// None of its rows lives.
        Gone = 0,
        /// Its living rows are as in the base.
        Same = 1,
        /// A PATCH frame has the rows that died or changed.
        Patch = 2,
        /// It is new: a BLOCK frame.
        Block = 3,
    }
}

/// The record that makes a snapshot a patch. Unknown records of odd kinds must not be skipped, those of even kinds may
/// be.
const PATCHED_RECORD: u64 = 1;

/// The end of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Commit {
    /// Identifies the content of the recording up to and including this frame: see [`Chain`].
    pub checksum: u64,
    /// The snapshot's number.
    pub snapshot: u32,
    /// Time of the snapshot, in nanoseconds since the recording began.
    pub time_ns: Option<u64>,
    /// The collection after which it was taken.
    pub gc_number: Option<u64>,
    /// Its name.
    pub label: Option<StringId>,
    /// Other facts about it.
    pub key_values: Vec<(StringId, StringId)>,
    /// Its totals.
    pub totals: Totals,
    /// The rows of tables it needs.
    pub tables: TableCounts,
    /// Offsets of its STATS frames, in order.
    pub stats: Vec<u64>,
    /// Offsets of its ROOTS frames, in order.
    pub roots: Vec<u64>,
    /// Offsets of its THREADS frames, in order.
    pub threads: Vec<u64>,
    /// Its blocks, by first object. In a patch, those of its groups that are not gone; the offset of one that
    /// is as in the base is 0.
    pub blocks: Vec<BlockEntry>,
    /// The commit before this one.
    pub previous_offset: Option<u64>,
    /// Its difference to an earlier snapshot; `None` if it is whole.
    pub patched: Option<Patched>,
}

impl Commit {
    /// Computes its checksum, given the chain of all frames before it. Returns the body of its frame.
    pub fn seal(&mut self, chain: Chain) -> Vec<u8> {
        self.checksum = chained_checksum(chain, &self.encode()).unwrap_or_default();
        self.encode()
    }

    /// The body of its frame.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u64(&mut out, self.checksum);
        put_varint(&mut out, self.snapshot.into());
        put_optional(&mut out, self.time_ns);
        put_optional(&mut out, self.gc_number);
        put_optional(&mut out, self.label.map(|label| label.0.into()));
        put_varint(&mut out, self.key_values.len() as u64);
        for (key, value) in &self.key_values {
            put_varint(&mut out, key.0.into());
            put_varint(&mut out, value.0.into());
        }
        let totals = &self.totals;
        for total in [totals.objects, totals.references, totals.roots, totals.heap_bytes, totals.unmanaged_bytes] {
            put_varint(&mut out, total);
        }
        let tables = &self.tables;
        for count in [tables.strings, tables.kinds, tables.strengths, tables.types, tables.shapes] {
            put_varint(&mut out, count.into());
        }
        put_optional(&mut out, self.previous_offset);
        for offsets in [&self.stats, &self.roots, &self.threads] {
            put_varint(&mut out, offsets.len() as u64);
            offsets.iter().for_each(|&offset| put_varint(&mut out, offset));
        }
        put_varint(&mut out, self.blocks.len() as u64);
        put_varint(&mut out, self.middle() as u64);
        for block in &self.blocks {
            put_varint(&mut out, block.offset);
            put_varint(&mut out, block.length);
            put_varint(&mut out, block.objects.into());
            put_varint(&mut out, block.references.into());
        }
        if let Some(patched) = &self.patched {
            put_record(&mut out, PATCHED_RECORD, &patched.encode());
        }
        out
    }

    /// The blocks whose frames are the snapshot's own, each with the type of its frame.
    pub fn own_blocks(&self) -> impl Iterator<Item = (SectionType, &BlockEntry)> {
        let groups = self.patched.as_ref().map(|patched| patched.groups.as_slice());
        self.blocks.iter().filter_map(move |block| {
            let group = groups.map_or(Some(Group::Block), |groups| groups.get(block.group as usize).copied())?;
            match group {
                Group::Block => Some((SectionType::BLOCK, block)),
                Group::Patch => Some((SectionType::PATCH, block)),
                Group::Gone | Group::Same => None,
            }
        })
    }

    /// Parses the body of a COMMIT frame and checks it without reading the blocks: they must tile the objects and add
    /// up to the totals.
    ///
    /// # Errors
    /// Any error in its bytes.
    pub fn parse(body: &[u8]) -> Result<Self> {
        let mut fields = Fields::new("commit", body);
        let mut commit = Commit {
            checksum: fields.u64()?,
            snapshot: fields.varint_u32()?,
            time_ns: fields.optional()?,
            gc_number: fields.optional()?,
            label: fields.optional_u32()?.map(StringId),
            ..Commit::default()
        };
        for _ in 0..fields.count()? {
            commit.key_values.push((StringId(fields.varint_u32()?), StringId(fields.varint_u32()?)));
        }
        commit.totals = Totals {
            objects: fields.varint()?,
            references: fields.varint()?,
            roots: fields.varint()?,
            heap_bytes: fields.varint()?,
            unmanaged_bytes: fields.varint()?,
        };
        commit.tables = TableCounts {
            strings: fields.varint_u32()?,
            kinds: fields.varint_u32()?,
            strengths: fields.varint_u32()?,
            types: fields.varint_u32()?,
            shapes: fields.varint_u32()?,
        };
        commit.previous_offset = fields.optional()?;
        commit.stats = offsets(&mut fields)?;
        commit.roots = offsets(&mut fields)?;
        commit.threads = offsets(&mut fields)?;
        let count = fields.count()?;
        let middle = fields.varint()?;
        let (mut objects, mut references) = (0u64, 0u64);
        for group in 0..count as u64 {
            let group = u32::try_from(group).unwrap_or(u32::MAX);
            let (offset, length) = (fields.varint()?, fields.varint()?);
            let (in_block, edges) = (fields.varint_u32()?, fields.varint_u32()?);
            limit("objects in a block", in_block, MAX_OBJECTS)?;
            limit("references in a block", edges, MAX_REFERENCES)?;
            // A continuation belongs to the last object before it.
            let first = if in_block == 0 { objects.checked_sub(1) } else { Some(objects) };
            let first_object = first.and_then(|first| u32::try_from(first).ok()).ok_or(FormatError::OutOfRange {
                what: "first object of a block",
                value: objects,
                limit: u32::MAX.into(),
            })?;
            let entry = BlockEntry { offset, length, first_object, objects: in_block, references: edges, group };
            commit.blocks.push(entry);
            objects += u64::from(in_block);
            references += u64::from(edges);
        }
        agree("objects in blocks", commit.totals.objects, objects)?;
        agree("references in blocks", commit.totals.references, references)?;
        agree("middle block", middle, commit.middle() as u64)?;
        if objects > u64::from(u32::MAX) {
            return Err(FormatError::OutOfRange {
                what: "objects in a snapshot",
                value: objects,
                limit: u32::MAX.into(),
            });
        }
        commit.read_records(&mut fields)?;
        Ok(commit)
    }

    /// Reads the records after the blocks, skipping unknown ones of kinds that may be skipped.
    fn read_records(&mut self, fields: &mut Fields<'_>) -> Result<()> {
        while !fields.rest().is_empty() {
            let (kind, length) = (fields.varint()?, fields.varint()?);
            let record = fields.bytes(length)?;
            if kind == PATCHED_RECORD {
                agree("patch records of a commit", 1, 1 + u64::from(self.patched.is_some()))?;
                self.patched = Some(Patched::parse(record, &mut self.blocks)?);
            } else if kind % 2 == 1 {
                return Err(FormatError::UnknownCriticalRecord { kind });
            }
        }
        Ok(())
    }

    /// The block at which the first half of the snapshot's bytes ends: the start of a second thread.
    #[must_use]
    pub fn middle(&self) -> usize {
        self.split_point(1, 2)
    }

    /// The block at which part `part` of `parts` starts, if the snapshot's blocks are divided into
    /// runs of about equal length in bytes: `split_point(1, 2)` is the middle, `split_point(0, n)`
    /// the first block, `split_point(n, n)` the number of blocks.
    #[must_use]
    pub fn split_point(&self, part: usize, parts: usize) -> usize {
        if part >= parts {
            return self.blocks.len();
        }
        let total: u128 = self.blocks.iter().map(|block| u128::from(block.length)).sum();
        let wanted = (total * part as u128).div_ceil(parts as u128);
        let mut before = 0;
        self.blocks
            .iter()
            .position(|block| {
                let reached = before >= wanted;
                before += u128::from(block.length);
                reached
            })
            .unwrap_or(self.blocks.len())
    }
}

/// The checksum at the start of the body of a COMMIT frame. The rest of the body is not read.
///
/// # Errors
/// [`FormatError::Truncated`].
pub fn stored_checksum(body: &[u8]) -> Result<u64> {
    Fields::new("commit", body).u64()
}

/// The expected checksum of a body of a COMMIT frame; `chain` is the chain of the frames before it.
///
/// # Errors
/// [`FormatError::Truncated`].
pub fn chained_checksum(mut chain: Chain, body: &[u8]) -> Result<u64> {
    let mut fields = Fields::new("commit", body);
    fields.u64()?;
    chain.add(fields.rest());
    Ok(chain.checksum())
}

impl Patched {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, self.base.into());
        put_varint(&mut out, self.rows.into());
        put_varint(&mut out, self.groups.len() as u64);
        self.groups.iter().for_each(|group| put_varint(&mut out, group.number()));
        out
    }

    /// Parses the storage of a patch, and sets the groups of its blocks.
    fn parse(record: &[u8], blocks: &mut [BlockEntry]) -> Result<Self> {
        let mut fields = Fields::new("patch record of a commit", record);
        let mut patched = Patched { base: fields.varint_u32()?, rows: fields.varint_u32()?, groups: Vec::new() };
        for _ in 0..fields.count()? {
            patched.groups.push(Group::from_number(fields.varint()?)?);
        }
        agree("length of a patch record", record.len() as u64, fields.offset())?;
        let there = (0u32..).zip(&patched.groups).filter(|(_, group)| **group != Group::Gone);
        agree("groups of a patch", there.clone().count() as u64, blocks.len() as u64)?;
        for (block, (number, group)) in blocks.iter_mut().zip(there) {
            block.group = number;
            if *group == Group::Same {
                agree("offset of a group that is the same", block.offset, 0)?;
                agree("length of a group that is the same", block.length, 0)?;
            }
        }
        Ok(patched)
    }
}

/// Appends a record that a reader can skip without knowing its kind.
fn put_record(out: &mut Vec<u8>, kind: u64, bytes: &[u8]) {
    put_varint(out, kind);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn offsets(fields: &mut Fields<'_>) -> Result<Vec<u64>> {
    (0..fields.count()?).map(|_| fields.varint()).collect()
}

fn agree(what: &'static str, stored: u64, found: u64) -> Result<()> {
    if stored == found { Ok(()) } else { Err(FormatError::Mismatch { what, stored, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(lengths: &[u64]) -> Commit {
        let blocks = lengths.iter().enumerate().map(|(number, &length)| BlockEntry {
            offset: 64 + number as u64 * 1000,
            length,
            first_object: 2 * number as u32,
            objects: 2,
            references: 3,
            group: number as u32,
        });
        Commit {
            snapshot: 1,
            time_ns: Some(0),
            key_values: vec![(StringId(0), StringId(1))],
            totals: Totals {
                objects: 2 * lengths.len() as u64,
                references: 3 * lengths.len() as u64,
                ..Totals::default()
            },
            blocks: blocks.collect(),
            stats: vec![8, 16],
            ..Commit::default()
        }
    }

    #[test]
    fn records_of_unknown_kinds_are_skipped_unless_they_are_critical() {
        let mut commit = commit(&[48, 480]);
        commit.patched = Some(Patched { base: 0, rows: 9, groups: vec![Group::Patch, Group::Gone, Group::Block] });
        commit.blocks[1].group = 2;
        let with_record = |kind| {
            let mut body = commit.encode();
            put_record(&mut body, kind, &[0xff; 9]);
            body
        };
        assert_eq!(Commit::parse(&with_record(2)).unwrap(), commit);
        assert_eq!(Commit::parse(&with_record(1 << 40)).unwrap(), commit);
        let error = Commit::parse(&with_record(3)).unwrap_err();
        assert_eq!(error, FormatError::UnknownCriticalRecord { kind: 3 });
        assert!(error.to_string().contains("update barrow"), "{error}");
        assert!(Commit::parse(&with_record(PATCHED_RECORD)).is_err(), "two patch records");
        let body = with_record(2);
        assert!(Commit::parse(&body[..body.len() - 1]).is_err(), "a record that is cut");
    }

    #[test]
    fn a_commit_is_read_back() {
        for lengths in [&[][..], &[48], &[48, 480, 40]] {
            let commit = commit(lengths);
            assert_eq!(Commit::parse(&commit.encode()).unwrap(), commit);
        }
    }

    #[test]
    fn the_checksum_covers_every_field_and_what_was_before() {
        let mut sealed = commit(&[48, 480]);
        let body = sealed.seal(Chain::new());
        assert_eq!(Commit::parse(&body).unwrap(), sealed);
        assert_eq!(stored_checksum(&body), Ok(sealed.checksum));
        assert_eq!(chained_checksum(Chain::new(), &body), Ok(sealed.checksum));
        let differs = |chain, body: &[u8]| chained_checksum(chain, body) != Ok(sealed.checksum);
        assert!(differs(Chain::after_commit(1), &body));
        for bit in 64..8 * body.len() {
            let mut body = body.clone();
            body[bit / 8] ^= 1 << (bit % 8);
            assert!(differs(Chain::new(), &body), "bit {bit}");
        }
    }

    #[test]
    fn totals_that_lie_are_noticed() {
        let mut commit = commit(&[48, 480]);
        commit.totals.references += 1;
        assert!(matches!(Commit::parse(&commit.encode()), Err(FormatError::Mismatch { .. })));
    }

    #[test]
    fn split_points_divide_by_bytes() {
        let commit = commit(&[100, 100, 100, 100, 400]);
        assert_eq!(commit.split_point(0, 2), 0);
        assert_eq!(commit.split_point(1, 2), 4);
        assert_eq!(commit.split_point(2, 2), 5);
        assert_eq!(commit.split_point(1, 8), 1);
    }
}
