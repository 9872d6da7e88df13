//! A writer killed at any moment leaves every snapshot that it committed, equal to what was announced.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use barrow_analyzer::{Recording, Silent, SnapshotId, verify};
use barrow_testdata::{Heap, Random, Vocabulary};
use barrow_writer::{Options, SnapshotInfo, Sync, Writer};

/// Tells a child what to do: its file, its seed and its number of encoders.
const CHILD: &str = "BARROW_KILL_CHILD";

/// The heap of a snapshot.
fn heap(seed: u64, snapshot: u64, vocabulary: &Vocabulary) -> Heap {
    let mut random = Random::new(seed << 20 | snapshot);
    let size = 1 + random.below(600) as u32;
    Heap::random(&mut random, size, vocabulary)
}

/// The child process: writes snapshots as fast as it can until it is killed, while another thread declares strings. Otherwise this test does nothing.
#[test]
fn child() {
    let Ok(order) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = order.splitn(3, ' ').collect();
    let (seed, threads, path) = (words[0].parse().unwrap(), words[1].parse().unwrap(), words[2]);
    let options = Options { threads, sync: Sync::Never, ..Options::default() };
    let writer = Writer::create(path, options).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| (0..).try_for_each(|number: u64| writer.string(&number.to_string()).map(drop)));
        for number in 0.. {
            let heap = heap(seed, number, &vocabulary);
            let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
            let middle = heap.nodes.len() / 2;
            heap.announce(&snapshot, middle..heap.nodes.len()).unwrap();
            heap.announce(&snapshot, 0..middle).unwrap();
            snapshot.commit().unwrap();
        }
    });
}

/// Starts a child, kills it after a while, and reads what it left. Returns how many snapshots those are.
fn record_and_kill(path: &Path, seed: u64, threads: usize, wait: Duration) -> usize {
    let _ = fs::remove_file(path);
    let order = format!("{seed} {threads} {}", path.display());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD, order)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while fs::metadata(path).map_or(0, |file| file.len()) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "the child ended on its own");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(wait);
    // SIGKILL: the child has no way to finish anything.
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "the child did not end on its own");

    let recording = Recording::open(path).unwrap();
    let damage = recording.damage().expect("not finished");
    assert_eq!(damage.lost, []);
    assert_eq!(damage.unreadable_bytes, 0);
    // A vocabulary is the same in every recording: declare it in one that is never read.
    let nowhere = Writer::to_stream(Box::new(std::io::sink()), Options::default()).unwrap();
    let vocabulary = Vocabulary::declare(&nowhere).unwrap();
    let ids: Vec<SnapshotId> = recording.snapshot_ids().collect();
    for (number, &id) in (0..).zip(&ids) {
        assert_eq!(u64::from(id.0), number);
        assert_eq!(Heap::read(&recording, id).unwrap(), heap(seed, number, &vocabulary), "snapshot {id}");
    }
    let problems = verify(&recording, &Silent).unwrap().problems;
    assert!(problems.iter().all(|problem| problem.snapshot.is_none()), "{problems:?}");
    ids.len()
}

#[test]
fn committed_snapshots_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.barrow");
    let mut random = Random::new(std::process::id().into());
    let counts: Vec<usize> = (0..40)
        .map(|round| {
            let wait = Duration::from_micros(random.below(60_000));
            record_and_kill(&path, random.below(1 << 30), 2 * (round % 2), wait)
        })
        .collect();
    let with_snapshots = counts.iter().filter(|&&count| count > 0).count();
    assert!(with_snapshots >= 20, "snapshots of each round: {counts:?}");
    eprintln!("{} snapshots committed in 40 rounds, all equal", counts.iter().sum::<usize>());
}
