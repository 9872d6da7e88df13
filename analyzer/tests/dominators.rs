//! Compares dominators, retained sizes, reachability and distances with their definitions on small random graphs.
//! `BARROW_GRAPHS` sets the number of graphs.

use std::collections::VecDeque;
use std::sync::Arc;

use barrow_analyzer::{Heap, Holder, IndexPlace, Memory, ObjectId, ObjectSet, Silent, SnapshotId, StrengthClass};
use barrow_testdata::{Graph, Random};

const SNAPSHOT: SnapshotId = SnapshotId(0);

fn graphs() -> u64 {
    std::env::var("BARROW_GRAPHS").ok().and_then(|text| text.parse().ok()).unwrap_or(4000)
}

fn heap(graph: &Graph) -> Heap {
    let recording = Arc::new(graph.recording());
    Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).expect("the snapshot is there")
}

fn objects(graph: &Graph) -> impl Iterator<Item = ObjectId> + use<> {
    (0..graph.types.len() as u32).map(ObjectId)
}

fn flags(graph: &Graph, set: &ObjectSet) -> Vec<bool> {
    objects(graph).map(|object| set.contains(object)).collect()
}

/// The objects that become unreachable when `object` is removed.
fn lost(graph: &Graph, object: usize) -> Vec<bool> {
    let none = vec![false; graph.types.len()];
    let mut removed = none.clone();
    removed[object] = true;
    let (before, after) = (graph.reachable_without(&none), graph.reachable_without(&removed));
    before.iter().zip(&after).map(|(before, after)| *before && !*after).collect()
}

fn bytes_of(graph: &Graph, flags: &[bool]) -> u64 {
    (0..flags.len()).filter(|&object| flags[object]).map(|object| graph.bytes(object)).sum()
}

fn check(graph: &Graph, threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    pool.install(|| {
        let heap = heap(graph);
        let none = vec![false; graph.types.len()];
        let reachable = graph.reachable_without(&none);
        assert_eq!(flags(graph, &heap.reachable(None, &Silent).unwrap()), reachable, "{graph:?}");
        check_dominators(graph, &heap, &reachable);
        check_distances(graph, &heap, &reachable);
    });
}

fn check_dominators(graph: &Graph, heap: &Heap, reachable: &[bool]) {
    let dominators = heap.dominators(&Silent).unwrap();
    assert_eq!(dominators.reachable_count(), reachable.iter().filter(|reached| **reached).count() as u64);
    assert_eq!(dominators.reachable_bytes(), bytes_of(graph, reachable));
    let lost: Vec<Vec<bool>> = (0..graph.types.len()).map(|object| lost(graph, object)).collect();
    for object in objects(graph) {
        let (expected, found) = (bytes_of(graph, &lost[object.index()]), dominators.retained_bytes(object));
        let count = lost[object.index()].iter().filter(|lost| **lost).count() as u64;
        assert_eq!(dominators.is_reachable(object), reachable[object.index()]);
        if dominators.is_exact() {
            assert_eq!((found, dominators.retained_count(object)), (expected, count), "{object} of {graph:?}");
            check_immediate(graph, object, &lost, dominators.immediate_dominator(object));
            let mut next = dominators.immediate_dominator(object);
            for holder in dominators.holders(object) {
                assert_eq!(Some(holder), next);
                next = if let Holder::Object(above) = holder { dominators.immediate_dominator(above) } else { None };
            }
            assert_eq!(next, None);
        } else {
            assert!(found <= expected && dominators.retained_count(object) <= count, "{object} of {graph:?}");
        }
    }
}

/// The immediate dominator is the dominator that all other dominators dominate.
fn check_immediate(graph: &Graph, object: ObjectId, lost: &[Vec<bool>], found: Option<Holder>) {
    let dominates = |one: usize, other: usize| lost[one][other];
    let strict: Vec<usize> =
        (0..graph.types.len()).filter(|&other| other != object.index() && dominates(other, object.index())).collect();
    let nearest = strict.iter().find(|&&nearest| strict.iter().all(|&other| dominates(other, nearest)));
    match found {
        Some(Holder::Object(holder)) => assert_eq!(Some(&holder.index()), nearest, "{object} of {graph:?}"),
        _ => assert_eq!(nearest, None, "{object} of {graph:?}"),
    }
}

fn check_distances(graph: &Graph, heap: &Heap, reachable: &[bool]) {
    let distances = heap.distances(&Silent).unwrap();
    let has_ephemerons = graph.references.iter().flatten().any(|&(_, class)| class == StrengthClass::Ephemeron);
    let mut expected = vec![None; graph.types.len()];
    let mut waiting = VecDeque::new();
    for &(_, root) in &graph.roots {
        expected[root as usize] = Some(0);
        waiting.push_back(root as usize);
    }
    while let Some(object) = waiting.pop_front() {
        for &(target, class) in &graph.references[object] {
            if class == StrengthClass::Strong && expected[target as usize].is_none() {
                expected[target as usize] = expected[object].map(|distance: u32| distance + 1);
                waiting.push_back(target as usize);
            }
        }
    }
    for object in objects(graph) {
        let found = distances.distance(object);
        assert_eq!(found.is_some(), reachable[object.index()], "{object} of {graph:?}");
        if !has_ephemerons {
            assert_eq!(found, expected[object.index()], "{object} of {graph:?}");
        }
        let path = distances.path(object);
        assert_eq!(path.is_empty(), found.is_none());
        assert!(path.first().is_none_or(|first| graph.roots.iter().any(|&(_, root)| root == first.0)));
        for pair in path.windows(2) {
            assert!(graph.references[pair[0].index()].iter().any(|&(target, _)| target == pair[1].0), "{graph:?}");
        }
    }
}

#[test]
fn answers_are_those_of_the_definition() {
    let mut random = Random::new(3);
    for round in 0..graphs() {
        let graph = Graph::random(&mut random, 3 + round % 24, false);
        check(&graph, [1, 2, 8][(round % 3) as usize]);
    }
}

#[test]
fn ephemerons_follow_their_exact_rule() {
    let mut random = Random::new(4);
    for round in 0..graphs() {
        let graph = Graph::random(&mut random, 3 + round % 16, true);
        check(&graph, [1, 2, 8][(round % 3) as usize]);
    }
}

/// Adds a few objects that half of all others refer to, as instances refer to their class.
#[test]
fn hubs_have_the_dominators_of_the_definition() {
    let mut random = Random::new(5);
    for round in 0..graphs() / 10 {
        let mut graph = Graph::random(&mut random, 100, false);
        let size = graph.types.len() as u64;
        let hubs: Vec<u32> = (0..1 + random.below(4)).map(|_| random.below(size) as u32).collect();
        for references in &mut graph.references {
            if random.below(2) == 0 {
                let hub = hubs[random.below(hubs.len() as u64) as usize];
                references.insert(random.below(references.len() as u64 + 1) as usize, (hub, StrengthClass::Strong));
            }
        }
        check(&graph, [1, 2, 8][(round % 3) as usize]);
    }
}

/// Arrays refer to some objects again and again, in no order: in small graphs, and in some of more objects than a few.
#[test]
fn arrays_have_the_dominators_of_the_definition() {
    let mut random = Random::new(6);
    for round in 0..graphs() / 40 {
        let size = if round % 20 == 0 { 600 } else { 40 };
        let mut graph = Graph::random(&mut random, size, round % 4 == 1);
        let objects = graph.types.len() as u64;
        for _ in 0..1 + random.below(3) {
            let array = random.below(objects) as usize;
            let references = 1000 + random.below(1000);
            // References before and after it keep their places.
            let at = random.below(graph.references[array].len() as u64 + 1) as usize;
            let targets = (0..references).map(|_| (random.below(objects) as u32, StrengthClass::Strong));
            graph.references[array].splice(at..at, targets);
        }
        check(&graph, [1, 2, 8][(round % 3) as usize]);
    }
}

/// Long lists of targets that several objects have in common, some of them with more references.
#[test]
fn shared_rows_have_the_answers_of_the_definition() {
    let mut random = Random::new(7);
    for round in 0..graphs() / 8 {
        let mut graph = Graph::random(&mut random, 3 + round % 40, round % 4 == 1);
        let objects = graph.types.len() as u64;
        let strong = |target: u64| (target as u32, StrengthClass::Strong);
        let rows: Vec<Vec<_>> = (0..1 + random.below(4))
            .map(|_| {
                // The targets of a row are near each other or anywhere, and may repeat.
                let (first, range) = (random.below(objects), 1 + random.below(objects));
                let length = 28 + random.below(40);
                (0..length).map(|_| strong((first + random.below(range)) % objects)).collect()
            })
            .collect();
        for references in &mut graph.references {
            let row = &rows[random.below(rows.len() as u64) as usize];
            match random.below(4) {
                0 | 1 => references.clone_from(row),
                2 => references.extend(row),
                _ => {}
            }
        }
        check(&graph, [1, 2, 8][(round % 3) as usize]);
    }
}

/// Equal rows in several blocks, and equal arrays that are longer than a block.
#[test]
fn complete_parts_take_few_steps() {
    const SIDE: u32 = 1_200;
    let strong = |target| (target, StrengthClass::Strong);
    let mut graph = Graph::default();
    for object in 0..2 * SIDE {
        graph.types.push(0);
        graph.sizes.push((1, 0));
        let other = if object < SIDE { SIDE..2 * SIDE } else { 0..SIDE };
        graph.references.push(other.map(strong).collect());
    }
    let array: Vec<_> = (0..1_500_000).map(|at| strong(at % SIDE)).collect();
    graph.references.extend([array.clone(), array]);
    graph.types.resize(2 + 2 * SIDE as usize, 0);
    graph.sizes.resize(2 + 2 * SIDE as usize, (1, 0));
    graph.roots.push((0, 0));
    let heap = heap(&graph);
    let dominators = heap.dominators(&Silent).unwrap();
    let distances = heap.distances(&Silent).unwrap();
    for object in 0..2 * SIDE {
        // One object refers to each of the other side, so each is held by the first one only.
        let holder = dominators.immediate_dominator(ObjectId(object)).and_then(Holder::object);
        assert_eq!(holder, (object > 0).then_some(ObjectId(0)), "{object}");
        assert_eq!(dominators.retained_count(ObjectId(object)), if object == 0 { u64::from(2 * SIDE) } else { 1 });
        let expected = match object {
            0 => 0,
            1..SIDE => 2,
            _ => 1,
        };
        assert_eq!(distances.distance(ObjectId(object)), Some(expected));
    }
    let parent = |object| distances.parent_of(ObjectId(object)).map(|parent| parent.0);
    assert_eq!([0, 1, SIDE - 1, SIDE, 2 * SIDE - 1].map(parent), [None, Some(SIDE), Some(SIDE), Some(0), Some(0)]);
    assert_eq!(dominators.reachable_count(), u64::from(2 * SIDE));
}

/// Two arrays, so long that they are put in order in pieces: every third object is in both.
#[test]
fn long_arrays_share_what_is_in_both() {
    const N: u64 = 1_600_000;
    let strong = |target| (target as u32, StrengthClass::Strong);
    let mut graph = Graph { types: vec![0; 2 + N as usize], sizes: vec![(1, 0); 2 + N as usize], ..Graph::default() };
    // 7919 is prime, so every object is used.
    let shuffled = (0..N).map(|turn| 2 + turn * 7919 % N);
    graph.references.push(shuffled.clone().filter(|object| object % 3 != 1).map(strong).collect());
    graph.references.push(shuffled.filter(|object| object % 3 != 2).chain(2..5).map(strong).collect());
    graph.references.resize_with(2 + N as usize, Vec::new);
    graph.roots.extend([(0, 0), (1, 1)]);
    let heap = heap(&graph);
    let dominators = heap.dominators(&Silent).unwrap();
    assert_eq!(dominators.reachable_count(), N + 2);
    for object in objects(&graph).skip(5) {
        let holder = dominators.immediate_dominator(object);
        let expected = [None, Some(ObjectId(1)), Some(ObjectId(0))][object.index() % 3];
        assert_eq!(holder.and_then(Holder::object), expected, "{object}");
    }
}

/// Two arrays of objects of two classes; one object of the first array refers to the class of the second too.
#[test]
fn a_class_belongs_to_the_holder_of_all_its_objects() {
    const N: u32 = 20_000;
    let strong = |target| (target, StrengthClass::Strong);
    for odd in [2 * N, 4, N + 1] {
        let mut graph = Graph::default();
        for object in 0..4 + 2 * N {
            graph.types.push(0);
            graph.sizes.push((1, 0));
            let mut references = match object {
                0 => (4..4 + N).map(strong).collect(),
                1 => (4 + N..4 + 2 * N).map(strong).collect(),
                2 | 3 => Vec::new(),
                _ => vec![strong(2 + u32::from(object >= 4 + N))],
            };
            if object == odd && odd < 4 + N {
                references.push(strong(3));
            }
            graph.references.push(references);
        }
        graph.roots.extend([(0, 0), (0, 1)]);
        let heap = heap(&graph);
        let dominators = heap.dominators(&Silent).unwrap();
        let holder = |object| match dominators.immediate_dominator(ObjectId(object)) {
            Some(Holder::Object(holder)) => Some(holder.0),
            _ => None,
        };
        assert_eq!(holder(2), Some(0));
        assert_eq!(holder(3), if odd < 4 + N { None } else { Some(1) });
    }
}

#[test]
fn the_example_of_the_field() {
    let (graph, names) = Graph::of_words("root -> a(16) -> b(24) -> d(40); a -> c(8) -> d; root -> e(1) -> e");
    let heap = heap(&graph);
    let dominators = heap.dominators(&Silent).unwrap();
    let retained: Vec<(&str, u64)> =
        names.iter().map(String::as_str).zip(objects(&graph).map(|id| dominators.retained_bytes(id))).collect();
    assert_eq!(retained, [("a", 88), ("b", 24), ("d", 40), ("c", 8), ("e", 1)]);
}

/// A list of n objects that ends in an array of n others, to which the root refers as well: walking up
/// for each of them would take n steps.
#[test]
fn a_list_before_a_hub_takes_no_square_of_time() {
    const N: u32 = 200_000;
    let strong = |target| (target, StrengthClass::Strong);
    let mut graph = Graph::default();
    for object in 0..2 * N {
        graph.types.push(0);
        graph.sizes.push((1, 0));
        graph.references.push(match object {
            // The last reference is visited first: down the list before the others.
            0 => (N..2 * N).chain([1]).map(strong).collect(),
            _ if object + 1 < N => vec![strong(object + 1)],
            _ if object + 1 == N => (N..2 * N).map(strong).collect(),
            _ => Vec::new(),
        });
    }
    graph.roots.push((0, 0));
    let heap = heap(&graph);
    let dominators = heap.dominators(&Silent).unwrap();
    assert_eq!(dominators.retained_bytes(ObjectId(0)), u64::from(2 * N));
    assert_eq!(dominators.retained_bytes(ObjectId(1)), u64::from(N - 1));
    assert_eq!(dominators.immediate_dominator(ObjectId(2 * N - 1)), Some(Holder::Object(ObjectId(0))));
    assert_eq!(heap.distances(&Silent).unwrap().distance(ObjectId(N - 1)), Some(N - 1));
}
