//! Paths from the roots to many objects, merged into one tree.
//!
//! ```text
//!   objects of the set and of their paths   rank 0 1 2 3 …       the others take an eighth of a byte
//!   starts, children                        for each rank, the objects that it leads to
//!   order                                   parents before children
//!   through                                 filled from the end of the order
//! ```
//!
//! Memory: 24 bytes for each object on a path, and a fifth of a byte for each object of the snapshot.

use std::collections::{BTreeMap, HashMap};

use barrow_format::{ObjectId, StringId, TypeId};

use crate::columns::memory::{Column, Memory};
use crate::error::Result;
use crate::graph::distances::Distances;
use crate::graph::object_set::ObjectSet;
use crate::graph::ranks::Ranks;
use crate::heap::Heap;
use crate::progress::Progress;

impl Heap {
    /// The shortest paths to all objects of a set, merged into one tree. Objects of the same type that are reached
    /// through the same node form one node. Objects that represent classes or modules are merged by name, too.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn merged_paths(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<MergedPaths> {
        let types = self.types(progress)?;
        let names = self.names_of_classes(progress)?;
        let tree = PathTree::of(set, self.distances(progress)?, self.memory(), progress)?;
        let mut nodes = Vec::new();
        let merge = Merge { types, names, set, tree: &tree };
        merge.below(tree.top(), 0, &mut nodes, progress)?;
        Ok(MergedPaths { nodes, unreachable: tree.unreachable })
    }
}

/// Paths merged into a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedPaths {
    /// Its nodes, parents before children, siblings by descending count.
    pub nodes: Vec<MergedNode>,
    /// Objects of the set that no root reaches.
    pub unreachable: u64,
}

/// Objects of one type that are reached through the same parent node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedNode {
    /// Its depth in the tree.
    pub depth: u32,
    /// The type.
    pub type_id: TypeId,
    /// The name of the class or module that they represent, if they do.
    pub stands_for: Option<StringId>,
    /// The number of objects of the set that are reached through this node, including those in it.
    pub through: u64,
    /// The number of objects in it.
    pub objects: u64,
    /// The number of them that are in the set.
    pub members: u64,
    /// The one of them through which most objects of the set are reached.
    pub example: ObjectId,
}

/// Objects between two checks for cancellation: a cancelled question ends within milliseconds.
const OBJECTS: usize = 1 << 12;
/// Deeper nodes are omitted: no screen shows them, and a list has a node for each of its objects. This is a judgement.
const MAX_DEPTH: u32 = 200;

impl MergedPaths {
    /// Returns whether paths go on below the deepest nodes, and are not followed there.
    #[must_use]
    pub fn are_cut(&self) -> bool {
        self.nodes.iter().any(|node| node.depth == MAX_DEPTH && node.through > node.members)
    }
}

/// Bytes of resident columns for each object on the paths: those of [`PathTree`], and one that counts.
const RESIDENT_BYTES: u64 = 24;

/// The objects of a set that are reachable, and those on their paths.
struct PathTree {
    ranks: Ranks,
    /// For each rank the position of its children; then that of the objects without a parent, which roots refer to; then
    /// the end.
    starts: Column<u32>,
    children: Column<u32>,
    /// For each rank the number of objects of the set that are reached through it, itself included.
    through: Column<u32>,
    unreachable: u64,
    /// Room for the lists that merging makes.
    _lists: Column<u32>,
}

impl PathTree {
    fn of(set: &ObjectSet, distances: &Distances, memory: &Memory, progress: &dyn Progress) -> Result<Self> {
        let mut unreachable = 0;
        let mut on_paths = ObjectSet::new(set.snapshot(), set.snapshot_objects());
        for (at, object) in set.iter().enumerate() {
            check(at, progress)?;
            if distances.distance(object).is_none() {
                unreachable += 1;
                continue;
            }
            let mut next = Some(object);
            while let Some(object) = next.filter(|&object| on_paths.insert(object)) {
                next = distances.parent_of(object);
            }
        }
        let ranks = Ranks::of(on_paths);
        let count = ranks.len();
        // Asked for at once, so that the error tells what all of them need.
        let _room = memory.require_resident(RESIDENT_BYTES * (count as u64 + 1))?;
        let mut starts: Column<u32> = memory.resident(count + 2)?;
        let mut children: Column<u32> = memory.resident(count)?;
        let mut through: Column<u32> = memory.resident(count)?;
        // Counts, then ends, then beginnings.
        for (at, object) in ranks.set().iter().enumerate() {
            check(at, progress)?;
            starts[parent_rank(object, distances, &ranks)] += 1;
        }
        let mut end = 0;
        for start in starts.iter_mut() {
            end += *start;
            *start = end;
        }
        for (at, object) in ranks.set().iter().enumerate() {
            check(at, progress)?;
            let start = &mut starts[parent_rank(object, distances, &ranks)];
            *start -= 1;
            children[*start as usize] = object.0;
            through[at] = set.contains(object).into();
        }
        let lists = memory.resident(2 * count)?;
        let mut tree = PathTree { ranks, starts, children, through, unreachable, _lists: lists };
        tree.count(distances, memory, progress)?;
        Ok(tree)
    }

    /// Adds the count of each object to that of its parent, children first.
    fn count(&mut self, distances: &Distances, memory: &Memory, progress: &dyn Progress) -> Result<()> {
        let mut order: Column<u32> = memory.resident(self.ranks.len())?;
        let top = self.top();
        let mut known = top.len();
        order[..known].copy_from_slice(top);
        // An index file with wrong parents may have objects that no top leads to.
        let mut at = 0;
        while at < known {
            check(at, progress)?;
            let children = self.children_of(ObjectId(order[at]));
            order[known..known + children.len()].copy_from_slice(children);
            known += children.len();
            at += 1;
        }
        for (at, &object) in order[..known].iter().rev().enumerate() {
            check(at, progress)?;
            let object = ObjectId(object);
            if let Some(parent) = distances.parent_of(object) {
                self.through[self.ranks.of_object(parent)] += self.through[self.ranks.of_object(object)];
            }
        }
        Ok(())
    }

    /// The objects that roots refer to.
    fn top(&self) -> &[u32] {
        self.children_at(self.ranks.len())
    }

    fn children_of(&self, object: ObjectId) -> &[u32] {
        self.children_at(self.ranks.of_object(object))
    }

    fn children_at(&self, rank: usize) -> &[u32] {
        &self.children[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }

    fn through(&self, object: u32) -> u64 {
        self.through[self.ranks.of_object(ObjectId(object))].into()
    }
}

/// The rank of the parent of an object; the number of ranks if it has none.
#[inline]
fn parent_rank(object: ObjectId, distances: &Distances, ranks: &Ranks) -> usize {
    distances.parent_of(object).map_or(ranks.len(), |parent| ranks.of_object(parent))
}

fn check(at: usize, progress: &dyn Progress) -> Result<()> {
    if at.is_multiple_of(OBJECTS) { crate::progress::check(progress) } else { Ok(()) }
}

/// The paths to merge.
struct Merge<'m> {
    types: &'m [u32],
    names: &'m HashMap<ObjectId, StringId>,
    set: &'m ObjectSet,
    tree: &'m PathTree,
}

/// Objects that form one node: the number of objects of the set reached through them, their type and name, and the
/// objects.
type NodeObjects = (u64, (u32, Option<StringId>), Vec<u32>);

impl Merge<'_> {
    /// Adds the nodes of these objects, and of the objects reached through them.
    fn below(&self, objects: &[u32], depth: u32, nodes: &mut Vec<MergedNode>, progress: &dyn Progress) -> Result<()> {
        crate::progress::check(progress)?;
        let mut alike: BTreeMap<(u32, Option<StringId>), Vec<u32>> = BTreeMap::new();
        for &object in objects {
            let key = (self.types[object as usize], self.names.get(&ObjectId(object)).copied());
            alike.entry(key).or_default().push(object);
        }
        let merged = alike.into_iter().map(|(key, objects)| {
            let through = objects.iter().map(|&object| self.tree.through(object)).sum();
            (through, key, objects)
        });
        let mut merged: Vec<NodeObjects> = merged.collect();
        merged.sort_by_key(|&(count, key, _)| (std::cmp::Reverse(count), key));
        for (count, (type_id, stands_for), objects) in merged {
            // The first of those through which most are reached.
            let example =
                objects.iter().copied().min_by_key(|&object| (std::cmp::Reverse(self.tree.through(object)), object));
            nodes.push(MergedNode {
                depth,
                type_id: TypeId(type_id),
                stands_for,
                through: count,
                objects: objects.len() as u64,
                members: objects.iter().filter(|&&object| self.set.contains(ObjectId(object))).count() as u64,
                example: ObjectId(example.expect("objects that are alike are at least one")),
            });
            if depth < MAX_DEPTH {
                let below: Vec<u32> =
                    objects.iter().flat_map(|&object| self.tree.children_of(ObjectId(object))).copied().collect();
                drop(objects);
                self.below(&below, depth + 1, nodes, progress)?;
            }
        }
        Ok(())
    }
}
