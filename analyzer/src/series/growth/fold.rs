//! Merges the dominator tree of one snapshot by type into the tree of all snapshots.

use std::collections::{BTreeMap, HashMap};

use barrow_format::{ObjectId, StringId, TypeId};

use super::{FINER, Growth, GrowthNode, GrowthPart};
use crate::error::Result;
use crate::file::recording::Recording;
use crate::file::tables::Tables;
use crate::file::type_identity::TypeIdentity;
use crate::graph::dominators::{Dominators, Holder, TreePlace};
use crate::heap::Heap;
use crate::progress::{Progress, check};

/// The maximum number of types in a path.
const MAX_DEPTH: u32 = 64;
/// The type id of everything and of root categories, which have no type.
const NO_TYPE: u32 = u32::MAX;

impl<'a> Growth<'a> {
    /// Adds a snapshot of `recording` as this column. Fold large snapshots first: then the fewest values are missing.
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
        let everything = Siblings { bytes: whole, places: vec![top], type_id: NO_TYPE, stands_for: None };
        walk.descend(self, 0, everything)?;
        self.fill(column);
        Ok(())
    }

    /// Sets the missing values of a column to 0: these paths do not exist in the snapshot.
    fn fill(&mut self, column: usize) {
        for node in &mut self.nodes {
            node.retained_bytes[column].get_or_insert(0);
            node.objects[column].get_or_insert(0);
        }
    }

    /// The child of `parent` for a step: the existing node, or a new one if the step is large enough.
    fn child(&mut self, parent: usize, part: GrowthPart<'a>, is_large: bool) -> Option<usize> {
        if let Some(&known) = self.places.get(&(parent, part)) {
            return Some(known);
        }
        let above = &self.nodes[parent];
        if !is_large || above.depth >= MAX_DEPTH {
            return None;
        }
        // Where the parent held nothing, the child held nothing.
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

/// For each type the first type of the same identity.
fn first_of_identity(tables: &Tables) -> Vec<u32> {
    let mut firsts = HashMap::new();
    let ids = (0..tables.type_count() as u32).map(TypeId);
    ids.map(|id| *firsts.entry(TypeIdentity::of(tables, id)).or_insert(id.0)).collect()
}

/// The objects below a node that become one child: places in the dominator tree, of one type.
struct Siblings<'a> {
    type_id: u32,
    /// The name of the class or module that they represent, if they do. Each name has a child of its own.
    stands_for: Option<&'a str>,
    /// The bytes that they retain together.
    bytes: u64,
    places: Vec<TreePlace>,
}

impl<'a> Siblings<'a> {
    fn new(type_id: u32, stands_for: Option<&'a str>) -> Self {
        Siblings { type_id, stands_for, bytes: 0, places: Vec::new() }
    }

    fn add(&mut self, place: TreePlace, dominators: &Dominators) {
        self.bytes = self.bytes.wrapping_add(dominators.bytes_at(place));
        self.places.push(place);
    }
}

/// The number of objects of a node, the children that are root categories, and those that are types.
type Below<'a> = (u64, BTreeMap<&'a str, Siblings<'a>>, Vec<Siblings<'a>>);

/// A walk down one dominator tree.
struct Walk<'w, 'a> {
    column: usize,
    tables: &'a Tables,
    dominators: &'w Dominators,
    types: &'w [u32],
    /// The names of objects that represent classes or modules.
    names: HashMap<ObjectId, StringId>,
    first_of: Vec<u32>,
    /// For each type the index of its child of the current node, or [`NO_TYPE`]. Reused from node to node.
    slots: Vec<u32>,
    progress: &'w dyn Progress,
}

impl<'a> Walk<'_, 'a> {
    /// Sets the values of a node, and descends into its children.
    fn descend(&mut self, growth: &mut Growth<'a>, node: usize, siblings: Siblings<'a>) -> Result<()> {
        check(self.progress)?;
        let (bytes, own) = (siblings.bytes, siblings.type_id);
        let held: u64 = match own {
            NO_TYPE => siblings.places.iter().map(|&place| self.dominators.count_at(place)).sum(),
            _ => 0,
        };
        let (objects, roots, children) = self.below(siblings);
        let column = self.column;
        growth.nodes[node].retained_bytes[column] = Some(bytes);
        growth.nodes[node].objects[column] = Some(if own == NO_TYPE { held } else { objects });
        for (name, siblings) in roots {
            self.enter(growth, node, GrowthPart::Roots(name), siblings)?;
        }
        for siblings in children {
            let type_id = TypeId(siblings.type_id);
            let identity = match siblings.stands_for {
                Some(name) => TypeIdentity::of_class(self.tables, type_id, name),
                None => TypeIdentity::of(self.tables, type_id),
            };
            let part = GrowthPart::Type(identity);
            self.enter(growth, node, part, siblings)?;
        }
        Ok(())
    }

    fn enter(
        &mut self,
        growth: &mut Growth<'a>,
        parent: usize,
        part: GrowthPart<'a>,
        siblings: Siblings<'a>,
    ) -> Result<()> {
        let is_large = siblings.bytes >= growth.least_bytes[self.column];
        match growth.child(parent, part, is_large) {
            Some(node) => self.descend(growth, node, siblings),
            None => Ok(()),
        }
    }

    /// The number of objects of a node, including those directly below others of the same type and name; and its
    /// children.
    fn below(&mut self, siblings: Siblings<'a>) -> Below<'a> {
        let dominators = self.dominators;
        let (mut open, own, own_name) = (siblings.places, siblings.type_id, siblings.stands_for);
        let mut classes: BTreeMap<(u32, &'a str), Siblings<'a>> = BTreeMap::new();
        let (mut objects, mut roots, mut children) = (open.len() as u64, BTreeMap::new(), Vec::<Siblings<'a>>::new());
        while let Some(place) = open.pop() {
            for child in dominators.children(place) {
                let object = match dominators.at(child) {
                    Holder::Object(object) => object,
                    Holder::Roots(name) => {
                        let siblings =
                            roots.entry(self.tables.string(name)).or_insert_with(|| Siblings::new(NO_TYPE, None));
                        siblings.add(child, dominators);
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
                    let class = classes.entry((type_id, name)).or_insert_with(|| Siblings::new(type_id, Some(name)));
                    class.add(child, dominators);
                    continue;
                }
                let slot = &mut self.slots[type_id as usize];
                if *slot == NO_TYPE {
                    *slot = children.len() as u32;
                    children.push(Siblings::new(type_id, None));
                }
                children[*slot as usize].add(child, dominators);
            }
        }
        children.iter().for_each(|siblings| self.slots[siblings.type_id as usize] = NO_TYPE);
        children.extend(classes.into_values());
        (objects, roots, children)
    }
}
