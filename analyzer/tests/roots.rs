//! Retained sizes of categories of roots: the objects that would be freed if all its roots were gone.

use std::sync::Arc;

use barrow_analyzer::{Heap, Holder, IndexPlace, Memory, Silent, SnapshotId};
use barrow_testdata::{Graph, Random};

fn reachable_bytes(graph: &Graph) -> u64 {
    let reached = graph.reachable_without(&vec![false; graph.types.len()]);
    (0..reached.len()).filter(|&object| reached[object]).map(|object| graph.bytes(object)).sum()
}

#[test]
fn a_category_retains_what_is_freed_without_its_roots() {
    for seed in 0..500 {
        let graph = Graph::random(&mut Random::new(seed), 40, false);
        let recording = Arc::new(graph.recording());
        let heap = Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
        let dominators = heap.dominators(&Silent).unwrap();
        let tables = heap.recording().tables().unwrap();
        let places: Vec<_> = dominators.children(dominators.top()).collect();
        for category in heap.roots().unwrap().categories() {
            let mut without = graph.clone();
            without.roots.retain(|&(group, _)| Graph::GROUPS[usize::from(group)] != tables.string(category.name));
            let place = places.iter().find(|&&place| dominators.at(place) == Holder::Roots(category.name));
            let retained = place.map_or(0, |&place| dominators.bytes_at(place));
            assert_eq!(retained, reachable_bytes(&graph) - reachable_bytes(&without), "seed {seed}");
        }
    }
}
