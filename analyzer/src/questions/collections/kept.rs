//! The fill of collections as the index file keeps it.
//!
//! ```text
//!   rows of types · rows of boxed numbers · rows of arrays          numbers of 64 bits, their counts first
//! ```

use barrow_format::rows::{Encoding, Value};
use barrow_format::{ObjectId, TypeId};

use super::{BoxedNumbers, CollectionType, Collections, Hashed, UniformArrays};
use crate::questions::fields::Held;

type TypeRow = [u64; 14];
type BoxedRow = [u64; 6];
type UniformRow = [u64; 6];

impl Collections {
    /// All rows as numbers; `None` if the elements of an array have no code.
    pub(super) fn numbers(&self) -> Option<Vec<u64>> {
        let Collections { types, boxed, uniform } = self;
        let mut numbers = vec![types.len() as u64, boxed.len() as u64];
        types.iter().for_each(|row| numbers.extend(type_row(row)));
        boxed.iter().for_each(|row| numbers.extend(boxed_row(row)));
        for row in uniform {
            numbers.extend(uniform_row(row)?);
        }
        Some(numbers)
    }

    /// The rows that these numbers say; `None` if they say none.
    pub(super) fn of_numbers(numbers: &[u64]) -> Option<Self> {
        let (&[types, boxed], rest) = numbers.split_first_chunk()?;
        let (types, rest) = rows::<14>(rest, types)?;
        let (boxed, rest) = rows::<6>(rest, boxed)?;
        let (uniform, []) = rest.as_chunks() else { return None };
        Some(Collections {
            types: types.iter().map(of_type_row).collect::<Option<_>>()?,
            boxed: boxed.iter().map(of_boxed_row).collect::<Option<_>>()?,
            uniform: uniform.iter().map(of_uniform_row).collect::<Option<_>>()?,
        })
    }
}

/// The first `count` rows, and what follows them.
fn rows<const WIDTH: usize>(numbers: &[u64], count: u64) -> Option<(&[[u64; WIDTH]], &[u64])> {
    let (rows, rest) = numbers.split_at_checked(usize::try_from(count).ok()?.checked_mul(WIDTH)?)?;
    Some((rows.as_chunks().0, rest))
}

fn type_row(row: &CollectionType) -> TypeRow {
    let CollectionType { type_id, objects, unknown, empty, empty_bytes, single, elements, .. } = *row;
    let CollectionType { slots, elements_in_slots, unused_bytes, hashed, example, .. } = *row;
    let Hashed { collided, expected } = hashed.unwrap_or_default();
    let known = u64::from(unused_bytes.is_some()) | u64::from(hashed.is_some()) << 1;
    [
        type_id.0.into(),
        objects,
        unknown,
        empty,
        empty_bytes,
        single,
        elements,
        slots,
        elements_in_slots,
        known,
        unused_bytes.unwrap_or(0),
        collided,
        expected.to_bits(),
        example.0.into(),
    ]
}

fn of_type_row(row: &TypeRow) -> Option<CollectionType> {
    let &[type_id, objects, unknown, empty, empty_bytes, single, elements, slots, elements_in_slots, ref rest @ ..] =
        row;
    let &[known, unused_bytes, collided, expected, example] = rest;
    Some(CollectionType {
        type_id: TypeId(u32::try_from(type_id).ok()?),
        objects,
        unknown,
        empty,
        empty_bytes,
        single,
        elements,
        slots,
        elements_in_slots,
        unused_bytes: (known & 1 == 1).then_some(unused_bytes),
        hashed: (known & 2 == 2).then_some(Hashed { collided, expected: f64::from_bits(expected) }),
        example: ObjectId(u32::try_from(example).ok()?),
    })
}

fn boxed_row(row: &BoxedNumbers) -> BoxedRow {
    let BoxedNumbers { type_id, objects, distinct, bytes, superfluous_bytes, example } = *row;
    [type_id.0.into(), objects, distinct, bytes, superfluous_bytes, example.0.into()]
}

fn of_boxed_row(&[type_id, objects, distinct, bytes, superfluous_bytes, example]: &BoxedRow) -> Option<BoxedNumbers> {
    let (type_id, example) = (TypeId(u32::try_from(type_id).ok()?), ObjectId(u32::try_from(example).ok()?));
    Some(BoxedNumbers { type_id, objects, distinct, bytes, superfluous_bytes, example })
}

fn uniform_row(row: &UniformArrays) -> Option<UniformRow> {
    let UniformArrays { type_id, element: Held::Value(element), objects, bytes, example } = *row else { return None };
    let (encoding, code) = element.code();
    Some([type_id.0.into(), encoding.number(), code, objects, bytes, example.0.into()])
}

fn of_uniform_row(&[type_id, encoding, code, objects, bytes, example]: &UniformRow) -> Option<UniformArrays> {
    let (type_id, example) = (TypeId(u32::try_from(type_id).ok()?), ObjectId(u32::try_from(example).ok()?));
    let element = Held::Value(Value::of_code(Encoding::from_number(encoding).ok()?, code)?);
    Some(UniformArrays { type_id, element, objects, bytes, example })
}

#[cfg(test)]
mod tests {
    use barrow_format::StringId;

    use super::*;

    #[test]
    fn rows_are_kept_as_they_are() {
        let kept = CollectionType {
            type_id: TypeId(1),
            objects: 2,
            unknown: 3,
            empty: 4,
            empty_bytes: 5,
            single: 6,
            elements: 7,
            slots: 8,
            elements_in_slots: 9,
            unused_bytes: Some(10),
            hashed: Some(Hashed { collided: 11, expected: 0.1 }),
            example: ObjectId(12),
        };
        let types = vec![kept, CollectionType { unused_bytes: None, ..kept }, CollectionType { hashed: None, ..kept }];
        let boxed = BoxedNumbers {
            type_id: TypeId(13),
            objects: 14,
            distinct: 15,
            bytes: 16,
            superfluous_bytes: 17,
            example: ObjectId(18),
        };
        let values = [Value::Signed(-1), Value::Double(0.1), Value::Boolean(true), Value::Text(StringId(19))];
        let uniform = values.map(|value| UniformArrays {
            type_id: TypeId(20),
            element: Held::Value(value),
            objects: 21,
            bytes: 22,
            example: ObjectId(23),
        });
        let collections = Collections { types, boxed: vec![boxed], uniform: uniform.to_vec() };
        let numbers = collections.numbers().expect("codes");
        let again = Collections::of_numbers(&numbers).expect("rows");
        assert_eq!(again.types, collections.types);
        assert_eq!(again.boxed, collections.boxed);
        assert_eq!(again.uniform, collections.uniform);
        for cut in 0..numbers.len() {
            let rows = Collections::of_numbers(&numbers[..cut]);
            assert!(rows.is_none_or(|rows| rows.uniform.len() < uniform.len()), "{cut}");
        }
        assert!(Collections::of_numbers(&[u64::MAX, u64::MAX]).is_none());
    }
}
