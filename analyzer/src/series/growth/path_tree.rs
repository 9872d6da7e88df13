//! The dominator tree of one snapshot, merged by type, with the retained size of each path of types.
//!
//! ```text
//!   everything 900 ─ roots 900 ─┬─ Cache 800 ─ Entry 600        in preorder, with the number of nodes of each subtree
//!                               └─ Map 100
//! ```
//!
//! A tree of all paths does not depend on other snapshots. So it is kept in the index file, and serves every series that
//! the snapshot is part of. Paths number in the thousands where objects number in the millions. A tree for one question
//! has large and wanted paths only, which is faster for a large heap.

use std::collections::{BTreeMap, HashMap};

use barrow_format::varint::put;
use barrow_format::{ObjectId, StringId, TypeId};

use crate::error::Result;
use crate::file::tables::Tables;
use crate::file::type_identity::TypeIdentity;
use crate::graph::dominators::{Dominators, Holder, TreePlace};
use crate::heap::Heap;
use crate::progress::{Progress, check};
use crate::series::kept::parts::SnapshotPart;
use crate::series::kept::runs::take;

/// The maximum number of types in a path.
pub(super) const MAX_DEPTH: usize = 64;
/// The type id of everything and of root categories, which have no type.
const NO_TYPE: u32 = u32::MAX;
/// The maximum length of a kept node in bytes: a tag and five varints.
const MOST_NODE_BYTES: u64 = 40;

/// A step of a path, by its numbers in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// All reachable objects.
    Everything,
    /// The roots of the category of this name.
    Roots(StringId),
    /// Objects of a type: the first of all types with its identity.
    Type(TypeId),
    /// Objects of a type that represent the class or module of this name.
    Class(TypeId, StringId),
}

/// A path of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathNode {
    pub(super) step: Step,
    pub(super) retained_bytes: u64,
    /// The number of its objects; for everything and for a root category that of the objects held.
    pub(super) objects: u64,
    /// The number of nodes of its subtree, itself included.
    extent: u32,
}

/// Paths of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathTree {
    pub(super) whole_bytes: u64,
    pub(super) is_exact: bool,
    /// In preorder.
    nodes: Vec<PathNode>,
}

/// The paths that a tree has.
pub(super) enum Selected<'w> {
    All,
    /// Those that retain a size, which follows from that of the heap; and those that are wanted.
    Large(&'w dyn Fn(u64) -> u64, &'w PathFilter<'w>),
}

/// Says whether the path with this step below a wanted path is wanted, too. Paths are named by numbers; path 0 is
/// everything.
pub(super) type PathFilter<'w> = dyn Fn(usize, Step) -> Option<usize> + 'w;

impl PathTree {
    /// Paths of a heap.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub(super) fn of(tables: &Tables, heap: &Heap, selected: Selected<'_>, progress: &dyn Progress) -> Result<Self> {
        let dominators = heap.dominators(progress)?;
        let types = heap.types(progress)?;
        let names = heap.names_of_classes(progress)?;
        progress.begin("merging by type", dominators.reachable_count(), "objects");
        let whole_bytes = dominators.reachable_bytes();
        let (least_bytes, wanted): (u64, &PathFilter<'_>) = match selected {
            Selected::All => (0, &|_, _| None),
            Selected::Large(least_bytes, wanted) => (least_bytes(whole_bytes), wanted),
        };
        let first_of = first_of_identity(tables);
        let slots = vec![NO_TYPE; first_of.len()];
        let nodes = Vec::new();
        let mut walk = Walk { nodes, tables, dominators, types, names, first_of, slots, least_bytes, wanted, progress };
        let everything = Siblings { bytes: whole_bytes, places: vec![dominators.top()], step: Step::Everything };
        walk.descend(Some(0), 0, everything)?;
        Ok(PathTree { whole_bytes, is_exact: dominators.is_exact(), nodes: walk.nodes })
    }

    /// The node at a place; place 0 is everything.
    pub(super) fn node(&self, place: usize) -> &PathNode {
        &self.nodes[place]
    }

    /// The places of the nodes directly below a place.
    pub(super) fn children(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        let end = place + self.nodes[place].extent as usize;
        std::iter::successors(Some(place + 1), move |&child| {
            (child < end).then(|| child + self.nodes[child].extent as usize)
        })
        .take_while(move |&child| child < end)
    }

    /// Encodes the tree for the index file.
    pub(super) fn to_part(&self) -> SnapshotPart {
        let mut raw = Vec::new();
        for node in &self.nodes {
            let (tag, ids): (u64, [Option<u32>; 2]) = match node.step {
                Step::Everything => (0, [None, None]),
                Step::Roots(name) => (1, [Some(name.0), None]),
                Step::Type(id) => (2, [Some(id.0), None]),
                Step::Class(id, name) => (3, [Some(id.0), Some(name.0)]),
            };
            put(&mut raw, tag);
            ids.into_iter().flatten().for_each(|id| put(&mut raw, id.into()));
            [node.retained_bytes, node.objects, node.extent.into()]
                .into_iter()
                .for_each(|number| put(&mut raw, number));
        }
        SnapshotPart::of([self.whole_bytes, u64::from(self.is_exact), self.nodes.len() as u64, 0], &raw)
    }

    /// Decodes a tree of a snapshot with `objects` objects and `roots` roots. `None` if it is not valid.
    pub(super) fn from_part(part: &SnapshotPart, tables: &Tables, [objects, roots]: [u64; 2]) -> Option<Self> {
        let [whole_bytes, is_exact, count, _] = part.numbers;
        // Each path has an object of its own, except for everything and root categories.
        let most = objects.saturating_add(roots).saturating_add(1);
        let raw = part.raw(most.saturating_mul(MOST_NODE_BYTES))?;
        if count == 0 || count > most {
            return None;
        }
        let mut rest = &raw[..];
        let mut nodes = Vec::with_capacity(count as usize);
        // The ends of the subtrees that are open.
        let mut ends = vec![count as usize];
        for place in 0..count as usize {
            while ends.last() == Some(&place) {
                ends.pop();
            }
            let node = take_node(&mut rest, tables)?;
            let end = place + node.extent as usize;
            let is_top = matches!(node.step, Step::Everything);
            if node.extent == 0 || ends.last().is_none_or(|&above| end > above) || is_top != (place == 0) {
                return None;
            }
            ends.push(end);
            if ends.len() > MAX_DEPTH + 2 {
                return None;
            }
            nodes.push(node);
        }
        let is_whole = rest.is_empty() && nodes[0].extent as usize == nodes.len();
        is_whole.then_some(PathTree { whole_bytes, is_exact: is_exact != 0, nodes })
    }
}

fn take_node(bytes: &mut &[u8], tables: &Tables) -> Option<PathNode> {
    let (strings, types) = (tables.string_count(), tables.type_count());
    let step = match take(bytes)? {
        0 => Step::Everything,
        1 => Step::Roots(StringId(take_below(bytes, strings)?)),
        2 => Step::Type(TypeId(take_below(bytes, types)?)),
        3 => Step::Class(TypeId(take_below(bytes, types)?), StringId(take_below(bytes, strings)?)),
        _ => return None,
    };
    let [retained_bytes, objects] = [take(bytes)?, take(bytes)?];
    let extent = u32::try_from(take(bytes)?).ok()?;
    Some(PathNode { step, retained_bytes, objects, extent })
}

fn take_below(bytes: &mut &[u8], count: usize) -> Option<u32> {
    take(bytes).filter(|&id| id < count as u64).map(|id| id as u32)
}

/// For each type the first type of the same identity.
fn first_of_identity(tables: &Tables) -> Vec<u32> {
    let mut firsts = HashMap::new();
    let ids = (0..tables.type_count() as u32).map(TypeId);
    ids.map(|id| *firsts.entry(TypeIdentity::of(tables, id)).or_insert(id.0)).collect()
}

/// The objects below a node that become one child: places in the dominator tree, of one type.
struct Siblings {
    step: Step,
    /// The bytes that they retain together.
    bytes: u64,
    places: Vec<TreePlace>,
}

impl Siblings {
    fn new(step: Step) -> Self {
        Siblings { step, bytes: 0, places: Vec::new() }
    }

    fn add(&mut self, place: TreePlace, dominators: &Dominators) {
        self.bytes = self.bytes.wrapping_add(dominators.bytes_at(place));
        self.places.push(place);
    }
}

/// A walk down one dominator tree.
struct Walk<'w> {
    nodes: Vec<PathNode>,
    tables: &'w Tables,
    dominators: &'w Dominators,
    types: &'w [u32],
    /// The names of objects that represent classes or modules.
    names: HashMap<ObjectId, StringId>,
    first_of: Vec<u32>,
    /// For each type the index of its child of the current node, or [`NO_TYPE`]. Reused from node to node.
    slots: Vec<u32>,
    /// Paths that retain less are left out, unless they are wanted.
    least_bytes: u64,
    wanted: &'w PathFilter<'w>,
    progress: &'w dyn Progress,
}

impl Walk<'_> {
    /// Adds a node and the nodes below it. `wanted` is its number if it is wanted.
    fn descend(&mut self, wanted: Option<usize>, depth: usize, siblings: Siblings) -> Result<()> {
        check(self.progress)?;
        let (bytes, step) = (siblings.bytes, siblings.step);
        let held: u64 = match step {
            Step::Everything | Step::Roots(_) => {
                siblings.places.iter().map(|&place| self.dominators.count_at(place)).sum()
            }
            Step::Type(_) | Step::Class(..) => 0,
        };
        let (objects, children) = self.below(siblings);
        let objects = if matches!(step, Step::Everything | Step::Roots(_)) { held } else { objects };
        let own = self.nodes.len();
        self.nodes.push(PathNode { step, retained_bytes: bytes, objects, extent: 1 });
        for child in children.into_iter().filter(|_| depth < MAX_DEPTH) {
            let wanted = wanted.and_then(|wanted| (self.wanted)(wanted, child.step));
            if child.bytes >= self.least_bytes || wanted.is_some() {
                self.descend(wanted, depth + 1, child)?;
            }
        }
        self.nodes[own].extent = (self.nodes.len() - own) as u32;
        Ok(())
    }

    /// The number of objects of a node, including those directly below others of the same type and name; and its
    /// children: root categories by name, then types as they are met, then classes by type and name.
    fn below(&mut self, siblings: Siblings) -> (u64, Vec<Siblings>) {
        let (dominators, tables) = (self.dominators, self.tables);
        let (mut open, own) = (siblings.places, siblings.step);
        let mut roots: BTreeMap<&str, Siblings> = BTreeMap::new();
        let mut classes: BTreeMap<(u32, &str), Siblings> = BTreeMap::new();
        let (mut objects, mut children) = (open.len() as u64, Vec::<Siblings>::new());
        while let Some(place) = open.pop() {
            for child in dominators.children(place) {
                let object = match dominators.at(child) {
                    Holder::Object(object) => object,
                    Holder::Roots(name) => {
                        let siblings = roots.entry(tables.string(name));
                        siblings.or_insert_with(|| Siblings::new(Step::Roots(name))).add(child, dominators);
                        continue;
                    }
                    Holder::Everything => continue,
                };
                let type_id = self.first_of[self.types[object.index()] as usize];
                let name = if self.names.is_empty() { None } else { self.names.get(&object).copied() };
                if self.is_same(own, type_id, name) {
                    objects += 1;
                    open.push(child);
                    continue;
                }
                if let Some(name) = name {
                    let class = classes.entry((type_id, tables.string(name)));
                    let step = Step::Class(TypeId(type_id), name);
                    class.or_insert_with(|| Siblings::new(step)).add(child, dominators);
                    continue;
                }
                let slot = &mut self.slots[type_id as usize];
                if *slot == NO_TYPE {
                    *slot = children.len() as u32;
                    children.push(Siblings::new(Step::Type(TypeId(type_id))));
                }
                children[*slot as usize].add(child, dominators);
            }
        }
        for child in &children {
            if let Step::Type(type_id) = child.step {
                self.slots[type_id.index()] = NO_TYPE;
            }
        }
        (objects, roots.into_values().chain(children).chain(classes.into_values()).collect())
    }

    /// Returns whether an object of this type and name belongs to the node of `own`.
    fn is_same(&self, own: Step, type_id: u32, name: Option<StringId>) -> bool {
        match (own, name) {
            (Step::Type(own), None) => own.0 == type_id,
            (Step::Class(own, class), Some(name)) => {
                own.0 == type_id && (class == name || self.tables.string(class) == self.tables.string(name))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use barrow_format::SnapshotId;
    use barrow_testdata::{Graph, Random};

    use super::*;
    use crate::columns::index_file::IndexPlace;
    use crate::columns::memory::Memory;
    use crate::file::recording::Recording;
    use crate::progress::Silent;

    #[test]
    fn kept_trees_are_read_as_they_were_and_damaged_ones_are_refused() {
        let mut random = Random::new(8);
        for round in 0..200 {
            let graph = Graph::random(&mut random, 2 + round % 30, false);
            let recording = Arc::new(Recording::from_bytes(Graph::bytes_of(&[&graph], None)).unwrap());
            let heap =
                Heap::new(Arc::clone(&recording), SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
            let tables = recording.tables().unwrap();
            let tree = PathTree::of(tables, &heap, Selected::All, &Silent).unwrap();
            let totals = recording.commit(SnapshotId(0)).unwrap().totals;
            let counts = [totals.objects, totals.roots];
            let part = tree.to_part();
            assert_eq!(PathTree::from_part(&part, tables, counts).as_ref(), Some(&tree));
            let raw = part.raw(u64::MAX).unwrap();
            for _ in 0..50 {
                let (mut damaged, mut numbers) = (raw.clone(), part.numbers);
                let at = random.below(damaged.len() as u64) as usize;
                match random.below(4) {
                    0 => numbers[2] = random.below(50),
                    1 => damaged.truncate(at),
                    _ => damaged[at] = random.next() as u8,
                }
                let Some(read) = PathTree::from_part(&SnapshotPart::of(numbers, &damaged), tables, counts) else {
                    continue;
                };
                // Every walk over what is read ends, and visits each node once.
                let mut open = vec![0];
                let mut visited = 0;
                while let Some(place) = open.pop() {
                    visited += 1;
                    open.extend(read.children(place));
                }
                assert_eq!(visited, read.nodes.len());
            }
        }
    }
}
