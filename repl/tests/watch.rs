//! `watch`: a recording is followed while another thread or process writes it.

mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use barrow_testdata::{Heap, Random, Vocabulary};
use barrow_writer::{Options, SnapshotInfo, Writer};
use program::{Run, finished, program};

/// Tells a child process which file to write, and when to stop.
const CHILD: &str = "BARROW_WATCH_CHILD";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("there is a folder for temporary files"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("app.barrow")
    }

    /// Starts `barrow watch` on the file.
    fn watch(&self, words: &[&str]) -> Child {
        let mut program = program(self.0.path());
        program.arg("watch").arg(self.path()).args(["--interval", "5ms"]).args(words);
        program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }
}

/// Waits for the end of a watch that has to end.
fn end(mut child: Child) -> Run {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it does not end: {:?}", child.wait_with_output().unwrap());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    finished(child.wait_with_output().unwrap())
}

/// Sends the signal of Ctrl-C to this process only.
fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// The numbers at the beginning of the rows.
fn rows(stdout: &str) -> Vec<u32> {
    stdout.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

fn record(path: &Path, snapshots: u64, pause: Duration) -> Writer {
    let writer = Writer::create(path, Options { threads: 1, ..Options::default() }).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    for number in 0..snapshots {
        let mut random = Random::new(number);
        let heap = Heap::random(&mut random, 100 + 10 * number as u32, &vocabulary);
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        heap.announce(&snapshot, 0..heap.nodes.len()).unwrap();
        snapshot.commit().unwrap();
        std::thread::sleep(pause);
    }
    writer
}

/// The writer in another process. Otherwise this test does nothing.
#[test]
fn child() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let _writer = record(Path::new(&path), 4, Duration::from_millis(20));
    // Until it is killed.
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn a_row_for_each_snapshot_until_the_writer_finishes() {
    let folder = Folder::new();
    let watch = folder.watch(&[]);
    std::thread::sleep(Duration::from_millis(50));
    record(&folder.path(), 6, Duration::from_millis(20)).finish().unwrap();
    let run = end(watch);
    assert_eq!((run.code, rows(&run.stdout)), (0, vec![0, 1, 2, 3, 4, 5]), "{}{}", run.stdout, run.stderr);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("snapshot      objects       change"), "{}", run.stdout);
    assert!(lines[1].contains(" 100 ") && lines[2].contains(" 110 ") && lines[2].contains(" +10 "), "{}", run.stdout);
    assert!(run.stderr.contains("waiting for"), "{}", run.stderr);
}

#[test]
fn lines_answer_about_each_snapshot_while_the_next_is_recorded() {
    let folder = Folder::new();
    let watch = folder.watch(&["-e", "count all", "-e", "snapshot", "--until", "3", "--quiet"]);
    std::thread::scope(|scope| {
        // It goes on for longer than the watch.
        let writer = scope.spawn(|| record(&folder.path(), 6, Duration::from_millis(100)));
        let run = end(watch);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
        assert!(!folder.0.path().join("app.barrow.index").exists(), "an index would be of no use to the next snapshot");
        let objects: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("objects  ")).collect();
        assert_eq!(objects.len(), 8, "two lines for each of four snapshots: {}", run.stdout);
        assert!(objects[..2].iter().all(|line| line.ends_with("100")), "{objects:?}");
        assert!(objects[6..].iter().all(|line| line.ends_with("130")), "{objects:?}");
        assert!(!writer.is_finished(), "the watch ended before the writer did");
        writer.join().unwrap().finish().unwrap();
    });
}

#[test]
fn machines_get_a_line_for_each_snapshot() {
    let folder = Folder::new();
    record(&folder.path(), 3, Duration::ZERO).finish().unwrap();
    let json = end(folder.watch(&["--format", "json"]));
    let rows: Vec<serde_json::Value> = json.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), &rows[2]["objects"], &rows[2]["objects_change"]), (3, &120.into(), &10.into()));
    assert!(rows[0]["objects_change"].is_null());
    let csv = end(folder.watch(&["--format", "csv"]));
    assert_eq!((csv.stdout.lines().count(), csv.stdout.matches("objects_change").count()), (4, 1), "{}", csv.stdout);
}

#[test]
fn an_assertion_that_is_false_ends_it_with_1() {
    let folder = Folder::new();
    let watch = folder.watch(&["--assert", "count() <= 115"]);
    let writer = record(&folder.path(), 4, Duration::from_millis(10));
    let run = end(watch);
    assert_eq!((run.code, rows(&run.stdout)), (1, vec![0, 1, 2]), "{}", run.stdout);
    assert!(run.stdout.contains("snapshot 2: 120 objects, not <= 115"), "{}", run.stdout);
    writer.finish().unwrap();
    assert_eq!(end(folder.watch(&["--assert", "count() <= 130"])).code, 0);
    assert_eq!(end(folder.watch(&["--assert", "count() <"])).code, 2);
    let few = end(folder.watch(&["--assert", "growth(count) <= 0", "--quiet"]));
    assert_eq!((few.code, rows(&few.stdout).len()), (2, 4));
    assert!(few.stderr.contains("4 snapshots can show no growth"), "{}", few.stderr);
    record(&folder.path(), 9, Duration::ZERO).finish().unwrap();
    let grown = end(folder.watch(&["--assert", "growth(count) <= 0"]));
    assert_eq!(
        (grown.code, &rows(&grown.stdout)[..8]),
        (1, &[0, 1, 2, 3, 4, 5, 6, 7][..]),
        "the eighth snapshot shows it: {}",
        grown.stdout
    );
    assert!(!grown.stdout.contains("180"), "{}", grown.stdout);
    assert!(grown.stdout.contains("it grows: slope 10 objects/snapshot"), "{}", grown.stdout);
}

#[test]
fn a_killed_writer_leaves_its_snapshots_and_ctrl_c_ends_the_watch() {
    let folder = Folder::new();
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // It ends by itself when it has seen all four.
    let all = end(folder.watch(&["--until", "3"]));
    assert_eq!((all.code, rows(&all.stdout)), (0, vec![0, 1, 2, 3]), "{}{}", all.stdout, all.stderr);
    writer.kill().unwrap();
    writer.wait().unwrap();
    // A file that ends within the next snapshot does not have it yet.
    let mut bytes = fs::read(folder.path()).unwrap();
    bytes.extend_from_within(64..100);
    fs::write(folder.path(), bytes).unwrap();
    let watch = folder.watch(&[]);
    std::thread::sleep(Duration::from_millis(300));
    interrupt(&watch);
    let run = end(watch);
    assert_eq!((run.code, rows(&run.stdout)), (130, vec![0, 1, 2, 3]), "{}{}", run.stdout, run.stderr);
    // Questions are answered as for any recording that was cut, and say what is committed.
    let mut program = program(folder.0.path());
    let run: Output = program.arg("snapshots").arg(folder.path()).output().unwrap();
    let run = finished(run);
    assert_eq!((run.code, rows(&run.stdout).len() >= 3), (4, true), "{}", run.stdout);
    assert!(run.stderr.contains("4 complete snapshots are kept (0 to 3)"), "{}", run.stderr);
}

#[test]
fn a_snapshot_whose_commit_is_damaged_is_told() {
    let folder = Folder::new();
    record(&folder.path(), 3, Duration::ZERO).finish().unwrap();
    let mut bytes = fs::read(folder.path()).unwrap();
    // Without its index, and with the second commit changed.
    let is_commit = |at: &usize| bytes[*at..].starts_with(b"BrwF\x0a\0");
    let commits: Vec<usize> = (64..bytes.len() - 48).step_by(8).filter(is_commit).collect();
    bytes[commits[1] + 48] ^= 1;
    bytes.truncate(bytes.len() - 1);
    fs::write(folder.path(), bytes).unwrap();
    let run = end(folder.watch(&["--until", "2"]));
    assert_eq!((run.code, rows(&run.stdout)), (4, vec![0, 2]), "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("snapshot 1: the commit is damaged"), "{}", run.stderr);
}

#[test]
fn another_recording_begins_again() {
    let folder = Folder::new();
    let other = folder.0.path().join("other.barrow");
    record(&other, 2, Duration::ZERO).finish().unwrap();
    let first = record(&folder.path(), 3, Duration::ZERO);
    let watch = folder.watch(&[]);
    std::thread::sleep(Duration::from_millis(300));
    fs::rename(&other, folder.path()).unwrap();
    let run = end(watch);
    drop(first);
    assert_eq!((run.code, rows(&run.stdout)), (0, vec![0, 1, 2, 0, 1]), "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("another recording"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_asked_yet_is_asked_again() {
    let folder = Folder::new();
    record(&folder.path(), 3, Duration::ZERO).finish().unwrap();
    // The first snapshot has 100 objects, each later one 10 more.
    let run = end(folder.watch(&["-e", "count @105"]));
    assert_eq!((run.code, rows(&run.stdout)), (2, vec![0, 1, 2]), "{}{}", run.stdout, run.stderr);
    assert_eq!(run.stderr.matches("there is no object 105").count(), 1, "{}", run.stderr);
}

#[test]
fn mistakes_end_with_2_and_what_is_no_recording_with_3() {
    let folder = Folder::new();
    record(&folder.path(), 2, Duration::ZERO).finish().unwrap();
    for words in [&["--until", "5"][..], &["-e", "frobnicate"], &["--depth", "2"], &["word"], &["--interval", "soon"]] {
        assert_eq!(end(folder.watch(words)).code, 2, "{words:?}");
    }
    let run = program::run(&[folder.path().to_str().unwrap(), "-e", "watch"]);
    assert!(run.code == 2 && run.stderr.contains("barrow watch FILE"), "{}", run.stderr);
    fs::write(folder.path(), "no recording, but as long as the header of one would be, and somewhat longer").unwrap();
    assert_eq!(end(folder.watch(&[])).code, 3);
    fs::copy(program::testdata("foreign/ruby-3.4.jsonl.zst"), folder.path()).unwrap();
    let dump = end(folder.watch(&[]));
    assert!(dump.code == 3 && dump.stderr.contains("app.barrow: not a barrow recording"), "{}", dump.stderr);
}
