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

use barrow_format::varint::put;
use barrow_format::{ObjectId, StringId, TypeId};

use crate::error::Result;
use crate::file::tables::Tables;
use crate::graph::dominators::Dominators;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::type_steps::{Steps, TypeStep};
use crate::series::kept::parts::SnapshotPart;
use crate::series::kept::runs::take;

/// The maximum number of types in a path. What is deeper counts for its last step. This is a judgement.
pub(super) const MAX_DEPTH: usize = 64;
/// The maximum length of a kept node in bytes: a tag and six varints.
const MOST_NODE_BYTES: u64 = 45;

/// A path of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathNode {
    pub(super) step: TypeStep,
    pub(super) retained_bytes: u64,
    /// The number of its objects; for everything and for a root category that of the objects held.
    pub(super) objects: u64,
    /// The one of its topmost objects that retains most; none for everything and for a root category.
    pub(super) largest: Option<ObjectId>,
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
pub(super) type PathFilter<'w> = dyn Fn(usize, TypeStep) -> Option<usize> + 'w;

impl PathTree {
    /// Paths of a heap.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub(super) fn of(heap: &Heap, selected: Selected<'_>, progress: &dyn Progress) -> Result<Self> {
        let dominators = heap.dominators(progress)?;
        let mut steps = Steps::of(heap, dominators, dominators.top(), progress)?;
        progress.begin("merging by type", dominators.reachable_count(), "objects");
        let whole_bytes = dominators.reachable_bytes();
        let (least_bytes, wanted): (u64, &PathFilter<'_>) = match selected {
            Selected::All => (0, &|_, _| None),
            Selected::Large(least_bytes, wanted) => (least_bytes(whole_bytes), wanted),
        };
        // The objects of the deepest steps are those directly below each other, too.
        steps.open(Steps::TOP, MAX_DEPTH as u32 + 1, least_bytes);
        let mut walk = Walk { dominators, nodes: Vec::new(), steps, least_bytes, wanted };
        walk.descend(Some(0), 0, Steps::TOP)?;
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
                TypeStep::Everything => (0, [None, None]),
                TypeStep::Roots(name) => (1, [Some(name.0), None]),
                TypeStep::Type(id) => (2, [Some(id.0), None]),
                TypeStep::Class(id, name) => (3, [Some(id.0), Some(name.0)]),
            };
            put(&mut raw, tag);
            ids.into_iter().flatten().for_each(|id| put(&mut raw, id.into()));
            let largest = node.largest.map_or(0, |object| u64::from(object.0) + 1);
            [node.retained_bytes, node.objects, largest, node.extent.into()]
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
            let node = take_node(&mut rest, tables, objects)?;
            let end = place + node.extent as usize;
            let is_top = matches!(node.step, TypeStep::Everything);
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

fn take_node(bytes: &mut &[u8], tables: &Tables, object_count: u64) -> Option<PathNode> {
    let (strings, types) = (tables.string_count(), tables.type_count());
    let step = match take(bytes)? {
        0 => TypeStep::Everything,
        1 => TypeStep::Roots(StringId(take_below(bytes, strings)?)),
        2 => TypeStep::Type(TypeId(take_below(bytes, types)?)),
        3 => TypeStep::Class(TypeId(take_below(bytes, types)?), StringId(take_below(bytes, strings)?)),
        _ => return None,
    };
    let [retained_bytes, objects] = [take(bytes)?, take(bytes)?];
    let largest = match take(bytes)? {
        0 => None,
        after => Some(ObjectId(u32::try_from(after - 1).ok().filter(|&id| u64::from(id) < object_count)?)),
    };
    let extent = u32::try_from(take(bytes)?).ok()?;
    Some(PathNode { step, retained_bytes, objects, largest, extent })
}

fn take_below(bytes: &mut &[u8], count: usize) -> Option<u32> {
    take(bytes).filter(|&id| id < count as u64).map(|id| id as u32)
}

/// A walk down one dominator tree.
struct Walk<'w> {
    dominators: &'w Dominators,
    nodes: Vec<PathNode>,
    steps: Steps<'w>,
    /// Paths that retain less are left out, unless they are wanted.
    least_bytes: u64,
    wanted: &'w PathFilter<'w>,
}

impl Walk<'_> {
    /// Adds a node and the nodes below it. `wanted` is its number if it is wanted.
    fn descend(&mut self, wanted: Option<usize>, depth: usize, number: u32) -> Result<()> {
        let step = self.steps.step(number);
        let sums = self.steps.sums(number);
        let ((held, retained_bytes), largest) = (sums.retained, sums.largest());
        let largest = largest.and_then(|position| self.dominators.object_at(position));
        let (objects, children) = self.steps.below(number)?;
        let objects = if matches!(step, TypeStep::Everything | TypeStep::Roots(_)) { held } else { objects };
        let own = self.nodes.len();
        self.nodes.push(PathNode { step, retained_bytes, objects, largest, extent: 1 });
        for child in children.into_iter().filter(|_| depth < MAX_DEPTH) {
            let child_step = self.steps.step(child);
            let wanted = wanted.and_then(|wanted| (self.wanted)(wanted, child_step));
            if self.steps.sums(child).retained.1 >= self.least_bytes || wanted.is_some() {
                self.descend(wanted, depth + 1, child)?;
            }
        }
        self.nodes[own].extent = (self.nodes.len() - own) as u32;
        Ok(())
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
            let tree = PathTree::of(&heap, Selected::All, &Silent).unwrap();
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
