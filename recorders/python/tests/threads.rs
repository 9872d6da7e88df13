//! Threads and what they did, against what the program had them do.

mod python;

use barrow_analyzer::{Recording, SnapshotId, Threads};
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
