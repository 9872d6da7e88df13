//! Snapshots and shards that borrow nothing: what the compiler does not see is an error when it happens.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};

use barrow_analyzer::{Recording, Silent, summary, verify};
use barrow_testdata::Shelf;
use barrow_writer::{
    KindRole, Label, Object, Options, Result, Shard, SnapshotInfo, StrengthId, StringId, TypeDescription, TypeId,
    Writer, WriterError,
};

fn begin(shelf: &Shelf, threads: usize) -> (Writer, TypeId) {
    let options = Options { threads, memory_budget_bytes: 1 << 20, ..Options::default() };
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let type_id = writer.declare_type(&TypeDescription::new(kind, "T")).unwrap();
    (writer, type_id)
}

fn announce(shard: &mut Shard<'_>, type_id: TypeId, numbers: std::ops::Range<u64>) -> Result<()> {
    for number in numbers {
        shard.object(number, &Object::new(type_id, 8))?;
        shard.reference(Label::Unknown, StrengthId::STRONG, number)?;
    }
    Ok(())
}

/// Objects of each snapshot of a recording without problems.
fn objects(bytes: Vec<u8>) -> Vec<u64> {
    let recording = Recording::from_bytes(bytes).unwrap();
    let problems = verify(&recording, &Silent).unwrap().problems;
    assert!(problems.iter().all(|problem| problem.snapshot.is_none()), "{problems:?}");
    recording.snapshot_ids().map(|id| summary(&recording, id).unwrap().totals.objects).collect()
}

#[test]
fn phases_that_share_nothing_but_handles() {
    let shelf = Shelf::default();
    let (writer, type_id) = begin(&shelf, 2);
    let snapshot = writer.begin_owned_snapshot(SnapshotInfo::default()).unwrap();
    let workers: Vec<_> = (0..4)
        .map(|part| {
            let mut shard = snapshot.owned_shard();
            std::thread::spawn(move || {
                announce(&mut shard, type_id, part * 1000..(part + 1) * 1000)?;
                shard.finish()
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap().unwrap());
    assert_eq!(snapshot.commit().unwrap().objects, 4000);
    writer.finish().unwrap();
    assert_eq!(objects(shelf.bytes()), [4000]);
}

#[test]
fn shards_that_outlive_their_snapshot() {
    for threads in [0, 2] {
        let shelf = Shelf::default();
        let (writer, type_id) = begin(&shelf, threads);
        let snapshot = writer.begin_owned_snapshot(SnapshotInfo::default()).unwrap();
        let mut late = snapshot.owned_shard();
        announce(&mut late, type_id, 0..50_000).unwrap();
        let error = snapshot.commit().expect_err("a shard is open");
        assert!(matches!(error, WriterError::ShardsOpen { count: 1 }), "{error}");

        let snapshot = writer.begin_owned_snapshot(SnapshotInfo::default()).unwrap();
        let error = announce(&mut late, type_id, 50_000..200_000).expect_err("the block is handed on somewhere");
        assert!(matches!(error, WriterError::SnapshotEnded), "{error}");
        let error = late.root(StringId(0), None, 0).expect_err("it has ended");
        assert!(matches!(error, WriterError::SnapshotEnded), "{error}");
        let mut shard = snapshot.owned_shard();
        announce(&mut shard, type_id, 0..7).unwrap();
        shard.finish().unwrap();
        let error = late.finish().expect_err("it has ended");
        assert!(matches!(error, WriterError::SnapshotEnded), "{error}");
        assert_eq!(snapshot.commit().unwrap().objects, 7);
        assert_eq!(writer.finish().unwrap().snapshots, 1);
        assert_eq!(objects(shelf.bytes()), [7]);
    }
}

#[test]
fn a_shard_that_announces_while_its_snapshot_is_given_up() {
    let shelf = Shelf::default();
    let (writer, type_id) = begin(&shelf, 2);
    for round in 0..50 {
        let snapshot = writer.begin_owned_snapshot(SnapshotInfo::default()).unwrap();
        let mut late = snapshot.owned_shard();
        let worker = std::thread::spawn(move || {
            for number in 0.. {
                if let Err(error) =
                    announce(&mut late, type_id, number..number + 1).and_then(|()| late.root(StringId(0), None, number))
                {
                    return error;
                }
            }
            unreachable!("a u64 does not end");
        });
        std::thread::sleep(std::time::Duration::from_micros(100 * round));
        drop(snapshot);
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        announce(&mut shard, type_id, 0..round).unwrap();
        shard.finish().unwrap();
        snapshot.commit().unwrap();
        let error = worker.join().unwrap();
        assert!(matches!(error, WriterError::SnapshotEnded), "{error}");
    }
    writer.finish().unwrap();
    let bytes = shelf.bytes();
    assert_eq!(Recording::from_bytes(bytes.clone()).unwrap().damage(), None);
    assert_eq!(objects(bytes), (0..50).collect::<Vec<_>>());
}

#[test]
fn a_snapshot_that_outlives_its_writer() {
    for threads in [0, 2] {
        let shelf = Shelf::default();
        let (writer, type_id) = begin(&shelf, threads);
        let snapshot = writer.begin_owned_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.owned_shard();
        announce(&mut shard, type_id, 0..30_000).unwrap();
        assert!(writer.has_open_snapshot());
        let error = writer.finish().expect_err("a snapshot is open");
        assert!(matches!(error, WriterError::SnapshotOpen), "{error}");
        announce(&mut shard, type_id, 30_000..90_000).unwrap();
        shard.finish().unwrap();
        snapshot.commit().unwrap();
        assert!(Recording::from_bytes(shelf.bytes()).unwrap().damage().is_some());
        assert_eq!(objects(shelf.bytes()), [90_000]);
    }
}

#[test]
fn a_recording_in_an_open_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("open.barrow");
    let mut file = File::create(&path).unwrap();
    file.write_all(b"preamble").unwrap();
    let error = Writer::to_file(file, Options::default()).expect_err("the file is not empty");
    let WriterError::Io { source, .. } = &error else { panic!("{error}") };
    assert_eq!(source.kind(), ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), "cannot begin the recording: the file holds 8 bytes");

    let writer = Writer::to_file(File::create(&path).unwrap(), Options::default()).unwrap();
    writer.begin_snapshot(SnapshotInfo::default()).unwrap().commit().unwrap();
    writer.finish().unwrap();
    assert_eq!(objects(fs::read(&path).unwrap()), [0]);
}
