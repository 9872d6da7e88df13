//! The references from or to one object, counted by the types of the objects at their other ends.

use std::collections::{BTreeMap, HashMap};

use barrow_format::block::ColumnSelection;
use barrow_format::{ObjectId, TypeId};

use crate::error::Result;
use crate::file::blocks::Workspace;
use crate::file::blocks::{map_blocks, places};
use crate::file::object::{objects, visit_outgoing};
use crate::graph::incoming::{begin_scan, each_hit};
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::{Progress, check};

/// The references whose other ends have one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeReferences {
    /// The type.
    pub type_id: TypeId,
    /// The number of references.
    pub references: u64,
    /// The number of different objects at the other ends.
    pub objects: u64,
    /// Their shallow sizes, summed, in bytes.
    pub shallow_bytes: u64,
    /// One of these objects.
    pub example: ObjectId,
}

/// The contribution of one block to a type.
#[derive(Clone, Copy)]
struct BlockContribution {
    type_id: TypeId,
    references: u64,
    objects: u64,
    shallow_bytes: u64,
    example: ObjectId,
}

impl Heap {
    /// The outgoing references of an object by the types of their targets, in order of type id, without excluded ones.
    /// References are streamed. Memory: one bit for each object of the snapshot, and the types of all objects.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::NoObject`], [`crate::AnalyzerError::Section`],
    /// [`crate::AnalyzerError::Cancelled`].
    pub fn outgoing_by_type(&self, id: ObjectId, progress: &dyn Progress) -> Result<Vec<TypeReferences>> {
        let types = self.types(progress)?;
        let mut targets = ObjectSet::new(self.snapshot(), self.object_count());
        let mut by_type: HashMap<u32, (u64, ObjectId)> = HashMap::new();
        let mut workspace = Workspace::default();
        visit_outgoing(self.recording(), self.snapshot(), id, 0..u64::MAX, &mut workspace, |references| {
            check(progress)?;
            for reference in references.iter().filter(|reference| self.has_reference(id, reference)) {
                targets.insert(reference.target);
                by_type.entry(types[reference.target.index()]).or_insert((0, reference.target)).0 += 1;
            }
            Ok(())
        })?;
        let totals = self.type_totals_of(&targets, progress)?;
        let with_references = totals.into_iter().filter_map(|totals| {
            let &(references, example) = by_type.get(&totals.type_id.0)?;
            let (type_id, objects, shallow_bytes) = (totals.type_id, totals.objects, totals.heap_bytes);
            Some(TypeReferences { type_id, references, objects, shallow_bytes, example })
        });
        Ok(with_references.collect())
    }

    /// The references that lead to an object by the types of their sources, in order of type id, without excluded ones.
    /// All references are scanned on all threads of the current pool. If incoming references exist already, only blocks
    /// that hold sources are scanned. The scanned references are not stored.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn incoming_by_type(&self, target: ObjectId, progress: &dyn Progress) -> Result<Vec<TypeReferences>> {
        let (recording, tables) = (self.recording(), self.recording().tables()?);
        let mut places = places(recording, &[self.snapshot()])?;
        if let Some(sources) = self.known_sources(target) {
            places.retain(|place| {
                let first = place.entry.first_object;
                let end = first.saturating_add(place.entry.objects.max(1));
                let at = sources.partition_point(|&source| source < first);
                sources.get(at).is_some_and(|&source| source < end)
            });
        }
        begin_scan(&places, progress);
        let exclusion = self.exclusion().map(|exclusion| &**exclusion);
        let found = map_blocks(recording, &places, ColumnSelection::All, progress, |place, _, columns| {
            let mut parts: Vec<BlockContribution> = Vec::new();
            let mut last = None;
            each_hit(recording, place, columns, target, exclusion, |hit| {
                let shape = columns.shapes.get(hit.row).map_or(0, |&shape| shape as usize);
                let type_id = tables.shape(columns.dictionary[shape]).type_id;
                // A continuation has no size of its object.
                let shallow_bytes = columns.shallow_bytes.get(hit.row).copied().unwrap_or(0);
                last = Some(hit.source);
                match parts.iter_mut().find(|part| part.type_id == type_id) {
                    Some(part) => {
                        part.references += hit.count;
                        part.objects += 1;
                        part.shallow_bytes = part.shallow_bytes.wrapping_add(shallow_bytes);
                    }
                    None => parts.push(BlockContribution {
                        type_id,
                        references: hit.count,
                        objects: 1,
                        shallow_bytes,
                        example: hit.source,
                    }),
                }
            })?;
            Ok((place.entry.objects == 0, parts, last))
        })?;
        let mut by_type: BTreeMap<TypeId, TypeReferences> = BTreeMap::new();
        let mut last_source = None;
        for (is_continuation, parts, last) in found {
            for mut part in parts {
                if is_continuation && last_source == Some(part.example) {
                    part.objects = 0;
                } else if is_continuation {
                    let own = objects(recording, self.snapshot(), &[part.example])?;
                    part.shallow_bytes = own.first().map_or(0, |own| own.shallow_bytes);
                }
                let nothing = TypeReferences {
                    type_id: part.type_id,
                    references: 0,
                    objects: 0,
                    shallow_bytes: 0,
                    example: part.example,
                };
                let sum = by_type.entry(part.type_id).or_insert(nothing);
                sum.references += part.references;
                sum.objects += part.objects;
                sum.shallow_bytes = sum.shallow_bytes.wrapping_add(part.shallow_bytes);
            }
            last_source = last.or(last_source);
        }
        Ok(by_type.into_values().collect())
    }
}
