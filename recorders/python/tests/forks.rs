//! Programs that fork while snapshots are taken, and several interpreters in one process. Each has so much time; a program that
//! hangs is killed and fails its test.

mod python;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use barrow_analyzer::{Recording, Silent, verify};
use python::{Python, said};
use tempfile::TempDir;

/// Runs a program with a path in a temporary folder as its argument.
fn run(program: &str) -> Option<(TempDir, Output)> {
    let python = Python::find()?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = python.command();
    command.arg("-c").arg(program).arg(folder.path().join("app.barrow"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a Python");
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("its state").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("killed");
            panic!("the program hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some((folder, child.wait_with_output().expect("ended")))
}

fn whole_snapshots(path: &Path) -> usize {
    let recording = Recording::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let verified = verify(&recording, &Silent).expect("readable");
    assert!(verified.problems.len() <= usize::from(recording.damage().is_some()), "{:?}", verified.problems);
    recording.snapshot_ids().count()
}

fn recordings(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "barrow")).collect()
}

fn number(output: &Output) -> usize {
    said(output).trim().parse().expect("a number")
}

#[test]
fn hooks_of_a_fork_can_take_snapshots() {
    let program = "
import os, sys
taken = 0
def hook():
    global taken
    taken += bool(barrow.snapshot('hook'))
# Before and after those of barrow, whichever are run first.
os.register_at_fork(before=hook, after_in_parent=hook, after_in_child=hook)
import barrow, gc
barrow.start(sys.argv[1], every_gc=True)
os.register_at_fork(before=gc.collect, after_in_parent=gc.collect, after_in_child=gc.collect)
for _ in range(3):
    child = os.fork()
    if child == 0: os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
assert taken == 6, taken
";
    let Some((folder, output)) = run(program) else { return };
    assert_eq!(said(&output), "");
    let files = recordings(folder.path());
    assert_eq!(files.len(), 4);
    for file in files {
        let expected = if file.ends_with("app.barrow") { 12 } else { 2 };
        assert_eq!(whole_snapshots(&file), expected, "{}", file.display());
    }
}

#[test]
fn signals_can_take_snapshots_around_forks() {
    let program = "
import os, signal, sys
# Before those of barrow, so that this runs last before the fork.
os.register_at_fork(before=lambda: os.kill(os.getpid(), signal.SIGUSR2))
import barrow
barrow.start(sys.argv[1], on_signal='USR2')
for _ in range(50):
    child = os.fork()
    if child == 0: os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
";
    let Some((folder, output)) = run(program) else { return };
    assert_eq!(said(&output), "");
    assert_eq!(whole_snapshots(&folder.path().join("app.barrow")), 50);
}

#[test]
fn a_fork_does_not_wait_for_snapshots() {
    let program = "
import barrow, gc, os, sys, threading, time
kept = [[str(i)] for i in range(300000)]
barrow.start(sys.argv[1])
end, taken = threading.Event(), []
def work():
    while not end.is_set(): taken.append(barrow.snapshot())
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
before, longest = 0, 0
while len(taken) < 4: time.sleep(0.01)
def fork(how):
    child = how()
    if child == 0: os._exit(0 if gc.isenabled() else 1)
    assert os.waitpid(child, 0)[1] == 0
pauses = 0
while pauses < 60:
    began, seen = time.monotonic(), len(taken)
    fork(os.fork if pauses % 2 else lambda: os.forkpty()[0])
    # How many snapshots were taken while one fork waited.
    longest = max(longest, len(taken) - seen)
    pauses += 1
end.set()
for thread in threads: thread.join()
assert all(taken) and longest <= 4, (longest, len(taken))
print(len(taken))
";
    let Some((folder, output)) = run(program) else { return };
    let taken = number(&output);
    assert_eq!(recordings(folder.path()).len(), 1);
    assert_eq!(whole_snapshots(&folder.path().join("app.barrow")), taken);
}

#[test]
fn what_runs_while_a_recording_begins_can_take_snapshots() {
    let program = "
import barrow, gc, sys
gc.set_threshold(1)
gc.callbacks.append(lambda *_: barrow.snapshot('callback'))
sys.setprofile(lambda *_: barrow.snapshot('profile'))
barrow.start(sys.argv[1], sites='light', max_snapshots=20)
sys.setprofile(None)
for _ in range(30): barrow.snapshot()
assert not barrow.is_recording()
";
    let Some((folder, output)) = run(program) else { return };
    assert_eq!(said(&output), "");
    assert_eq!(whole_snapshots(&folder.path().join("app.barrow")), 20);
}

#[test]
fn daemon_threads_do_not_hold_up_the_end() {
    let program = "
import barrow, sys, threading, time
kept = [[str(i)] for i in range(50000)]
barrow.start(sys.argv[1], at_exit=True, interval=0.01)
def work():
    while True: barrow.snapshot()
for _ in range(4): threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
";
    for _ in 0..3 {
        let Some((folder, output)) = run(program) else { return };
        assert_eq!(said(&output), "");
        assert!(whole_snapshots(&folder.path().join("app.barrow")) > 1);
    }
}

#[test]
fn the_end_of_another_interpreter_ends_no_recording() {
    let program = "
import barrow, sys
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
barrow.start(sys.argv[1])
barrow.snapshot()
for _ in range(2):
    other = interpreters.create()
    refused = interpreters.run_string(other, '''
try:
    import barrow
except ImportError as error:
    pass
else:
    assert not barrow.is_recording() and barrow.snapshot() is None
    try: barrow.start('/nowhere/other.barrow')
    except RuntimeError as error: assert 'another interpreter' in str(error), error
    else: raise AssertionError('started')
    barrow.stop()
''')
    interpreters.destroy(other)
assert barrow.is_recording() and barrow.snapshot()
";
    let Some((folder, output)) = run(program) else { return };
    assert_eq!(said(&output), "");
    assert_eq!(whole_snapshots(&folder.path().join("app.barrow")), 2);
}
