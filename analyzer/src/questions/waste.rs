//! What is held for nothing, as far as a recording knows: empty containers, and room for elements that
//! are not there.
//!
//! An object's *elements* are the references behind its fields that have an index, or, in a dictionary,
//! names of their own. A type whose objects hold elements is a container; one of its objects that holds
//! none is empty. References without labels may be anything (the parts of a string, for instance), so
//! they make no container.
//!
//! Keys look like fields. In a dictionary, fields are the names that all objects of the type begin with.

use std::collections::{BTreeMap, HashMap};

use barrow_format::block::{BlockColumns, Wanted};
use barrow_format::rows::{Label, LabelCode, Shape, Tail};
use barrow_format::{ObjectId, ShapeId, TypeId};

use crate::error::Result;
use crate::file::blocks::{BlockPlace, map_blocks, places};
use crate::file::tables::Tables;
use crate::heap::Heap;
use crate::progress::Progress;

/// What an element is taken to need outside the heap, in bytes: a pointer.
pub const ELEMENT_BYTES: u64 = 8;

/// What objects of one type hold for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waste {
    /// The type.
    pub type_id: TypeId,
    /// Containers without elements.
    pub empty_objects: u64,
    /// Their shallow and unmanaged sizes, summed, in bytes.
    pub empty_bytes: u64,
    /// Arrays with more unmanaged bytes than their elements need.
    pub spare_objects: u64,
    /// The bytes that they do not need: an estimate, since an element is taken to need
    /// [`ELEMENT_BYTES`].
    pub spare_bytes: u64,
    /// An empty container, or else the first array with room to spare.
    pub example: ObjectId,
}

/// What was found of one shape.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    has_elements: bool,
    empty: Part,
    spare: Part,
}

/// Some objects, their bytes, and the first of them.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    objects: u64,
    bytes: u64,
    first: Option<ObjectId>,
}

/// What is known of a type before it is known which of its objects are empty.
#[derive(Default)]
struct Container<'t> {
    has_elements: bool,
    /// Its elements may be named.
    is_dictionary: bool,
    /// The names that all its objects begin with.
    fields: Option<&'t [LabelCode]>,
}

impl Heap {
    /// What is held for nothing, by type; what wastes most first.
    ///
    /// Time: shapes, sizes and numbers of references are decoded once, on all threads of the current pool.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn waste(&self, progress: &dyn Progress) -> Result<Vec<Waste>> {
        let tables = self.recording().tables()?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| place.entry.objects > 0);
        progress.begin("looking at containers", self.object_count(), "objects");
        let parts = map_blocks(self.recording(), &places, Wanted::Counts, progress, |place, _, columns| {
            Ok(columns.dictionary.iter().copied().zip(self.by_shape(place, columns, tables)).collect::<Vec<_>>())
        })?;
        let mut by_shape: BTreeMap<ShapeId, Found> = BTreeMap::new();
        for (shape, part) in parts.into_iter().flatten() {
            by_shape.entry(shape).or_default().add(part);
        }
        let mut waste = by_type(&by_shape, tables);
        waste
            .sort_by_key(|waste| (std::cmp::Reverse(waste.empty_bytes.wrapping_add(waste.spare_bytes)), waste.type_id));
        Ok(waste)
    }

    /// What is found in one block, by the places of its dictionary.
    fn by_shape(&self, place: &BlockPlace, columns: &BlockColumns, tables: &Tables) -> Vec<Found> {
        let shapes: Vec<&Shape> = columns.dictionary.iter().map(|&shape| tables.shape(shape)).collect();
        let only_names: Vec<bool> = shapes.iter().map(|shape| shape.prefix.iter().all(|&code| is_name(code))).collect();
        let mut found = vec![Found::default(); shapes.len()];
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

/// What shapes add up to, by type, for types that waste something.
fn by_type(by_shape: &BTreeMap<ShapeId, Found>, tables: &Tables) -> Vec<Waste> {
    let mut containers: HashMap<TypeId, Container<'_>> = HashMap::new();
    for (&shape, found) in by_shape {
        let shape = tables.shape(shape);
        containers.entry(shape.type_id).or_default().add(shape, found);
    }
    let mut by_type: BTreeMap<TypeId, Found> = BTreeMap::new();
    for (&shape, found) in by_shape {
        let shape = tables.shape(shape);
        let sum = by_type.entry(shape.type_id).or_default();
        sum.spare.add(found.spare);
        if containers.get(&shape.type_id).is_some_and(|container| container.is_empty(shape)) {
            sum.empty.add(found.empty);
        }
    }
    let wasteful = by_type.into_iter().filter(|(_, found)| found.empty.bytes > 0 || found.spare.bytes > 0);
    let waste = wasteful.filter_map(|(type_id, Found { empty, spare, .. })| {
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
    fn add(&mut self, shape: &'t Shape, found: &Found) {
        self.has_elements |= found.has_elements;
        self.is_dictionary |= found.has_elements && shape.tail == Tail::Explicit;
        let known = self.fields.unwrap_or(&shape.prefix);
        let same = known.iter().zip(&shape.prefix).take_while(|(one, other)| one == other && is_name(**one)).count();
        self.fields = Some(&known[..same]);
    }

    /// Whether objects of this shape are empty if they have nothing but its prefix, which is all names.
    fn is_empty(&self, shape: &Shape) -> bool {
        self.has_elements && (!self.is_dictionary || self.fields.is_some_and(|fields| fields == shape.prefix))
    }
}

/// Whether what follows the prefix is elements.
fn has_elements(shape: &Shape) -> bool {
    matches!(shape.tail, Tail::Indexed(_) | Tail::Explicit)
}

fn is_name(code: LabelCode) -> bool {
    matches!(code.label(), Ok(Label::Name(_)))
}

impl Found {
    fn add(&mut self, other: Found) {
        self.has_elements |= other.has_elements;
        self.empty.add(other.empty);
        self.spare.add(other.spare);
    }
}

impl Part {
    fn push(&mut self, object: ObjectId, bytes: u64) {
        self.add(Part { objects: 1, bytes, first: Some(object) });
    }

    fn add(&mut self, other: Part) {
        self.objects += other.objects;
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.first = [self.first, other.first].into_iter().flatten().min();
    }
}
