//! The dominator tree of one snapshot, merged by type into the tree of all.

use std::collections::{BTreeMap, HashMap};

use barrow_format::{ObjectId, StringId, TypeId};

use super::{FINER, Growth, GrowthNode, GrowthPart};
use crate::error::Result;
use crate::file::recording::Recording;
use crate::file::tables::Tables;
use crate::graph::dominators::{Dominators, Holder, TreePlace};
use crate::heap::Heap;
use crate::progress::{Progress, check};
use crate::series::diff::TypeIdentity;

/// Paths of more types end here.
const MAX_DEPTH: u32 = 64;
/// No type: that of a group of roots.
const NO_TYPE: u32 = u32::MAX;

impl<'a> Growth<'a> {
    /// Adds a snapshot of `recording` as this column. In the order of falling sizes most numbers are known.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    ///
    /// # Panics
    /// If there is no such column.
    pub fn fold(
        &mut self,
        column: usize,
        recording: &'a Recording,
        heap: &Heap,
        progress: &dyn Progress,
    ) -> Result<()> {
        let tables = recording.tables()?;
        let dominators = heap.dominators(progress)?;
        let types = heap.types(progress)?;
        let names = heap.names_of_classes(progress)?;
        progress.begin("merging by type", dominators.reachable_count(), "objects");
        let whole = dominators.reachable_bytes();
        self.heap_bytes[column] = whole;
        self.least_bytes[column] = ((whole as f64 * self.least_share / FINER) as u64).max(1);
        self.is_exact &= dominators.is_exact();
        let first_of = first_of_identity(tables);
        let slots = vec![NO_TYPE; first_of.len()];
        let mut walk = Walk { column, tables, dominators, types, names, first_of, slots, progress };
        let top = dominators.top();
        let everything = Group { bytes: whole, places: vec![top], type_id: NO_TYPE, stands_for: None };
        walk.descend(self, 0, everything)?;
        self.fill(column);
        Ok(())
    }

    /// Paths that have a node and were not met hold nothing.
    fn fill(&mut self, column: usize) {
        for node in &mut self.nodes {
            node.retained_bytes[column].get_or_insert(0);
            node.objects[column].get_or_insert(0);
        }
    }

    /// The node below `parent`: one that is known, or a new one for what is large enough.
    fn child(&mut self, parent: usize, part: GrowthPart<'a>, is_large: bool) -> Option<usize> {
        if let Some(&known) = self.places.get(&(parent, part)) {
            return Some(known);
        }
        let above = &self.nodes[parent];
        if !is_large || above.depth >= MAX_DEPTH {
            return None;
        }
        // What the parent did not hold, the child did not.
        let nothing = |value: &Option<u64>| value.filter(|value| *value == 0);
        let node = GrowthNode {
            parent: Some(parent),
            depth: above.depth + 1,
            part,
            retained_bytes: above.retained_bytes.iter().map(nothing).collect(),
            objects: above.objects.iter().map(nothing).collect(),
        };
        self.nodes.push(node);
        self.places.insert((parent, part), self.nodes.len() - 1);
        Some(self.nodes.len() - 1)
    }
}

/// For each type the first one that is the same.
fn first_of_identity(tables: &Tables) -> Vec<u32> {
    let mut firsts = HashMap::new();
    let ids = (0..tables.type_count() as u32).map(TypeId);
    ids.map(|id| *firsts.entry(TypeIdentity::of(tables, id)).or_insert(id.0)).collect()
}

/// Places of one type below a node.
struct Group<'a> {
    type_id: u32,
    /// What they stand for, if they are classes or modules: those of one name are a group.
    stands_for: Option<&'a str>,
    /// What they retain together.
    bytes: u64,
    places: Vec<TreePlace>,
}

impl<'a> Group<'a> {
    fn new(type_id: u32, stands_for: Option<&'a str>) -> Self {
        Group { type_id, stands_for, bytes: 0, places: Vec::new() }
    }

    fn add(&mut self, place: TreePlace, dominators: &Dominators) {
        self.bytes = self.bytes.wrapping_add(dominators.bytes_at(place));
        self.places.push(place);
    }
}

/// How many objects a group has, the groups of roots below it, and the groups of objects.
type Below<'a> = (u64, BTreeMap<&'a str, Group<'a>>, Vec<Group<'a>>);

/// A way through one dominator tree.
struct Walk<'w, 'a> {
    column: usize,
    tables: &'a Tables,
    dominators: &'w Dominators,
    types: &'w [u32],
    /// Of objects that stand for classes.
    names: HashMap<ObjectId, StringId>,
    first_of: Vec<u32>,
    /// For each type the group it has below the node that is looked at.
    slots: Vec<u32>,
    progress: &'w dyn Progress,
}

impl<'a> Walk<'_, 'a> {
    /// Gives a node its numbers, and what is below it nodes of their own.
    fn descend(&mut self, growth: &mut Growth<'a>, node: usize, group: Group<'a>) -> Result<()> {
        check(self.progress)?;
        let (bytes, own) = (group.bytes, group.type_id);
        let held: u64 = match own {
            NO_TYPE => group.places.iter().map(|&place| self.dominators.count_at(place)).sum(),
            _ => 0,
        };
        let (objects, roots, groups) = self.below(group);
        let column = self.column;
        growth.nodes[node].retained_bytes[column] = Some(bytes);
        growth.nodes[node].objects[column] = Some(if own == NO_TYPE { held } else { objects });
        for (name, group) in roots {
            self.enter(growth, node, GrowthPart::Roots(name), group)?;
        }
        for group in groups {
            let type_id = TypeId(group.type_id);
            let identity = match group.stands_for {
                Some(name) => TypeIdentity::of_class(self.tables, type_id, name),
                None => TypeIdentity::of(self.tables, type_id),
            };
            let part = GrowthPart::Type(identity);
            self.enter(growth, node, part, group)?;
        }
        Ok(())
    }

    fn enter(&mut self, growth: &mut Growth<'a>, parent: usize, part: GrowthPart<'a>, group: Group<'a>) -> Result<()> {
        let is_large = group.bytes >= growth.least_bytes[self.column];
        match growth.child(parent, part, is_large) {
            Some(node) => self.descend(growth, node, group),
            None => Ok(()),
        }
    }

    /// How many objects a group has, with those of its type (and name) that are right below others of it; the groups of
    /// roots below it; and the groups of other types.
    fn below(&mut self, group: Group<'a>) -> Below<'a> {
        let dominators = self.dominators;
        let (mut open, own, own_name) = (group.places, group.type_id, group.stands_for);
        let mut classes: BTreeMap<(u32, &'a str), Group<'a>> = BTreeMap::new();
        let (mut objects, mut roots, mut groups) = (open.len() as u64, BTreeMap::new(), Vec::<Group<'a>>::new());
        while let Some(place) = open.pop() {
            for child in dominators.children(place) {
                let object = match dominators.at(child) {
                    Holder::Object(object) => object,
                    Holder::Roots(name) => {
                        let group = roots.entry(self.tables.string(name)).or_insert_with(|| Group::new(NO_TYPE, None));
                        group.add(child, dominators);
                        continue;
                    }
                    Holder::Everything => continue,
                };
                let type_id = self.first_of[self.types[object.index()] as usize];
                let name = self.names.get(&object).map(|&name| self.tables.string(name));
                if type_id == own && name == own_name {
                    objects += 1;
                    open.push(child);
                    continue;
                }
                if let Some(name) = name {
                    let class = classes.entry((type_id, name)).or_insert_with(|| Group::new(type_id, Some(name)));
                    class.add(child, dominators);
                    continue;
                }
                let slot = &mut self.slots[type_id as usize];
                if *slot == NO_TYPE {
                    *slot = groups.len() as u32;
                    groups.push(Group::new(type_id, None));
                }
                groups[*slot as usize].add(child, dominators);
            }
        }
        groups.iter().for_each(|group| self.slots[group.type_id as usize] = NO_TYPE);
        groups.extend(classes.into_values());
        (objects, roots, groups)
    }
}
