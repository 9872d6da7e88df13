//! The dominator tree with each chain, such as a linked list, as one place.
//!
//! ```text
//!   List ── Node ── Node ── Node ── Node ── …       List ── Node × 200,000 ─┬─ Order
//!            │       └ Order                                                └─ String      what members hold besides the
//!            └ String                                                                       next one is below the chain
//! ```
//!
//! A chain goes from an object to the child that retains at least half of it, as long as one to three types repeat, or come
//! again in no order.

use std::cell::RefCell;

use barrow_format::{ObjectId, TypeId};

use super::Holder;
use super::below::{Below, WantedBelow};
use super::canopy::Tree;
use super::chain::{Chain, MOST_TYPES, beginning};

/// A dominator tree in which each chain is one place.
pub struct Folded<'t, T: Tree> {
    tree: &'t T,
    types: &'t [u32],
    /// The members of each chain, and the chain.
    chains: RefCell<Vec<(Vec<T::Place>, Chain)>>,
}

/// A place in it: a place of the tree, or the chain that begins there.
#[derive(Debug, Clone, Copy)]
pub struct FoldedPlace<P> {
    head: P,
    chain: Option<usize>,
}

impl<'t, T: Tree> Folded<'t, T> {
    /// Folds a tree. `types` are those of all objects.
    pub fn of(tree: &'t T, types: &'t [u32]) -> Self {
        Folded { tree, types, chains: RefCell::default() }
    }

    /// A place of the tree, with the chain that begins there.
    ///
    /// Time: linear in the objects of the chain and in their children.
    pub fn place(&self, head: T::Place) -> FoldedPlace<T::Place> {
        let begins = Some(head).filter(|&head| self.tree.may_begin_chain(head));
        let chain = begins.and_then(|head| self.chain_from(head)).map(|chain| {
            self.chains.borrow_mut().push(chain);
            self.chains.borrow().len() - 1
        });
        FoldedPlace { head, chain }
    }

    fn type_of(&self, place: T::Place) -> Option<TypeId> {
        let ObjectId(object) = self.tree.holder(place).object()?;
        self.types.get(object as usize).copied().map(TypeId)
    }

    /// The child that retains at least half of a place, and the bytes of all children.
    fn heavy_child(&self, place: T::Place) -> (Option<T::Place>, u64) {
        let below = self.tree.below(place, &WantedBelow::half_of(self.tree.retained(place).1));
        (below.places.first().copied(), below.all.1)
    }

    fn chain_from(&self, head: T::Place) -> Option<(Vec<T::Place>, Chain)> {
        let (mut members, mut types) = (vec![head], vec![self.type_of(head)?]);
        let (mut distinct, mut own_bytes) = (types.clone(), Vec::new());
        loop {
            let last = members[members.len() - 1];
            let (next, below) = self.heavy_child(last);
            own_bytes.push(self.tree.retained(last).1.wrapping_sub(below));
            let Some((next, type_id)) = next.and_then(|next| Some((next, self.type_of(next)?))) else { break };
            if !distinct.contains(&type_id) {
                if distinct.len() == MOST_TYPES {
                    break;
                }
                distinct.push(type_id);
            }
            members.push(next);
            types.push(type_id);
        }
        let (objects, of, is_periodic) = beginning(&types)?;
        members.truncate(objects);
        let chain = Chain {
            types: std::array::from_fn(|at| of.get(at).copied().unwrap_or(of[0])),
            count: of.len(),
            is_periodic,
            objects: objects as u64,
            own_bytes: own_bytes[..objects].iter().fold(0, |sum, own| sum.wrapping_add(*own)),
        };
        Some((members, chain))
    }

    /// The children of all members that are not members themselves.
    fn below_chain(&self, members: &[T::Place], wanted: &WantedBelow) -> Below<T::Place> {
        // The next member is among them.
        let most = wanted.skip.saturating_add(wanted.most).saturating_add(1);
        let of_member = WantedBelow { skip: 0, most, ..*wanted };
        let (mut all, mut large, mut found) = ((0u64, 0u64), (0, 0u64), Vec::new());
        for (at, &member) in members.iter().enumerate() {
            let below = self.tree.below(member, &of_member);
            let next = members.get(at + 1).map(|&next| (self.tree.holder(next), self.tree.retained(next).1));
            let bytes = next.map_or(0, |(_, bytes)| bytes);
            let is_large = next.is_some() && bytes >= wanted.least;
            // Numbers of a wrong index file may not fit each other.
            let others: u64 = below.all.0.wrapping_sub(next.is_some().into());
            all = (all.0.wrapping_add(others), all.1.wrapping_add(below.all.1).wrapping_sub(bytes));
            let large_bytes = if is_large { bytes } else { 0 };
            large = (
                large.0 + below.large.0 - u64::from(is_large),
                large.1.wrapping_add(below.large.1).wrapping_sub(large_bytes),
            );
            let others =
                below.places.into_iter().filter(|&child| next.is_none_or(|(next, _)| self.tree.holder(child) != next));
            found.extend(others.map(|child| (self.tree.retained(child).1, child)));
        }
        Below { all, large, ..Below::of(found.into_iter(), |child| self.tree.holder(child), wanted) }
    }
}

impl<T: Tree> Tree for Folded<'_, T> {
    type Place = FoldedPlace<T::Place>;

    fn top(&self) -> Self::Place {
        self.place(self.tree.top())
    }

    fn holder(&self, place: Self::Place) -> Holder {
        self.tree.holder(place.head)
    }

    fn retained(&self, place: Self::Place) -> (u64, u64) {
        self.tree.retained(place.head)
    }

    fn below(&self, place: Self::Place, wanted: &WantedBelow) -> Below<Self::Place> {
        let below = match place.chain {
            None => self.tree.below(place.head, wanted),
            Some(chain) => self.below_chain(&self.chains.borrow()[chain].0, wanted),
        };
        below.map(|place| self.place(place))
    }

    fn chain(&self, place: Self::Place) -> Option<Chain> {
        place.chain.map(|chain| self.chains.borrow()[chain].1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use barrow_format::SnapshotId;
    use barrow_testdata::{Graph, Random};
    use barrow_writer::StrengthClass;

    use super::*;
    use crate::{Heap, IndexPlace, Memory, Recording, Silent};

    const ALL: WantedBelow = WantedBelow { least: 0, skip: 0, most: usize::MAX, after: None };

    fn heap(graph: &Graph) -> Heap {
        let recording = Arc::new(Recording::from_bytes(Graph::bytes_of(&[graph], None)).expect("a recording"));
        Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).expect("a snapshot")
    }

    /// A list whose nodes have these types in turn, each with a leaf of 8 bytes and of its own.
    fn list(types: &[u8], nodes: u32) -> Graph {
        let mut graph = Graph { roots: vec![(0, 0)], ..Graph::default() };
        for node in 0..nodes {
            graph.types.extend([types[node as usize % types.len()], 3]);
            graph.sizes.extend([(16, 0), (8, 0)]);
            let next = (node + 1 < nodes).then_some((2 * node + 2, StrengthClass::Strong));
            let leaf = (2 * node + 1, StrengthClass::Strong);
            graph.references.extend([next.into_iter().chain([leaf]).collect(), Vec::new()]);
        }
        graph
    }

    /// All places below the top with their chains, parents first; checks that sizes add up.
    fn places(heap: &Heap) -> Vec<(Option<Chain>, u64)> {
        let (dominators, types) = (heap.dominators(&Silent).unwrap(), heap.types(&Silent).unwrap());
        let folded = Folded::of(dominators, types);
        let (mut found, mut open) = (Vec::new(), vec![folded.top()]);
        while let Some(place) = open.pop() {
            let below = folded.below(place, &ALL);
            assert_eq!((below.all, below.places.len() as u64), (below.large, below.all.0));
            assert_eq!(below.all.1, below.places.iter().map(|&child| folded.retained(child).1).sum::<u64>());
            let own = folded.retained(place).1 - below.all.1;
            if let Some(chain) = folded.chain(place) {
                assert_eq!(own, chain.own_bytes);
            }
            if folded.holder(place).object().is_some() {
                found.push((folded.chain(place), own));
            }
            open.extend(below.places);
        }
        found
    }

    #[test]
    fn a_list_is_one_place_with_all_of_its_nodes() {
        let of_four = &[0, 0, 0, 1][..];
        for (types, nodes, shown) in
            [(&[0u8][..], 1000, 1), (&[0, 1], 1001, 2), (&[0, 0, 1], 999, 3), (of_four, 1000, 2), (&[0], 8, 1)]
        {
            let all = places(&heap(&list(types, nodes)));
            let chains: Vec<Chain> = all.iter().filter_map(|(chain, _)| *chain).collect();
            let [chain] = chains[..] else { panic!("{chains:?}") };
            assert_eq!((chain.objects, chain.own_bytes), (nodes.into(), 16 * u64::from(nodes)));
            assert_eq!((chain.types().len(), chain.is_periodic), (shown, types.len() < 4));
            // The leaves are below it.
            assert_eq!(all.len(), 1 + nodes as usize);
        }
        assert!(places(&heap(&list(&[0], 7))).iter().all(|(chain, _)| chain.is_none()));
    }

    #[test]
    fn no_object_is_lost_and_sizes_add_up() {
        let mut random = Random::new(41);
        let mut chains = 0;
        for round in 0..300 {
            let mut graph = Graph::random(&mut random, 60, false);
            for object in 0..graph.types.len() as u32 - 1 {
                graph.types[object as usize] %= 1 + (round % 3) as u8;
                graph.references[object as usize].truncate(usize::from(round % 2 == 0));
                graph.references[object as usize].push((object + 1, StrengthClass::Strong));
            }
            graph.roots.push((0, 0));
            let heap = heap(&graph);
            let all = places(&heap);
            let objects: u64 = all.iter().map(|(chain, _)| chain.map_or(1, |chain| chain.objects)).sum();
            assert_eq!(objects, heap.dominators(&Silent).unwrap().reachable_count());
            assert_eq!(
                all.iter().map(|(_, own)| own).sum::<u64>(),
                heap.dominators(&Silent).unwrap().reachable_bytes()
            );
            chains += all.iter().filter(|(chain, _)| chain.is_some()).count();
        }
        assert!(chains > 50, "{chains}");
    }

    #[test]
    fn a_page_of_the_children_of_a_chain_is_the_same_part_of_all() {
        let heap = heap(&list(&[0], 100));
        let (dominators, types) = (heap.dominators(&Silent).unwrap(), heap.types(&Silent).unwrap());
        let folded = Folded::of(dominators, types);
        let roots = folded.below(folded.top(), &ALL).places[0];
        let chain = folded.below(roots, &ALL).places[0];
        let holders = |below: &Below<_>| below.places.iter().map(|&child| folded.holder(child)).collect::<Vec<_>>();
        let all = holders(&folded.below(chain, &ALL));
        let first = folded.below(chain, &WantedBelow { most: 30, ..ALL });
        let rest = folded.below(chain, &WantedBelow { after: first.last, ..ALL });
        assert_eq!([holders(&first), holders(&rest)].concat(), all);
        assert_eq!(folded.below(chain, &WantedBelow { least: 9, ..ALL }).large, (0, 0));
    }
}
