//! Compares retained sets that are found through jointly retained objects, without a search of the whole heap, with
//! their definition.

use std::sync::Arc;

use barrow_analyzer::{Heap, IndexPlace, Memory, ObjectId, ObjectSet, Recording, Silent, SnapshotId};
use barrow_testdata::{Graph, Phases, Random};
use barrow_writer::StrengthClass;

const SNAPSHOT: SnapshotId = SnapshotId(0);
/// The last phase of finding a retained set without a search.
const LAST_PHASE: &str = "looking at what is freed";

fn graphs() -> u64 {
    std::env::var("BARROW_GRAPHS").ok().and_then(|text| text.parse().ok()).unwrap_or(4000)
}

/// A graph in a folder of its own.
struct Recorded {
    folder: tempfile::TempDir,
}

impl Recorded {
    fn new(graph: &Graph) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("graph.barrow"), Graph::bytes_of(&[graph], None)).unwrap();
        Recorded { folder }
    }

    /// The heap, with the columns that its index file has so far.
    fn open(&self) -> Heap {
        self.open_within(Memory::unlimited())
    }

    fn open_within(&self, memory: Memory) -> Heap {
        let recording = Arc::new(Recording::open(&self.folder.path().join("graph.barrow")).unwrap());
        let place = IndexPlace::BESIDE;
        Heap::new(recording, SNAPSHOT, &place, memory).unwrap()
    }
}

/// The objects that are reachable, but not without `removed`.
fn lost(graph: &Graph, removed: &[bool]) -> Vec<ObjectId> {
    let before = graph.reachable_without(&vec![false; removed.len()]);
    let after = graph.reachable_without(removed);
    (0..removed.len())
        .filter(|&object| before[object] && !after[object])
        .map(|object| ObjectId(object as u32))
        .collect()
}

/// Finds the retained set of some objects. Returns how it was found, and whether it is less than half of the heap.
fn check(graph: &Graph, heap: &Heap, removed: &[bool]) -> (String, bool) {
    let chosen = (0..removed.len() as u32).map(ObjectId).filter(|object| removed[object.index()]);
    let set = ObjectSet::from_sorted(SNAPSHOT, removed.len() as u64, chosen);
    let phases = Phases::default();
    let found = heap.retained_set(&set, &phases).unwrap();
    assert_eq!(found.iter().collect::<Vec<_>>(), lost(graph, removed), "without {removed:?} of {graph:?}");
    let reachable = heap.dominators(&Silent).unwrap().reachable_count();
    let phase = phases.so_far().into_iter().rfind(|phase| phase != "keeping the index");
    (phase.unwrap_or_default(), found.len() <= reachable / 2)
}

/// Checks retained sets of a graph, computed and from kept columns. Returns the number of small sets that needed a
/// search, and of those that did not.
fn check_all(graph: &Graph, random: &mut Random) -> (u64, u64) {
    let recorded = Recorded::new(graph);
    recorded.open().dominators(&Silent).unwrap();
    let (mut searched, mut others) = (0, 0);
    // The first question computes what the second one looks up.
    for heap in [recorded.open(), recorded.open()] {
        for one_in in [1, 2, 5, 12, 30] {
            let removed: Vec<bool> = graph.types.iter().map(|_| random.below(one_in) == 0).collect();
            match check(graph, &heap, &removed) {
                (_, false) => {}
                // No object is reachable, or all are in one subtree: the dominator tree suffices.
                (phase, true) if phase.is_empty() => {}
                (phase, true) if phase == LAST_PHASE => others += 1,
                (_, true) => searched += 1,
            }
        }
    }
    (searched, others)
}

#[test]
fn what_is_freed_is_that_of_the_definition() {
    let mut random = Random::new(41);
    let mut found = 0;
    for round in 0..graphs() / 8 {
        let most = if round % 25 == 0 { 300 } else { 10 + round % 60 };
        let graph = Graph::random(&mut random, most, false);
        let (searched, others) = check_all(&graph, &mut random);
        assert_eq!(searched, 0, "{graph:?}");
        found += others;
    }
    assert!(found > graphs() / 8, "{found}");
}

/// Weak references keep nothing alive. With ephemerons the dominator tree is not exact, so the heap is searched.
#[test]
fn weak_references_and_ephemerons_are_no_keepers() {
    let mut random = Random::new(42);
    let (mut searched, mut others) = (0, 0);
    for round in 0..graphs() / 8 {
        let found = check_all(&Graph::random(&mut random, 3 + round % 24, true), &mut random);
        (searched, others) = (searched + found.0, others + found.1);
    }
    assert!(searched > 0 && others > 0);
}

/// Objects kept by hundreds of others, whose counts are stored elsewhere.
#[test]
fn some_have_hundreds_of_keepers() {
    let mut random = Random::new(43);
    for _ in 0..graphs() / 400 {
        let mut graph = Graph::random(&mut random, 40, false);
        let first = graph.types.len() as u32;
        let (class, other) = (random.below(first.into()) as u32, random.below(first.into()) as u32);
        let count = 240 + random.below(30) as u32;
        for instance in 0..count {
            graph.types.push(0);
            graph.sizes.push((1, 0));
            let target = if random.below(100) == 0 { other } else { class };
            graph.references.push(vec![(target, StrengthClass::Strong)]);
            // Most objects are kept by several others.
            for _ in 0..1 + random.below(2) {
                let holder = random.below(u64::from(first + instance)) as usize;
                graph.references[holder].push((first + instance, StrengthClass::Strong));
            }
        }
        assert_eq!(check_all(&graph, &mut random).0, 0, "{graph:?}");
    }
}

/// A long list and a long ring in which the next element keeps each element alive, too. There is no recursion, and no
/// step takes quadratic time.
#[test]
fn long_lists_take_no_square_of_time() {
    const N: u32 = 100_000;
    let strong = |target| (target, StrengthClass::Strong);
    let mut graph = Graph { types: vec![0; N as usize], sizes: vec![(1, 0); N as usize], ..Graph::default() };
    graph.references = (0..N)
        .map(|object| [object + 1, object + 2, object.wrapping_sub(1)].map(|next| strong(next % N)).to_vec())
        .collect();
    graph.roots.push((0, 0));
    let recorded = Recorded::new(&graph);
    recorded.open().dominators(&Silent).unwrap();
    let heap = recorded.open();
    let of = |objects: [u32; 2]| {
        let set = ObjectSet::from_sorted(SNAPSHOT, N.into(), objects.map(ObjectId));
        heap.retained_set(&set, &Silent).unwrap().len()
    };
    // All other elements remain reachable along the ring in the other direction.
    assert_eq!(of([10, 11]), 2);
    assert_eq!(of([0, 1]), u64::from(N));
    assert_eq!(of([N / 2, N / 2 + 1]), 2);
}

/// A sequence of objects with leaves. Each object holds two objects that both hold the next one. All are freed together
/// with the objects between them, the last ones first.
#[test]
fn nested_shared_objects_take_no_square_of_time() {
    const N: u32 = 40_000;
    let strong = |target| (target, StrengthClass::Strong);
    let count = 11 * N;
    let mut graph = Graph { types: vec![0; count as usize], sizes: vec![(1, 0); count as usize], ..Graph::default() };
    graph.references.resize_with(count as usize, Vec::new);
    for first in (0..N).map(|step| 5 * step) {
        let [left, right, next] = [first + 1, first + 2, first + 5];
        graph.references[first as usize] = [left, right, first + 3, first + 4].map(strong).to_vec();
        graph.references[left as usize].push(strong(next));
        graph.references[right as usize].push(strong(next));
    }
    // Another half of the heap.
    graph.references[5 * N as usize + 1] = (5 * N + 2..count).map(strong).collect();
    graph.roots.extend([(0, 0), (1, 5 * N + 1)]);
    let recorded = Recorded::new(&graph);
    recorded.open().dominators(&Silent).unwrap();
    let between = (0..N).flat_map(|step| [5 * step + 1, 5 * step + 2]).map(ObjectId);
    let set = ObjectSet::from_sorted(SNAPSHOT, count.into(), between);
    let phases = Phases::default();
    // The first object stays, with its leaves; one more follows the last.
    assert_eq!(recorded.open().retained_set(&set, &phases).unwrap().len(), u64::from(5 * N - 3 + 1));
    assert_eq!(phases.so_far().pop().unwrap(), LAST_PHASE);
}

/// Two objects that hold a ring, and others; those two.
fn two_hold_a_ring() -> (Graph, Vec<bool>) {
    let words = "root -> a(16) -> c(8) -> d(4) -> c; root -> b(8) -> d; root -> e(64) -> f(8) -> g(8) -> h(8)";
    let (graph, names) = Graph::of_words(words);
    (graph, names.iter().map(|name| name == "a" || name == "b").collect())
}

/// Damaged columns are computed again.
#[test]
fn damage_is_no_answer() {
    let mut random = Random::new(44);
    let (graph, removed) = two_hold_a_ring();
    let recorded = Recorded::new(&graph);
    recorded.open().dominators(&Silent).unwrap();
    assert_eq!(check(&graph, &recorded.open(), &removed).0, LAST_PHASE);
    let path = recorded.folder.path().join("graph.barrow.index");
    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << random.below(8);
        std::fs::write(&path, &flipped).unwrap();
        check(&graph, &recorded.open(), &removed);
    }
}

/// If memory is short, the heap is searched. Kept columns are used there, too.
#[test]
fn a_ceiling_is_kept() {
    let (graph, removed) = two_hold_a_ring();
    let last = |heap: &Heap| check(&graph, heap, &removed).0;
    let limited = |recorded: &Recorded| recorded.open_within(Memory::limited(48 << 20));
    let [searched, found] = [0, 1].map(|_| {
        let recorded = Recorded::new(&graph);
        recorded.open().dominators(&Silent).unwrap();
        recorded
    });
    assert_eq!(last(&limited(&searched)), "searching from the roots");
    // The answer of the search is kept.
    assert_eq!(last(&searched.open()), "");
    assert_eq!(last(&found.open()), LAST_PHASE);
    assert_eq!(last(&limited(&found)), LAST_PHASE);
}
