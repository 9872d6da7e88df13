//! Threads and what they did, against what the program had them do.

mod python;

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::{Heap, IndexPlace, Label, Memory, Recording, Silent, SnapshotId, Threads};
use python::{Python, said};

const PROGRAM: &str = "
import barrow, sys, threading, time
barrow.start(sys.argv[1], sites='light')
end, ready = threading.Event(), threading.Barrier(4)
def sleeper():
    ready.wait(); end.wait()
def counter():
    began = time.thread_time()
    while time.thread_time() - began < 0.3: pass
    ready.wait(); end.wait()
def allocator():
    kept = [[i] for i in range(50000)]
    ready.wait(); end.wait()
def brief(): [[i] for i in range(100)]
for _ in range(20):
    thread = threading.Thread(target=brief); thread.start(); thread.join()
for work in (sleeper, counter, allocator):
    threading.Thread(target=work, name=work.__name__, daemon=True).start()
ready.wait()
barrow.snapshot()
end.set()
";

#[test]
fn threads_are_told_apart() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("threads.barrow");
    said(&python.command().arg("-c").arg(PROGRAM).arg(&path).output().expect("a Python"));
    let recording = Recording::open(&path).expect("a whole recording");
    let threads = Threads::read(&recording, SnapshotId(0)).expect("threads");
    let (found, tables) = (threads.rows(), recording.tables().expect("tables"));
    let of = |name: &str| {
        let is_it = |thread: &&barrow_analyzer::Thread| thread.name.is_some_and(|one| tables.string(one) == name);
        found.iter().find(is_it).unwrap_or_else(|| panic!("{found:?}"))
    };
    assert_eq!(found.len(), 4, "{found:?}");
    let (sleeper, counter, allocator) = (of("sleeper"), of("counter"), of("allocator"));
    assert!(allocator.allocated_objects >= Some(50_000), "{found:?}");
    assert!(allocator.allocated_bytes >= Some(50_000 * 56), "{found:?}");
    assert!(sleeper.allocated_objects < Some(2_000) && counter.allocated_objects < Some(1_000_000), "{found:?}");
    if cfg!(target_os = "linux") {
        assert!(counter.cpu_time_ns >= Some(300_000_000), "{found:?}");
        assert!(sleeper.cpu_time_ns < Some(100_000_000), "{found:?}");
    }
    of("MainThread");
}

/// The program prints its own local variables, frame by frame.
const FRAMES: &str = "
import barrow, sys
def inner(first, second):
    names = [str(number) for number in range(5)]
    barrow.snapshot()
    print('inner', *sorted(locals()))
def outer():
    cache = {'key': object()}
    print('outer', *sorted(locals()))
    inner(cache, 7)
barrow.start(sys.argv[1])
outer()
";

#[test]
fn frames_hold_the_variables_that_the_program_names() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("frames.barrow");
    let printed = said(&python.command().arg("-c").arg(FRAMES).arg(&path).output().expect("a Python"));
    let recording = Arc::new(Recording::open(&path).expect("a whole recording"));
    let heap = Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).expect("a heap");
    let tables = heap.recording().tables().expect("tables");
    let threads = Threads::read(heap.recording(), heap.snapshot()).expect("threads");
    let (roots, _) = heap.thread_roots(&threads, &Silent).expect("roots");
    assert_eq!(roots.len(), 1);
    let frames = heap.frames(&threads, roots[0].label, &Silent).expect("frames");
    let mut named: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for local in &frames.locals {
        let function = frames.rows[local.frame].function.expect("frames are objects");
        let Label::Name(name) = local.name else { continue };
        // What belongs to the frame itself is no variable.
        if !tables.string(name).starts_with("f_") {
            named.entry(tables.type_name(function).to_owned()).or_default().push(tables.string(name));
        }
    }
    for line in printed.lines() {
        let mut words: Vec<&str> = line.split(' ').collect();
        let function = words.remove(0);
        let mut found = named.remove(function).unwrap_or_else(|| panic!("{function}: {named:?}"));
        found.sort_unstable();
        assert_eq!(found, words, "{function}");
    }
}
