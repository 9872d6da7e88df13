//! The tables of a recording: the fields of their rows, and the storage of rows in chunks.
//!
//! Every table section has the same form. Its directory gives the number of rows, the number of the first, and the
//! compression of the body; the body is the rows one after the other, each a few varints. A table grows by further
//! chunks: a chunk continues its table if its `first` is the number of rows before it. A later writer that adds fields
//! to rows sets a flag in the directory and stores the length of each row before it; readers skip the fields they do
//! not know.
//!
//! | section | row | numbered |
//! |---|---|---|
//! | STRINGS | [`Text`] | by [`StringId`] over the file |
//! | KINDS | [`Kind`] | by [`KindId`](crate::KindId) over the file |
//! | STRENGTHS | [`Strength`] | by [`StrengthId`](crate::StrengthId) over the file |
//! | TYPES | [`Type`] | by [`TypeId`](crate::TypeId) over the file |
//! | SHAPES | [`Shape`] | by [`ShapeId`](crate::ShapeId) over the file |
//! | FIELDS | [`Field`] | by [`FieldId`](crate::FieldId) over the file |
//! | SITES | [`Site`] | by [`SiteId`](crate::SiteId) over the file, from 1 |
//! | META | [`KeyValue`] | over the file, later values of a key win |
//! | ROOTS | [`Root`] | over the snapshot |
//! | STATS | [`TypeTotals`] | over the snapshot |
//! | THREADS | [`Thread`] | over the snapshot |
//! | PROCESSES | [`ProcessRow`] | over the file |
//! | MEASUREMENTS | [`MeasurementRow`] | over the file |
//! | WORDS | [`WordRow`] | over the file |

mod field;
mod kind;
mod measurement;
mod process;
mod room;
mod root;
mod shape;
mod site;
mod strength;
mod text;
mod thread;
mod totals;
mod types;
mod word;

pub use field::{Encoding, Field, Value};
pub use kind::{Kind, KindRole};
pub use measurement::{Better, Failure, MeasurementRow};
pub use process::{ProcessRow, Program, Usage};
pub use room::{table_memory_bytes, table_memory_limit, table_memory_name};
pub use root::Root;
pub use shape::{Label, LabelCode, MAX_LABEL_VALUE, Shape, Tail};
pub use site::Site;
pub use strength::{Strength, StrengthClass};
pub use text::{KeyValue, Text};
pub use thread::Thread;
pub use totals::TypeTotals;
pub use types::Type;
pub use word::{WordPlace, WordRow, WordValues};

use crate::codec::{Codec, Compressor, Decompressor};
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::StringId;

/// Maximum size of the body of a table chunk before compression, in bytes; a reader refuses more.
pub const MAX_CHUNK_BYTES: usize = 4 << 20;

/// A row of a table.
pub trait Row: Sized {
    /// The section of its chunks.
    const SECTION: SectionType;
    /// Its name in errors.
    const NAME: &'static str;
    /// Chunks hold the length of each row before it since the first version.
    const HAS_LENGTH: bool = false;

    /// Appends the fields of the row.
    fn put(&self, out: &mut Vec<u8>);

    /// Appends the row in the form that chunks hold.
    fn append(&self, out: &mut Vec<u8>) {
        if !Self::HAS_LENGTH {
            return self.put(out);
        }
        let mut fields = Vec::new();
        self.put(&mut fields);
        put_varint(out, fields.len() as u64);
        out.append(&mut fields);
    }

    /// Reads one row, whose number in its table is `id`.
    ///
    /// # Errors
    /// Any error in its bytes; ids of other tables are checked where they are used.
    fn read(fields: &mut Fields<'_>, id: u64) -> Result<Self>;
}

/// Appends the number of keys and values, and then the pairs.
fn put_pairs(out: &mut Vec<u8>, pairs: &[(StringId, StringId)]) {
    put_varint(out, pairs.len() as u64);
    for (key, value) in pairs {
        put_varint(out, key.0.into());
        put_varint(out, value.0.into());
    }
}

/// Reads pairs appended by [`put_pairs`].
fn pairs(fields: &mut Fields<'_>) -> Result<Vec<(StringId, StringId)>> {
    (0..fields.count()?).map(|_| Ok((StringId(fields.varint_u32()?), StringId(fields.varint_u32()?)))).collect()
}

/// A chunk of a table, as stored in a frame.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// The number of its first row.
    pub first: u64,
    /// Number of rows.
    pub count: u64,
    codec: Codec,
    raw_length: usize,
    has_row_lengths: bool,
    body: &'a [u8],
}

/// Chunk flag: each row has its length before it, so that a row may have more fields than a reader knows.
const ROW_LENGTHS: u64 = 1;

impl<'a> Chunk<'a> {
    /// Reads the directory of a table section.
    ///
    /// # Errors
    /// Any error in the directory.
    pub fn parse(directory: &[u8], body: &'a [u8]) -> Result<Self> {
        let mut fields = Fields::new("table directory", directory);
        let codec = Codec::from_number(fields.varint()?)?;
        let raw_length = fields.varint()?;
        let (first, count, flags) = (fields.varint()?, fields.varint()?, fields.varint()?);
        if flags > ROW_LENGTHS {
            return Err(FormatError::OutOfRange { what: "flags of a table chunk", value: flags, limit: ROW_LENGTHS });
        }
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
        Ok(Chunk { first, count, codec, raw_length, has_row_lengths: flags == ROW_LENGTHS, body })
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
            if self.has_row_lengths {
                let length = fields.varint()?;
                read(&mut Fields::new(name, fields.bytes(length)?), id)?;
            } else {
                read(&mut fields, id)?;
            }
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
    rows.iter().for_each(|row| row.append(&mut raw));
    encode_raw_chunk::<R>(first, rows.len() as u64, &raw, compressor)
}

/// [`encode_chunk`] for rows that were already appended to `raw` by [`Row::append`].
///
/// # Errors
/// As for [`encode_chunk`].
pub fn encode_raw_chunk<R: Row>(
    first: u64,
    count: u64,
    raw: &[u8],
    compressor: &mut Compressor,
) -> Result<(Vec<u8>, Vec<u8>)> {
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
    let flags = if R::HAS_LENGTH { ROW_LENGTHS } else { 0 };
    for value in [codec.number(), raw.len() as u64, first, count, flags] {
        put_varint(&mut directory, value);
    }
    Ok((directory, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Compression;
    use crate::ids::{KindId, TypeId};

    fn read<R: Row>(directory: &[u8], body: &[u8]) -> Result<Vec<R>> {
        let mut rows = Vec::new();
        Chunk::parse(directory, body)?.for_each(&mut Decompressor::new(), |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The chunk of a later writer, whose rows have fields that this reader does not know.
    fn with_more_fields<R: Row>(rows: &[R]) -> (Vec<u8>, Vec<u8>) {
        let mut body = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            let mut fields = Vec::new();
            row.put(&mut fields);
            fields.extend(std::iter::repeat_n(0xff, number));
            put_varint(&mut body, fields.len() as u64);
            body.extend(fields);
        }
        let mut directory = Vec::new();
        for value in [0, body.len() as u64, 0, rows.len() as u64, ROW_LENGTHS] {
            put_varint(&mut directory, value);
        }
        (directory, body)
    }

    fn reads_rows_with_more_fields<R: Row + PartialEq + std::fmt::Debug>(rows: &[R]) {
        let (directory, body) = with_more_fields(rows);
        assert_eq!(read::<R>(&directory, &body).unwrap(), rows);
    }

    #[test]
    fn rows_of_every_table_may_have_more_fields() {
        let name = StringId(7);
        reads_rows_with_more_fields(&[Text("a".to_owned()), Text("b".to_owned())]);
        reads_rows_with_more_fields(&[KeyValue { key: name, value: name }; 3]);
        reads_rows_with_more_fields(&[Kind { name, role: KindRole::Type }; 3]);
        reads_rows_with_more_fields(&[Strength { name, class: StrengthClass::Weak }; 3]);
        let (layout, base, file, line, attributes) = (Some(name), Some(TypeId(0)), None, Some(3), vec![(name, name)]);
        let row = Type { kind: KindId(0), name, layout, base, file, line, attributes };
        reads_rows_with_more_fields(&[row.clone(), row.clone(), row]);
        let shape = Shape { type_id: TypeId(4), prefix: vec![LabelCode(2)], tail: Tail::Explicit };
        reads_rows_with_more_fields(&[shape.clone(), shape]);
        reads_rows_with_more_fields(&vec![Site::default(); 3]);
        reads_rows_with_more_fields(&[TypeTotals::default(); 3]);
        reads_rows_with_more_fields(&vec![Thread::default(); 3]);
        let root = Root { category: name, label: None, target: crate::ObjectId(3) };
        reads_rows_with_more_fields(&[root; 3]);
    }

    #[test]
    fn a_row_does_not_reach_beyond_its_length() {
        let (directory, mut body) = with_more_fields(&[Text("abc".to_owned()), Text("def".to_owned())]);
        body[0] -= 1;
        assert!(read::<Text>(&directory, &body).is_err());
    }

    #[test]
    fn unknown_flags_of_a_chunk_are_refused() {
        let mut compressor = Compressor::new(Compression::None).unwrap();
        let (mut directory, body) = encode_chunk(0, &[Text("a".to_owned())], &mut compressor).unwrap();
        *directory.last_mut().unwrap() = 2;
        let error = read::<Text>(&directory, &body).unwrap_err();
        assert_eq!(error, FormatError::OutOfRange { what: "flags of a table chunk", value: 2, limit: 1 });
    }
}
