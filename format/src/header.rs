//! The file header: 64 bytes that identify the format, its version and the recording.

use byteorder::{ByteOrder, LittleEndian};

use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_u32, put_u64};

/// The first eight bytes of every recording. The high bit, the two kinds of line end and the
/// control-Z show at once when a transfer took the file for text.
pub const MAGIC: [u8; 8] = *b"\x89BRW\r\n\x1a\n";
/// The major version that this crate reads and writes.
pub const MAJOR_VERSION: u16 = 1;
/// The minor version that this crate writes.
pub const MINOR_VERSION: u16 = 0;
/// The length of the header, in bytes.
pub const HEADER_BYTES: usize = HEADER_LENGTH as usize;
/// The same, as stored in the header.
const HEADER_LENGTH: u32 = 64;
/// Incompatible features that this crate knows: none is defined.
pub const KNOWN_INCOMPATIBLE_FEATURES: u64 = 0;

/// The header of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// A reader refuses a larger major version than its own.
    pub major: u16,
    /// A larger minor version only adds parts that a reader of 1.0 skips.
    pub minor: u16,
    /// A reader refuses a bit it does not know.
    pub incompatible_features: u64,
    /// A reader ignores a bit it does not know.
    pub compatible_features: u64,
    /// Identifies this recording permanently, also in derived files.
    pub uuid: [u8; 16],
    /// Start of the recording, in nanoseconds since 1970-01-01 UTC; 0 if unknown.
    pub created_ns: u64,
}

impl Header {
    /// A header of the version this crate writes.
    #[must_use]
    pub fn new(uuid: [u8; 16], created_ns: u64) -> Self {
        Header {
            major: MAJOR_VERSION,
            minor: MINOR_VERSION,
            incompatible_features: 0,
            compatible_features: 0,
            uuid,
            created_ns,
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&self.major.to_le_bytes());
        out.extend_from_slice(&self.minor.to_le_bytes());
        put_u32(&mut out, HEADER_LENGTH);
        put_u64(&mut out, self.incompatible_features);
        put_u64(&mut out, self.compatible_features);
        out.extend_from_slice(&self.uuid);
        put_u64(&mut out, self.created_ns);
        put_u32(&mut out, 0);
        let crc = crc32c::crc32c(&out);
        put_u32(&mut out, crc);
        out
    }

    /// Reads and checks the header at the start of `file`.
    ///
    /// # Errors
    /// [`FormatError::NotARecording`], [`FormatError::NewerVersion`], [`FormatError::UnknownFeatures`], or a wrong
    /// checksum or length.
    pub fn parse(file: &[u8]) -> Result<Self> {
        if file.get(..MAGIC.len()) != Some(MAGIC.as_slice()) {
            return Err(FormatError::NotARecording { found: file.iter().take(8).copied().collect() });
        }
        let checked = Fields::new("file header", file).bytes(HEADER_BYTES as u64 - 4)?;
        let header = Self::read(file)?;
        // Checked first: a later major version may have another layout after its first 12 bytes.
        if header.major > MAJOR_VERSION {
            return Err(FormatError::NewerVersion { found: header.major, known: MAJOR_VERSION });
        }
        let stored = Fields::new("file header", file.get(HEADER_BYTES - 4..).unwrap_or_default()).u32()?;
        let found = crc32c::crc32c(checked);
        if stored != found {
            return Err(FormatError::Checksum { what: "file header", stored, found });
        }
        if header.major == 0 {
            return Err(FormatError::OutOfRange { what: "major version", value: 0, limit: MAJOR_VERSION.into() });
        }
        let length = Fields::new("file header", file.get(12..).unwrap_or_default()).u32()?;
        if length != HEADER_LENGTH {
            let (stored, found) = (length.into(), HEADER_LENGTH.into());
            return Err(FormatError::Mismatch { what: "length of the file header", stored, found });
        }
        let unknown = header.incompatible_features & !KNOWN_INCOMPATIBLE_FEATURES;
        if unknown != 0 {
            return Err(FormatError::UnknownFeatures { bits: unknown });
        }
        Ok(header)
    }

    /// Reads the fields without checking them, for a file whose header is damaged.
    ///
    /// # Errors
    /// [`FormatError::Truncated`].
    pub fn read(file: &[u8]) -> Result<Self> {
        let mut fields = Fields::new("file header", file);
        fields.bytes(MAGIC.len() as u64)?;
        let (major, minor) = (fields.u16()?, fields.u16()?);
        let _length = fields.u32()?;
        let header = Header {
            major,
            minor,
            incompatible_features: fields.u64()?,
            compatible_features: fields.u64()?,
            uuid: fields.bytes(16)?.try_into().unwrap_or_default(),
            created_ns: fields.u64()?,
        };
        Ok(header)
    }
}

/// The last 32 bytes of a finished recording: the position of its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailer {
    /// Start of the INDEX frame in the file.
    pub index_offset: u64,
    /// Length of the INDEX frame, in bytes.
    pub index_length: u64,
}

/// The length of the trailer, in bytes.
pub const TRAILER_BYTES: usize = 32;
/// The last eight bytes of a finished recording.
pub const TRAILER_MAGIC: [u8; 8] = *b"BRW-END\n";

impl Trailer {
    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(TRAILER_BYTES);
        put_u64(&mut out, self.index_offset);
        put_u64(&mut out, self.index_length);
        put_u32(&mut out, 0);
        let crc = crc32c::crc32c(&out);
        put_u32(&mut out, crc);
        out.extend_from_slice(&TRAILER_MAGIC);
        out
    }

    /// Reads the trailer at the end of `file`; `None` if there is no valid one, as in a file that was truncated or is
    /// still being written.
    #[must_use]
    pub fn parse(file: &[u8]) -> Option<Self> {
        let start = file.len().checked_sub(TRAILER_BYTES)?;
        let bytes = file.get(start..)?;
        let (checked, rest) = bytes.split_at_checked(20)?;
        let (crc, magic) = rest.split_at_checked(4)?;
        if magic != TRAILER_MAGIC || LittleEndian::read_u32(crc) != crc32c::crc32c(checked) {
            return None;
        }
        let mut fields = Fields::new("trailer", checked);
        Some(Trailer { index_offset: fields.u64().ok()?, index_length: fields.u64().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_trailer_are_read_back() {
        let header = Header::new(*b"0123456789abcdef", 42);
        assert_eq!(Header::parse(&header.encode()).unwrap(), header);
        let trailer = Trailer { index_offset: 64, index_length: 80 };
        assert_eq!(Trailer::parse(&trailer.encode()), Some(trailer));
    }

    #[test]
    fn what_is_no_recording_is_told_by_its_beginning() {
        let said = |bytes: &[u8]| Header::parse(bytes).unwrap_err().to_string();
        assert_eq!(said(b""), "not a barrow recording: it is empty");
        assert_eq!(said(b"PK"), "not a barrow recording: it begins with [50, 4b]");
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let (header, trailer) =
            (Header::new([7; 16], 42).encode(), Trailer { index_offset: 64, index_length: 80 }.encode());
        for bit in 0..HEADER_BYTES * 8 {
            let mut bytes = header.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Header::parse(&bytes).is_err(), "bit {bit}");
        }
        for bit in 0..TRAILER_BYTES * 8 {
            let mut bytes = trailer.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Trailer::parse(&bytes), None, "bit {bit}");
        }
    }

    #[test]
    fn a_larger_minor_version_is_read() {
        let header = Header { minor: 7, compatible_features: u64::MAX, ..Header::new([0; 16], 0) };
        assert_eq!(Header::parse(&header.encode()).unwrap(), header);
    }

    #[test]
    fn another_length_is_refused() {
        let mut bytes = Header::new([0; 16], 0).encode();
        bytes[12] = 72;
        let crc = crc32c::crc32c(&bytes[..HEADER_BYTES - 4]);
        bytes[HEADER_BYTES - 4..].copy_from_slice(&crc.to_le_bytes());
        let error = Header::parse(&bytes).unwrap_err();
        assert_eq!(error, FormatError::Mismatch { what: "length of the file header", stored: 72, found: 64 });
    }

    #[test]
    fn a_newer_version_is_named() {
        let header = Header { major: 9, ..Header::new([0; 16], 0) };
        let error = Header::parse(&header.encode()).unwrap_err();
        assert_eq!(error, FormatError::NewerVersion { found: 9, known: 1 });
        assert!(error.to_string().contains("format version 9; this reader knows versions up to 1"), "{error}");
        // The same of a version whose header has another layout.
        let mut bytes = header.encode();
        bytes[16..].fill(0xff);
        assert_eq!(Header::parse(&bytes).unwrap_err(), error);
        let header = Header { major: 0, ..header };
        assert!(matches!(Header::parse(&header.encode()), Err(FormatError::OutOfRange { value: 0, .. })));
        let mut header = Header::new([0; 16], 0);
        header.incompatible_features = 4;
        assert_eq!(Header::parse(&header.encode()).unwrap_err(), FormatError::UnknownFeatures { bits: 4 });
    }
}
