//! Strings and the pairs made of them.

use super::Row;
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::StringId;

/// A string: its length in bytes as a varint, then that many bytes of UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(pub String);

impl Row for Text {
    const SECTION: SectionType = SectionType::STRINGS;
    const NAME: &'static str = "string";

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.0.len() as u64);
        out.extend_from_slice(self.0.as_bytes());
    }

    fn read(fields: &mut Fields<'_>, id: u64) -> Result<Self> {
        read(fields, id).map(|text| Text(text.to_owned()))
    }
}

/// Reads the text of a string.
pub(super) fn read<'a>(fields: &mut Fields<'a>, id: u64) -> Result<&'a str> {
    let length = fields.varint()?;
    std::str::from_utf8(fields.bytes(length)?)
        .map_err(|_| FormatError::Utf8 { id: u32::try_from(id).unwrap_or(u32::MAX) })
}

/// A fact about the whole file: producer, runtime, host and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyValue {
    /// Its name.
    pub key: StringId,
    /// Its value, as text.
    pub value: StringId,
}

impl Row for KeyValue {
    const SECTION: SectionType = SectionType::META;
    const NAME: &'static str = "key and value";

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.key.0.into());
        put_varint(out, self.value.0.into());
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        Ok(KeyValue { key: StringId(fields.varint_u32()?), value: StringId(fields.varint_u32()?) })
    }
}
