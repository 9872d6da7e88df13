//! Compares the references of sets with those that the recorded objects have, on random heaps with references of every
//! form.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use barrow_analyzer::{
    Direction, Heap, IndexPlace, Label, Memory, ObjectId, ObjectSet, Recording, Silent, SnapshotId, TypeId,
};
use barrow_testdata::{Heap as Recorded, Random, Shelf, Vocabulary};
use barrow_writer::{Options, Writer};

const SNAPSHOT: SnapshotId = SnapshotId(0);

/// A random heap, and the recording of it.
fn recorded(random: &mut Random) -> (Recorded, Heap) {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::without_threads()).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let size = 1 + random.below(60) as u32;
    let plain = Recorded::random(random, size, &vocabulary);
    plain.record(&writer).unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.take()).unwrap());
    (plain, Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap())
}

/// The references that begin or end in the set: the source, the label, and the object at the other end.
fn references(plain: &Recorded, set: &ObjectSet, direction: Direction) -> Vec<(usize, Label, u32)> {
    let all =
        plain.nodes.iter().enumerate().flat_map(|(source, node)| node.edges.iter().map(move |edge| (source, edge)));
    let own = all.filter_map(|(source, edge)| match direction {
        Direction::Incoming => set.contains(ObjectId(edge.target)).then_some((source, edge.label, source as u32)),
        Direction::Outgoing => set.contains(ObjectId(source as u32)).then_some((source, edge.label, edge.target)),
    });
    own.collect()
}

#[test]
fn references_of_sets_add_up() {
    let mut random = Random::new(41);
    for round in 0..400 {
        let (plain, heap) = recorded(&mut random);
        let ids = (0..plain.nodes.len() as u32).map(ObjectId).filter(|_| random.below(3) == 0);
        let set = ObjectSet::from_sorted(SNAPSHOT, plain.nodes.len() as u64, ids.collect::<Vec<_>>());
        for direction in [Direction::Incoming, Direction::Outgoing] {
            let told = references(&plain, &set, direction);
            let what = format!("round {round}, {direction:?}");

            let mut by_object: BTreeMap<u32, u64> = BTreeMap::new();
            told.iter().for_each(|&(_, _, end)| *by_object.entry(end).or_default() += 1);
            let found = heap.references_by_object(&set, direction, &Silent).unwrap();
            assert!(found.is_sorted_by_key(|one| std::cmp::Reverse(one.references)), "{what}");
            assert_eq!(found.iter().map(|one| (one.object.0, one.references)).collect::<BTreeMap<_, _>>(), by_object);

            let mut by_type: BTreeMap<TypeId, (u64, BTreeSet<u32>)> = BTreeMap::new();
            for &(_, _, end) in &told {
                let (references, ends) = by_type.entry(plain.nodes[end as usize].type_id).or_default();
                *references += 1;
                ends.insert(end);
            }
            let shallow = |ends: &BTreeSet<u32>| {
                let sizes = ends.iter().map(|&end| plain.nodes[end as usize].shallow_bytes);
                sizes.fold(0, u64::wrapping_add)
            };
            let expected: Vec<_> = by_type
                .iter()
                .map(|(&id, (references, ends))| (id, *references, ends.len() as u64, shallow(ends)))
                .collect();
            let found = heap.references_by_type(&set, direction, &Silent).unwrap();
            assert!(found.iter().all(|one| by_type[&one.type_id].1.contains(&one.example.0)), "{what}");
            let found = found.iter().map(|one| (one.type_id, one.references, one.objects, one.shallow_bytes));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{what}");

            let mut by_field: BTreeMap<(TypeId, Label), u64> = BTreeMap::new();
            for &(source, label, _) in &told {
                let label = if let Label::Index(_) = label { Label::Index(0) } else { label };
                *by_field.entry((plain.nodes[source].type_id, label)).or_default() += 1;
            }
            let found = heap.references_by_field(&set, direction, &Silent).unwrap();
            let found = found.iter().map(|one| ((one.source, one.label), one.references));
            assert_eq!(found.collect::<BTreeMap<_, _>>(), by_field, "{what}");
        }
    }
}
