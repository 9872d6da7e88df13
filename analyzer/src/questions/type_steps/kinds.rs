//! What the objects of one step have in common, as a number.
//!
//! ```text
//!   0 …          categories of roots, by name
//!   then         types, by the number of the first of all types with the same identity
//!   then         classes and modules that objects represent, by type and name
//!   u32::MAX     everything
//! ```

use std::collections::HashMap;

use barrow_format::rows::KindRole;
use barrow_format::{ObjectId, StringId, TypeId};

use super::TypeStep;
use crate::error::Result;
use crate::file::type_identity::TypeIdentity;
use crate::graph::dominators::Dominators;
use crate::heap::Heap;
use crate::progress::Progress;

/// The kind of the top of the tree.
const EVERYTHING: u32 = u32::MAX;
/// Marks a type whose objects may represent classes or modules.
const MAY_REPRESENT: u32 = 1 << 31;

/// The kinds of the objects and groups in one dominator tree. Kinds have 31 bits, except that of everything.
pub(super) struct Kinds<'k> {
    objects: u32,
    /// By object.
    types: &'k [u32],
    /// By type: its kind, with [`MAY_REPRESENT`].
    of_type: Vec<u32>,
    /// By group of roots: its kind.
    of_group: Vec<u32>,
    /// The names of the kinds of groups.
    groups: Vec<StringId>,
    /// By object that represents a class or module: its kind.
    of_class: HashMap<ObjectId, u32, foldhash::fast::RandomState>,
    /// The first kind of a class, and the type and name of each.
    first_class: u32,
    classes: Vec<(TypeId, StringId)>,
}

impl<'k> Kinds<'k> {
    /// # Errors
    /// As for [`Heap::types`].
    pub(super) fn of(heap: &'k Heap, dominators: &Dominators, progress: &dyn Progress) -> Result<Self> {
        let tables = heap.recording().tables()?;
        let (types, names) = (heap.types(progress)?, heap.names_of_classes(progress)?);
        let mut groups: Vec<StringId> = dominators.groups().to_vec();
        groups.sort_by_key(|&name| tables.string(name));
        groups.dedup_by_key(|name| tables.string(*name));
        let of_group = dominators.groups().iter().map(|&name| {
            let rank = groups.partition_point(|&group| tables.string(group) < tables.string(name));
            rank as u32
        });
        let of_group = of_group.collect();
        let first_type = groups.len() as u32;
        let mut firsts = HashMap::new();
        let ids = (0..tables.type_count() as u32).map(TypeId);
        let of_type: Vec<u32> = ids
            .map(|id| {
                let may_represent = tables.kind_role(tables.type_kind(id)) == KindRole::Type;
                let first = *firsts.entry(TypeIdentity::of(tables, id)).or_insert(id.0);
                (first_type + first) | if may_represent { MAY_REPRESENT } else { 0 }
            })
            .collect();
        let first_class = first_type + of_type.len() as u32;
        let type_of = |object: ObjectId| (of_type[types[object.index()] as usize] & !MAY_REPRESENT) - first_type;
        let mut named: Vec<_> = names.iter().map(|(&object, &name)| (type_of(object), name, object)).collect();
        named.sort_unstable_by_key(|&(type_id, name, object)| (type_id, tables.string(name), object));
        let (mut classes, mut of_class) = (Vec::<(TypeId, StringId)>::new(), HashMap::default());
        for (type_id, name, object) in named {
            let is_last = |&(last, other): &(TypeId, StringId)| {
                last.0 == type_id && (other == name || tables.string(other) == tables.string(name))
            };
            if !classes.last().is_some_and(is_last) {
                classes.push((TypeId(type_id), name));
            }
            of_class.insert(object, first_class + classes.len() as u32 - 1);
        }
        let objects = dominators.object_count() as u32;
        Ok(Kinds { objects, types, of_type, of_group, groups, of_class, first_class, classes })
    }

    /// The kind at a position other than the top, by its vertex.
    #[inline(always)]
    pub(super) fn of_vertex(&self, vertex: u32) -> u32 {
        let Some(&type_id) = self.types.get(vertex as usize) else {
            return self.of_group[(vertex - self.objects) as usize];
        };
        let kind = self.of_type[type_id as usize];
        if kind & MAY_REPRESENT == 0 { kind } else { self.of_representative(ObjectId(vertex), kind) }
    }

    #[cold]
    fn of_representative(&self, object: ObjectId, kind: u32) -> u32 {
        self.of_class.get(&object).copied().unwrap_or(kind & !MAY_REPRESENT)
    }

    /// The kind at a position.
    pub(super) fn at(&self, dominators: &Dominators, position: u32) -> u32 {
        if position == 0 { EVERYTHING } else { self.of_vertex(dominators.vertex_at(position)) }
    }

    /// Returns whether a kind is everything or a category of roots.
    pub(super) fn is_above_objects(&self, kind: u32) -> bool {
        kind == EVERYTHING || kind < self.groups.len() as u32
    }

    /// The step of a kind.
    pub(super) fn step(&self, kind: u32) -> TypeStep {
        if kind == EVERYTHING {
            return TypeStep::Everything;
        }
        if let Some(&name) = self.groups.get(kind as usize) {
            return TypeStep::Roots(name);
        }
        match kind.checked_sub(self.first_class) {
            None => TypeStep::Type(TypeId(kind - self.groups.len() as u32)),
            Some(class) => {
                let (type_id, name) = self.classes[class as usize];
                TypeStep::Class(type_id, name)
            }
        }
    }

    /// The order of siblings: categories of roots and classes by name; types, which are between them, as they come in
    /// the tree.
    pub(super) fn rank(&self, kind: u32, first_position: u32) -> (u32, u32) {
        let first_type = self.groups.len() as u32;
        if (first_type..self.first_class).contains(&kind) { (first_type, first_position) } else { (kind, 0) }
    }
}
