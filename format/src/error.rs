//! Errors in the bytes of a recording.

/// The result of reading a part of a recording.
pub type Result<T, E = FormatError> = std::result::Result<T, E>;

fn beginning(found: &[u8]) -> String {
    if found.is_empty() { "it is empty".to_owned() } else { format!("it begins with {found:02x?}") }
}

/// An error in the bytes, with the numbers that show it.
///
/// Offsets count from the start of the slice that was read; the caller adds the offset of
/// that slice in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The first bytes are not those of a recording.
    #[error("not a barrow recording: {}", beginning(found))]
    NotARecording {
        /// The first bytes, at most eight.
        found: Vec<u8>,
    },
    /// The file was written by a newer major version.
    #[error("written by format version {found}; this reader knows versions up to {known}; update barrow")]
    NewerVersion {
        /// Major version in the header.
        found: u16,
        /// The newest major version this reader knows.
        known: u16,
    },
    /// The file needs features that this reader does not know.
    #[error("needs format features {bits:#x}, which this reader does not know; update barrow")]
    UnknownFeatures {
        /// The incompatible feature bits that are unknown.
        bits: u64,
    },
    /// A number that must be finite is not.
    #[error("{what} is no finite number")]
    NotFinite {
        /// The number's name.
        what: &'static str,
    },
    /// A section that must not be skipped has an unknown type.
    #[error("section type {section} must not be skipped and is unknown; update barrow")]
    UnknownCriticalSection {
        /// The type number.
        section: u16,
    },
    /// A column of a block that must not be skipped has an unknown id.
    #[error("column {id} must not be skipped and is unknown; update barrow")]
    UnknownCriticalColumn {
        /// The column's id.
        id: u64,
    },
    /// A record of a commit that must not be skipped is of an unknown kind.
    #[error("commit record {kind} must not be skipped and is unknown; update barrow")]
    UnknownCriticalRecord {
        /// The record's kind.
        kind: u64,
    },
    /// Bytes end before a field does.
    #[error("{what} needs {needed} bytes at offset {offset}, {available} are there")]
    Truncated {
        /// The field or section.
        what: &'static str,
        /// Its start.
        offset: u64,
        /// Its length.
        needed: u64,
        /// Number of bytes after `offset`.
        available: u64,
    },
    /// Stored and computed checksums differ.
    #[error("checksum of {what} is {found:08x}, stored is {stored:08x}")]
    Checksum {
        /// The checksummed part.
        what: &'static str,
        /// The stored CRC-32C.
        stored: u32,
        /// The CRC-32C of the bytes.
        found: u32,
    },
    /// A number outside the range allowed by the specification or the tables.
    #[error("{what} is {value}, the limit is {limit}")]
    OutOfRange {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest allowed value, or the count that it must stay below.
        limit: u64,
    },
    /// A varint does not end, or does not fit its integer.
    #[error("varint in {what} at offset {offset} overflows or does not end")]
    Varint {
        /// The field or column.
        what: &'static str,
        /// Start of the varint.
        offset: u64,
    },
    /// Two numbers differ that must be equal.
    #[error("{what}: {stored} is stored, {found} was found")]
    Mismatch {
        /// The quantity that the numbers count.
        what: &'static str,
        /// The stored number.
        stored: u64,
        /// The number found by decoding.
        found: u64,
    },
    /// A fixed byte pattern is missing.
    #[error("{what} does not begin with its magic number")]
    Magic {
        /// The structure.
        what: &'static str,
    },
    /// A string is not UTF-8.
    #[error("string {id} is not UTF-8")]
    Utf8 {
        /// Its row in the string table.
        id: u32,
    },
    /// Compressed bytes do not decompress to the declared length.
    #[error("{what} does not decompress with {codec} to {raw_length} bytes")]
    Decompress {
        /// The column or section.
        what: &'static str,
        /// The codec's name.
        codec: &'static str,
        /// The declared length.
        raw_length: u64,
    },
    /// The codec could not compress a block.
    #[error("{codec} could not compress {length} bytes")]
    Compress {
        /// The codec's name.
        codec: &'static str,
        /// The length of the input.
        length: u64,
    },
    /// A required part is missing.
    #[error("{what} is missing")]
    Missing {
        /// The missing column or section.
        what: &'static str,
    },
}
