//! Format 2: plain records in chunks.
//!
//! ```text
//!   «MoarHeapDumpv002»
//!   per snapshot   «coll» count u64 · 28 u64 · records        collectables
//!                  «refs» count u64 · 17 u64 · records        references, of 4 to 18 bytes
//!   anywhere       «strs» u64 · (length u64 · bytes)*         ended by the chunk «type»
//!   between, or    «type» count u64 · 16 u64 · records        (REPR name u64, name u64)
//!   at the end     «fram» count u64 · 32 u64 · records        (name, cuid, line, file: u64 each)
//!   at the end     index                                      missing if the process was killed
//!
//!   coll record    kind u16 · type u32 · size u16 · unmanaged u64 · first reference u64 · count u32
//!   refs record    letter u8 · description kind u8 · description · target     letter 0 1 3 6: u8 u16 u32 u64
//!   index          per snapshot: size of coll u64 · size of refs u64 · middle of refs u64 · 0 u64
//!                  then the sizes of three table chunks, u64 each, and the number of snapshots u64
//! ```
//!
//! The contents differ from the intended format. The fields of `type` and `fram` are u64 made of u32: their high
//! halves are random memory, so only the low halves count. The u64 of `strs` is the number of strings in some builds
//! and the number of the first string in others, so it is ignored. Some builds write the new rows of the tables after
//! each snapshot, others all of them at the end: so the chunks are scanned first, all tables are read, and then come
//! the snapshots.

mod records;

use super::collectables::{Collectable, Collectables, Run, RunLengths};
use super::header::HEADER_BYTES;
use super::reading::{CheckedSnapshot, NextSnapshot, RECORDS_PER_QUESTION, ReadContext, Snapshots};
use super::references::Limits;
use crate::error::{Damage, Stop};
use crate::intake::cursor::Cursor;
use byteorder::{ByteOrder, LittleEndian};
use records::{MAX_REFERENCE_BYTES, MIN_REFERENCE_BYTES, ReferenceRecords, end_of_records};

/// The bytes of a collectable.
const COLLECTABLE_BYTES: u64 = 28;
/// The record size in `refs`, although records vary.
const REFERENCE_SIZE_FIELD: u64 = 17;
const TYPE_BYTES: u64 = 16;
const FRAME_BYTES: u64 = 32;
/// Tag, count and record size.
const CHUNK_HEADER_BYTES: u64 = 20;
/// Length of a snapshot in the index, and of everything in the index besides snapshots.
const INDEX_ENTRY_BYTES: u64 = 32;

/// Finds all snapshots of a dump, and reads the tables.
///
/// # Errors
/// Those of the system. Damage to the dump is reported after the snapshots before it.
pub(crate) fn snapshots<'a>(dump: &'a [u8], reading: &mut ReadContext<'a>) -> Result<BinarySnapshots<'a>, Stop> {
    let mut scan = Scan { dump, index: Index::at_end(dump), snapshots: Vec::new(), collectables: None };
    let end = match scan.run(reading) {
        Err(Stop::Import(error)) => return Err(Stop::Import(error)),
        end => end,
    };
    Ok(BinarySnapshots { dump, snapshots: scan.snapshots, number: 0, end })
}

/// The snapshots of a dump that were found.
pub(crate) struct BinarySnapshots<'a> {
    dump: &'a [u8],
    snapshots: Vec<SnapshotChunks<'a>>,
    /// The number of the next one.
    number: u64,
    /// The reason why no more were found.
    end: Result<(), Stop>,
}

impl<'a> Snapshots<'a> for BinarySnapshots<'a> {
    type Collectables = CollectableRecords<'a>;
    type References = ReferenceRecords<'a>;

    fn next(&mut self, reading: &mut ReadContext<'a>) -> NextSnapshot<Self::Collectables, Self::References> {
        let Some(chunks) = self.snapshots.get(self.number as usize) else {
            return std::mem::replace(&mut self.end, Ok(())).map(|()| None);
        };
        let number = self.number;
        self.number += 1;
        chunks.check(self.dump, number, reading).map(Some)
    }
}

/// Returns whether these bytes begin a chunk.
pub(super) fn begins_chunk(bytes: &[u8]) -> bool {
    let tags: [&[u8]; 5] = [b"coll", b"refs", b"strs", b"type", b"fram"];
    tags.iter().any(|tag| bytes.starts_with(tag))
}

/// Consecutive records of a `coll` chunk.
#[derive(Clone, Copy)]
pub(crate) struct CollectableRecords<'a> {
    offset: u64,
    records: &'a [u8],
}

impl<'a> Collectables for CollectableRecords<'a> {
    type Run = CollectableRecords<'a>;

    fn unreported_bytes(&self) -> u64 {
        self.records.len() as u64
    }

    fn runs(&self) -> Result<impl Iterator<Item = Result<Self::Run, Stop>> + Send, Stop> {
        let mut rest = *self;
        Ok(RunLengths::of(self.len()).map(move |length| {
            let (records, after) = rest.records.split_at(length * COLLECTABLE_BYTES as usize);
            let run = CollectableRecords { offset: rest.offset, records };
            rest = CollectableRecords { offset: rest.offset + records.len() as u64, records: after };
            Ok(run)
        }))
    }
}

impl Run for CollectableRecords<'_> {
    fn len(&self) -> usize {
        self.records.len() / COLLECTABLE_BYTES as usize
    }

    #[inline]
    fn for_each(&self, mut visit: impl FnMut(&Collectable) -> Result<(), Stop>) -> Result<(), Stop> {
        let (records, _) = self.records.as_chunks::<{ COLLECTABLE_BYTES as usize }>();
        let mut offset = self.offset;
        for record in records {
            visit(&collectable(record, offset))?;
            offset += COLLECTABLE_BYTES;
        }
        Ok(())
    }
}

/// Reads one record of `coll`.
#[inline]
fn collectable(record: &[u8; COLLECTABLE_BYTES as usize], offset: u64) -> Collectable {
    Collectable {
        offset,
        kind: LittleEndian::read_u16(&record[0..2]).into(),
        type_index: LittleEndian::read_u32(&record[2..6]).into(),
        size: LittleEndian::read_u16(&record[6..8]).into(),
        unmanaged: LittleEndian::read_u64(&record[8..16]),
        first_reference: LittleEndian::read_u64(&record[16..24]),
        reference_count: LittleEndian::read_u32(&record[24..28]).into(),
    }
}

/// The chunks of a snapshot in the dump.
struct SnapshotChunks<'a> {
    collectables: CollectableRecords<'a>,
    reference_count: u64,
    /// The offset of the first record of `refs`.
    references_offset: usize,
    /// The offset of the next chunk.
    references_end: usize,
}

impl<'a> SnapshotChunks<'a> {
    /// Reads and checks the snapshot.
    fn check(
        &self,
        dump: &'a [u8],
        number: u64,
        reading: &ReadContext<'_>,
    ) -> Result<CheckedSnapshot<CollectableRecords<'a>, ReferenceRecords<'a>>, Stop> {
        let references = self.references(dump, reading).map_err(|stop| stop.in_snapshot(number))?;
        CheckedSnapshot::new(number, self.collectables, references, reading)
    }

    /// Checks the records of `refs`.
    fn references(&self, dump: &'a [u8], reading: &ReadContext<'_>) -> Result<ReferenceRecords<'a>, Stop> {
        let collectable_count = self.collectables.records.len() as u64 / COLLECTABLE_BYTES;
        let string_count = reading.tables.strings().len() as u64;
        let limits = Limits::new(collectable_count, string_count, self.references_offset as u64)?;
        let bounds = (self.references_offset, self.references_end);
        ReferenceRecords::walk(dump, bounds, self.reference_count, &limits, reading)
    }
}

/// The chunks of a dump that were found.
struct Scan<'a> {
    dump: &'a [u8],
    index: Option<Index<'a>>,
    snapshots: Vec<SnapshotChunks<'a>>,
    /// A `coll` chunk without its `refs` chunk so far.
    collectables: Option<CollectableRecords<'a>>,
}

impl<'a> Scan<'a> {
    /// Finds all chunks, and reads the tables among them.
    fn run(&mut self, reading: &mut ReadContext<'a>) -> Result<(), Stop> {
        let mut cursor = Cursor::new(self.dump, HEADER_BYTES);
        reading.progress.advance(cursor.offset());
        while !self.is_end(&cursor)? {
            reading.check_cancelled()?;
            self.chunk(&mut cursor, reading).map_err(|stop| match self.collectables {
                Some(_) => stop.in_snapshot(self.snapshots.len() as u64),
                None => stop,
            })?;
        }
        reading.progress.advance(cursor.rest().len() as u64);
        Ok(())
    }

    /// Returns whether the dump ends here with its index.
    fn is_end(&self, cursor: &Cursor<'a>) -> Result<bool, Stop> {
        let snapshot_count = self.snapshots.len() as u64;
        if self.collectables.is_none()
            && let Some(index) = &self.index
            && (index.offset, index.snapshot_count) == (cursor.offset(), snapshot_count)
        {
            return Ok(true);
        }
        if !cursor.rest().is_empty() {
            return Ok(false);
        }
        let length = self.dump.len() as u64;
        Err(match self.collectables {
            Some(_) => Stop::from(Damage::Ends { length, inside: "a snapshot, before its references" })
                .in_snapshot(snapshot_count),
            None => Damage::Unfinished { length, missing: "its index" }.into(),
        })
    }

    /// Reads or notes one chunk.
    fn chunk(&mut self, cursor: &mut Cursor<'a>, reading: &mut ReadContext<'a>) -> Result<(), Stop> {
        let start = cursor.offset();
        let tag = cursor.rest().first_chunk::<4>();
        match (tag, self.collectables.is_some()) {
            (Some(b"coll"), false) => {
                let number = self.snapshots.len() as u64;
                self.collectables(cursor).map_err(|damage| Stop::from(damage).in_snapshot(number))?;
                reading.progress.advance(CHUNK_HEADER_BYTES);
            }
            (Some(b"refs"), true) => {
                self.references(cursor, reading)?;
                reading.progress.advance(CHUNK_HEADER_BYTES);
            }
            (Some(b"strs"), false) => {
                strings(cursor, reading)?;
                reading.progress.advance(cursor.offset() - start);
            }
            (Some(b"type"), false) => {
                types(cursor, reading)?;
                reading.progress.advance(cursor.offset() - start);
            }
            (Some(b"fram"), false) => {
                frames(cursor, reading)?;
                reading.progress.advance(cursor.offset() - start);
            }
            _ => return Err(self.no_chunk(cursor).into()),
        }
        Ok(())
    }

    /// The reason why there is no chunk here.
    fn no_chunk(&self, cursor: &Cursor<'_>) -> Damage {
        let expected = if self.collectables.is_some() { "the chunk refs" } else { "a chunk, or the index" };
        let rest = cursor.rest();
        if rest.len() < 4 {
            return Damage::Ends { length: self.dump.len() as u64, inside: "a chunk's tag" };
        }
        // The index is written last; if it begins here, it has been cut.
        if let Some(first) = self.snapshots.first()
            && rest.starts_with(&(first.collectables.records.len() as u64 + CHUNK_HEADER_BYTES).to_le_bytes()[..4])
        {
            return Damage::Ends { length: self.dump.len() as u64, inside: "its index" };
        }
        let found = rest.iter().take(4).copied().collect::<Vec<_>>();
        Damage::Unexpected { found: format!("\"{}\"", found.escape_ascii()), offset: cursor.offset(), expected }
    }

    /// Notes the records of `coll`.
    fn collectables(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Damage> {
        let count = chunk_header(cursor, "the collectables", COLLECTABLE_BYTES)?;
        let offset = cursor.offset();
        let records = cursor.take(count.saturating_mul(COLLECTABLE_BYTES), "the collectables")?;
        self.collectables = Some(CollectableRecords { offset, records });
        Ok(())
    }

    /// Notes the records of `refs`, which completes a snapshot.
    fn references(&mut self, cursor: &mut Cursor<'a>, reading: &ReadContext<'a>) -> Result<(), Stop> {
        let chunk_offset = cursor.offset();
        let reference_count = chunk_header(cursor, "the references", REFERENCE_SIZE_FIELD)?;
        let offset = cursor.offset() as usize;
        let least = reference_count.saturating_mul(MIN_REFERENCE_BYTES);
        if least > cursor.rest().len() as u64 {
            return Err(Damage::Ends { length: self.dump.len() as u64, inside: "the references" }.into());
        }
        let indexed = self.index.as_ref().and_then(|index| {
            index.references_end(self.dump, self.snapshots.len() as u64, chunk_offset, reference_count)
        });
        let end = match indexed {
            Some(end) => end,
            None => end_of_records(self.dump, offset, reference_count, reading)?,
        };
        if let Some(collectables) = self.collectables.take() {
            let chunks =
                SnapshotChunks { collectables, reference_count, references_offset: offset, references_end: end };
            self.snapshots.push(chunks);
        }
        *cursor = Cursor::new(self.dump, end);
        Ok(())
    }
}

/// Reads tag, count and record size of a chunk, and returns the count.
fn chunk_header(cursor: &mut Cursor<'_>, inside: &'static str, record_bytes: u64) -> Result<u64, Damage> {
    let offset = cursor.offset();
    cursor.take(4, inside)?;
    let count = cursor.u64(inside)?;
    let found = cursor.u64(inside)?;
    if found == record_bytes {
        return Ok(count);
    }
    Err(Damage::Mismatch { what: "bytes of a record in the chunk", offset, expected: record_bytes, found })
}

/// Reads the strings of `strs`, up to the chunk `type`.
fn strings<'a>(cursor: &mut Cursor<'a>, reading: &mut ReadContext<'a>) -> Result<(), Stop> {
    cursor.take(4, "the strings")?;
    cursor.u64("the strings")?;
    let mut left = RECORDS_PER_QUESTION;
    while !is_type_chunk(cursor.rest()) {
        let length = cursor.u64("the strings")?;
        reading.tables.push_string(cursor.take(length, "the strings")?);
        left -= 1;
        if left == 0 {
            reading.check_cancelled()?;
            left = RECORDS_PER_QUESTION;
        }
    }
    Ok(())
}

/// Returns whether the chunk `type` begins here. No string is as long as the tag would be as a length.
fn is_type_chunk(rest: &[u8]) -> bool {
    rest.first_chunk::<{ CHUNK_HEADER_BYTES as usize }>()
        .is_some_and(|header| header.starts_with(b"type") && LittleEndian::read_u64(&header[12..20]) == TYPE_BYTES)
}

/// Reads the types of `type`.
fn types<'a>(cursor: &mut Cursor<'a>, reading: &mut ReadContext<'a>) -> Result<(), Damage> {
    let count = chunk_header(cursor, "the types", TYPE_BYTES)?;
    let records = cursor.take(count.saturating_mul(TYPE_BYTES), "the types")?;
    let (records, _) = records.as_chunks::<{ TYPE_BYTES as usize }>();
    for record in records {
        reading.tables.push_type([0, 8].map(|field| low_half(record, field)));
    }
    Ok(())
}

/// Reads the frames of `fram`.
fn frames<'a>(cursor: &mut Cursor<'a>, reading: &mut ReadContext<'a>) -> Result<(), Damage> {
    let count = chunk_header(cursor, "the frames", FRAME_BYTES)?;
    let records = cursor.take(count.saturating_mul(FRAME_BYTES), "the frames")?;
    let (records, _) = records.as_chunks::<{ FRAME_BYTES as usize }>();
    for record in records {
        reading.tables.push_frame([0, 8, 16, 24].map(|field| low_half(record, field)));
    }
    Ok(())
}

/// The half of a table's u64 that has a meaning.
fn low_half(record: &[u8], field: usize) -> u32 {
    LittleEndian::read_u32(&record[field..field + 4])
}

/// The index at the end of a whole dump, which describes its snapshots.
struct Index<'a> {
    offset: u64,
    snapshot_count: u64,
    entries: &'a [u8],
}

impl<'a> Index<'a> {
    /// The index, if the end of the dump can be one.
    fn at_end(dump: &'a [u8]) -> Option<Self> {
        let snapshot_count = dump.last_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes))?;
        let length = snapshot_count.checked_add(1)?.checked_mul(INDEX_ENTRY_BYTES)?;
        let offset = dump.len().checked_sub(usize::try_from(length).ok()?)?;
        if offset < HEADER_BYTES {
            return None;
        }
        Some(Index { offset: offset as u64, snapshot_count, entries: dump.get(offset..)? })
    }

    /// The end of the `refs` chunk of a snapshot, if the index is right about it.
    fn references_end(&self, dump: &[u8], snapshot: u64, chunk_offset: u64, reference_count: u64) -> Option<usize> {
        if snapshot >= self.snapshot_count {
            return None;
        }
        let field = usize::try_from(snapshot * INDEX_ENTRY_BYTES).ok()? + 8;
        let size = LittleEndian::read_u64(self.entries.get(field..field + 8)?);
        let records = size.checked_sub(CHUNK_HEADER_BYTES)?;
        let per_record = MIN_REFERENCE_BYTES..=MAX_REFERENCE_BYTES as u64;
        if records < reference_count.checked_mul(*per_record.start())?
            || records > reference_count.checked_mul(*per_record.end())?
        {
            return None;
        }
        let end = chunk_offset.checked_add(size)?;
        let end_offset = usize::try_from(end).ok()?;
        let next = dump.get(end_offset..)?;
        let leads_to_chunk = match next.first_chunk::<4>() {
            Some(b"strs") => true,
            Some(b"coll") => next.get(12..20).map(LittleEndian::read_u64) == Some(COLLECTABLE_BYTES),
            _ => end == self.offset,
        };
        (leads_to_chunk && end <= self.offset).then_some(end_offset)
    }
}
