//! The references that lead to the objects of a set, or from them, added up by what is at their other ends.
//!
//! ```text
//!   incoming  other end ──label──▶ object of the set
//!   outgoing  object of the set ──label──▶ other end
//! ```

use std::cmp::Reverse;

use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::Label;
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;
use parking_lot::Mutex;

use crate::columns::memory::Column;
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, map_blocks, places};
use crate::file::object::{Cursor, Reference};
use crate::graph::incoming::begin_scan;
use crate::graph::object_set::ObjectSet;
use crate::graph::ranks::Ranks;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::duplicates::{DuplicateGroup, DuplicateGroups};
use crate::questions::type_references::TypeReferences;

/// The end of references at which the objects of a set are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The references lead to them.
    Incoming,
    /// The references start at them.
    Outgoing,
}

/// The references of one label from objects of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldReferences {
    /// The type of the objects at which they start.
    pub source: TypeId,
    /// The label. All positions of an array are the same one, position 0.
    pub label: Label,
    /// The number of references.
    pub references: u64,
    /// The object at the other end of one of them.
    pub example: ObjectId,
}

/// The references with one object at their other ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectReferences {
    /// The object.
    pub object: ObjectId,
    /// The number of references.
    pub references: u64,
}

/// The references of one object of a block that begin or end in the set.
pub(super) struct Row<'r> {
    pub(super) source: ObjectId,
    pub(super) type_id: TypeId,
    pub(super) references: &'r [Reference],
}

impl Row<'_> {
    /// The objects at the other ends.
    fn ends(&self, direction: Direction) -> impl Iterator<Item = ObjectId> {
        self.references.iter().map(move |reference| match direction {
            Direction::Incoming => self.source,
            Direction::Outgoing => reference.target,
        })
    }
}

/// The bytes for each object of the heap while references are counted for each.
const COUNTER_BYTES: u64 = size_of::<u64>() as u64;

impl Heap {
    /// The references of the set by the types of the objects at their other ends, in order of type id.
    ///
    /// Time: a pass over all references, or over the objects of the set if these start there. Memory: a bit and a type
    /// for each object of the snapshot.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], [`AnalyzerError::MemoryCeiling`].
    pub fn references_by_type(
        &self,
        set: &ObjectSet,
        direction: Direction,
        progress: &dyn Progress,
    ) -> Result<Vec<TypeReferences>> {
        let types = self.types(progress)?;
        let all = Mutex::new((ObjectSet::new(self.snapshot(), self.object_count()), HashMap::default()));
        self.visit_references(set, direction, progress, |rows| {
            let mut all = all.lock();
            let (ends, by_type): &mut (ObjectSet, HashMap<u32, (u64, ObjectId)>) = &mut all;
            for end in rows.iter().flat_map(|row| row.ends(direction)) {
                ends.insert(end);
                add(by_type, types[end.index()], end);
            }
        })?;
        let (ends, by_type) = all.into_inner();
        let totals = self.type_totals_of(&ends, progress)?.into_iter().filter_map(|totals| {
            let &(references, example) = by_type.get(&totals.type_id.0)?;
            let (type_id, objects, shallow_bytes) = (totals.type_id, totals.objects, totals.heap_bytes);
            Some(TypeReferences { type_id, references, objects, shallow_bytes, example })
        });
        Ok(totals.collect())
    }

    /// The references of the set by the fields that hold them: the type of the source, and the label. Most come first.
    ///
    /// Time: as for [`Heap::references_by_type`].
    ///
    /// # Errors
    /// As for [`Heap::references_by_type`].
    pub fn references_by_field(
        &self,
        set: &ObjectSet,
        direction: Direction,
        progress: &dyn Progress,
    ) -> Result<Vec<FieldReferences>> {
        let all = Mutex::new(HashMap::default());
        self.visit_references(set, direction, progress, |rows| {
            let mut all = all.lock();
            for row in &rows {
                for (reference, end) in row.references.iter().zip(row.ends(direction)) {
                    add(&mut all, (row.type_id, without_position(reference.label)), end);
                }
            }
        })?;
        let fields = all.into_inner().into_iter().map(|((source, label), (references, example))| FieldReferences {
            source,
            label,
            references,
            example,
        });
        let mut fields: Vec<FieldReferences> = fields.collect();
        sort(&mut fields);
        Ok(fields)
    }

    /// The references to each of several duplicate sets by the fields that hold them, as [`Heap::references_by_field`] has
    /// them for one set.
    ///
    /// Time: a pass over all references. Memory: a bit for each object of the snapshot, 4 bytes for each of those in the
    /// sets, and 100 for each field of each set.
    ///
    /// # Errors
    /// As for [`Heap::references_by_type`].
    pub fn holders(
        &self,
        duplicates: &DuplicateGroups,
        groups: &[DuplicateGroup],
        progress: &dyn Progress,
    ) -> Result<Vec<Vec<FieldReferences>>> {
        let mut all = ObjectSet::new(self.snapshot(), self.object_count());
        groups.iter().flat_map(|group| duplicates.objects(group)).for_each(|object| _ = all.insert(object));
        let ranks = Ranks::of(all);
        let mut group_of: Column<u32> = self.memory().resident(ranks.len())?;
        for (number, group) in (0u32..).zip(groups) {
            duplicates.objects(group).for_each(|object| group_of[ranks.of_object(object)] = number);
        }
        let by_field = Mutex::new(HashMap::default());
        self.visit_references(ranks.set(), Direction::Incoming, progress, |rows| {
            let mut by_field = by_field.lock();
            for row in &rows {
                for reference in row.references {
                    let group = group_of[ranks.of_object(reference.target)];
                    add(&mut by_field, (group, row.type_id, without_position(reference.label)), row.source);
                }
            }
        })?;
        let by_field = by_field.into_inner();
        self.memory().require_more(by_field.len() as u64 * size_of::<FieldReferences>() as u64)?;
        let mut holders = vec![Vec::new(); groups.len()];
        for ((group, source, label), (references, example)) in by_field {
            holders[group as usize].push(FieldReferences { source, label, references, example });
        }
        holders.iter_mut().for_each(|fields| sort(fields));
        Ok(holders)
    }

    /// The references of the set by the objects at their other ends. Most come first.
    ///
    /// Time: as for [`Heap::references_by_type`]. Memory: 8 bytes for each object of the snapshot, and 16 for each row.
    ///
    /// # Errors
    /// As for [`Heap::references_by_type`].
    pub fn references_by_object(
        &self,
        set: &ObjectSet,
        direction: Direction,
        progress: &dyn Progress,
    ) -> Result<Vec<ObjectReferences>> {
        self.memory().require(self.object_count().saturating_mul(COUNTER_BYTES))?;
        let counts = Mutex::new(vec![0_u64; self.object_count() as usize]);
        self.visit_references(set, direction, progress, |rows| {
            let mut counts = counts.lock();
            for end in rows.iter().flat_map(|row| row.ends(direction)) {
                counts[end.index()] += 1;
            }
        })?;
        let counts = counts.into_inner();
        let rows = counts.iter().filter(|&&references| references > 0).count() as u64;
        self.memory().require(rows.saturating_mul(size_of::<ObjectReferences>() as u64))?;
        let held = (0_u32..).zip(&counts).filter(|&(_, &references)| references > 0);
        let held = held.map(|(id, &references)| (ObjectId(id), references));
        let mut objects: Vec<ObjectReferences> =
            held.map(|(object, references)| ObjectReferences { object, references }).collect();
        objects.sort_by_key(|one| (Reverse(one.references), one.object));
        Ok(objects)
    }

    /// Calls `visit` with the references of each block that begin or end in the set, without excluded ones.
    pub(super) fn visit_references(
        &self,
        set: &ObjectSet,
        direction: Direction,
        progress: &dyn Progress,
        visit: impl Fn(Vec<Row<'_>>) + Sync,
    ) -> Result<()> {
        let mut places = places(self.recording(), &[self.snapshot()])?;
        if direction == Direction::Outgoing {
            let may_hold =
                |place: &BlockPlace| set.may_hold_any(ObjectId(place.entry.first_object), place.entry.objects.max(1));
            places.retain(may_hold);
        }
        begin_scan(&places, progress);
        map_blocks(self.recording(), &places, ColumnSelection::All, progress, |place, _, columns| {
            let (references, rows) = self.references_of_block(set, direction, place, columns)?;
            let rows = rows.into_iter().map(|(source, type_id, range)| Row {
                source,
                type_id,
                references: &references[range],
            });
            visit(rows.collect());
            Ok(())
        })?;
        Ok(())
    }

    /// The references of a block that begin or end in the set, and for each source its type and the range of its own.
    fn references_of_block(
        &self,
        set: &ObjectSet,
        direction: Direction,
        place: &BlockPlace,
        columns: &BlockColumns,
    ) -> Result<BlockReferences> {
        let tables = self.recording().tables()?;
        let (mut cursor, mut references, mut rows) = (Cursor::default(), Vec::new(), Vec::new());
        for row in 0..columns.counts.len() {
            let source = ObjectId(columns.first_object + row as u32);
            let is_one = match direction {
                Direction::Outgoing => set.contains(source),
                Direction::Incoming => {
                    cursor.targets(columns, row).iter().any(|&target| set.contains(ObjectId(target)))
                }
            };
            if is_one {
                let begin = references.len();
                let at = AnalyzerError::section("BLOCK", place.entry.offset);
                cursor.push_references(columns, row, tables, &mut references).map_err(at)?;
                let own = references.split_off(begin).into_iter().filter(|reference: &Reference| {
                    (direction == Direction::Outgoing || set.contains(reference.target))
                        && self.has_reference(source, reference)
                });
                references.extend(own);
                // A continuation has one row, whose shape is that of its object.
                let shape = columns.shapes.get(row).map_or(0, |&shape| shape as usize);
                rows.push((source, tables.shape(columns.dictionary[shape]).type_id, begin..references.len()));
            }
            cursor.step(columns, row);
        }
        Ok((references, rows))
    }
}

/// References, and for each source its type and the range of its own.
type BlockReferences = (Vec<Reference>, Vec<(ObjectId, TypeId, std::ops::Range<usize>)>);

/// All positions of an array as one.
fn without_position(label: Label) -> Label {
    if let Label::Index(_) = label { Label::Index(0) } else { label }
}

/// Most references come first.
fn sort(fields: &mut [FieldReferences]) {
    fields.sort_by_key(|field| (Reverse(field.references), field.source, field.label));
}

/// Counts one reference. The example is the lowest object, whatever the order of blocks.
fn add<K: std::hash::Hash + Eq>(groups: &mut HashMap<K, (u64, ObjectId)>, key: K, end: ObjectId) {
    let group = groups.entry(key).or_insert((0, end));
    *group = (group.0 + 1, group.1.min(end));
}
