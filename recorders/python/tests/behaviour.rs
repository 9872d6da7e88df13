//! What recorded programs may do, and what may be done to them.

mod python;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use barrow_analyzer::{Expression, Heap, IndexPlace, Memory, Recording, Silent, SnapshotId, verify, walk};
use python::{Python, said};

/// Runs a program with a path in a temporary folder as its argument.
fn run(program: &str, path: &str) -> Option<(tempfile::TempDir, Output)> {
    let python = Python::find()?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(path);
    let output = python.command().arg("-c").arg(program).arg(path).output().expect("a Python");
    Some((folder, output))
}

/// How many snapshots a recording has, all of them whole. What comes after the last may be cut off.
fn whole_snapshots(path: &Path) -> usize {
    let recording = Recording::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let verified = verify(&recording, &Silent).expect("readable");
    assert!(verified.problems.len() <= usize::from(recording.damage().is_some()), "{:?}", verified.problems);
    recording.snapshot_ids().count()
}

fn recordings(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension() == Some(OsStr::new("barrow"))).collect()
}

#[test]
fn whole_programs_are_recorded_from_outside() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("program.py");
    std::fs::write(&program, "import gc, os, signal, sys\nfor _ in range(3): gc.collect()\nos.kill(os.getpid(), signal.SIGUSR2)\nprint(*sys.argv[1:], __name__)\n")
        .expect("written");
    let path = folder.path().join("out.barrow");
    let mut command = python.command();
    command.args(["-m", "barrow", "run", "--every-gc", "--on-signal", "USR2", "--at-exit", "--out"]);
    let output = command.arg(&path).arg(&program).args(["one", "--two"]).output().expect("a Python");
    assert_eq!(said(&output), "one --two __main__\n");
    assert_eq!(whole_snapshots(&path), 5);
    let mut command = python.command();
    command
        .args(["-m", "barrow", "run", "--every-gc", "--on-signal", "USR2", "--max-snapshots", "2"])
        .arg(&program)
        .env("BARROW_OUT", &path);
    said(&command.output().expect("a Python"));
    assert_eq!(whole_snapshots(&path), 2);
}

/// A snapshot that repeats the one before would look like an end of growth.
#[test]
fn a_block_ends_with_one_snapshot() {
    let cases = [
        ("barrow.snapshot()", 1),
        ("pass", 1),
        ("barrow.snapshot(); time.sleep(0.3)", 2),
        ("barrow.snapshot(); more = [object() for _ in range(100_000)]", 2),
    ];
    for (last, snapshots) in cases {
        let program = format!("import barrow, sys, time\nwith barrow.recording(sys.argv[1]):\n    {last}");
        let Some((folder, output)) = run(&program, "app.barrow") else { return };
        said(&output);
        assert_eq!(whole_snapshots(&folder.path().join("app.barrow")), snapshots, "{last}");
    }
}

#[test]
fn a_program_that_ends_before_the_first_interval_has_a_snapshot() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (program, path) = (folder.path().join("program.py"), folder.path().join("out.barrow"));
    std::fs::write(&program, "print('short')\n").expect("written");
    let mut command = python.command();
    command.args(["-m", "barrow", "run", "--interval", "1h", "--out"]).arg(&path).arg(&program);
    assert_eq!(said(&command.output().expect("a Python")), "short\n");
    assert_eq!(whole_snapshots(&path), 1);
}

#[test]
fn each_process_has_a_recording_of_its_own() {
    let program = "
import barrow, os, sys, threading
barrow.start(sys.argv[1])
barrow.snapshot()
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        mine = ['made by a child'] * 10
        barrow.snapshot()
        barrow.snapshot()
        if number == 2:
            os._exit(0)
        sys.exit(0)
    children.append(child)
for child in children:
    assert os.waitpid(child, 0)[1] == 0
barrow.snapshot()
";
    let Some((folder, output)) = run(program, "app.barrow") else { return };
    said(&output);
    let files = recordings(folder.path());
    assert_eq!(files.len(), 4, "{files:?}");
    for file in files {
        assert_eq!(whole_snapshots(&file), 2, "{}", file.display());
    }
}

#[test]
fn threads_that_allocate_fork_and_take_snapshots_at_once() {
    let program = "
import barrow, gc, os, sys, threading, time
barrow.start(sys.argv[1], sites='light')
end = time.monotonic() + 4
taken = []
def work(number):
    kept = []
    while time.monotonic() < end:
        kept.append({str(i): [i] for i in range(100)})
        if len(kept) > 50: kept.clear()
        if number < 3: taken.append(barrow.snapshot())
        if number == 3: gc.collect()
        if number == 4:
            child = os.fork()
            if child == 0:
                os._exit(0 if barrow.snapshot() else 1)
            assert os.waitpid(child, 0)[1] == 0
            time.sleep(0.3)
        if number == 5:
            threading.Thread(target=lambda: [[] for _ in range(1000)]).start()
threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert all(taken)
print(len(taken))
";
    let Some((folder, output)) = run(program, "app.barrow") else { return };
    let taken: usize = said(&output).trim().parse().expect("a number");
    assert!(taken > 3);
    assert_eq!(whole_snapshots(&folder.path().join("app.barrow")), taken);
    for file in recordings(folder.path()) {
        assert!(whole_snapshots(&file) > 0);
    }
}

#[test]
fn a_killed_program_loses_nothing_committed() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("app.barrow");
    let program = "
import barrow, sys
kept = [[str(i)] for i in range(50000)]
barrow.start(sys.argv[1])
while True:
    barrow.snapshot()
    print('taken', flush=True)
";
    for number in 0..5 {
        let mut command = python.command();
        let mut child = command.arg("-c").arg(program).arg(&path).stdout(Stdio::piped()).spawn().expect("a Python");
        std::thread::sleep(Duration::from_millis(400 + 137 * number));
        child.kill().expect("killed");
        let output = child.wait_with_output().expect("ended");
        let taken = String::from_utf8_lossy(&output.stdout).matches("taken").count();
        if taken > 0 {
            assert!(whole_snapshots(&path) >= taken);
        }
    }
}

#[test]
fn a_program_goes_on_if_the_file_cannot_be_written() {
    let program = "
import barrow, sys
kept = [[str(i)] for i in range(200000)]
try:
    barrow.start('/dev/full')
except OSError:
    print('refused', flush=True)
else:
    for _ in range(3): barrow.snapshot()
try:
    barrow.start(sys.argv[1])
except OSError as error:
    print(error)
assert not barrow.is_recording() and barrow.snapshot() is None
print('went on')
";
    let Some((_folder, output)) = run(program, "no/such/folder/app.barrow") else { return };
    let text = said(&output);
    assert!(text.contains("No such file") && text.ends_with("went on\n"), "{text}");
    let warnings = String::from_utf8_lossy(&output.stderr).matches("RuntimeWarning").count();
    assert_eq!(warnings + text.matches("refused").count(), 1, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn snapshots_can_be_taken_anywhere() {
    let program = "
import atexit, barrow, gc, signal, sys, weakref
atexit.register(lambda: barrow.snapshot('at exit'))
barrow.start(sys.argv[1])
class Dying:
    def __del__(self):
        assert barrow.snapshot('dying')
class Circle(Dying):
    def __init__(self): self.itself = self
Dying()
Circle()
gc.collect()
gone = weakref.ref(Dying(), lambda reference: barrow.snapshot('callback'))
class Key:
    def __hash__(self):
        barrow.snapshot('inside a dictionary')
        return 1
{Key(): 1}
def generate():
    yield barrow.snapshot('inside a generator')
list(generate())
sorted([3, 1, 2], key=lambda x: barrow.snapshot('while a list is sorted') and x)
signal.signal(signal.SIGALRM, lambda *_: barrow.snapshot('signal'))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
try:
    barrow.start(sys.argv[1])
except RuntimeError as error:
    print(error)
last = Dying()
";
    let Some((folder, output)) = run(program, "app.barrow") else { return };
    assert!(said(&output).contains("is being recorded already"));
    let count = whole_snapshots(&folder.path().join("app.barrow"));
    assert!(count >= 11, "{count}");
}

#[test]
fn many_snapshots_change_nothing() {
    let program = "
import barrow, gc, sys
kept = [{}, [], object(), type('Made', (), {})()]
gc.collect()
barrow.start(sys.argv[1])
def counts():
    every = [value for value in gc.get_objects()]
    figures = {id(value): sys.getrefcount(value) for value in kept + [dict, list, type(kept[3]), sys.modules, barrow]}
    return len(every), figures
barrow.snapshot()
before = counts()
before = counts()
for _ in range(100):
    barrow.snapshot()
after = counts()
assert before[1] == after[1], (before, after)
assert abs(before[0] - after[0]) < 20, (before[0], after[0])
print('same')
";
    let Some((_folder, output)) = run(program, "app.barrow") else { return };
    assert_eq!(said(&output), "same\n");
}

#[test]
fn longer_texts_can_be_shortened() {
    let program = "
import barrow, sys
kept = [unit * count for unit in 'aä€😀' for count in (30, 32, 33, 64, 65, 128, 129, 200, 201, 5000)]
kept += [text.encode() for text in kept if text[0] == 'a']
for refused in ('texts=127', 'texts=', 'texts', 'texts=x', 'text=128'):
    try:
        barrow.start(sys.argv[1], contents=refused)
    except ValueError as error:
        print(error)
barrow.start(sys.argv[1], contents='texts=128')
barrow.snapshot()
barrow.stop()
";
    let Some((folder, output)) = run(program, "out.barrow") else { return };
    assert_eq!(said(&output).lines().filter(|line| line.ends_with("the least is texts=128")).count(), 5);
    let recording = Recording::open(&folder.path().join("out.barrow")).expect("a whole recording");
    let facts = recording.facts().expect("facts");
    assert!(facts.contains(&("contents".to_owned(), "texts of at most 128 bytes".to_owned())));
    let tables = recording.tables().expect("tables");
    let mut texts = BTreeSet::new();
    walk(&recording, SnapshotId(0), &Silent, |object, _| {
        let is_text = ["str", "bytes"].contains(&tables.type_name(object.type_id));
        texts.extend(object.name.filter(|_| is_text).map(|name| tables.string(name).to_owned()));
        Ok(())
    })
    .expect("a whole snapshot");
    assert!(texts.iter().all(|text| text.len() <= 128));
    for unit in ["a", "ä", "€", "😀"] {
        for count in [30, 32, 33, 64, 65, 128, 129, 200, 201, 5_000] {
            let whole = unit.repeat(count);
            // Of 128 bytes, 32 are for what says how long it was.
            let shown = if whole.len() <= 128 {
                whole
            } else {
                format!("{}... ({count} characters)", unit.repeat(96 / unit.len()))
            };
            assert!(texts.contains(&shown), "{shown}");
        }
    }
    for count in [30, 64, 5_000] {
        let whole = format!("b'{}'", "a".repeat(count));
        let shown = if count < 128 { whole } else { format!("b'{}... ({count} bytes)", "a".repeat(94)) };
        assert!(texts.contains(&shown), "{shown}");
    }
}

#[test]
fn what_objects_hold_can_be_left_out() {
    for (contents, is_recorded) in [("all", true), ("none", false)] {
        let program = format!(
            "
import barrow, sys
kept = ['a %s' % 'secret', b'another secret', 47114711]
try:
    barrow.start(sys.argv[1], contents='some')
except ValueError as error:
    print(error)
barrow.start(sys.argv[1], contents='{contents}')
barrow.snapshot()
barrow.stop()
"
        );
        let Some((folder, output)) = run(&program, "out.barrow") else { return };
        let refused = "contents is 'some'; it can be all, none or texts=SIZE, where the least is texts=128\n";
        assert_eq!(said(&output), refused);
        let recording = Recording::open(&folder.path().join("out.barrow")).expect("a whole recording");
        let tables = recording.tables().expect("tables");
        let mut secrets = Vec::new();
        walk(&recording, SnapshotId(0), &Silent, |object, _| {
            let name = object.name.map_or("", |name| tables.string(name));
            let is_text = ["str", "bytes"].contains(&tables.type_name(object.type_id));
            secrets.extend(Some(name.to_owned()).filter(|name| is_text && name.contains("secret")));
            Ok(())
        })
        .expect("a whole snapshot");
        assert_eq!(secrets.iter().any(|text| text == "a secret"), is_recorded, "{secrets:?}");
        assert_eq!(secrets.iter().any(|text| text == "b'another secret'"), is_recorded, "{secrets:?}");
        assert!(is_recorded || secrets.is_empty(), "{secrets:?}");
        let facts = recording.facts().expect("facts");
        assert_eq!(facts.contains(&("contents".to_owned(), "none".to_owned())), !is_recorded);
        let heap = Heap::new(recording.into(), SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited());
        let number = Expression::parse(".value = 47114711").expect("an expression");
        let found = heap.expect("a heap").select(&[], &number, &Silent).map(|(found, ..)| found.len());
        assert_eq!(matches!(found, Ok(1..)), is_recorded, "{found:?}");
    }
}
