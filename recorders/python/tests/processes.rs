//! Programs of several processes: each has a whole recording of its own.

mod python;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use barrow_analyzer::{Recording, Silent, SnapshotId, verify, walk};
use python::{Python, said};
use tempfile::TempDir;

/// Each process makes a number of objects that says which it is.
const PROGRAM: &str = "
import multiprocessing, subprocess, sys
class Made: pass
kept = []
def work(number):
    kept.extend(Made() for _ in range(number))
    return number
def processes(how):
    context = multiprocessing.get_context(how)
    children = [context.Process(target=work, args=[100 + number]) for number in range(2)]
    for child in children: child.start()
    for child in children: child.join()
    assert all(child.exitcode == 0 for child in children)
def pool(how):
    with multiprocessing.get_context(how).Pool(2) as workers:
        assert workers.map(work, [7] * 20, chunksize=1) == [7] * 20
        workers.close()
        workers.join()
def terminated(how):
    with multiprocessing.get_context(how).Pool(2) as workers:
        workers.map(work, [7] * 20, chunksize=1)
def nested(how):
    context = multiprocessing.get_context(how)
    child = context.Process(target=processes, args=[how])
    child.start()
    child.join()
    assert child.exitcode == 0
def commands(how):
    made = 'class Made: pass\\nkept = [Made() for _ in range(%d)]'
    for number in range(2):
        subprocess.run([sys.executable, '-c', made % (100 + number)], check=True)
    assert subprocess.run([sys.executable, '-S', '-c', 'print(1)'], capture_output=True).stdout == b'1\\n'
if __name__ == '__main__':
    globals()[sys.argv[1]](sys.argv[2])
    work(1)
";

/// A recorded run of the program.
struct Run {
    folder: TempDir,
}

impl Run {
    fn of(python: &Python, arguments: &[&str], options: &[&str]) -> Run {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = folder.path().join("program.py");
        std::fs::write(&program, PROGRAM).expect("written");
        let mut command = python.command();
        command.args(["-m", "barrow", "run", "--out"]).arg(folder.path().join("app.barrow")).args(options);
        let output = command.arg(&program).args(arguments).output().expect("a Python");
        assert_eq!(said(&output), "", "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        Run { folder }
    }

    fn recordings(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        let entries = entries.map(|entry| entry.expect("an entry").path());
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "barrow")).collect()
    }

    /// For each process that made objects how many those are, once all recordings are whole. The server that forks ends
    /// after the program does.
    fn made(&self) -> Vec<u64> {
        for _ in 0..100 {
            let is_whole = |path: &PathBuf| Recording::open(path).is_ok_and(|recording| recording.damage().is_none());
            if self.recordings().iter().all(is_whole) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut made: Vec<_> = self.recordings().iter().map(|path| made(path)).filter(|&made| made > 0).collect();
        made.sort_unstable();
        made
    }
}

/// How many objects the last snapshot has that the process made.
fn made(path: &Path) -> u64 {
    let recording = Recording::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let verified = verify(&recording, &Silent).expect("readable");
    assert!(recording.damage().is_none() && verified.problems.is_empty(), "{}", path.display());
    let snapshots = u32::try_from(recording.snapshot_ids().count()).expect("few");
    assert_eq!(snapshots, 1, "{}", path.display());
    let mut types: BTreeMap<_, u64> = BTreeMap::new();
    walk(&recording, SnapshotId(0), &Silent, |object, _| {
        *types.entry(object.type_id).or_default() += 1;
        Ok(())
    })
    .expect("a whole snapshot");
    let tables = recording.tables().expect("tables");
    let is_made = |name: &str| name.ends_with("__.Made");
    types.iter().filter(|(type_id, _)| is_made(tables.type_name(**type_id))).map(|(_, count)| count).sum()
}

#[test]
fn each_way_to_start_a_process_is_recorded() {
    let Some(python) = Python::find() else { return };
    for how in ["fork", "spawn", "forkserver"] {
        assert_eq!(Run::of(&python, &["processes", how], &[]).made(), [1, 100, 101], "{how}");
        // Of the child, and of its children.
        assert_eq!(Run::of(&python, &["nested", how], &["--at-exit"]).made(), [1, 100, 101], "{how}");
    }
    assert_eq!(Run::of(&python, &["commands", "-"], &["--sites", "light"]).made(), [1, 100, 101]);
}

#[test]
fn workers_of_a_pool_are_recorded_when_they_end() {
    let Some(python) = Python::find() else { return };
    for how in ["fork", "spawn", "forkserver"] {
        let made = Run::of(&python, &["pool", how], &["--sites", "light"]).made();
        // Some may have had no work.
        assert!((2..=3).contains(&made.len()) && made.iter().sum::<u64>() == 141, "{how}: {made:?}");
    }
    // Those that are killed leave nothing or what is whole.
    for how in ["fork", "spawn", "forkserver"] {
        assert_eq!(Run::of(&python, &["terminated", how], &[]).made()[0], 1, "{how}");
    }
}

#[test]
fn processes_that_are_started_anew_can_be_left_out() {
    let Some(python) = Python::find() else { return };
    assert_eq!(Run::of(&python, &["processes", "spawn"], &["--no-children"]).made(), [1]);
    assert_eq!(Run::of(&python, &["commands", "-"], &["--no-children"]).made(), [1]);
}

#[test]
fn another_sitecustomize_is_run() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("sitecustomize.py"), "import sys\nsys.customized = 'customized'\n")
        .expect("written");
    let program = "
import os, subprocess, sys
import barrow
os.environ['PYTHONPATH'] += os.pathsep + sys.argv[2]
with barrow.recording(sys.argv[1], children=True, at_exit=True):
    print(subprocess.check_output([sys.executable, '-c', 'import sys, sitecustomize; print(sys.customized, sitecustomize.__file__)'], text=True))
assert 'BARROW_CHILDREN' not in os.environ
";
    let path = folder.path().join("app.barrow");
    let output = python.command().arg("-c").arg(program).arg(&path).arg(folder.path()).output().expect("a Python");
    let own = folder.path().join("sitecustomize.py");
    assert_eq!(said(&output).trim(), format!("customized {}", own.display()));
    let entries = std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").path());
    assert_eq!(entries.filter(|path| path.extension().is_some_and(|extension| extension == "barrow")).count(), 2);
}

#[test]
fn clocks_go_on_in_children() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("app.barrow");
    let program = "
import barrow, os, sys, time
barrow.start(sys.argv[1], interval=0.1)
child = os.fork()
if child == 0:
    time.sleep(1.5)
    os._exit(0)
print(child)
assert os.waitpid(child, 0)[1] == 0
";
    let output = python.command().arg("-c").arg(program).arg(&path).output().expect("a Python");
    let child = folder.path().join(format!("app.{}.barrow", said(&output).trim()));
    let recording = Recording::open(&child).expect("a recording");
    assert!(recording.snapshot_ids().count() > 1);
}
