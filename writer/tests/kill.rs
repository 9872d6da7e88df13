//! A recorder that is killed at any moment leaves every committed snapshot readable.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use barrow_analyzer::{Recording, Silent, verify};
use barrow_testdata::{Heap, Random, Vocabulary};
use barrow_writer::{Options, Writer};

const FILE: &str = "BARROW_KILL_FILE";
const THREADS: &str = "BARROW_KILL_THREADS";

fn heap(number: u32, vocabulary: &Vocabulary) -> Heap {
    Heap::random(&mut Random::new(number.into()), 300 + 37 * (number % 11), vocabulary)
}

/// What the killed process does: snapshot after snapshot, for ever.
#[test]
fn record_until_killed() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let threads = std::env::var(THREADS).unwrap().parse().unwrap();
    let writer = Writer::create(path, Options { threads, ..Options::default() }).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    for number in 0.. {
        writer.string(&format!("snapshot {number}")).unwrap();
        heap(number, &vocabulary).record(&writer).unwrap();
    }
}

fn killed_after(path: &Path, time: Duration, threads: usize) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "record_until_killed"])
        .env(FILE, path)
        .env(THREADS, threads.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(time);
    // SIGKILL: nothing of the process runs after this.
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn every_committed_snapshot_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    // The declarations give the same numbers in every process.
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let mut random = Random::new(7);
    let mut committed = 0;
    for round in 0..40 {
        let path = folder.path().join(format!("{round}.barrow"));
        killed_after(&path, Duration::from_micros(5000 + random.below(60_000)), round % 3);
        if path.metadata().map_or(0, |metadata| metadata.len()) < 64 {
            continue;
        }
        let recording = Recording::open(&path).unwrap();
        assert!(recording.damage().is_some());
        for (number, id) in recording.snapshot_ids().enumerate() {
            assert_eq!(id.0 as usize, number);
            assert_eq!(Heap::read(&recording, id).unwrap(), heap(id.0, &vocabulary), "round {round}, snapshot {id}");
        }
        let found = verify(&recording, &Silent).unwrap();
        assert!(found.problems.iter().all(|problem| problem.snapshot.is_none()), "{:?}", found.problems);
        committed += recording.snapshot_count();
    }
    assert!(committed > 40, "only {committed} snapshots were committed in 40 rounds");
}
