//! The fill of collections, and the bytes that a better choice would save.
//!
//! ```text
//!   objects whose types describe their filling ──▶ elements, slots     see [`crate::Filling`]
//!       └──▶ the array with their slots ──▶ its bytes, and the slots in which chains of entries begin
//!   boxed numbers ──▶ the number of different values
//!   arrays all of whose elements are equal
//! ```
//!
//! Attributes of types describe this. `interchangeable` marks objects that could be shared if they are equal; `same
//! elements` names the field with the value that all elements of an array have.

mod kept;

use std::collections::BTreeMap;

use barrow_format::block::ColumnSelection;
use barrow_format::rows::{Label, Value};
use barrow_format::{ObjectId, TypeId};
use foldhash::{HashMap, HashSet};

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{begin, map_blocks, places};
use crate::file::object::{Cursor, objects};
use crate::graph::object_set::ObjectSet;
use crate::heap::{Heap, QuestionKind};
use crate::progress::{Progress, check};
use crate::questions::fields::{FieldPath, Filled, Filling, FillingFields, Held};

/// Objects whose details are in memory at once: 100 bytes each, so 6 MB.
const PART_OBJECTS: usize = 1 << 16;

/// The collections, boxed numbers and uniform arrays of a snapshot.
#[derive(Debug, Default)]
pub struct Collections {
    /// Collections by type, those that waste most first.
    pub types: Vec<CollectionType>,
    /// Boxed numbers by type, those that waste most first.
    pub boxed: Vec<BoxedNumbers>,
    /// Arrays of equal elements, by type and element, those of most bytes first.
    pub uniform: Vec<UniformArrays>,
}

/// The collections of one type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollectionType {
    /// The type.
    pub type_id: TypeId,
    /// The number of collections.
    pub objects: u64,
    /// Those with an unknown number of elements.
    pub unknown: u64,
    /// Those without elements.
    pub empty: u64,
    /// The bytes of these, with the arrays that are their slots.
    pub empty_bytes: u64,
    /// Those with one element.
    pub single: u64,
    /// The elements of all.
    pub elements: u64,
    /// The slots of all.
    pub slots: u64,
    /// The elements of those that have slots.
    pub elements_in_slots: u64,
    /// The bytes of unused slots in collections that are not empty, which arrays of the right length would save. `None` if
    /// the size of a slot is unknown.
    pub unused_bytes: Option<u64>,
    /// The collisions of hash tables whose slots are known.
    pub hashed: Option<Hashed>,
    /// The collection that wastes most.
    pub example: ObjectId,
}

/// The distribution of the elements of hash tables over their slots.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Hashed {
    /// Elements that are not the first of their slot.
    pub collided: u64,
    /// Their expected number if the slots of elements were random.
    pub expected: f64,
}

/// The boxed numbers of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoxedNumbers {
    /// The type.
    pub type_id: TypeId,
    /// The number of objects whose value is known.
    pub objects: u64,
    /// Their different values.
    pub distinct: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes of all objects but one of each value.
    pub superfluous_bytes: u64,
    /// The first of those that have the most frequent value.
    pub example: ObjectId,
}

/// Arrays of one type, all of whose elements are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UniformArrays {
    /// The type.
    pub type_id: TypeId,
    /// The value of every element.
    pub element: Held,
    /// The number of arrays.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The largest of them.
    pub example: ObjectId,
}

impl CollectionType {
    /// The elements for each slot, of those that have slots.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        Filling { elements: Some(self.elements_in_slots), slots: Some(self.slots) }.share()
    }

    /// The bytes of empty collections and of unused slots.
    #[must_use]
    pub fn wasted_bytes(&self) -> u64 {
        self.empty_bytes.wrapping_add(self.unused_bytes.unwrap_or(0))
    }
}

/// An object with its type and its size, shallow and unmanaged, in bytes.
#[derive(Debug, Clone, Copy)]
struct SizedObject {
    id: ObjectId,
    type_id: TypeId,
    bytes: u64,
}

/// An array that holds the slots of a collection.
#[derive(Debug, Clone, Copy)]
struct Slots {
    type_id: TypeId,
    bytes: u64,
    /// The slots that hold anything.
    used: u64,
}

impl Heap {
    /// The fill of collections, and the superfluous boxed numbers and arrays. The index file keeps the answer.
    ///
    /// Time: a pass over the objects of such types for each way to find their contents. Memory: 100 bytes for each
    /// collection.
    ///
    /// # Errors
    /// [`AnalyzerError::NoElements`] if no type describes its elements, [`AnalyzerError::Section`],
    /// [`AnalyzerError::Cancelled`].
    pub fn collections(&self, progress: &dyn Progress) -> Result<Collections> {
        let question = self.asked(QuestionKind::Collections, &[]);
        let kept = self.kept_answer_numbers(&question);
        if let Some(kept) = kept.and_then(|numbers| Collections::of_numbers(&numbers))
            && self.may_be(&kept)?
        {
            return Ok(kept);
        }
        let found = self.find_collections(progress)?;
        if let Some(numbers) = found.numbers() {
            self.keep_answer(&question, bytemuck::cast_slice(&numbers), progress)?;
        }
        Ok(found)
    }

    /// Returns whether these collections have types, texts and examples of this heap.
    fn may_be(&self, collections: &Collections) -> Result<bool> {
        let tables = self.recording().tables()?;
        let Collections { types, boxed, uniform } = collections;
        let of_types = types.iter().map(|row| (row.type_id, row.example));
        let mut all = of_types
            .chain(boxed.iter().map(|row| (row.type_id, row.example)))
            .chain(uniform.iter().map(|row| (row.type_id, row.example)));
        let is_text = |row: &UniformArrays| match row.element {
            Held::Value(Value::Text(text)) => text.index() < tables.string_count(),
            _ => true,
        };
        Ok(all.all(|(type_id, example)| {
            type_id.index() < tables.type_count() && u64::from(example.0) < self.object_count()
        }) && uniform.iter().all(is_text))
    }

    fn find_collections(&self, progress: &dyn Progress) -> Result<Collections> {
        let tables = self.recording().tables()?;
        let boxed = self.boxed_numbers(progress)?;
        let uniform = self.uniform_arrays(progress)?;
        // An array is always full, so it has no slots to spare.
        let filled = match self.filled(None, |places| places.are_own() && !places.is_array(), progress) {
            Err(AnalyzerError::NoElements { .. }) if !boxed.is_empty() || !uniform.is_empty() => Vec::new(),
            filled => filled?,
        };
        let mut types = self.by_type(&filled, progress)?;
        types.sort_by_key(|row| (std::cmp::Reverse((row.wasted_bytes(), row.objects)), row.type_id));
        tables.check_strings()?;
        Ok(Collections { types, boxed, uniform })
    }

    /// Collections by type.
    fn by_type(&self, filled: &[Filled], progress: &dyn Progress) -> Result<Vec<CollectionType>> {
        let slots = self.slots_of(filled, progress)?;
        // The slots and the bytes of the longest array of each type.
        let mut longest: HashMap<TypeId, (u64, u64)> = HashMap::default();
        for of in filled {
            for (array, filling) in of.arrays.iter().zip(&of.fillings) {
                if let (Some(array), Some(count)) = (array.and_then(|id| slots.get(&id)), filling.slots) {
                    let longest = longest.entry(array.type_id).or_default();
                    *longest = (*longest).max((count, array.bytes));
                }
            }
        }
        let mut found: BTreeMap<TypeId, (CollectionType, u64)> = BTreeMap::new();
        // An array that several empty collections share counts once.
        let mut seen = HashSet::default();
        for of in filled {
            let objects = self.weighed(&of.set, progress)?;
            for ((object, filling), array) in objects.into_iter().zip(&of.fillings).zip(&of.arrays) {
                let (row, most) = found
                    .entry(object.type_id)
                    .or_insert_with(|| (CollectionType::new(object.type_id, object.id, &of.places), 0));
                let array = array.and_then(|id| slots.get(&id).map(|slots| (id, *slots)));
                let slot_bytes = array
                    .and_then(|(_, array)| longest.get(&array.type_id))
                    .and_then(|&(count, bytes)| slot_bytes(count, bytes))
                    .or(of.places.slot_bytes);
                let array_bytes = match array {
                    Some((id, array)) if filling.elements == Some(0) && seen.insert(id) => array.bytes,
                    _ => 0,
                };
                let used = array.map(|(_, array)| array.used);
                let wasted = row.add(*filling, object.bytes + array_bytes, slot_bytes, used);
                if wasted > *most {
                    (row.example, *most) = (object.id, wasted);
                }
            }
        }
        Ok(found.into_values().map(|(row, _)| row).collect())
    }

    /// The arrays that hold slots, by object.
    fn slots_of(&self, filled: &[Filled], progress: &dyn Progress) -> Result<HashMap<ObjectId, Slots>> {
        let mut ids: Vec<ObjectId> = filled.iter().flat_map(|of| of.arrays.iter().copied().flatten()).collect();
        ids.sort_unstable();
        ids.dedup();
        let set = ObjectSet::from_sorted(self.snapshot(), self.object_count(), ids);
        let used = self.indexed_references(&set, progress)?;
        let slots = self.weighed(&set, progress)?.into_iter().map(|SizedObject { id, type_id, bytes }| {
            let used = used.get(&id).copied().unwrap_or(0);
            (id, Slots { type_id, bytes, used })
        });
        Ok(slots.collect())
    }

    /// The number of references with an index of each object of the set that has any.
    fn indexed_references(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<HashMap<ObjectId, u64>> {
        let tables = self.recording().tables()?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| set.may_hold_any(ObjectId(place.entry.first_object), place.entry.objects.max(1)));
        begin(progress, "looking at slots", &places, ColumnSelection::References);
        let parts =
            map_blocks(self.recording(), &places, ColumnSelection::References, progress, |place, _, columns| {
                let (mut found, mut references, mut cursor) = (Vec::new(), Vec::new(), Cursor::default());
                for row in 0..columns.objects().max(1) {
                    let object = ObjectId(columns.first_object + row as u32);
                    if set.contains(object) {
                        references.clear();
                        cursor
                            .push_references(columns, row, tables, &mut references)
                            .map_err(AnalyzerError::section("BLOCK", place.entry.offset))?;
                        let indexed = references.iter().filter(|one| matches!(one.label, Label::Index(_))).count();
                        found.push((object, indexed as u64));
                    }
                    if row < columns.objects() {
                        cursor.step(columns, row);
                    }
                }
                Ok(found)
            })?;
        let mut counts: HashMap<ObjectId, u64> = HashMap::default();
        parts.into_iter().flatten().for_each(|(object, count)| *counts.entry(object).or_default() += count);
        Ok(counts)
    }

    /// Objects that represent a number and could be shared if the numbers are equal.
    fn boxed_numbers(&self, progress: &dyn Progress) -> Result<Vec<BoxedNumbers>> {
        let tables = self.recording().tables()?;
        let set = self.objects_of_types(
            None,
            |id| {
                ["value of", "interchangeable"]
                    .iter()
                    .all(|key| tables.type_attributes(id).any(|(known, _)| known == *key))
            },
            progress,
        )?;
        let values = self.stand_for(&set, progress)?;
        // For each value the number of objects with it, and the first of them.
        let mut by_value: HashMap<(TypeId, (u8, u64)), (u64, ObjectId)> = HashMap::default();
        let mut rows: BTreeMap<TypeId, (BoxedNumbers, u64)> = BTreeMap::new();
        for (object, held) in self.weighed(&set, progress)?.into_iter().zip(values) {
            let SizedObject { id: example, type_id, bytes } = object;
            if !matches!(held, Held::Value(_)) {
                continue;
            }
            let none = BoxedNumbers { type_id, objects: 0, distinct: 0, bytes: 0, superfluous_bytes: 0, example };
            let (row, most) = rows.entry(type_id).or_insert((none, 0));
            let (count, first) = by_value.entry((type_id, held.identity())).or_insert((0, example));
            row.distinct += u64::from(*count == 0);
            row.superfluous_bytes += if *count > 0 { bytes } else { 0 };
            row.objects += 1;
            row.bytes += bytes;
            *count += 1;
            if *count > *most {
                (row.example, *most) = (*first, *count);
            }
        }
        let mut rows: Vec<BoxedNumbers> = rows.into_values().map(|(row, _)| row).collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.superfluous_bytes), row.type_id));
        Ok(rows)
    }

    /// Arrays all of whose elements are equal.
    fn uniform_arrays(&self, progress: &dyn Progress) -> Result<Vec<UniformArrays>> {
        let tables = self.recording().tables()?;
        // The types of arrays by the name of the field.
        let mut fields: BTreeMap<&str, Vec<TypeId>> = BTreeMap::new();
        for id in (0..tables.type_count() as u32).map(TypeId) {
            if let Some((_, field)) = tables.type_attributes(id).find(|(key, _)| *key == "same elements") {
                fields.entry(field).or_default().push(id);
            }
        }
        let mut rows: BTreeMap<(TypeId, (u8, u64)), (UniformArrays, u64)> = BTreeMap::new();
        for (field, types) in fields {
            let path = FieldPath::named(field);
            let set = self.objects_of_types(None, |id| types.binary_search(&id).is_ok(), progress)?;
            let elements = self.paths_at_once(&[(&set, &path)], progress)?.remove(0);
            let known = set.iter().zip(elements).filter(|(_, element)| matches!(element, Held::Value(_)));
            let (known, elements): (Vec<ObjectId>, Vec<Held>) = known.unzip();
            let known = self.set_of(&known);
            for (object, element) in self.weighed(&known, progress)?.into_iter().zip(elements) {
                let SizedObject { id: example, type_id, bytes } = object;
                let none = UniformArrays { type_id, element, objects: 0, bytes: 0, example };
                let (row, most) = rows.entry((type_id, element.identity())).or_insert((none, 0));
                row.objects += 1;
                row.bytes += bytes;
                if bytes > *most {
                    (row.example, *most) = (example, bytes);
                }
            }
        }
        let mut rows: Vec<UniformArrays> = rows.into_values().map(|(row, _)| row).collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.bytes), row.type_id));
        Ok(rows)
    }

    /// The types and sizes of the objects of a set.
    fn weighed(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Vec<SizedObject>> {
        let ids: Vec<ObjectId> = set.iter().collect();
        let mut weighed = Vec::with_capacity(ids.len());
        for part in ids.chunks(PART_OBJECTS) {
            check(progress)?;
            weighed.extend(objects(self.recording(), self.snapshot(), part)?.into_iter().map(|object| SizedObject {
                id: object.id,
                type_id: object.type_id,
                bytes: object.shallow_bytes.wrapping_add(object.unmanaged_bytes),
            }));
        }
        Ok(weighed)
    }
}

impl CollectionType {
    fn new(type_id: TypeId, example: ObjectId, places: &FillingFields) -> Self {
        CollectionType {
            type_id,
            objects: 0,
            unknown: 0,
            empty: 0,
            empty_bytes: 0,
            single: 0,
            elements: 0,
            slots: 0,
            elements_in_slots: 0,
            unused_bytes: (places.own_array().is_some() || places.slot_bytes.is_some()).then_some(0),
            hashed: places.hash_table.as_ref().map(|_| Hashed::default()),
            example,
        }
    }

    /// Counts a collection. Returns the bytes that it wastes.
    fn add(&mut self, filling: Filling, bytes: u64, slot_bytes: Option<u64>, used: Option<u64>) -> u64 {
        self.objects += 1;
        let Some(elements) = filling.elements else {
            self.unknown += 1;
            return 0;
        };
        self.elements = self.elements.saturating_add(elements);
        self.single += u64::from(elements == 1);
        if let Some(slots) = filling.slots.filter(|&slots| slots > 0) {
            self.slots = self.slots.saturating_add(slots);
            self.elements_in_slots = self.elements_in_slots.saturating_add(elements);
            if let (Some(hashed), Some(used)) = (&mut self.hashed, used) {
                hashed.collided = hashed.collided.saturating_add(elements.saturating_sub(used));
                hashed.expected += expected_collisions(elements, slots);
            }
        }
        if elements == 0 {
            self.empty += 1;
            self.empty_bytes = self.empty_bytes.saturating_add(bytes);
            return bytes;
        }
        let unused = match (&self.unused_bytes, filling.slots, used, slot_bytes) {
            (Some(_), Some(slots), used, Some(slot_bytes)) => {
                // In a hash table elements share slots, and the slots without any are unused.
                let used = if self.hashed.is_some() { used.unwrap_or(elements) } else { elements };
                slots.saturating_sub(used).saturating_mul(slot_bytes)
            }
            _ => 0,
        };
        if let Some(bytes) = &mut self.unused_bytes {
            *bytes = bytes.saturating_add(unused);
        }
        unused
    }
}

/// The expected number of elements that are not the first of their slot if slots are random.
#[expect(clippy::cast_precision_loss, reason = "no collection has 2^53 elements")]
fn expected_collisions(elements: u64, slots: u64) -> f64 {
    let (elements, slots) = (elements as f64, slots as f64);
    // slots * (1 - 1/slots)^elements slots stay empty.
    let empty = slots * (elements * (-1.0 / slots).ln_1p()).exp();
    (elements - (slots - empty)).max(0.0)
}

/// Bytes per slot of an array: the largest power of two, up to 16, such that all slots fit. The rest is the array's header.
fn slot_bytes(slots: u64, bytes: u64) -> Option<u64> {
    let most = bytes.checked_div(slots)?;
    most.checked_ilog2().map(|bits| 1 << bits.min(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_the_largest_power_of_two_that_fits() {
        assert_eq!(slot_bytes(16, 16 + 64), Some(4));
        assert_eq!(slot_bytes(10, 16 + 40), Some(4));
        assert_eq!(slot_bytes(16, 24 + 128), Some(8));
        assert_eq!(slot_bytes(1000, 16 + 1000), Some(1));
        assert_eq!(slot_bytes(0, 16), None);
        assert_eq!(slot_bytes(100, 16), None);
    }

    #[test]
    fn expected_collisions_are_those_of_random_slots() {
        assert_eq!(expected_collisions(0, 16).round(), 0.0);
        assert!(expected_collisions(1, 16).abs() < 1e-9);
        // The second of two elements meets the first in one of 16 slots.
        assert!((expected_collisions(2, 16) - 1.0 / 16.0).abs() < 1e-9);
        assert!((expected_collisions(5, 1) - 4.0).abs() < 1e-9);
    }
}
