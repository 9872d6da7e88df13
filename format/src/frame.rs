//! Frames: the self-delimiting, checksummed envelopes of all sections.
//!
//! ```text
//!  ┌ header, 40 bytes ────────────────────────────────────────────────┐
//!  │ magic 4 · type 2 · flags 2 · snapshot 4 · sequence 4             │
//!  │ payload length 8 · directory length 4 · directory CRC 4          │
//!  │ body CRC 4 · header CRC 4                                        │
//!  ├ payload ─────────────────────────────────────────────────────────┤
//!  │ directory: what the body holds and how                           │
//!  │ body: rows or columns, perhaps compressed                        │
//!  └ zeros up to a multiple of 8 ─────────────────────────────────────┘
//! ```
//!
//! A reader without an index hops from header to header. After damaged bytes it looks at every eighth byte for the next
//! header with a valid CRC.

use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_u32, put_u64};
use crate::numbered::named_numbers;

/// The first bytes of every frame.
pub const FRAME_MAGIC: [u8; 4] = *b"BrwF";
/// The length of a frame header, in bytes.
pub const FRAME_HEADER_BYTES: usize = 40;
/// Frames start at multiples of this.
pub const FRAME_ALIGNMENT: usize = 8;
/// Flag: a reader that does not know the section's type must refuse the file.
pub const CRITICAL: u16 = 1;
/// In the snapshot field: the section belongs to no snapshot.
pub const NO_SNAPSHOT: u32 = u32::MAX;

/// The contents of a section, as the number in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SectionType(pub u16);

named_numbers! { SectionType, "" {
    /// Facts about the file.
    META = 1,
    /// The string table.
    STRINGS = 2,
    /// The kind table.
    KINDS = 3,
    /// The strength table.
    STRENGTHS = 4,
    /// The type table.
    TYPES = 5,
    /// The shape table.
    SHAPES = 6,
    /// Objects and references.
    BLOCK = 7,
    /// Roots of a snapshot.
    ROOTS = 8,
    /// Totals of a snapshot by type.
    STATS = 9,
    /// The end of a snapshot.
    COMMIT = 10,
    /// The index at the end of the file.
    INDEX = 11,
    /// Allocation sites: may be skipped.
    SITES = 16,
    /// Threads of a snapshot, with counters: may be skipped.
    THREADS = 17,
    /// Reserved: collector events.
    GC_EVENTS = 18,
    /// Events of the processes of a tree: may be skipped.
    PROCESSES = 19,
    /// Runs of programs and the values measured in them: may be skipped.
    MEASUREMENTS = 20,
    /// Objects of a snapshot as their difference to an earlier one.
    PATCH = 21,
    /// Reserved: contents of objects outside of blocks.
    CONTENTS = 22,
    /// Reserved: texts and bytes that are too long or too many for the string table.
    TEXTS = 23,
    /// Reserved: the memory maps of processes.
    MAPPINGS = 24,
    /// The fields of types whose values blocks hold: may be skipped.
    FIELDS = 26,
    /// Reserved: identifies the content of a recording without snapshots, as a commit does.
    CHECKPOINT = 27,
    /// The strings that are words of the recorder: may be skipped.
    WORDS = 28,
}}

impl SectionType {
    /// The first number for private extensions, which are never critical.
    pub const FIRST_PRIVATE: u16 = 0x8000;

    /// Returns whether this crate reads the section, rather than skipping it.
    #[must_use]
    pub fn is_read(self) -> bool {
        let is_optional = [
            SectionType::SITES,
            SectionType::THREADS,
            SectionType::PROCESSES,
            SectionType::MEASUREMENTS,
            SectionType::FIELDS,
            SectionType::WORDS,
        ];
        self.is_critical() || is_optional.contains(&self)
    }

    /// Returns whether its body consists of columns, each with a checksum of its own.
    #[must_use]
    pub fn has_columns(self) -> bool {
        self == SectionType::BLOCK || self == SectionType::PATCH
    }

    /// Returns whether a reader that does not know the section must refuse the file.
    #[must_use]
    pub fn is_critical(self) -> bool {
        (SectionType::META.0..=SectionType::INDEX.0).contains(&self.0) || self == SectionType::PATCH
    }
}

impl std::fmt::Display for SectionType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "section type {}", self.0),
        }
    }
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// The contents of the section.
    pub section: SectionType,
    /// [`CRITICAL`] or 0.
    pub flags: u16,
    /// The snapshot it belongs to, or [`NO_SNAPSHOT`].
    pub snapshot: u32,
    /// The number of the frame in the file, from 0, modulo 2^32.
    pub sequence: u32,
    /// Directory and body together, in bytes, without padding.
    pub payload_length: u64,
    /// The directory, in bytes.
    pub directory_length: u32,
    /// CRC-32C of the directory.
    pub directory_crc: u32,
    /// CRC-32C of the body; 0 if it has columns, which have their own.
    pub body_crc: u32,
}

impl FrameHeader {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(FRAME_HEADER_BYTES);
        out.extend_from_slice(&FRAME_MAGIC);
        out.extend_from_slice(&self.section.0.to_le_bytes());
        out.extend_from_slice(&self.flags.to_le_bytes());
        put_u32(&mut out, self.snapshot);
        put_u32(&mut out, self.sequence);
        put_u64(&mut out, self.payload_length);
        put_u32(&mut out, self.directory_length);
        put_u32(&mut out, self.directory_crc);
        put_u32(&mut out, self.body_crc);
        let crc = crc32c::crc32c(&out);
        put_u32(&mut out, crc);
        out
    }

    /// Reads and checks the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`FormatError::Truncated`], [`FormatError::Magic`], [`FormatError::Checksum`] or
    /// [`FormatError::OutOfRange`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut fields = Fields::new("frame header", bytes);
        let checked = Fields::new("frame header", bytes).bytes(FRAME_HEADER_BYTES as u64 - 4)?;
        if fields.bytes(4)? != FRAME_MAGIC {
            return Err(FormatError::Magic { what: "frame" });
        }
        let header = FrameHeader {
            section: SectionType(fields.u16()?),
            flags: fields.u16()?,
            snapshot: fields.u32()?,
            sequence: fields.u32()?,
            payload_length: fields.u64()?,
            directory_length: fields.u32()?,
            directory_crc: fields.u32()?,
            body_crc: fields.u32()?,
        };
        let (stored, found) = (fields.u32()?, crc32c::crc32c(checked));
        if stored != found {
            return Err(FormatError::Checksum { what: "frame header", stored, found });
        }
        if u64::from(header.directory_length) > header.payload_length {
            return Err(FormatError::OutOfRange {
                what: "directory length",
                value: header.directory_length.into(),
                limit: header.payload_length,
            });
        }
        Ok(header)
    }

    /// The length of the whole frame with header and padding; `None` if it does not fit 64 bits.
    #[must_use]
    pub fn frame_length(&self) -> Option<u64> {
        self.payload_length.checked_add(FRAME_HEADER_BYTES as u64)?.checked_next_multiple_of(FRAME_ALIGNMENT as u64)
    }
}

/// A frame of a file, its header checked and its payload cut out.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Its start in the file.
    pub offset: u64,
    /// Its header.
    pub header: FrameHeader,
    /// The directory, unchecked until [`Frame::directory`] is called.
    directory: &'a [u8],
    /// The body.
    body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Cuts out the frame at `offset` of `file`.
    ///
    /// # Errors
    /// Those of [`FrameHeader::parse`]; [`FormatError::Truncated`] if the file ends inside of it;
    /// [`FormatError::UnknownCriticalSection`].
    pub fn parse(file: &'a [u8], offset: u64) -> Result<Self> {
        let bytes = usize::try_from(offset).ok().and_then(|start| file.get(start..)).unwrap_or_default();
        let header = FrameHeader::parse(bytes)?;
        if header.flags & CRITICAL != 0 && !header.section.is_read() {
            return Err(FormatError::UnknownCriticalSection { section: header.section.0 });
        }
        let mut fields = Fields::new("frame payload", bytes);
        fields.bytes(FRAME_HEADER_BYTES as u64)?;
        let directory = fields.bytes(header.directory_length.into())?;
        let body = fields.bytes(header.payload_length - u64::from(header.directory_length))?;
        let padding = header.payload_length.wrapping_neg() % FRAME_ALIGNMENT as u64;
        if let Some(&byte) = fields.bytes(padding)?.iter().find(|&&byte| byte != 0) {
            return Err(FormatError::OutOfRange { what: "padding of a frame", value: byte.into(), limit: 0 });
        }
        Ok(Frame { offset, header, directory, body })
    }

    /// Fails unless the frame is of this section.
    ///
    /// # Errors
    /// [`FormatError::Mismatch`].
    pub fn expect(&self, section: SectionType) -> Result<()> {
        let (stored, found) = (section.0.into(), self.header.section.0.into());
        if stored == found { Ok(()) } else { Err(FormatError::Mismatch { what: "section type", stored, found }) }
    }

    /// The directory, after its CRC was checked.
    ///
    /// # Errors
    /// [`FormatError::Checksum`].
    pub fn directory(&self) -> Result<&'a [u8]> {
        checked("frame directory", self.directory, self.header.directory_crc)
    }

    /// The body, after its CRC was checked. For sections without columns.
    ///
    /// # Errors
    /// [`FormatError::Checksum`].
    pub fn body(&self) -> Result<&'a [u8]> {
        checked("frame body", self.body, self.header.body_crc)
    }

    /// The body as it is: each column is checked on its own.
    #[must_use]
    pub fn unchecked_body(&self) -> &'a [u8] {
        self.body
    }

    /// The start of the next frame in the file.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.header.frame_length().and_then(|length| self.offset.checked_add(length)).unwrap_or(u64::MAX)
    }
}

/// `bytes`, if their CRC-32C is `stored`.
///
/// # Errors
/// [`FormatError::Checksum`].
pub(crate) fn checked<'a>(what: &'static str, bytes: &'a [u8], stored: u32) -> Result<&'a [u8]> {
    let found = crc32c::crc32c(bytes);
    if stored == found { Ok(bytes) } else { Err(FormatError::Checksum { what, stored, found }) }
}

/// The bytes of a whole frame, padding included.
///
/// `sequence` is patched by [`set_sequence`] if it is not known yet.
#[must_use]
pub fn encode_frame(section: SectionType, snapshot: u32, sequence: u32, directory: &[u8], body: &[u8]) -> Vec<u8> {
    // Columns have their own checksums, so that a reader checks only the parts it reads.
    let body_crc = if section.has_columns() { 0 } else { crc32c::crc32c(body) };
    let header = FrameHeader {
        section,
        flags: if section.is_critical() { CRITICAL } else { 0 },
        snapshot,
        sequence,
        payload_length: (directory.len() + body.len()) as u64,
        directory_length: u32::try_from(directory.len()).unwrap_or(u32::MAX),
        directory_crc: crc32c::crc32c(directory),
        body_crc,
    };
    let mut out = header.encode();
    out.reserve(directory.len() + body.len() + FRAME_ALIGNMENT);
    out.extend_from_slice(directory);
    out.extend_from_slice(body);
    out.resize(out.len().next_multiple_of(FRAME_ALIGNMENT), 0);
    out
}

/// Sets the sequence number of an encoded frame, which is known only when it is written.
pub fn set_sequence(frame: &mut [u8], sequence: u32) {
    if let Ok(header) = FrameHeader::parse(frame)
        && let Some(room) = frame.get_mut(..FRAME_HEADER_BYTES)
    {
        room.copy_from_slice(&FrameHeader { sequence, ..header }.encode());
    }
}

/// The first frame at or after `offset` with a valid header, looking at multiples of [`FRAME_ALIGNMENT`]: the way out
/// of a damaged stretch.
#[must_use]
pub fn next_frame(file: &[u8], offset: u64) -> Option<u64> {
    let mut at = usize::try_from(offset).ok()?.checked_next_multiple_of(FRAME_ALIGNMENT)?;
    while let Some(bytes) = file.get(at..) {
        if bytes.len() < FRAME_HEADER_BYTES {
            return None;
        }
        if bytes.starts_with(&FRAME_MAGIC) && FrameHeader::parse(bytes).is_ok() {
            return Some(at as u64);
        }
        at += FRAME_ALIGNMENT;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_back() {
        let mut bytes = encode_frame(SectionType::META, NO_SNAPSHOT, 0, b"dir", b"body!");
        set_sequence(&mut bytes, 5);
        assert_eq!(bytes.len() % FRAME_ALIGNMENT, 0);
        let frame = Frame::parse(&bytes, 0).unwrap();
        assert_eq!(frame.header.sequence, 5);
        assert_eq!(frame.directory().unwrap(), b"dir");
        assert_eq!(frame.body().unwrap(), b"body!");
        assert_eq!(frame.end(), bytes.len() as u64);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = encode_frame(SectionType::META, NO_SNAPSHOT, 0, b"dir", b"body");
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let read = Frame::parse(&bytes, 0).and_then(|frame| {
                frame.directory()?;
                frame.body().map(drop)
            });
            assert!(read.is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_scan_finds_the_next_whole_header() {
        let mut file = vec![0xAA; 16];
        file.extend_from_slice(b"BrwF damaged and no header at all, really");
        file.resize(file.len().next_multiple_of(8), 0);
        let start = file.len() as u64;
        file.extend(encode_frame(SectionType::META, NO_SNAPSHOT, 0, b"", b""));
        assert_eq!(next_frame(&file, 1), Some(start));
        assert_eq!(next_frame(&file, start + 1), None);
    }
}
