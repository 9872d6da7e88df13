//! The dominator tree merged by type: the steps that retain most, below any place and along any path of types.
//!
//! ```text
//!   everything 900 ─ [globals] 900 ─┬─ Cache 800 ─┬─ Entry × 3 600      the N largest steps, parents before children;
//!                                   │             └─ 2 more 150         what they leave out is counted where it is
//!                                   └─ Map 100
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use barrow_format::ObjectId;

use crate::error::Result;
use crate::graph::dominators::{Dominators, TreePlace};
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::type_steps::{Steps, TypeStep};

/// A step that retains less than this part of the top, divided by the number of steps that are wanted, is not opened
/// before the answer needs it. The number is a judgement.
const LEAST_OPEN_PART: u64 = if cfg!(test) { 1 } else { 64 };
/// The same, of the least bytes that are wanted.
const LEAST_OPEN_OF_LEAST: u64 = 8;
/// Bytes for each object that waits to be counted: at most half of all objects do, since each of them dominates others.
const WAITING_BYTES: u64 = 4;

/// The steps that are wanted.
#[derive(Clone, Copy)]
pub struct WantedTypes<'w> {
    /// The steps between the place that is chosen and the top of the answer: their titles. `Entry#2` is the second
    /// largest step of that title, if none has this one; types of one title differ in their kind or layout.
    pub path: &'w [String],
    /// The maximum number of steps: the largest ones.
    pub most: usize,
    /// The number of levels.
    pub levels: u32,
    /// The least part of the bytes of the top that a step retains.
    pub least: &'w dyn Fn(u64) -> u64,
}

/// The largest steps below a place of the dominator tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeTree {
    /// In preorder, siblings in descending order of retained bytes.
    pub nodes: Vec<TypeNode>,
    /// Returns whether retained sizes are exact, see [`Dominators::is_exact`].
    pub is_exact: bool,
}

/// A step: objects of one type that are reached along one path of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeNode {
    /// The number of steps between it and the top.
    pub depth: u32,
    /// The last step of its path.
    pub step: TypeStep,
    /// The number of its objects, including those directly below others of it; 0 for everything and for root categories.
    pub objects: u64,
    /// The bytes of these objects themselves.
    pub own_bytes: u64,
    /// The number of objects and bytes that its objects retain together.
    pub retained: (u64, u64),
    /// The number of steps directly below it that are not in the answer, and the bytes that they retain.
    pub left_out: (u64, u64),
    /// The one of its topmost objects that retains most.
    pub largest: Option<ObjectId>,
}

/// A path that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoStep {
    /// The index of the first title that no step has.
    pub index: usize,
    /// The steps that are there instead.
    pub choices: Vec<TypeStep>,
}

impl Heap {
    /// The largest steps below the place that `top` chooses, along a path; `None` if it chooses none.
    ///
    /// Time: linear in the objects below the place, in parallel. Subtrees of steps that stay too small for the answer
    /// are passed over. Memory: at most 80 bytes for each step that is met, and at most 4 bytes for each object.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn type_tree(
        &self,
        top: impl Fn(&Dominators) -> Option<TreePlace>,
        wanted: &WantedTypes<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<std::result::Result<TypeTree, NoStep>>> {
        self.ask_dominators(progress, |dominators| {
            let Some(place) = top(dominators) else { return Ok(None) };
            self.memory().require_more(self.object_count().saturating_mul(WAITING_BYTES))?;
            let mut steps = Steps::of(self, dominators, place, progress)?;
            progress.begin("merging by type", 0, "objects");
            let mut top = Steps::TOP;
            for (index, title) in wanted.path.iter().enumerate() {
                let below = steps.below(top)?.1;
                let choices = below.iter().map(|&child| steps.step(child)).collect();
                match steps.named(below, title) {
                    Some(child) => top = child,
                    None => return Ok(Some(Err(NoStep { index, choices }))),
                }
            }
            let mut growing = TreeBuilder { dominators, nodes: Vec::new(), open: BinaryHeap::new() };
            growing.add_largest(&mut steps, top, wanted)?;
            Ok(Some(Ok(TypeTree { nodes: growing.in_preorder(), is_exact: dominators.is_exact() })))
        })
    }
}

/// A tree whose largest steps are known.
struct TreeBuilder<'g> {
    dominators: &'g Dominators,
    /// In descending order of retained bytes, with the index of the parent.
    nodes: Vec<(TypeNode, usize)>,
    /// Steps that are not yet in the tree, the largest first, then the one added first: bytes, number of those added
    /// before, step, index of the parent.
    open: BinaryHeap<(u64, Reverse<usize>, u32, usize)>,
}

impl TreeBuilder<'_> {
    fn add_largest(&mut self, steps: &mut Steps<'_>, top: u32, wanted: &WantedTypes<'_>) -> Result<()> {
        let whole = steps.sums(top).retained.1;
        let least = (wanted.least)(whole);
        let least_open = whole / LEAST_OPEN_PART.saturating_mul(wanted.most as u64).max(1);
        steps.open(top, wanted.levels, least_open.max(least / LEAST_OPEN_OF_LEAST));
        self.open.push((whole, Reverse(0), top, 0));
        let mut added = 1;
        while self.nodes.len() < wanted.most {
            let Some((_, _, step, parent)) = self.open.pop() else { break };
            let number = self.nodes.len();
            let mut node = self.node(steps, step);
            if number > 0 {
                let above = &mut self.nodes[parent].0;
                above.left_out = (above.left_out.0 - 1, above.left_out.1.wrapping_sub(node.retained.1));
                node.depth = above.depth + 1;
            }
            let (objects, children) = steps.below(step)?;
            node.objects = if node.step.type_id().is_some() { objects } else { 0 };
            for child in children {
                let bytes = steps.sums(child).retained.1;
                node.left_out = (node.left_out.0 + 1, node.left_out.1.wrapping_add(bytes));
                if node.depth + 1 < wanted.levels && bytes >= least {
                    self.open.push((bytes, Reverse(added), child, number));
                    added += 1;
                }
            }
            node.own_bytes = node.retained.1.wrapping_sub(node.left_out.1);
            self.nodes.push((node, parent));
        }
        Ok(())
    }

    fn node(&self, steps: &Steps<'_>, step: u32) -> TypeNode {
        let sums = steps.sums(step);
        TypeNode {
            depth: 0,
            step: steps.step(step),
            objects: 0,
            own_bytes: 0,
            retained: sums.retained,
            left_out: (0, 0),
            largest: sums.largest().and_then(|position| self.dominators.object_at(position)),
        }
    }

    fn in_preorder(self) -> Vec<TypeNode> {
        let mut below = vec![Vec::new(); self.nodes.len()];
        for (number, &(_, parent)) in self.nodes.iter().enumerate().skip(1) {
            below[parent].push(number);
        }
        let mut ordered = Vec::with_capacity(self.nodes.len());
        let mut open = vec![0];
        while let Some(number) = open.pop() {
            ordered.push(self.nodes[number].0);
            open.extend(below[number].iter().rev());
        }
        ordered
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use barrow_format::SnapshotId;
    use barrow_testdata::{Graph, Random};

    use super::*;
    use crate::columns::index_file::IndexPlace;
    use crate::columns::memory::Memory;
    use crate::file::recording::Recording;
    use crate::graph::dominators::Holder;
    use crate::progress::Silent;

    /// Objects, own bytes, retained objects and retained bytes of a path.
    type Sums = (u64, u64, u64, u64);

    fn heap(graph: &Graph) -> Heap {
        let recording = Arc::new(Recording::from_bytes(Graph::bytes_of(&[graph], None)).unwrap());
        Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
    }

    fn tree(heap: &Heap, wanted: &WantedTypes<'_>) -> TypeTree {
        heap.type_tree(|dominators| Some(dominators.top()), wanted, &Silent).unwrap().unwrap().unwrap()
    }

    /// The titles from the top to each object: those of the holders, where equal types below each other are one.
    fn path(heap: &Heap, graph: &Graph, object: u32) -> Vec<String> {
        let tables = heap.recording().tables().unwrap();
        let title = |object: ObjectId| Graph::TYPES[graph.types[object.index()] as usize].to_owned();
        let mut path = vec![title(ObjectId(object))];
        for holder in heap.dominators(&Silent).unwrap().holders(ObjectId(object)) {
            path.push(match holder {
                Holder::Object(object) => title(object),
                Holder::Roots(name) => format!("[{}]", tables.string(name)),
                Holder::Everything => continue,
            });
        }
        path.push("everything".to_owned());
        path.reverse();
        path.dedup();
        path
    }

    /// The sums of all paths: an object counts for each beginning of its path.
    fn by_definition(heap: &Heap, graph: &Graph) -> BTreeMap<Vec<String>, Sums> {
        let mut sums: BTreeMap<Vec<String>, Sums> = BTreeMap::new();
        let dominators = heap.dominators(&Silent).unwrap();
        for object in (0..graph.types.len() as u32).filter(|&object| dominators.is_reachable(ObjectId(object))) {
            let (path, size) = (path(heap, graph, object), graph.sizes[object as usize]);
            for end in 1..=path.len() {
                let (objects, own, retained, bytes) = sums.entry(path[..end].to_vec()).or_default();
                (*retained, *bytes) = (*retained + 1, *bytes + size.0 + size.1);
                if end == path.len() {
                    (*objects, *own) = (*objects + 1, *own + size.0 + size.1);
                }
            }
        }
        sums
    }

    fn paths(heap: &Heap, nodes: &[TypeNode]) -> Vec<Vec<String>> {
        let tables = heap.recording().tables().unwrap();
        let mut path = Vec::new();
        let paths = nodes.iter().map(|node| {
            path.truncate(node.depth as usize);
            path.push(node.step.title(tables));
            path.clone()
        });
        paths.collect()
    }

    fn by_path(heap: &Heap, nodes: &[TypeNode]) -> BTreeMap<Vec<String>, Sums> {
        let sums = |node: &TypeNode| (node.objects, node.own_bytes, node.retained.0, node.retained.1);
        paths(heap, nodes).into_iter().zip(nodes.iter().map(sums)).collect()
    }

    /// The topmost object of each path that retains most, the first in the tree.
    fn largest_by_definition(heap: &Heap, graph: &Graph) -> BTreeMap<Vec<String>, ObjectId> {
        let dominators = heap.dominators(&Silent).unwrap();
        let mut objects: Vec<_> = (0..graph.types.len() as u32).map(ObjectId).collect();
        objects.retain(|&object| dominators.is_reachable(object));
        objects.sort_by_key(|&object| (Reverse(dominators.retained_bytes(object)), dominators.place(object)));
        let mut largest = BTreeMap::new();
        for object in objects {
            let own = path(heap, graph, object.0);
            let above = dominators.immediate_dominator(object).and_then(Holder::object);
            if above.is_none_or(|above| path(heap, graph, above.0) != own) {
                largest.entry(own).or_insert(object);
            }
        }
        largest
    }

    #[test]
    fn all_steps_are_those_of_the_definition() {
        let mut random = Random::new(31);
        for round in 0..300 {
            let graph = Graph::random(&mut random, 2 + round % 40, round % 2 == 0);
            let heap = heap(&graph);
            let wanted = WantedTypes { path: &[], most: usize::MAX, levels: u32::MAX, least: &|_| 0 };
            let nodes = tree(&heap, &wanted).nodes;
            let mut expected = by_definition(&heap, &graph);
            expected.entry(vec!["everything".to_owned()]).or_default();
            let empty_groups = by_path(&heap, &nodes).into_iter().filter(|(path, sums)| path.len() == 2 && sums.2 == 0);
            expected.extend(empty_groups);
            assert_eq!(by_path(&heap, &nodes), expected);
            assert!(nodes.iter().all(|node| node.left_out == (0, 0)));
            let largest = largest_by_definition(&heap, &graph);
            for (node, path) in nodes.iter().zip(paths(&heap, &nodes)) {
                assert_eq!(node.largest, largest.get(&path).copied());
            }
        }
    }

    #[test]
    fn the_largest_steps_say_what_they_leave_out() {
        let mut random = Random::new(32);
        for round in 0..300 {
            let graph = Graph::random(&mut random, 20 + round % 20, false);
            let heap = heap(&graph);
            let wanted = WantedTypes { path: &[], most: usize::MAX, levels: u32::MAX, least: &|_| 0 };
            let all = tree(&heap, &wanted).nodes;
            let levels = if round % 2 == 0 { u32::MAX } else { 1 + random.below(6) as u32 };
            let in_reach = all.iter().filter(|node| node.depth < levels);
            let most = 1 + random.below(in_reach.clone().count() as u64) as usize;
            let nodes = tree(&heap, &WantedTypes { most, levels, ..wanted }).nodes;
            let known = by_path(&heap, &all);
            let shown = by_path(&heap, &nodes);
            assert!(shown.iter().all(|(path, sums)| known[path] == *sums));
            for (node, path) in nodes.iter().zip(paths(&heap, &nodes)) {
                let is_below = |other: &&Vec<String>| other.len() == path.len() + 1 && other.starts_with(&path);
                let below = known.keys().filter(is_below).count() - shown.keys().filter(is_below).count();
                assert_eq!(node.left_out.0, below as u64);
            }
            let mut sizes: Vec<u64> = in_reach.map(|node| node.retained.1).collect();
            sizes.sort_by_key(|&bytes| Reverse(bytes));
            let mut shown: Vec<u64> = nodes.iter().map(|node| node.retained.1).collect();
            shown.sort_by_key(|&bytes| Reverse(bytes));
            assert_eq!(shown, sizes[..most]);
            for (at, node) in nodes.iter().enumerate() {
                let below = nodes[at + 1..].iter().take_while(|below| below.depth > node.depth);
                let children = below.filter(|below| below.depth == node.depth + 1).map(|below| below.retained.1);
                assert_eq!(node.retained.1, node.own_bytes + children.sum::<u64>() + node.left_out.1);
            }
        }
    }

    #[test]
    fn a_path_leads_to_the_steps_below_it() {
        let mut random = Random::new(33);
        for round in 0..200 {
            let graph = Graph::random(&mut random, 10 + round % 30, false);
            let heap = heap(&graph);
            let tables = heap.recording().tables().unwrap();
            let wanted = WantedTypes { path: &[], most: usize::MAX, levels: u32::MAX, least: &|_| 0 };
            let all = tree(&heap, &wanted).nodes;
            let mut path: Vec<String> = Vec::new();
            for (at, top) in all.iter().enumerate().skip(1) {
                path.truncate(top.depth as usize - 1);
                path.push(top.step.title(tables));
                let below = all[at + 1..].iter().take_while(|node| node.depth > top.depth);
                let expected: Vec<TypeNode> = std::iter::once(top)
                    .chain(below)
                    .map(|node| TypeNode { depth: node.depth - top.depth, ..*node })
                    .collect();
                let found = tree(&heap, &WantedTypes { path: &path, ..wanted }).nodes;
                assert_eq!(by_path(&heap, &found), by_path(&heap, &expected));
            }
            path = vec!["[nowhere]".to_owned()];
            let missing =
                heap.type_tree(|dominators| Some(dominators.top()), &WantedTypes { path: &path, ..wanted }, &Silent);
            assert_eq!(missing.unwrap().unwrap().unwrap_err().index, 0);
        }
    }
}
