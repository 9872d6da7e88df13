//! What the recorder counts is what a model counts, whatever is allocated, by whom, and in which order.
//!
//! The recorder is no global allocator here, so that it sees only what the tests do.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

use barrow_alloc::{Blocks, Frames, Options, Recorder, Taken};
use barrow_analyzer::{Recording, Silent, SnapshotId, summary, verify, walk};
use proptest::prelude::*;

static RECORDER: Recorder<Counting> = Recorder::new(Counting);

/// The system's allocator, which fails when it is told to.
struct Counting;

static FAILS: AtomicBool = AtomicBool::new(false);

// SAFETY: blocks are those of the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if FAILS.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if FAILS.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

/// A block of the recorder, filled with a byte of its own.
struct Block {
    start: usize,
    layout: Layout,
    fill: u8,
}

impl Block {
    #[inline(never)]
    fn new(size: usize, align: usize, fill: u8) -> Block {
        let layout = Layout::from_size_align(size, align).unwrap();
        // SAFETY: no test asks for blocks of no bytes.
        let start = unsafe { if fill == 0 { RECORDER.alloc_zeroed(layout) } else { RECORDER.alloc(layout) } };
        assert!(!start.is_null() && (start as usize).is_multiple_of(align));
        let block = Block { start: start as usize, layout, fill };
        if fill == 0 {
            block.check();
        } else {
            block.fill();
        }
        block
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the block is live, this long, and was written as a whole.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.layout.size()) }
    }

    fn fill(&self) {
        // SAFETY: the block is live and this long.
        unsafe { std::ptr::write_bytes(self.start as *mut u8, self.fill, self.layout.size()) };
    }

    fn check(&self) {
        assert!(self.bytes().iter().all(|&byte| byte == self.fill), "the content is the program's");
    }

    #[inline(never)]
    fn resize(&mut self, size: usize) {
        self.check();
        let kept = self.layout.size().min(size);
        // SAFETY: a live block with its layout; the size is not zero.
        let moved = unsafe { RECORDER.realloc(self.start as *mut u8, self.layout, size) };
        assert!(!moved.is_null() && (moved as usize).is_multiple_of(self.layout.align()));
        let block = Block { start: moved as usize, layout: Layout::from_size_align(kept, 1).unwrap(), fill: self.fill };
        block.check();
        std::mem::forget(block);
        self.start = moved as usize;
        self.layout = Layout::from_size_align(size, self.layout.align()).unwrap();
        self.fill();
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.check();
        // SAFETY: a live block with its layout, which is not used any more.
        unsafe { RECORDER.dealloc(self.start as *mut u8, self.layout) };
    }
}

/// Recordings of one process follow each other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sum<'b>(blocks: impl IntoIterator<Item = &'b Block>) -> Taken {
    let mut taken = Taken { blocks: 0, bytes: 0 };
    for block in blocks {
        taken.blocks += 1;
        taken.bytes += block.layout.size() as u64;
    }
    taken
}

/// Checks a recording as a whole, and that its last snapshot but `behind` holds `taken`.
fn check(path: &Path, behind: usize, taken: Taken) {
    let recording = Recording::open(path).unwrap();
    let verification = verify(&recording, &Silent).unwrap();
    assert!(verification.problems.is_empty(), "{:?}", verification.problems);
    let id: SnapshotId = recording.snapshot_ids().rev().nth(behind).unwrap();
    let summary = summary(&recording, id).unwrap();
    assert_eq!(summary.totals.heap_bytes, taken.bytes);
    let tables = recording.tables().unwrap();
    let of_kind = |name: &str| summary.kinds.iter().find(|kind| tables.kind_name(kind.kind) == name);
    assert_eq!(of_kind("block").map_or(0, |kind| kind.objects), taken.blocks);
    assert_eq!(of_kind("frame").map_or(0, |kind| kind.heap_bytes), 0);
}

#[derive(Debug, Clone)]
enum Step {
    Allocate { size: usize, align: u32, fill: u8 },
    Free(usize),
    Resize(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = || prop_oneof![1..300usize, 1..20_000usize];
    let step = prop_oneof![
        4 => (size(), 0..13u32, any::<u8>()).prop_map(|(size, align, fill)| Step::Allocate { size, align, fill }),
        2 => any::<usize>().prop_map(Step::Free),
        2 => (any::<usize>(), size()).prop_map(|(block, size)| Step::Resize(block, size)),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn totals_are_those_of_a_model(steps in steps(), tables in any::<bool>(), depth in 1..80usize) {
        let _alone = alone();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.barrow");
        let frames = if tables { Frames::Tables } else { Frames::Pointers };
        let options = Options { depth, frames, ..Options::default() };
        let unrecorded = Block::new(100, 8, 9);
        let recording = options.recording(&path).unwrap();
        let mut blocks: Vec<Block> = Vec::new();
        for step in steps {
            match step {
                Step::Allocate { size, align, fill } => blocks.push(Block::new(size, 1 << align, fill)),
                Step::Free(n) if !blocks.is_empty() => drop(blocks.swap_remove(n % blocks.len())),
                Step::Resize(n, size) if !blocks.is_empty() => {
                    let n = n % blocks.len();
                    blocks[n].resize(size);
                }
                Step::Free(_) | Step::Resize(..) => {}
            }
        }
        let taken = barrow_alloc::snapshot("steps").unwrap();
        prop_assert_eq!(taken, Some(sum(&blocks)));
        drop((unrecorded, recording));
        check(&path, 1, sum(&blocks));
        // Freed while nothing is recorded: the next recording must not count them.
        drop(blocks);
        let recording = options.recording(&path).unwrap();
        prop_assert_eq!(barrow_alloc::snapshot("empty").unwrap(), Some(sum([])));
        recording.finish().unwrap();
    }
}

#[test]
fn threads_hand_blocks_to_each_other() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.barrow");
    let recording = barrow_alloc::recording(&path).unwrap();
    let done = AtomicBool::new(false);
    let kept: Vec<Block> = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut count = 0;
            while !done.load(Ordering::Relaxed) {
                barrow_alloc::snapshot(&format!("meanwhile {count}")).unwrap();
                count += 1;
            }
            count
        });
        let mut kept = Vec::new();
        for _ in 0..8 {
            // Threads start and end all the time, and free what others allocated.
            let (give, take) = mpsc::channel::<Block>();
            let givers: Vec<_> = (0..4u8)
                .map(|n| {
                    let give = give.clone();
                    scope.spawn(move || {
                        for size in 1..500 {
                            give.send(Block::new(size, 8, n + 1)).unwrap();
                            drop(Block::new(size, 8, n + 1));
                        }
                    })
                })
                .collect();
            drop(give);
            let taker = scope.spawn(move || take.into_iter().filter(|block| block.layout.size() % 10 == 0).collect());
            givers.into_iter().for_each(|giver| giver.join().unwrap());
            let some: Vec<Block> = taker.join().unwrap();
            kept.extend(some);
        }
        done.store(true, Ordering::Relaxed);
        assert!(watcher.join().unwrap() > 0);
        kept
    });
    assert_eq!(kept.len(), 8 * 4 * 49);
    assert_eq!(barrow_alloc::snapshot("end").unwrap(), Some(sum(&kept)));
    recording.finish().unwrap();
    check(&path, 0, sum(&kept));
}

#[test]
fn destructors_of_threads_are_recorded_to_the_end() {
    struct Late(RefCell<Option<Block>>);
    impl Drop for Late {
        fn drop(&mut self) {
            // Freed here, allocated before; and the other way round.
            *self.0.borrow_mut() = None;
            LEFT.lock().unwrap().push(Block::new(640, 8, 3));
        }
    }
    thread_local! {
        static LATE: Late = const { Late(RefCell::new(None)) };
    }
    static LEFT: Mutex<Vec<Block>> = Mutex::new(Vec::new());
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.barrow");
    let recording = barrow_alloc::recording(&path).unwrap();
    for before in [false, true] {
        std::thread::spawn(move || {
            // The recorder's own destructor is registered by the first block: it runs after that of the thread, or before.
            let first = before.then(|| Block::new(64, 8, 1));
            LATE.with(|late| *late.0.borrow_mut() = Some(Block::new(32, 8, 2)));
            drop(first);
        })
        .join()
        .unwrap();
    }
    let late = Taken { blocks: 2, bytes: 1280 };
    assert_eq!(barrow_alloc::snapshot("end").unwrap(), Some(late));
    recording.finish().unwrap();
    check(&path, 0, late);
    LEFT.lock().unwrap().clear();
}

#[test]
fn failures_pass_through() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let recording = barrow_alloc::recording(folder.path().join("failures.barrow")).unwrap();
    let block = Block::new(48, 8, 7);
    FAILS.store(true, Ordering::Relaxed);
    let layout = Layout::from_size_align(64, 8).unwrap();
    // SAFETY: the layout is not empty.
    assert!(unsafe { RECORDER.alloc(layout) }.is_null());
    // SAFETY: the layout is not empty.
    assert!(unsafe { RECORDER.alloc_zeroed(layout) }.is_null());
    // SAFETY: a live block with its layout.
    assert!(unsafe { RECORDER.realloc(block.start as *mut u8, block.layout, 4096) }.is_null());
    FAILS.store(false, Ordering::Relaxed);
    // There is no room for a trailer.
    let longest = Layout::from_size_align(isize::MAX as usize - 2, 1).unwrap();
    // SAFETY: the layout is not empty.
    assert!(unsafe { RECORDER.alloc(longest) }.is_null());
    // SAFETY: a live block with its layout.
    assert!(unsafe { RECORDER.realloc(block.start as *mut u8, block.layout, longest.size()) }.is_null());
    assert_eq!(barrow_alloc::snapshot("one").unwrap(), Some(sum([&block])));
    drop(block);
    assert_eq!(barrow_alloc::snapshot("none").unwrap(), Some(sum([])));
    recording.finish().unwrap();
}

#[test]
fn deep_recursion_is_bounded() {
    #[inline(never)]
    fn deep(levels: usize, blocks: &mut Vec<Block>) -> usize {
        if levels.is_multiple_of(100) {
            blocks.push(Block::new(24, 8, 5));
        }
        if levels == 0 { 0 } else { 1 + std::hint::black_box(deep(levels - 1, blocks)) }
    }
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    for frames in [Frames::Pointers, Frames::Tables, Frames::Detect] {
        let path = folder.path().join("deep.barrow");
        let recording = Options { depth: 20, frames, ..Options::default() }.recording(&path).unwrap();
        let mut blocks = Vec::new();
        deep(5000, &mut blocks);
        assert_eq!(barrow_alloc::snapshot("deep").unwrap(), Some(sum(&blocks)));
        recording.finish().unwrap();
        check(&path, 0, sum(&blocks));
    }
}

#[test]
fn grouped_blocks_are_named_by_their_number() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grouped.barrow");
    let recording = Options { blocks: Blocks::Grouped, ..Options::default() }.recording(&path).unwrap();
    let blocks: Vec<Block> = (0..1000).map(|_| Block::new(24, 8, 5)).collect();
    assert_eq!(barrow_alloc::snapshot("grouped").unwrap(), Some(sum(&blocks)));
    assert!(barrow_alloc::recording(&path).is_err(), "one recording at a time");
    recording.finish().unwrap();
    drop(blocks);
    let recording = Recording::open(&path).unwrap();
    let first = recording.snapshot_ids().next().unwrap();
    assert_eq!(summary(&recording, first).unwrap().totals.heap_bytes, 24_000);
    let tables = recording.tables().unwrap();
    let mut named = 0;
    walk(&recording, first, &Silent, |object, _| {
        let blocks = object.name.and_then(|name| tables.string(name).strip_suffix(" blocks"));
        named += blocks.map_or(0, |number| number.parse::<u64>().unwrap());
        Ok(())
    })
    .unwrap();
    assert_eq!(named, 1000);
    assert_eq!(barrow_alloc::snapshot("after").unwrap(), None);
}
