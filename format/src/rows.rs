//! The tables of a recording: what a row of each means, and how rows are stored in chunks.
//!
//! Every table section has the same form. Its directory says how many rows it holds, which is the
//! first, and how its body is compressed; the body is the rows one after the other, each a few
//! varints. A table grows by further chunks: the chunk whose `first` is the number of rows known so
//! far continues it.
//!
//! | section | row | numbered |
//! |---|---|---|
//! | STRINGS | [`Text`] | by [`StringId`] over the file |
//! | KINDS | [`Kind`] | by [`KindId`](crate::KindId) over the file |
//! | STRENGTHS | [`Strength`] | by [`StrengthId`](crate::StrengthId) over the file |
//! | TYPES | [`Type`] | by [`TypeId`](crate::TypeId) over the file |
//! | SHAPES | [`Shape`] | by [`ShapeId`](crate::ShapeId) over the file |
//! | SITES | [`Site`] | by [`SiteId`](crate::SiteId) over the file, from 1 |
//! | META | [`KeyValue`] | over the file, later values of a key win |
//! | ROOTS | [`Root`] | over the snapshot |
//! | STATS | [`TypeTotals`] | over the snapshot |
//! | THREADS | [`Thread`] | over the snapshot |

mod kind;
mod room;
mod root;
mod shape;
mod site;
mod strength;
mod text;
mod thread;
mod totals;
mod types;

pub use kind::{Kind, KindRole};
pub use room::{table_memory_bytes, table_memory_limit, table_memory_name};
pub use root::Root;
pub use shape::{Label, LabelCode, MAX_LABEL_VALUE, Shape, Tail};
pub use site::Site;
pub use strength::{Strength, StrengthClass};
pub use text::{KeyValue, Text};
pub use thread::Thread;
pub use totals::TypeTotals;
pub use types::Type;

use crate::codec::{Codec, Compressor, Decompressor};
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::StringId;

/// The largest body of a table chunk before compression, in bytes; a reader refuses more.
pub const MAX_CHUNK_BYTES: usize = 4 << 20;

/// A row of a table.
pub trait Row: Sized {
    /// The section its chunks stand in.
    const SECTION: SectionType;
    /// Its name in errors.
    const NAME: &'static str;

    /// Appends the row.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads one row, whose number in its table is `id`.
    ///
    /// # Errors
    /// Whatever is wrong with its bytes; ids of other tables are checked where they are used.
    fn read(fields: &mut Fields<'_>, id: u64) -> Result<Self>;
}

/// Appends keys and values, and before them how many there are.
fn put_pairs(out: &mut Vec<u8>, pairs: &[(StringId, StringId)]) {
    put_varint(out, pairs.len() as u64);
    for (key, value) in pairs {
        put_varint(out, key.0.into());
        put_varint(out, value.0.into());
    }
}

/// Reads what [`put_pairs`] appends.
fn pairs(fields: &mut Fields<'_>) -> Result<Vec<(StringId, StringId)>> {
    (0..fields.count()?).map(|_| Ok((StringId(fields.varint_u32()?), StringId(fields.varint_u32()?)))).collect()
}

/// A chunk of a table as it stands in a frame.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// The number of its first row.
    pub first: u64,
    /// How many rows it holds.
    pub count: u64,
    codec: Codec,
    raw_length: usize,
    body: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Reads the directory of a table section.
    ///
    /// # Errors
    /// Whatever is wrong with the directory.
    pub fn parse(directory: &[u8], body: &'a [u8]) -> Result<Self> {
        let mut fields = Fields::new("table directory", directory);
        let codec = Codec::from_number(fields.varint()?)?;
        let raw_length = fields.varint()?;
        let (first, count) = (fields.varint()?, fields.varint()?);
        let limit = MAX_CHUNK_BYTES as u64;
        if raw_length > limit {
            return Err(FormatError::OutOfRange { what: "table chunk length", value: raw_length, limit });
        }
        // Every row takes at least one byte.
        if count > raw_length {
            return Err(FormatError::OutOfRange { what: "rows in a table chunk", value: count, limit: raw_length });
        }
        if first.checked_add(count).is_none_or(|end| end > u64::from(u32::MAX)) {
            return Err(FormatError::OutOfRange {
                what: "first row of a table chunk",
                value: first,
                limit: u64::from(u32::MAX),
            });
        }
        let raw_length = usize::try_from(raw_length).unwrap_or(MAX_CHUNK_BYTES);
        Ok(Chunk { first, count, codec, raw_length, body })
    }

    /// The length of its rows, in bytes.
    #[must_use]
    pub fn raw_length(&self) -> usize {
        self.raw_length
    }

    /// Decodes its rows and hands them over one by one.
    ///
    /// # Errors
    /// The first error of the chunk or of `visit`.
    pub fn for_each<R: Row>(
        &self,
        decompressor: &mut Decompressor,
        mut visit: impl FnMut(R) -> Result<()>,
    ) -> Result<()> {
        self.read_rows(R::NAME, decompressor, |fields, id| visit(R::read(fields, id)?))
    }

    /// Decodes the rows of a chunk of strings and hands them over one by one, without a copy of each.
    ///
    /// # Errors
    /// The first error of the chunk.
    pub fn for_each_text(&self, decompressor: &mut Decompressor, mut visit: impl FnMut(&str)) -> Result<()> {
        self.read_rows(Text::NAME, decompressor, |fields, id| {
            visit(text::read(fields, id)?);
            Ok(())
        })
    }

    fn read_rows(
        &self,
        name: &'static str,
        decompressor: &mut Decompressor,
        mut read: impl FnMut(&mut Fields<'_>, u64) -> Result<()>,
    ) -> Result<()> {
        let mut buffer = Vec::new();
        let raw = decompressor.decompress(name, self.codec, self.body, self.raw_length, &mut buffer)?;
        let mut fields = Fields::new(name, raw);
        for id in self.first..self.first + self.count {
            read(&mut fields, id)?;
        }
        if fields.rest().is_empty() {
            return Ok(());
        }
        Err(FormatError::Mismatch { what: name, stored: raw.len() as u64, found: fields.offset() })
    }
}

/// Encodes rows as a table section: its directory and its body.
///
/// # Errors
/// [`FormatError::OutOfRange`] if they take more than [`MAX_CHUNK_BYTES`], or a codec's failure.
pub fn encode_chunk<R: Row>(first: u64, rows: &[R], compressor: &mut Compressor) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut raw = Vec::new();
    rows.iter().for_each(|row| row.put(&mut raw));
    encode_raw_chunk(first, rows.len() as u64, &raw, compressor)
}

/// [`encode_chunk`] for rows that were already appended to `raw` by [`Row::put`].
///
/// # Errors
/// As for [`encode_chunk`].
pub fn encode_raw_chunk(first: u64, count: u64, raw: &[u8], compressor: &mut Compressor) -> Result<(Vec<u8>, Vec<u8>)> {
    if raw.len() > MAX_CHUNK_BYTES {
        return Err(FormatError::OutOfRange {
            what: "table chunk length",
            value: raw.len() as u64,
            limit: MAX_CHUNK_BYTES as u64,
        });
    }
    let mut body = Vec::new();
    let codec = compressor.append(raw, &mut body)?;
    let mut directory = Vec::new();
    for value in [codec.number(), raw.len() as u64, first, count] {
        put_varint(&mut directory, value);
    }
    Ok((directory, body))
}
