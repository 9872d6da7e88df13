//! A column that holds a part for each of several snapshots.
//!
//! ```text
//!   magic · number of parts
//!   directory: {snapshot, codec, stored length, raw length, four numbers} …      8 numbers of 8 bytes
//!   the stored bytes of the parts
//! ```
//!
//! The meaning of the four numbers of a part depends on the column. They can be read without decompressing the part.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use barrow_format::SnapshotId;
use barrow_format::codec::{Codec, Compression, Compressor, Decompressor};
use byteorder::{ByteOrder, LittleEndian};

use crate::columns::values::Values;

/// Changes whenever the meaning of parts does.
const MAGIC: u64 = 0x0001_7374_7261_7062;
const NUMBER: usize = size_of::<u64>();
const HEAD_BYTES: usize = 2 * NUMBER;
const ENTRY_BYTES: usize = 8 * NUMBER;
const LEVEL: Compression = Compression::Zstd(1);

/// The kept data of one snapshot.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotPart {
    /// Numbers of a meaning that depends on the column.
    pub(crate) numbers: [u64; 4],
    codec: Codec,
    raw_bytes: u64,
    stored: PartStorage,
}

/// The storage of the bytes of a part.
#[derive(Debug, Clone)]
enum PartStorage {
    InMemory(Arc<Vec<u8>>),
    /// In a column of the index file.
    Kept(Arc<Values<u8>>, Range<usize>),
}

impl SnapshotPart {
    /// Compresses a part.
    pub(crate) fn of(numbers: [u64; 4], raw: &[u8]) -> Self {
        let mut stored = Vec::new();
        let compressed = Compressor::new(LEVEL).and_then(|mut compressor| compressor.append(raw, &mut stored));
        let codec = compressed.unwrap_or_else(|_| {
            stored = raw.to_vec();
            Codec::None
        });
        stored.shrink_to_fit();
        SnapshotPart { numbers, codec, raw_bytes: raw.len() as u64, stored: PartStorage::InMemory(Arc::new(stored)) }
    }

    /// The bytes of the part. `None` if they are damaged, or if there are more than `most_bytes`.
    pub(crate) fn raw(&self, most_bytes: u64) -> Option<Vec<u8>> {
        let length = usize::try_from(self.raw_bytes).ok().filter(|_| self.raw_bytes <= most_bytes)?;
        let mut buffer = Vec::new();
        let raw = Decompressor::new().decompress("part", self.codec, self.stored(), length, &mut buffer).ok()?;
        Some(if self.codec == Codec::None { raw.to_vec() } else { buffer })
    }

    fn stored(&self) -> &[u8] {
        match &self.stored {
            PartStorage::InMemory(bytes) => bytes,
            PartStorage::Kept(column, range) => &column[range.clone()],
        }
    }
}

/// Parts by snapshot.
#[derive(Debug, Default)]
pub(crate) struct SnapshotParts(BTreeMap<SnapshotId, SnapshotPart>);

impl SnapshotParts {
    /// The part of a snapshot.
    pub(crate) fn get(&self, snapshot: SnapshotId) -> Option<&SnapshotPart> {
        self.0.get(&snapshot)
    }

    /// Adds a part, unless the snapshot has one.
    pub(crate) fn add(&mut self, snapshot: SnapshotId, part: SnapshotPart) {
        self.0.entry(snapshot).or_insert(part);
    }

    /// Sets the part of a snapshot.
    pub(crate) fn replace(&mut self, snapshot: SnapshotId, part: SnapshotPart) {
        self.0.insert(snapshot, part);
    }

    /// Adds the parts of a kept column up to the first invalid one. It holds parts of snapshots up to `under`.
    pub(crate) fn add_column(&mut self, column: Values<u8>, under: SnapshotId) {
        let column = Arc::new(column);
        let Some((head, _)) = column.split_at_checked(HEAD_BYTES) else { return };
        let (MAGIC, count) = (LittleEndian::read_u64(head), LittleEndian::read_u64(&head[NUMBER..])) else { return };
        let Ok(count) = usize::try_from(count) else { return };
        let directory = count.checked_mul(ENTRY_BYTES).and_then(|bytes| bytes.checked_add(HEAD_BYTES));
        let Some(mut start) = directory.filter(|&end| end <= column.len()) else { return };
        for entry in column[HEAD_BYTES..start].chunks_exact(ENTRY_BYTES) {
            let mut fields = [0; 8];
            LittleEndian::read_u64_into(entry, &mut fields);
            let [snapshot, codec, length, raw_bytes, numbers @ ..] = fields;
            let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
            let Some(end) = end.filter(|&end| end <= column.len()) else { return };
            let codec = Codec::from_number(codec).ok();
            let (Ok(snapshot), Some(codec)) = (u32::try_from(snapshot).map(SnapshotId), codec) else { return };
            if snapshot <= under {
                let stored = PartStorage::Kept(Arc::clone(&column), start..end);
                self.add(snapshot, SnapshotPart { numbers, codec, raw_bytes, stored });
            }
            start = end;
        }
    }

    /// All parts, in order of snapshots.
    pub(crate) fn into_iter(self) -> impl Iterator<Item = (SnapshotId, SnapshotPart)> {
        self.0.into_iter()
    }

    /// The column of all parts.
    pub(crate) fn to_column(&self) -> Vec<u8> {
        let stored: usize = self.0.values().map(|part| part.stored().len()).sum();
        let mut column = Vec::with_capacity(HEAD_BYTES + self.0.len() * ENTRY_BYTES + stored);
        let mut numbers = vec![MAGIC, self.0.len() as u64];
        for (snapshot, part) in &self.0 {
            numbers.extend([u64::from(snapshot.0), part.codec.number(), part.stored().len() as u64, part.raw_bytes]);
            numbers.extend(part.numbers);
        }
        column.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        self.0.values().for_each(|part| column.extend_from_slice(part.stored()));
        column
    }
}
