//! Fields: the values of the objects of a type.

use super::Row;
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::{StringId, TypeId};
use crate::numbered::numbered_enum;
use crate::varint::{unzigzag, zigzag};

/// A row that names a field.
const FIELD: u64 = 0;

numbered_enum! {
    /// The encoding of the values of a field as numbers of 64 bits.
    pub enum Encoding("encoding of a field", up to 7) {
        /// An unsigned number.
        Unsigned = 0,
        /// A signed number, zigzag.
        Signed = 1,
        /// 0 or 1.
        Boolean = 2,
        /// A UTF-16 code unit or a Unicode code point.
        Character = 3,
        /// The bits of a binary32 with the bytes in reverse: those of round numbers are then small.
        Float = 4,
        /// The bits of a binary64 with the bytes in reverse.
        Double = 5,
        /// A row of the string table.
        Text = 6,
        /// The objects have no values: the value of the field is their reference with its name, or null if there is no
        /// such reference.
        Reference = 7,
    }
}

/// The value of a field of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An unsigned number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// True or false.
    Boolean(bool),
    /// A UTF-16 code unit or a Unicode code point.
    Character(u32),
    /// A floating-point number of 32 bits.
    Float(f32),
    /// A floating-point number of 64 bits.
    Double(f64),
    /// A text.
    Text(StringId),
}

impl Value {
    /// Its encoding, and the number that it is encoded as.
    #[must_use]
    pub fn code(self) -> (Encoding, u64) {
        match self {
            Value::Unsigned(value) => (Encoding::Unsigned, value),
            Value::Signed(value) => (Encoding::Signed, zigzag(value)),
            Value::Boolean(value) => (Encoding::Boolean, value.into()),
            Value::Character(value) => (Encoding::Character, value.into()),
            Value::Float(value) => (Encoding::Float, value.to_bits().swap_bytes().into()),
            Value::Double(value) => (Encoding::Double, value.to_bits().swap_bytes()),
            Value::Text(text) => (Encoding::Text, text.0.into()),
        }
    }

    /// The value with the code `code`; `None` if there is none.
    #[must_use]
    pub fn of_code(encoding: Encoding, code: u64) -> Option<Self> {
        let narrow = u32::try_from(code).ok();
        Some(match encoding {
            Encoding::Unsigned => Value::Unsigned(code),
            Encoding::Signed => Value::Signed(unzigzag(code)),
            Encoding::Boolean if code < 2 => Value::Boolean(code == 1),
            Encoding::Character => Value::Character(narrow?),
            Encoding::Float => Value::Float(f32::from_bits(narrow?.swap_bytes())),
            Encoding::Double => Value::Double(f64::from_bits(code.swap_bytes())),
            Encoding::Text => Value::Text(StringId(narrow?)),
            Encoding::Boolean | Encoding::Reference => return None,
        })
    }
}

/// A field that a type declares. Objects of the type and of those derived from it have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Field {
    /// The type that declares it.
    pub type_id: TypeId,
    /// Its name.
    pub name: StringId,
    /// The encoding of its values.
    pub encoding: Encoding,
    /// Objects may lack it: static fields of classes, attributes of individual objects.
    pub is_optional: bool,
}

/// A row of a kind that this version does not know is `None`. It counts.
impl Row for Option<Field> {
    const SECTION: SectionType = SectionType::FIELDS;
    const NAME: &'static str = "field";
    const HAS_LENGTH: bool = true;

    fn put(&self, out: &mut Vec<u8>) {
        let Some(field) = self else { return put_varint(out, FIELD + 1) };
        put_varint(out, FIELD);
        put_varint(out, field.type_id.0.into());
        put_varint(out, field.name.0.into());
        put_varint(out, field.encoding.number());
        put_varint(out, field.is_optional.into());
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        if fields.varint()? != FIELD {
            return Ok(None);
        }
        let (type_id, name) = (TypeId(fields.varint_u32()?), StringId(fields.varint_u32()?));
        let encoding = Encoding::from_number(fields.varint()?)?;
        let is_optional = match fields.varint()? {
            flag @ 0..=1 => flag == 1,
            value => return Err(FormatError::OutOfRange { what: "flags of a field", value, limit: 1 }),
        };
        Ok(Some(Field { type_id, name, encoding, is_optional }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Compression, Compressor, Decompressor};
    use crate::rows::{Chunk, encode_chunk};

    #[test]
    fn fields_are_read_back() {
        let encodings = (0..8).map(|number| Encoding::from_number(number).unwrap());
        let rows: Vec<Option<Field>> = encodings
            .enumerate()
            .map(|(at, encoding)| {
                let (type_id, name) = (TypeId(at as u32), StringId(u32::MAX - at as u32));
                Some(Field { type_id, name, encoding, is_optional: at % 2 == 1 })
            })
            .chain([None])
            .collect();
        let mut compressor = Compressor::new(Compression::None).unwrap();
        let (directory, body) = encode_chunk(0, &rows, &mut compressor).unwrap();
        let mut found = Vec::new();
        let chunk = Chunk::parse(&directory, &body).unwrap();
        chunk
            .for_each(&mut Decompressor::new(), |row: Option<Field>| {
                found.push(row);
                Ok(())
            })
            .unwrap();
        assert_eq!(found, rows);
    }

    #[test]
    fn values_are_what_their_code_says() {
        for value in [
            Value::Unsigned(u64::MAX),
            Value::Signed(i64::MIN),
            Value::Signed(-1),
            Value::Boolean(true),
            Value::Character(0xd800),
            Value::Float(-1.5),
            Value::Double(f64::MAX),
            Value::Text(StringId(7)),
        ] {
            let (encoding, code) = value.code();
            assert_eq!(Value::of_code(encoding, code), Some(value));
        }
        assert_eq!(Value::Double(1.0).code().1, 0xf03f, "round numbers are small");
        assert_eq!(Value::of_code(Encoding::Boolean, 2), None);
        assert_eq!(Value::of_code(Encoding::Text, 1 << 32), None);
        assert_eq!(Value::of_code(Encoding::Reference, 0), None);
    }
}
