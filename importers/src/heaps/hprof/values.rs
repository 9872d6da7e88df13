//! Values of fields that are not references.

use barrow_writer::{Encoding, FieldId, Value};
use byteorder::{BigEndian, ByteOrder};

use super::records::FieldType;

/// A field of an instance that is not a reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueField {
    /// Its offset in the values of the fields.
    pub(super) offset: usize,
    pub(super) kind: FieldType,
    pub(super) field: FieldId,
}

impl ValueField {
    /// Its value in an instance with these fields; `None` if the dump lacks it.
    #[inline]
    pub(super) fn value(&self, fields: &[u8]) -> Option<Value> {
        value(self.kind, fields.get(self.offset..)?)
    }
}

/// The encoding of the values of a field.
pub(super) fn encoding(kind: FieldType) -> Encoding {
    match kind {
        FieldType::Reference => Encoding::Reference,
        FieldType::Boolean => Encoding::Boolean,
        FieldType::Char => Encoding::Character,
        FieldType::Float => Encoding::Float,
        FieldType::Double => Encoding::Double,
        FieldType::Byte | FieldType::Short | FieldType::Int | FieldType::Long => Encoding::Signed,
    }
}

/// The value at the beginning of `bytes`; `None` for references, or if there are too few bytes.
#[inline]
pub(super) fn value(kind: FieldType, bytes: &[u8]) -> Option<Value> {
    let bytes = bytes.get(..usize::from(kind.bytes(0)))?;
    Some(match kind {
        FieldType::Reference => return None,
        FieldType::Boolean => Value::Boolean(bytes[0] != 0),
        FieldType::Char => Value::Character(BigEndian::read_u16(bytes).into()),
        FieldType::Float => Value::Float(BigEndian::read_f32(bytes)),
        FieldType::Double => Value::Double(BigEndian::read_f64(bytes)),
        FieldType::Byte => Value::Signed(i64::from(bytes[0].cast_signed())),
        FieldType::Short => Value::Signed(BigEndian::read_i16(bytes).into()),
        FieldType::Int => Value::Signed(BigEndian::read_i32(bytes).into()),
        FieldType::Long => Value::Signed(BigEndian::read_i64(bytes)),
    })
}

/// The value shared by all elements of an array of two or more; `None` if some differ.
#[inline]
pub(super) fn of_all(kind: FieldType, elements: &[u8]) -> Option<Value> {
    let (width, length) = (usize::from(kind.bytes(0)), elements.len());
    let are_equal = length >= 2 * width && elements[width..] == elements[..length - width];
    are_equal.then(|| value(kind, elements)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_elements_are_equal_or_not() {
        let byte = |elements: &[u8]| of_all(FieldType::Byte, elements);
        assert_eq!(byte(&[255; 5]), Some(Value::Signed(-1)));
        assert_eq!(byte(&[0, 0]), Some(Value::Signed(0)));
        assert_eq!(byte(&[0, 0, 1]), None);
        assert_eq!(byte(&[7]), None);
        assert_eq!(byte(&[]), None);
        assert_eq!(of_all(FieldType::Short, &[1, 2, 1, 2, 1, 2]), Some(Value::Signed(0x102)));
        assert_eq!(of_all(FieldType::Short, &[1, 2, 2, 1]), None);
        assert_eq!(of_all(FieldType::Char, &[0, 65, 0, 65]), Some(Value::Character(65)));
    }
}
