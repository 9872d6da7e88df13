//! A recording is followed while it is written: cut anywhere, replaced, finished, and by a writer at work.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use barrow_analyzer::{Growing, Look, Recording, Silent, SnapshotId, summary, verify};
use barrow_testdata::{Graph, Heap, Random, Vocabulary};
use barrow_writer::{Options, SnapshotInfo, Writer};

/// The bytes of a recording with this number of random snapshots.
fn bytes(seed: u64, snapshots: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let graphs: Vec<Graph> = (0..snapshots).map(|_| Graph::random(&mut random, 40, true)).collect();
    let mut uuid = [0; 16];
    uuid[0] = seed as u8;
    Graph::bytes_of(&graphs.iter().collect::<Vec<_>>(), Some(uuid))
}

/// The result of a look: the snapshots, whether the recording is finished, and whether it was replaced.
fn look(growing: &mut Growing) -> Option<(Arc<Recording>, bool, bool)> {
    match growing.look().unwrap() {
        Look::Grown { recording, finished, replaced } => Some((recording, finished, replaced)),
        Look::Nothing | Look::Same => None,
    }
}

fn ids(recording: &Recording) -> Vec<SnapshotId> {
    recording.snapshot_ids().collect()
}

#[test]
fn every_length_shows_what_is_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.barrow");
    let whole = bytes(1, 5);
    for step in [1, 8, 97, 1000] {
        let _ = fs::remove_file(&path);
        let mut growing = Growing::new(&path);
        assert!(matches!(growing.look().unwrap(), Look::Nothing));
        let mut seen = Vec::new();
        for length in (0..whole.len()).step_by(step) {
            fs::write(&path, &whole[..length]).unwrap();
            if let Some((recording, finished, replaced)) = look(&mut growing) {
                assert!(!finished && !replaced && recording.damage().is_none());
                assert!(recording.snapshot_count() > seen.len(), "only news is told");
                seen = ids(&recording);
                seen.iter().for_each(|&id| drop(summary(&recording, id).unwrap()));
                assert_eq!(verify(&recording, &Silent).unwrap().snapshots.len(), seen.len());
            }
            let expected = Recording::from_bytes(whole[..length].to_vec()).map(|cut| ids(&cut)).unwrap_or_default();
            assert_eq!(seen, expected, "{length} bytes");
        }
        fs::write(&path, &whole).unwrap();
        let (recording, finished, replaced) = look(&mut growing).unwrap();
        assert_eq!((ids(&recording).len(), finished, replaced), (5, true, false));
        assert!(look(&mut growing).is_none());
    }
}

#[test]
fn what_never_becomes_a_recording_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.barrow");
    for (text, waits) in [
        (&b""[..], true),
        (b"\x89BRW", true),
        (b"\x89BRW\r\n\x1a\n\x01", true),
        (b"hello\n", false),
        (b"\x89PNG", false),
    ] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(matches!(Growing::new(&path).look(), Ok(Look::Nothing)), waits, "{text:?}");
    }
}

#[test]
fn another_recording_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.barrow");
    let (first, second) = (bytes(1, 3), bytes(2, 4));
    let mut growing = Growing::new(&path);
    let unfinished = first.len() - 8;
    fs::write(&path, &first[..unfinished]).unwrap();
    assert_eq!(ids(&look(&mut growing).unwrap().0).len(), 3);
    // Cut to less than an earlier look found.
    fs::write(&path, &first[..unfinished / 2]).unwrap();
    let (cut, finished, replaced) = look(&mut growing).unwrap();
    assert!(ids(&cut).len() < 3 && !finished && replaced);
    // Removed, then replaced by another recording of the same name.
    fs::remove_file(&path).unwrap();
    assert!(matches!(growing.look().unwrap(), Look::Nothing));
    fs::write(&path, &second[..second.len() - 8]).unwrap();
    let (recording, finished, replaced) = look(&mut growing).unwrap();
    assert_eq!((ids(&recording).len(), finished, replaced), (4, false, true));
    assert_eq!(recording.uuid()[0], 2);
    fs::write(&path, b"this is no recording at all, and it is longer than a header of one would have to be").unwrap();
    assert!(growing.look().is_err());
}

/// `repair` and `repack` keep the uuid, and a program may use the same one twice.
#[test]
fn another_recording_with_the_same_uuid_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.barrow");
    let (mut random, uuid) = (Random::new(7), Some([9; 16]));
    let graphs: Vec<Graph> = (0..6).map(|_| Graph::random(&mut random, 40, true)).collect();
    let of =
        |numbers: &[usize]| Graph::bytes_of(&numbers.iter().map(|&number| &graphs[number]).collect::<Vec<_>>(), uuid);
    let (first, second) = (of(&[0, 1, 2]), of(&[3, 4, 5, 0]));
    // Unfinished after unfinished, finished after unfinished, and finished after finished.
    for (cut_first, cut_second) in [(1, 1), (1, 0), (0, 0)] {
        let _ = fs::remove_file(&path);
        let mut growing = Growing::new(&path);
        fs::write(&path, &first[..first.len() - cut_first]).unwrap();
        assert_eq!(ids(&look(&mut growing).unwrap().0).len(), 3);
        assert!(look(&mut growing).is_none());
        fs::write(&path, &second[..second.len() - cut_second]).unwrap();
        let (recording, finished, replaced) = look(&mut growing).expect("another recording is there");
        assert_eq!((ids(&recording).len(), finished, replaced), (4, cut_second == 0, true));
        let of_second = Recording::from_bytes(second.clone()).unwrap();
        for id in ids(&recording) {
            assert_eq!(summary(&recording, id).unwrap(), summary(&of_second, id).unwrap());
        }
        assert!(look(&mut growing).is_none());
    }
}

fn record(writer: &Writer, heap: &Heap) {
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    heap.announce(&snapshot, 0..heap.nodes.len()).unwrap();
    snapshot.commit().unwrap();
}

fn heap(number: u64, vocabulary: &Vocabulary) -> Heap {
    Heap::random(&mut Random::new(number), 400, vocabulary)
}

/// Snapshot k answers while k + 1 is recorded.
#[test]
fn a_writer_at_work_is_followed() {
    const SNAPSHOTS: u64 = 12;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.barrow");
    let write = |path: &Path| {
        let writer = Writer::create(path, Options { threads: 1, ..Options::default() }).unwrap();
        let vocabulary = Vocabulary::declare(&writer).unwrap();
        for number in 0..SNAPSHOTS {
            record(&writer, &heap(number, &vocabulary));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        writer.finish().unwrap();
    };
    let nowhere = Writer::to_stream(Box::new(std::io::sink()), Options::default()).unwrap();
    let vocabulary = Vocabulary::declare(&nowhere).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| write(&path));
        let mut growing = Growing::new(&path);
        let (mut read, mut looks) = (0, 0);
        loop {
            let Some((recording, finished, replaced)) = look(&mut growing) else { continue };
            assert!(!replaced);
            for &id in &ids(&recording)[read..] {
                assert_eq!(Heap::read(&recording, id).unwrap(), heap(id.0.into(), &vocabulary), "snapshot {id}");
            }
            (read, looks) = (recording.snapshot_count(), looks + 1);
            if finished {
                break;
            }
        }
        assert_eq!(read as u64, SNAPSHOTS);
        assert!(looks > 1, "all snapshots were seen at once");
    });
}
