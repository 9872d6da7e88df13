//! The layout of an index file: its header, and its sections, each with the columns that were kept together.
//!
//! ```text
//!   file       header 64 · section · section …                     sections begin at multiples of 64
//!   header     magic 8 · analysis version 4 · uuid of the recording 16 · CRC-32C of these 4 · zeros
//!   section    head 64 · directory: an entry of 48 for each column · columns, each at a multiple of 64
//!   head       magic 8 · length of the section 8 · checksum of the content 8 · snapshot 4 · columns 4 ·
//!              CRC-32C of these and of the directory 4 · zeros 4 · when it was used last 8 · zeros
//!   entry      column 4 · form 1 · bytes per value 1 · zeros 2 · values 8 · offset in the section 8 ·
//!              length of all pieces 8 · CRC-32C of the list of pieces 4 · zeros
//!   column     pieces · for each piece its end 8 and its CRC-32C 4
//! ```
//!
//! Numbers are little-endian. The *content* is that of the recording up to the commit of the snapshot, see
//! [`Recording::content_up_to`](crate::file::recording::Recording). A recording that grows keeps it.
//!
//! The head of a section is written last. So a section that a process began and did not finish has no head, and it is the
//! last one. *When it was used last*, in seconds since 1970, is the only part that ever changes.

use barrow_format::SnapshotId;
use byteorder::{ByteOrder, LittleEndian};

use super::piece::Form;

pub(super) const ALIGNMENT: u64 = 64;
pub(super) const FILE_HEADER_BYTES: usize = 64;
pub(super) const HEAD_BYTES: usize = 64;
pub(super) const ENTRY_BYTES: usize = 48;
/// Bytes that the list of pieces has for each.
pub(super) const PIECE_ENTRY_BYTES: usize = 12;
/// The offset in the head of a section of the time of its last use.
pub(super) const USED_AT: u64 = 40;

const FILE_MAGIC: [u8; 8] = *b"\x89BRWIX\r\n";
const SECTION_MAGIC: [u8; 8] = *b"BRWSECT\n";
/// Must change whenever the meaning of a column or of this layout changes. Columns in the order of the dominator tree
/// also change their meaning when that order does.
const ANALYSIS_VERSION: u32 = 12;
/// The maximum number of columns in a section.
const MOST_COLUMNS: usize = 1 << 10;

/// The header of the index file of the recording with this uuid.
pub(super) fn file_header(uuid: [u8; 16]) -> [u8; FILE_HEADER_BYTES] {
    let mut header = [0; FILE_HEADER_BYTES];
    header[..8].copy_from_slice(&FILE_MAGIC);
    LittleEndian::write_u32(&mut header[8..], ANALYSIS_VERSION);
    header[12..28].copy_from_slice(&uuid);
    let checksum = crc32c::crc32c(&header[..28]);
    LittleEndian::write_u32(&mut header[28..], checksum);
    header
}

/// The columns of a snapshot that were kept together, and their place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// Offset in the file.
    pub(super) start: u64,
    pub(super) length: u64,
    /// Identifies the recording up to the commit of the snapshot.
    pub(super) content: u64,
    pub(super) snapshot: SnapshotId,
    /// Seconds since 1970.
    pub(super) used: u64,
    pub(super) entries: Vec<Entry>,
}

/// A column of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) column: u32,
    pub(super) form: Form,
    /// Bytes of a value in memory.
    pub(super) width: usize,
    /// The number of values.
    pub(super) values: u64,
    /// Offset of the first piece in the section.
    pub(super) offset: u64,
    /// Length of all pieces, in bytes.
    pub(super) stored: u64,
    /// Checksum of the list of pieces.
    pub(super) checksum: u32,
}

impl Section {
    /// Bytes of the head and the directory of a section with this number of columns.
    pub(super) fn front_bytes(columns: usize) -> usize {
        HEAD_BYTES + columns * ENTRY_BYTES
    }

    /// The offset after its last byte.
    pub(super) fn end(&self) -> u64 {
        self.start + self.length
    }

    /// The head and the directory.
    pub(super) fn front(&self) -> Vec<u8> {
        let mut out = vec![0; Self::front_bytes(self.entries.len())];
        out[..8].copy_from_slice(&SECTION_MAGIC);
        LittleEndian::write_u64(&mut out[8..], self.length);
        LittleEndian::write_u64(&mut out[16..], self.content);
        LittleEndian::write_u32(&mut out[24..], self.snapshot.0);
        LittleEndian::write_u32(&mut out[28..], self.entries.len() as u32);
        for (entry, out) in self.entries.iter().zip(out[HEAD_BYTES..].chunks_exact_mut(ENTRY_BYTES)) {
            entry.put(out);
        }
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&out[..32]), &out[HEAD_BYTES..]);
        LittleEndian::write_u32(&mut out[32..], checksum);
        LittleEndian::write_u64(&mut out[USED_AT as usize..], self.used);
        out
    }

    /// The number of columns that the head of a section announces; `None` if it is not such a head.
    pub(super) fn columns_of(head: &[u8; HEAD_BYTES]) -> Option<usize> {
        let columns = LittleEndian::read_u32(&head[28..]) as usize;
        (head[..8] == SECTION_MAGIC && columns <= MOST_COLUMNS).then_some(columns)
    }

    /// A section that begins at `start` in a file of `file_bytes`; `None` if its head or directory is damaged.
    pub(super) fn parse(start: u64, head: &[u8; HEAD_BYTES], directory: &[u8], file_bytes: u64) -> Option<Self> {
        let found = crc32c::crc32c_append(crc32c::crc32c(&head[..32]), directory);
        let length = LittleEndian::read_u64(&head[8..]);
        let is_within = start.checked_add(length).is_some_and(|end| end <= file_bytes);
        if LittleEndian::read_u32(&head[32..]) != found || !is_within || !length.is_multiple_of(ALIGNMENT) {
            return None;
        }
        // Columns must not overlap: a small file would hold many large ones.
        let mut free = (HEAD_BYTES + directory.len()) as u64;
        let entries = directory.chunks_exact(ENTRY_BYTES).map(|bytes| {
            let entry = Entry::read(bytes)?;
            let end = entry.end()?;
            let is_after = entry.offset >= free && end <= length && entry.offset.is_multiple_of(ALIGNMENT);
            free = end;
            is_after.then_some(entry)
        });
        let entries: Vec<Entry> = entries.collect::<Option<_>>()?;
        (free <= length).then_some(Section {
            start,
            length,
            content: LittleEndian::read_u64(&head[16..]),
            snapshot: SnapshotId(LittleEndian::read_u32(&head[24..])),
            used: LittleEndian::read_u64(&head[USED_AT as usize..]),
            entries,
        })
    }

    pub(super) fn entry(&self, column: u32) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.column == column)
    }
}

impl Entry {
    /// The number of values in every piece but the last, which may be shorter.
    pub(super) fn piece_values(&self) -> usize {
        self.form.piece_bytes() / self.width
    }

    /// The number of pieces.
    pub(super) fn pieces(&self) -> u64 {
        self.values.div_ceil(self.piece_values() as u64)
    }

    /// The offset in the section after the list of pieces; `None` if it overflows.
    fn end(&self) -> Option<u64> {
        let list = self.pieces().checked_mul(PIECE_ENTRY_BYTES as u64)?;
        self.offset.checked_add(self.stored)?.checked_add(list)
    }

    fn put(&self, out: &mut [u8]) {
        LittleEndian::write_u32(out, self.column);
        (out[4], out[5]) = (self.form.number(), self.width as u8);
        LittleEndian::write_u64(&mut out[8..], self.values);
        LittleEndian::write_u64(&mut out[16..], self.offset);
        LittleEndian::write_u64(&mut out[24..], self.stored);
        LittleEndian::write_u32(&mut out[32..], self.checksum);
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (form, width) = (Form::of_number(bytes[4])?, usize::from(bytes[5]));
        let entry = Entry {
            column: LittleEndian::read_u32(bytes),
            form,
            width,
            values: LittleEndian::read_u64(&bytes[8..]),
            offset: LittleEndian::read_u64(&bytes[16..]),
            stored: LittleEndian::read_u64(&bytes[24..]),
            checksum: LittleEndian::read_u32(&bytes[32..]),
        };
        let is_possible = matches!(width, 1 | 2 | 4 | 8) && (form != Form::Narrow || width == 4);
        is_possible.then_some(entry)
    }
}
