//! Wasted memory that a recording shows: empty containers, and unused room in arrays.
//!
//! The *elements* of an object are the references after its fields that have an index, or a name in a dictionary. A
//! type is a container if some of its objects have elements; an object of such a type without elements is empty.
//! References without labels can be anything, such as parts of a string, so they do not make a type a container.
//!
//! In a dictionary, keys and fields are both names. There the fields are the leading names that all objects of the type
//! have in common.

use std::collections::{BTreeMap, HashMap};

use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::{Label, LabelCode, Shape, Tail};
use barrow_format::{ObjectId, ShapeId, TypeId};

use crate::error::Result;
use crate::file::blocks::{BlockPlace, map_blocks, places};
use crate::file::tables::Tables;
use crate::heap::Heap;
use crate::progress::Progress;

/// The assumed size of an element outside the heap, in bytes: a pointer.
pub const ELEMENT_BYTES: u64 = 8;

/// The memory wasted by the objects of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waste {
    /// The type.
    pub type_id: TypeId,
    /// The number of containers without elements.
    pub empty_objects: u64,
    /// Their shallow and unmanaged sizes, summed, in bytes.
    pub empty_bytes: u64,
    /// The number of arrays with more unmanaged bytes than their elements need.
    pub spare_objects: u64,
    /// The bytes that they do not need. This is an estimate, which assumes that an element needs [`ELEMENT_BYTES`].
    pub spare_bytes: u64,
    /// The first empty container; if there is none, the first array with unused room.
    pub example: ObjectId,
}

/// The waste of the objects of one shape.
#[derive(Debug, Clone, Copy, Default)]
struct ShapeWaste {
    has_elements: bool,
    empty: Tally,
    spare: Tally,
}

/// Some objects, their bytes, and the first of them.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    objects: u64,
    bytes: u64,
    first: Option<ObjectId>,
}

/// The combined properties of all shapes of a type, which decide whether its objects are containers.
#[derive(Default)]
struct Container<'t> {
    has_elements: bool,
    /// Elements may have names.
    is_dictionary: bool,
    /// The leading names that all its objects have in common.
    fields: Option<&'t [LabelCode]>,
}

impl Heap {
    /// The waste of each type, in descending order of bytes.
    ///
    /// Time: shapes, sizes and counts of references are decoded once, on all threads of the current pool.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn waste(&self, progress: &dyn Progress) -> Result<Vec<Waste>> {
        let tables = self.recording().tables()?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| place.entry.objects > 0);
        progress.begin("looking at containers", self.object_count(), "objects");
        let parts = map_blocks(self.recording(), &places, ColumnSelection::Counts, progress, |place, _, columns| {
            Ok(columns.dictionary.iter().copied().zip(self.by_shape(place, columns, tables)).collect::<Vec<_>>())
        })?;
        let mut by_shape: BTreeMap<ShapeId, ShapeWaste> = BTreeMap::new();
        for (shape, part) in parts.into_iter().flatten() {
            by_shape.entry(shape).or_default().add(part);
        }
        let mut waste = by_type(&by_shape, tables);
        waste
            .sort_by_key(|waste| (std::cmp::Reverse(waste.empty_bytes.wrapping_add(waste.spare_bytes)), waste.type_id));
        Ok(waste)
    }

    /// The waste in one block, by position in its dictionary of shapes.
    fn by_shape(&self, place: &BlockPlace, columns: &BlockColumns, tables: &Tables) -> Vec<ShapeWaste> {
        let shapes: Vec<&Shape> = columns.dictionary.iter().map(|&shape| tables.shape(shape)).collect();
        let only_names: Vec<bool> = shapes.iter().map(|shape| shape.prefix.iter().all(|&code| is_name(code))).collect();
        let mut found = vec![ShapeWaste::default(); shapes.len()];
        for (row, &at) in columns.shapes.iter().enumerate() {
            let (at, object) = (at as usize, ObjectId(columns.first_object + row as u32));
            if !self.has(object) {
                continue;
            }
            let (shape, found) = (shapes[at], &mut found[at]);
            let continued = if row + 1 == columns.shapes.len() { place.continued } else { 0 };
            let tail = u64::from(columns.counts[row]) - shape.prefix.len() as u64 + continued;
            let unmanaged = columns.unmanaged_bytes.get(row).copied().unwrap_or(0);
            if tail == 0 && only_names[at] {
                found.empty.push(object, columns.shallow_bytes[row].wrapping_add(unmanaged));
            }
            found.has_elements |= tail > 0 && has_elements(shape);
            let spare = unmanaged.saturating_sub(tail.saturating_mul(ELEMENT_BYTES));
            if matches!(shape.tail, Tail::Indexed(_)) && tail > 0 && spare > 0 {
                found.spare.push(object, spare);
            }
        }
        found
    }
}

/// Adds up shapes by type, for types that waste something.
fn by_type(by_shape: &BTreeMap<ShapeId, ShapeWaste>, tables: &Tables) -> Vec<Waste> {
    let mut containers: HashMap<TypeId, Container<'_>> = HashMap::new();
    for (&shape, found) in by_shape {
        let shape = tables.shape(shape);
        containers.entry(shape.type_id).or_default().add(shape, found);
    }
    let mut by_type: BTreeMap<TypeId, ShapeWaste> = BTreeMap::new();
    for (&shape, found) in by_shape {
        let shape = tables.shape(shape);
        let sum = by_type.entry(shape.type_id).or_default();
        sum.spare.add(found.spare);
        if containers.get(&shape.type_id).is_some_and(|container| container.is_empty(shape)) {
            sum.empty.add(found.empty);
        }
    }
    let wasteful = by_type.into_iter().filter(|(_, found)| found.empty.bytes > 0 || found.spare.bytes > 0);
    let waste = wasteful.filter_map(|(type_id, ShapeWaste { empty, spare, .. })| {
        Some(Waste {
            type_id,
            empty_objects: empty.objects,
            empty_bytes: empty.bytes,
            spare_objects: spare.objects,
            spare_bytes: spare.bytes,
            example: empty.first.or(spare.first)?,
        })
    });
    waste.collect()
}

impl<'t> Container<'t> {
    fn add(&mut self, shape: &'t Shape, found: &ShapeWaste) {
        self.has_elements |= found.has_elements;
        self.is_dictionary |= found.has_elements && shape.tail == Tail::Explicit;
        let known = self.fields.unwrap_or(&shape.prefix);
        let same = known.iter().zip(&shape.prefix).take_while(|(one, other)| one == other && is_name(**one)).count();
        self.fields = Some(&known[..same]);
    }

    /// Returns whether objects with nothing but the prefix of this shape are empty. The prefix consists of names.
    fn is_empty(&self, shape: &Shape) -> bool {
        self.has_elements && (!self.is_dictionary || self.fields.is_some_and(|fields| fields == shape.prefix))
    }
}

/// Returns whether references after the prefix are elements.
fn has_elements(shape: &Shape) -> bool {
    matches!(shape.tail, Tail::Indexed(_) | Tail::Explicit)
}

fn is_name(code: LabelCode) -> bool {
    matches!(code.label(), Ok(Label::Name(_)))
}

impl ShapeWaste {
    fn add(&mut self, other: ShapeWaste) {
        self.has_elements |= other.has_elements;
        self.empty.add(other.empty);
        self.spare.add(other.spare);
    }
}

impl Tally {
    fn push(&mut self, object: ObjectId, bytes: u64) {
        self.add(Tally { objects: 1, bytes, first: Some(object) });
    }

    fn add(&mut self, other: Tally) {
        self.objects += other.objects;
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.first = [self.first, other.first].into_iter().flatten().min();
    }
}
