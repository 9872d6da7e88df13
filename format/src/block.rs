//! Blocks: up to 65,536 objects with their references, as independent columns.
//!
//! ```text
//!   objects        0         1         2        3            an object stores only what its shape
//!   SHAPE          17        18        17       17           (type + names of references) leaves open
//!   SIZE           +48       +24       0        0            difference to the last size of that shape
//!   COUNT                    3                               length of the tail, where the shape has one
//!   REFERENCES     a b c d   e  f g h  i j k l  m n o p      one symbol each, see below; stored slot by slot
//!   LABELS, UNMANAGED, ADDRESS, SERIAL, SITE, NAME, VALUES   only where some object needs them
//! ```
//!
//! A reference's symbol is `zigzag(target - base) << 2 | which`, where `which` names the base:
//!
//! | which | base |
//! |---|---|
//! | 0 | the last target in this slot of this shape: the field of the last object of its kind |
//! | 1 | the source: objects made together lie together |
//! | 2 | the target of the previous reference of the block |
//! | 3 | the last other target in this slot; in a [`Patch`] the target of the same reference in the base |
//!
//! A slot is the position of a reference in its shape, counted up to [`MAX_SLOTS`] - 1. All bases are
//! the block's first object when the block begins, so every block decodes on its own. Arithmetic is
//! modulo 2^32; a decoded target is checked against the number of objects.
//!
//! A block with no objects *continues* the references of the last object before it, so that one
//! array of any length never needs a larger block.

mod columns;
mod decode;
mod encode;
mod labels;
mod patch;
mod recode;
mod slots;
mod values;

pub use columns::{BlockColumns, ShapeForm};
pub use decode::{Block, ColumnSelection, Decoder};
pub use encode::Encoder;
pub use patch::{Patch, PatchLimits};
pub use values::{FieldValues, MAX_VALUES, MAX_VALUES_OF_OBJECT, ValueFiller};

use crate::codec::Codec;
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_u32, put_varint};
use crate::ids::ShapeId;
use crate::numbered::named_numbers;
use crate::varint::MAX_BYTES_U64;

/// Maximum number of objects that begin in one block.
pub const MAX_OBJECTS: u32 = 1 << 16;
/// Maximum number of references in one block.
pub const MAX_REFERENCES: u32 = 1 << 20;
/// Maximum number of slots of a shape for predicting references; later references share the last slot.
pub const MAX_SLOTS: u32 = 32;

/// Maximum number of columns of a block.
pub const MAX_COLUMNS: u32 = 64;

/// The contents of a column, as the number in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnId(pub u64);

named_numbers! { ColumnId, "column " {
    /// The shapes the block uses, the most frequent first: absolute shape numbers.
    DICTIONARY = 1,
    /// For each object its shape, as a position in the dictionary.
    SHAPE = 2,
    /// For each object its shallow size: zigzag difference to the last of the same shape.
    SIZE = 3,
    /// For each object its unmanaged size: zigzag difference to the last of the same shape.
    UNMANAGED = 4,
    /// For each object whose shape has a tail: the tail's length.
    COUNT = 5,
    /// For each reference its symbol, slot by slot.
    REFERENCES = 6,
    /// For each reference of an explicit tail: its label code, or its step from the label before.
    LABELS = 7,
    /// For each object its address: zigzag difference to the previous object's; 0 is none.
    ADDRESS = 8,
    /// For each object its serial: zigzag difference to the previous object's; 0 is none.
    SERIAL = 9,
    /// For each object its allocation site; 0 is none.
    SITE = 10,
    /// For each object its own name or text: 0 for none, else 1 + the zigzag difference to the last
    /// name of the same shape.
    NAME = 11,
    /// In a patch, runs of positions of rows that died: for each, the gap before it, and its length − 1.
    DEAD = 12,
    /// In a patch, positions of rows that are stored anew: for each, the gap before it.
    CHANGED = 13,
    /// In a patch, the shift of the address of each living row: zigzag difference to the shift of the previous one.
    MOVED = 14,
    /// The layouts the block uses: for each, the number of fields with a value, then these, as zigzag differences to
    /// the last.
    LAYOUTS = 15,
    /// For each object 0 if its layout is that of the last object of the same shape, else 1 for none, or 2 + its layout.
    LAYOUT = 16,
    /// The codes of values: layout by layout, field by field, in the order of the objects.
    VALUES = 17,
}}

impl ColumnId {
    /// Its name in errors.
    #[must_use]
    pub fn what(self) -> &'static str {
        self.name().unwrap_or("unknown column")
    }
}

/// Column flag: some value needs more than 32 bits.
const WIDE: u64 = 1;
/// Column flag: a reader that does not know the column must refuse the block.
const CRITICAL: u64 = 2;

/// The storage of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Column {
    id: ColumnId,
    codec: Codec,
    wide: bool,
    /// Numbers in the column.
    values: u32,
    /// Bytes of their varints.
    raw_length: u32,
    /// Bytes in the file.
    stored_length: u32,
    /// CRC-32C of the bytes in the file.
    crc: u32,
}

/// The directory, which precedes the columns of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Directory {
    first_object: u32,
    objects: u32,
    references: u32,
    /// In a continuation of an indexed tail: the index of its first reference.
    start_index: u64,
    columns: Vec<Column>,
}

impl Directory {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for value in [self.first_object, self.objects, self.references] {
            put_varint(&mut out, value.into());
        }
        put_varint(&mut out, self.start_index);
        put_varint(&mut out, self.columns.len() as u64);
        for column in &self.columns {
            put_varint(&mut out, column.id.0);
            put_varint(&mut out, column.codec.number());
            put_varint(&mut out, if column.wide { WIDE } else { 0 });
            put_varint(&mut out, column.values.into());
            put_varint(&mut out, column.raw_length.into());
            put_varint(&mut out, column.stored_length.into());
            put_u32(&mut out, column.crc);
        }
        out
    }

    /// Reads a block's directory and checks its numbers against the limits, so that decoding
    /// allocates no more than a block may need.
    fn parse(bytes: &[u8]) -> Result<Self> {
        let mut fields = Fields::new("block directory", bytes);
        let mut directory = Directory {
            first_object: fields.varint_u32()?,
            objects: fields.varint_u32()?,
            references: fields.varint_u32()?,
            start_index: fields.varint()?,
            columns: Vec::new(),
        };
        limit("objects in a block", directory.objects, MAX_OBJECTS)?;
        limit("references in a block", directory.references, MAX_REFERENCES)?;
        // A continuation's object is before the end as well.
        let end = u64::from(directory.first_object) + u64::from(directory.objects.max(1));
        if end > u64::from(u32::MAX) {
            return Err(FormatError::OutOfRange { what: "last object of a block", value: end, limit: u32::MAX.into() });
        }
        let columns = fields.count()?;
        limit("columns of a block", u32::try_from(columns).unwrap_or(u32::MAX), MAX_COLUMNS)?;
        for _ in 0..columns {
            let column = Self::parse_column(&mut fields)?;
            if directory.columns.iter().any(|known| known.id == column.id) {
                return Err(FormatError::Mismatch { what: column.id.what(), stored: 2, found: 1 });
            }
            directory.columns.push(column);
        }
        if fields.rest().is_empty() {
            return Ok(directory);
        }
        Err(FormatError::Mismatch {
            what: "block directory length",
            stored: bytes.len() as u64,
            found: fields.offset(),
        })
    }

    fn parse_column(fields: &mut Fields<'_>) -> Result<Column> {
        let (id, codec, flags) = (ColumnId(fields.varint()?), fields.varint()?, fields.varint()?);
        let is_known = id.name().is_some();
        if !is_known && flags & CRITICAL != 0 {
            return Err(FormatError::UnknownCriticalColumn { id: id.0 });
        }
        let column = Column {
            id,
            // An unknown column is never decoded: its codec may be unknown, too.
            codec: if is_known { Codec::from_number(codec)? } else { Codec::None },
            wide: flags & WIDE != 0,
            values: fields.varint_u32()?,
            raw_length: fields.varint_u32()?,
            stored_length: fields.varint_u32()?,
            crc: fields.u32()?,
        };
        if is_known {
            column.check(flags)?;
        }
        Ok(column)
    }
}

impl Column {
    /// Checks the numbers of a column that may be decoded.
    fn check(&self, flags: u64) -> Result<()> {
        if flags > WIDE | CRITICAL {
            let limit = WIDE | CRITICAL;
            return Err(FormatError::OutOfRange { what: "flags of a column", value: flags, limit });
        }
        limit(self.id.what(), self.values, MAX_OBJECTS.max(MAX_REFERENCES).max(MAX_VALUES))?;
        limit("length of a column", self.raw_length, self.values.saturating_mul(MAX_BYTES_U64))?;
        limit("values of a column", self.values, self.raw_length)
    }
}

/// Fails if two counts differ that must be equal.
fn agree(what: &'static str, stored: u64, found: u64) -> Result<()> {
    if stored == found { Ok(()) } else { Err(FormatError::Mismatch { what, stored, found }) }
}

pub(crate) fn limit(what: &'static str, value: u32, limit: u32) -> Result<()> {
    if value <= limit {
        return Ok(());
    }
    Err(FormatError::OutOfRange { what, value: value.into(), limit: limit.into() })
}

/// The slots of a shape in a block's table of last targets.
#[derive(Debug, Clone, Copy)]
struct LocalShape {
    first_slot: u32,
    /// The highest slot, relative to `first_slot`.
    last_slot: u32,
}

/// Gives every shape of a block its slots. Returns the shapes and the number of slots.
fn local_shapes(forms: &[ShapeForm], locals: &mut Vec<LocalShape>) -> u32 {
    locals.clear();
    let mut next = 0;
    for form in forms {
        let slots = if form.has_tail { MAX_SLOTS } else { form.prefix.clamp(1, MAX_SLOTS) };
        locals.push(LocalShape { first_slot: next, last_slot: slots - 1 });
        next += slots;
    }
    next
}

/// The form of a shape, looked up in the shape table.
fn form_of(forms: &[ShapeForm], id: ShapeId) -> Result<ShapeForm> {
    forms.get(id.index()).copied().ok_or(FormatError::OutOfRange {
        what: "shape",
        value: id.0.into(),
        limit: forms.len() as u64,
    })
}

#[cfg(test)]
mod tests;
