//! Reading and writing the fields of cold metadata: fixed little-endian integers and varints.
//!
//! Block columns have their own decoder, in [`crate::varint`].

use byteorder::{ByteOrder, LittleEndian};

use crate::error::{FormatError, Result};

/// A cursor over the fields of one payload; every read is checked.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    what: &'static str,
    all: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Starts at the first byte; `what` names the payload in errors.
    #[must_use]
    pub fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Fields { what, all: bytes, rest: bytes }
    }

    /// Bytes not yet read.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Bytes read so far.
    #[must_use]
    pub fn offset(&self) -> u64 {
        (self.all.len() - self.rest.len()) as u64
    }

    /// The next `length` bytes.
    ///
    /// # Errors
    /// [`FormatError::Truncated`] if fewer are left.
    pub fn bytes(&mut self, length: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length));
        let (taken, rest) = split.ok_or_else(|| FormatError::Truncated {
            what: self.what,
            offset: self.offset(),
            needed: length,
            available: self.rest.len() as u64,
        })?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next 2 bytes.
    ///
    /// # Errors
    /// [`FormatError::Truncated`].
    pub fn u16(&mut self) -> Result<u16> {
        self.bytes(2).map(LittleEndian::read_u16)
    }

    /// The next 4 bytes.
    ///
    /// # Errors
    /// [`FormatError::Truncated`].
    pub fn u32(&mut self) -> Result<u32> {
        self.bytes(4).map(LittleEndian::read_u32)
    }

    /// The next 8 bytes.
    ///
    /// # Errors
    /// [`FormatError::Truncated`].
    pub fn u64(&mut self) -> Result<u64> {
        self.bytes(8).map(LittleEndian::read_u64)
    }

    /// The next varint.
    ///
    /// # Errors
    /// [`FormatError::Varint`] if it does not end or does not fit 64 bits.
    pub fn varint(&mut self) -> Result<u64> {
        let offset = self.offset();
        leb128::read::unsigned(&mut self.rest).map_err(|_| FormatError::Varint { what: self.what, offset })
    }

    /// The next varint, which must fit 32 bits.
    ///
    /// # Errors
    /// [`FormatError::Varint`], or [`FormatError::OutOfRange`].
    pub fn varint_u32(&mut self) -> Result<u32> {
        let value = self.varint()?;
        u32::try_from(value).map_err(|_| FormatError::OutOfRange { what: self.what, value, limit: u64::from(u32::MAX) })
    }

    /// The next varint as a count of items that take at least one byte each in this payload, so that a wrong count
    /// cannot cause an allocation larger than the payload.
    ///
    /// # Errors
    /// [`FormatError::Varint`], or [`FormatError::OutOfRange`] if more are declared than bytes are left.
    pub fn count(&mut self) -> Result<usize> {
        let value = self.varint()?;
        let limit = self.rest.len();
        usize::try_from(value).ok().filter(|&count| count <= limit).ok_or(FormatError::OutOfRange {
            what: self.what,
            value,
            limit: limit as u64,
        })
    }

    /// The next varint as an optional value: 0 is none, `n + 1` is `n`.
    ///
    /// # Errors
    /// [`FormatError::Varint`].
    pub fn optional(&mut self) -> Result<Option<u64>> {
        Ok(self.varint()?.checked_sub(1))
    }

    /// The next optional value, which must fit 32 bits.
    ///
    /// # Errors
    /// [`FormatError::Varint`], or [`FormatError::OutOfRange`].
    pub fn optional_u32(&mut self) -> Result<Option<u32>> {
        self.optional()?
            .map(|value| {
                u32::try_from(value).map_err(|_| FormatError::OutOfRange {
                    what: self.what,
                    value,
                    limit: u64::from(u32::MAX),
                })
            })
            .transpose()
    }
}

/// Appends a varint.
pub fn put_varint(out: &mut Vec<u8>, value: u64) {
    crate::varint::put(out, value);
}

/// Appends an optional value: 0 for none, `n + 1` for `n`.
pub fn put_optional(out: &mut Vec<u8>, value: Option<u64>) {
    put_varint(out, value.map_or(0, |value| value.saturating_add(1)));
}

/// Appends a 4-byte integer.
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends an 8-byte integer.
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}
