//! The hash of an object: all that equal objects have in common.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use barrow_format::block::BlockColumns;
use barrow_format::rows::{Encoding, LabelCode};
use barrow_format::{FieldId, ObjectId, TypeId};

use crate::error::Result;
use crate::file::object::Reference;
use crate::heap::Heap;

/// The attributes of a type whose values are names of fields that determine the whole object.
pub(super) const TELL_ALL: [&str; 3] = ["all elements", "same elements", "value of"];
/// Stands for an array of a text in the hash of the object.
const ANY_ARRAY: u32 = u32::MAX;

/// Before merging: the hash of an object, 96 bits, and its id, 32 bits. After merging: the id of a set's first object, 64
/// bits, its place among the records before merging, and the number of its objects, 32 bits each.
pub(super) type Record = u128;

pub(super) const ID_BITS: u32 = u32::BITS;

/// Precomputed answers about strings and fields.
pub(super) struct Texts<'t> {
    /// The hash of each string.
    pub(super) hashes: Vec<u64>,
    /// See [`Heap::text_labels`].
    pub(super) labels: BTreeMap<TypeId, &'t str>,
    /// The comparison for each field.
    pub(super) fields: Vec<Comparison>,
}

/// The way in which the values of a field are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Comparison {
    is_compared: bool,
    is_text: bool,
    /// They determine the whole object.
    tells_all: bool,
}

impl Comparison {
    /// Returns whether an object has a field whose value determines it.
    pub(super) fn is_told(fields: &[Comparison], columns: &BlockColumns, row: usize) -> bool {
        columns.values.fields(row).iter().any(|&field| fields.get(field.index()).is_some_and(|field| field.tells_all))
    }
}

impl Heap {
    /// The comparison for each field.
    pub(super) fn comparisons(&self) -> Result<Vec<Comparison>> {
        let (tables, fields) = (self.recording().tables()?, self.recording().fields()?);
        let mut comparisons = Vec::new();
        for (id, field) in fields.all() {
            let mut attributes = tables.type_attributes(field.type_id);
            let name = tables.string(field.name);
            let tells_all = attributes.any(|(key, value)| TELL_ALL.contains(&key) && value == name);
            let is_text = field.encoding == Encoding::Text;
            comparisons.resize(id.index() + 1, Comparison::default());
            comparisons[id.index()] = Comparison { is_compared: tells_all || !field.is_optional, is_text, tells_all };
        }
        Ok(comparisons)
    }
}

/// The id in a record that is not yet merged.
pub(super) fn array_of(record: Record) -> u32 {
    record as u32
}

/// The key of a hash. It is random, so that no recording can be made in which different objects have the same hash.
#[derive(Clone, Copy)]
pub(super) struct Key([u64; 4]);

impl Key {
    pub(super) fn random() -> Self {
        // A product with an even factor would lose bits.
        Key([0u64, 1, 2, 3].map(|number| RandomState::new().hash_one(number) | 1))
    }
}

/// The hash of an object under construction: two lanes of 64 bits with different keys.
pub(super) struct ObjectHasher {
    pub(super) object: ObjectId,
    pub(super) type_id: TypeId,
    key: Key,
    lanes: [u64; 2],
    pub(super) has_name: bool,
    /// A field determines the whole object.
    is_told: bool,
    references: u64,
    /// The array of the text.
    array: Option<ObjectId>,
}

impl ObjectHasher {
    /// `text` is the hash of its name or text.
    pub(super) fn new(columns: &BlockColumns, row: usize, type_id: TypeId, text: Option<u64>, key: Key) -> Self {
        let mut looks = ObjectHasher {
            object: ObjectId(columns.first_object + row as u32),
            type_id,
            key,
            lanes: [key.0[2], key.0[3]],
            has_name: text.is_some(),
            is_told: false,
            references: 0,
            array: None,
        };
        looks.mix(columns.shallow_bytes[row], type_id.0);
        let unmanaged_bytes = columns.unmanaged_bytes.get(row).copied().unwrap_or(0);
        looks.mix(unmanaged_bytes, text.is_some().into());
        looks.mix(text.unwrap_or_default(), 0);
        looks
    }

    /// Adds the values of fields.
    pub(super) fn add_values(&mut self, (fields, codes): (&[FieldId], &[u64]), texts: &Texts<'_>) {
        for (field, &code) in fields.iter().zip(codes) {
            let of_field = texts.fields.get(field.index()).copied().unwrap_or_default();
            if of_field.is_compared {
                let value = match of_field.is_text {
                    true => usize::try_from(code).ok().and_then(|text| texts.hashes.get(text)).copied().unwrap_or(0),
                    false => code,
                };
                self.mix(value, field.0);
                self.is_told |= of_field.tells_all;
            }
        }
    }

    /// Adds a reference. The first that is `of_text` leads to the array of the text.
    pub(super) fn add(&mut self, reference: &Reference, is_of_text: bool) {
        // The label was decoded from a code, so encoding cannot fail.
        let code = LabelCode::new(reference.label, reference.strength).unwrap_or_default();
        let target = match is_of_text && self.array.is_none() {
            true => {
                self.array = Some(reference.target);
                ANY_ARRAY
            }
            false => reference.target.0,
        };
        self.mix(code.0, target);
        self.references += 1;
    }

    /// Mixes two numbers into both lanes: a product of 128 bits, whose halves are combined.
    fn mix(&mut self, one: u64, other: u32) {
        let Key([first, second, ..]) = self.key;
        for (lane, key) in self.lanes.iter_mut().zip([first, second]) {
            let product = u128::from(*lane ^ one) * u128::from(key ^ u64::from(other) << ID_BITS);
            *lane = (product as u64 ^ (product >> u64::BITS) as u64).wrapping_add(key);
        }
    }

    /// The hash and the id of the object; `None` if it has neither name nor references, and no field determines it. The
    /// hash with the array of its text is added to `arrays`.
    pub(super) fn record(mut self, arrays: &mut Vec<Record>) -> Option<Record> {
        // So the last reference affects all bits, too.
        self.mix(self.references, self.references as u32);
        let [one, other] = self.lanes.map(u128::from);
        let hash = (other << u64::BITS | one) << ID_BITS;
        arrays.extend(self.array.map(|array| hash | u128::from(array.0)));
        (self.has_name || self.is_told || self.references > 0).then_some(hash | u128::from(self.object.0))
    }
}
