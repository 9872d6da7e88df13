//! Incoming references compared with their definition: lists of many parts of the heap, lists of hundreds of
//! references, continued arrays, exclusions, and any number of threads.

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::{Cut, Exclusion, Heap, IndexPlace, Memory, ObjectId, ObjectSet, Recording, Silent, SnapshotId};
use barrow_testdata::{Graph, Phases, Random};
use barrow_writer::StrengthClass;

const SNAPSHOT: SnapshotId = SnapshotId(0);

/// A graph whose objects refer to neighbours, to any object, and to a few objects that are referred to by many.
fn graph(seed: u64, objects: u32) -> Graph {
    let mut random = Random::new(seed);
    let count = objects as usize;
    let mut graph = Graph { types: vec![0; count], sizes: vec![(8, 0); count], ..Graph::default() };
    let hubs: Vec<u32> = (0..5).map(|_| random.below(objects.into()) as u32).collect();
    for object in 0..objects {
        let mut references = Vec::new();
        for _ in 0..random.below(5) {
            let target = match random.below(4) {
                0 => hubs[random.below(5) as usize],
                1 => random.below(objects.into()) as u32,
                _ => (object + random.below(20) as u32).saturating_sub(10).min(objects - 1),
            };
            let strength = if random.below(9) == 0 { StrengthClass::Weak } else { StrengthClass::Strong };
            references.push((target, strength));
        }
        graph.references.push(references);
    }
    graph.roots.push((0, 0));
    graph
}

/// The sources of all references by target, those of removed objects and to them left out.
fn by_definition(graph: &Graph, removed: impl Fn(u32) -> bool) -> BTreeMap<u32, Vec<u32>> {
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (source, references) in (0..).zip(&graph.references) {
        for &(target, _) in references.iter().filter(|(target, _)| !removed(source) && !removed(*target)) {
            found.entry(target).or_default().push(source);
        }
    }
    found
}

/// Checks all incoming references of a heap.
fn assert_incoming(heap: &Heap, expected: &BTreeMap<u32, Vec<u32>>) {
    let incoming = heap.incoming(&Silent).unwrap();
    for object in 0..heap.object_count() as u32 {
        let sources = expected.get(&object).cloned().unwrap_or_default();
        assert_eq!(incoming.count(ObjectId(object)), sources.len() as u64, "{object}");
        let mut once: Vec<ObjectId> = sources.into_iter().map(ObjectId).collect();
        once.dedup();
        assert_eq!(incoming.sources(ObjectId(object)), once, "{object}");
    }
}

#[test]
fn they_are_those_of_the_definition() {
    for (seed, objects) in [(1, 1), (2, 31), (3, 33), (4, 3_000), (5, 65_536), (6, 65_537), (7, 150_000)] {
        let graph = graph(seed, objects);
        let recording = Arc::new(Recording::from_bytes(Graph::bytes_of(&[&graph], None)).unwrap());
        let expected = by_definition(&graph, |_| false);
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let heap = || Heap::new(Arc::clone(&recording), SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited());
            pool.install(|| assert_incoming(&heap().unwrap(), &expected));
        }
    }
}

/// Neither excluded objects nor those that only they kept alive refer to anything.
#[test]
fn excluded_references_are_none() {
    for seed in 0..20 {
        let graph = graph(seed, 400);
        let recording = Arc::new(Recording::from_bytes(Graph::bytes_of(&[&graph], None)).unwrap());
        let heap = Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
        let ids = (1..400).filter(|id| id % 7 == 3).map(ObjectId);
        let removed = ObjectSet::from_sorted(SNAPSHOT, heap.object_count(), ids);
        let rest = heap.excluding(Exclusion::new(&heap, &removed, None::<Cut>, &Silent).unwrap());
        let freed = rest.exclusion().unwrap().freed().clone();
        assert_incoming(&rest, &by_definition(&graph, |object| freed.contains(ObjectId(object))));
    }
}

/// A question about another object builds them, and the index keeps them for all objects and for single ones.
#[test]
fn the_index_keeps_them() {
    let graph = graph(9, 70_000);
    let expected = by_definition(&graph, |_| false);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heap.barrow");
    std::fs::write(&path, Graph::bytes_of(&[&graph], None)).unwrap();
    let open = || {
        let place = IndexPlace::BESIDE;
        Heap::new(Arc::new(Recording::open(&path).unwrap()), SNAPSHOT, &place, Memory::unlimited()).unwrap()
    };
    let asked = |heap: &Heap, object: u32| heap.referrers(ObjectId(object), &Silent).unwrap().count();
    let first = open();
    for object in [5, 6] {
        assert_eq!(asked(&first, object), expected.get(&object).map_or(0, Vec::len) as u64);
    }
    assert_incoming(&open(), &expected);
    let (heap, phases) = (open(), Phases::default());
    for object in (0..70_000).step_by(171).chain(expected.iter().filter(|(_, of)| of.len() > 254).map(|(&id, _)| id)) {
        let sources: Vec<u32> = expected.get(&object).cloned().unwrap_or_default();
        let mut once: Vec<ObjectId> = sources.iter().copied().map(ObjectId).collect();
        once.dedup();
        assert_eq!(heap.referring_objects(ObjectId(object), &phases).unwrap(), once);
        assert_eq!(heap.referrers(ObjectId(object), &phases).unwrap().count(), sources.len() as u64);
    }
    assert_eq!(phases.so_far(), [""; 0]);
}
