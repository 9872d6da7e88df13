//! Answers that the index file keeps: the second time they are the same, and nothing is computed for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use barrow_analyzer::{
    Cut, Exclusion, Heap, Holder, IndexPlace, LEAK_THRESHOLD, Memory, ObjectId, ObjectSet, PathOptions, Progress,
    Recording, Silent, SnapshotId,
};
use barrow_testdata::{Graph, Phases, Random};

const BESIDE: IndexPlace = IndexPlace::BESIDE;

fn open(path: &Path, place: &IndexPlace) -> Heap {
    Heap::new(Arc::new(Recording::open(path).unwrap()), SnapshotId(0), place, Memory::unlimited()).unwrap()
}

/// A folder with a recording of a random graph.
fn recorded(seed: u64, objects: u64) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heap.barrow");
    let graph = Graph::random(&mut Random::new(seed), objects, true);
    std::fs::write(&path, Graph::bytes_of(&[&graph], None)).unwrap();
    (folder, path)
}

/// Asks in a new process, as it were: without an index, twice with one, and twice in one session.
fn assert_kept(path: &Path, what: &str, ask: impl Fn(&Heap, &dyn Progress) -> String) {
    let expected = ask(&open(path, &IndexPlace::Nowhere), &Silent);
    assert_eq!(ask(&open(path, &BESIDE), &Silent), expected, "{what}");
    let (heap, phases) = (open(path, &BESIDE), Phases::default());
    for _ in 0..2 {
        assert_eq!(ask(&heap, &phases), expected, "{what}");
    }
    assert_eq!(phases.so_far(), [""; 0], "{what} is computed again");
    assert_eq!(heap.index_problem(), None);
}

#[test]
fn duplicates_are_kept() {
    for seed in 0..20 {
        let (_folder, path) = recorded(seed, 200);
        assert_kept(&path, "duplicates", |heap, progress| format!("{:?}", heap.duplicates(progress).unwrap()));
    }
}

#[test]
fn the_fill_of_collections_is_kept() {
    let (folder, source) =
        (tempfile::tempdir().unwrap(), concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/jvm.barrow"));
    let path = folder.path().join("heap.barrow");
    std::fs::copy(source, &path).unwrap();
    assert_kept(&path, "collections", |heap, progress| {
        let found = heap.collections(progress).unwrap();
        assert!(found.types.len() > 5 && found.boxed.len() > 1 && found.uniform.len() > 1);
        format!("{found:?}")
    });
}

#[test]
fn referrers_are_kept_for_the_last_object() {
    let (_folder, path) = recorded(11, 200);
    for object in (0..200).map(ObjectId) {
        assert_kept(&path, "referrers", |heap, progress| {
            let referrers = heap.referrers(object, progress).unwrap();
            format!("{referrers:?} {:?}", heap.incoming_page(&referrers, 0, 1000).unwrap())
        });
    }
    let length = std::fs::metadata(path.with_extension("barrow.index")).unwrap().len();
    assert!(length < 1 << 17, "answers about 200 objects take {length} bytes");
}

/// Every third object, beginning at one of the first three.
fn some_objects(heap: &Heap, seed: u64) -> ObjectSet {
    let ids = (0..heap.object_count() as u32).filter(|id| u64::from(id % 3) == seed % 3).map(ObjectId);
    ObjectSet::from_sorted(SnapshotId(0), heap.object_count(), ids)
}

#[test]
fn retained_sets_are_kept() {
    for seed in 0..20 {
        let (_folder, path) = recorded(seed, 200);
        assert_kept(&path, "a retained set", |heap, progress| {
            format!("{:?}", heap.retained_set(&some_objects(heap, seed), progress).unwrap())
        });
    }
}

#[test]
fn paths_that_need_a_search_are_kept() {
    for seed in 0..20 {
        let (_folder, path) = recorded(seed, 100);
        for (count, weak, avoids) in [(3, false, false), (1, true, false), (1, false, true), (2, true, true)] {
            assert_kept(&path, "paths", |heap, progress| {
                let avoid = avoids.then(|| some_objects(heap, seed));
                let options = PathOptions { avoid, weak, count };
                let object = ObjectId((heap.object_count() / 2) as u32);
                format!("{:?}", heap.paths(object, &options, progress).unwrap())
            });
        }
    }
}

/// The most frequent questions about a heap from which objects and references are excluded.
fn of_the_rest(heap: &Heap, seed: u64, progress: &dyn Progress) -> String {
    let removed = some_objects(heap, seed);
    let cut = seed.is_multiple_of(2).then(|| Cut { names: vec![true; 3], sources: Some(some_objects(heap, seed + 1)) });
    let rest = heap.excluding(Exclusion::new(heap, &removed, cut, progress).unwrap());
    let freed = rest.exclusion().unwrap().freed().clone();
    let largest = rest.largest(progress).unwrap().objects().to_vec();
    let suspects = rest.leak_suspects(LEAK_THRESHOLD, progress).unwrap();
    let tables = (rest.retained_by_type(progress).unwrap(), rest.retained_by_kind(progress).unwrap());
    let again = Exclusion::new(&rest, &some_objects(heap, seed + 1), None, progress).unwrap();
    format!("{freed:?} {largest:?} {suspects:?} {tables:?} {:?}", again.freed())
}

#[test]
fn what_an_exclusion_leaves_is_kept() {
    for seed in 0..20 {
        let (_folder, path) = recorded(seed, 200);
        assert_kept(&path, "the rest", |heap, progress| of_the_rest(heap, seed, progress));
    }
}

/// More answers than there is room for replace each other, and all of them are right.
#[test]
fn the_answers_that_are_kept_have_a_limit() {
    let (_folder, path) = recorded(7, 300);
    let ask = |heap: &Heap, object: u32| {
        let set =
            ObjectSet::from_sorted(SnapshotId(0), heap.object_count(), [object % 60, object % 60 + 9].map(ObjectId));
        heap.retained_set(&set, &Silent).unwrap()
    };
    let (kept, fresh) = (open(&path, &BESIDE), open(&path, &IndexPlace::Nowhere));
    let length = || std::fs::metadata(path.with_extension("barrow.index")).map_or(0, |index| index.len());
    let mut longest = 0;
    for round in 0..3 {
        for object in 0..100 {
            assert_eq!(ask(&kept, object), ask(&fresh, object), "{object}");
        }
        if round == 0 {
            longest = length();
        }
    }
    assert!(length() <= 2 * longest, "the index has grown from {longest} to {} bytes", length());
}

/// Marks among siblings: the nearest one is found, and their number has a limit.
#[test]
fn marks_among_siblings_are_kept() {
    let (_folder, path) = recorded(3, 300);
    let mark = |children: u64| {
        (std::cmp::Reverse(1000u64.wrapping_sub(children)), Holder::Object(ObjectId(children as u32 % 7)))
    };
    let heap = open(&path, &BESIDE);
    assert_eq!(heap.sibling_mark(None, 100), None);
    for children in [50, 10, 90] {
        heap.keep_sibling_mark(None, children, mark(children), &Silent).unwrap();
    }
    let heap = open(&path, &BESIDE);
    assert_eq!(
        [9, 10, 49, 89, 1000].map(|skip| heap.sibling_mark(None, skip).map(|(children, _)| children)),
        [None, Some(10), Some(10), Some(50), Some(90)]
    );
    assert_eq!(heap.sibling_mark(None, 60), Some((50, mark(50))));
    assert_eq!(heap.sibling_mark(Some(ObjectId(1)), 60), None);
    (100..700).for_each(|children| heap.keep_sibling_mark(None, children, mark(children), &Silent).unwrap());
    assert_eq!(heap.sibling_mark(None, 699), Some((699, mark(699))));
    assert!(std::fs::metadata(path.with_extension("barrow.index")).unwrap().len() < 20_000);
}
