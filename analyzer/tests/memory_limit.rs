//! Under a memory ceiling answers are the same, or an error; and no files remain on the disk.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use barrow_analyzer::{
    AnalyzerError, Exclusion, Heap, IndexPlace, Memory, ObjectId, ObjectSet, Recording, Result, Silent, SnapshotId,
    verify,
};
use barrow_testdata::{Graph, Random};

const SNAPSHOT: SnapshotId = SnapshotId(0);
/// The part of a limit for everything except columns.
const OTHER_BYTES: u64 = 48 << 20;
/// Resident bytes that dominators need for each object.
const RESIDENT_BYTES: u64 = 8;

/// Gives large allocations whole pages, as some allocators do.
struct WholePages;

#[global_allocator]
static ALLOCATOR: WholePages = WholePages;

fn aligned(layout: Layout) -> Layout {
    let is_large = layout.size() >= 1 << 16;
    if is_large { layout.align_to(4096).unwrap_or(layout) } else { layout }
}

// SAFETY: calls the system's allocator, with the same larger alignment for allocating and freeing.
unsafe impl GlobalAlloc for WholePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the conditions of `alloc`, and an alignment of 4096 is a valid one.
        unsafe { System.alloc(aligned(layout)) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` with this layout: the caller says so.
        unsafe { System.dealloc(pointer, aligned(layout)) }
    }
}

/// About 300,000 objects, nearly all of them reachable.
fn large() -> Graph {
    let mut random = Random::new(5);
    loop {
        let mut graph = Graph::random(&mut random, 350_000, true);
        let references: usize = graph.references.iter().map(Vec::len).sum();
        if graph.types.len() > 280_000 && references > 3 * graph.types.len() {
            graph.roots.extend([(0, 0), (2, 7)]);
            return graph;
        }
    }
}

fn heap(recording: &Arc<Recording>, memory: Memory) -> Heap {
    Heap::new(Arc::clone(recording), SNAPSHOT, &IndexPlace::Nowhere, memory).unwrap()
}

type Answers = (Vec<(u64, Option<u32>, u64)>, ObjectSet);

/// Computes distances first, or dominators first: the memory that one keeps is not available to the other.
fn answers(heap: &Heap, distances_first: bool) -> Result<Answers> {
    if distances_first {
        heap.distances(&Silent)?;
        heap.incoming(&Silent)?;
        heap.retained_by_type(&Silent)?;
    }
    let dominators = heap.dominators(&Silent)?;
    let (distances, incoming) = (heap.distances(&Silent)?, heap.incoming(&Silent)?);
    let rows = (0..heap.object_count() as u32)
        .map(ObjectId)
        .map(|object| (dominators.retained_bytes(object), distances.distance(object), incoming.count(object)));
    let some = (0..heap.object_count() as u32).step_by(1000).map(ObjectId);
    let some = ObjectSet::from_sorted(SNAPSHOT, heap.object_count(), some);
    Ok((rows.collect(), heap.retained_set(&some, &Silent)?))
}

const CHILD: &str = "BARROW_LIMITED_CHILD";

/// The work of the child process, which has its own folder for temporary files. In the parent this test does nothing.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let folder = tempfile::tempdir_in(std::env::var_os(CHILD).unwrap()).unwrap();
    let path = folder.path().join("heap.barrow");
    let objects = {
        let graph = large();
        fs::write(&path, Graph::bytes_of(&[&graph], None)).unwrap();
        graph.types.len() as u64
    };
    let recording = Arc::new(Recording::open(&path).unwrap());
    let unlimited = heap(&recording, Memory::unlimited());
    let expected = answers(&unlimited, false).unwrap();
    let reachable = unlimited.dominators(&Silent).unwrap().reachable_count();
    assert!(reachable > objects * 9 / 10, "{reachable}");
    let least = OTHER_BYTES + RESIDENT_BYTES * (objects + 1);
    for limit in [least, 64 << 20] {
        for distances_first in [false, true] {
            let found = answers(&heap(&recording, Memory::limited(limit)), distances_first);
            let found = found.unwrap_or_else(|error| panic!("{limit} bytes, {distances_first}: {error}"));
            assert!(found == expected, "{limit} bytes, {distances_first}");
        }
    }
    assert_a_second_graph_fits(&heap(&recording, Memory::limited(least)), reachable);
    for limit in [0, least - 1] {
        match heap(&recording, Memory::limited(limit)).dominators(&Silent) {
            Err(AnalyzerError::MemoryCeiling { needed_bytes, limit_bytes }) => {
                assert_eq!((needed_bytes, limit_bytes), (least, limit));
            }
            other => panic!("{limit} bytes: {:?}", other.map(|dominators| dominators.reachable_count())),
        }
    }
    // Other answers need no resident memory.
    let heap = heap(&recording, Memory::limited(0));
    let (distances, incoming) = (heap.distances(&Silent).unwrap(), heap.incoming(&Silent).unwrap());
    let are_right = expected.0.iter().enumerate().all(|(number, &(_, distance, count))| {
        let object = ObjectId(number as u32);
        (distances.distance(object), incoming.count(object)) == (distance, count)
    });
    assert!(are_right);
}

/// The columns of the first graph stay while the dominators of another are found.
fn assert_a_second_graph_fits(heap: &Heap, reachable: u64) {
    heap.dominators(&Silent).unwrap();
    let removed = ObjectSet::from_sorted(SNAPSHOT, heap.object_count(), [ObjectId(0)]);
    let freed = heap.retained_set(&removed, &Silent).unwrap();
    let rest = heap.excluding(Exclusion::new(heap, &removed, None, &Silent).unwrap());
    let left = rest.dominators(&Silent).unwrap();
    assert_eq!(left.reachable_count() + freed.len(), reachable);
}

/// A folder in memory, where there is such a thing: what is paged out is written again and again.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

#[test]
fn answers_under_a_ceiling() {
    let (temporary, own) = (folder(), folder());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD, own.path())
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let files = || fs::read_dir(temporary.path()).unwrap().count();
    let mut most = 0;
    let status = loop {
        // Between making a file and taking its name away, where that takes two steps.
        most = most.max(files());
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{status}");
    assert_eq!(files(), 0);
    assert!(most <= 1, "{most} temporary files had names at once");
}

/// Pages of mapped files come back when they are given back; those of other memory would be zeros.
#[test]
fn a_recording_in_memory_keeps_its_pages() {
    let graph = large();
    let mut bytes = Graph::bytes_of(&[&graph], None);
    bytes.shrink_to_fit();
    let recording = Arc::new(Recording::from_bytes(bytes).unwrap());
    let heap = heap(&recording, Memory::limited(1));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    let expected = self::heap(&recording, Memory::unlimited());
    let found = heap.reachable(None, &Silent).unwrap();
    assert!(found == expected.reachable(None, &Silent).unwrap());
}
