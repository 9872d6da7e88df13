//! What is announced wrongly is an error with its numbers, and the next snapshot is recorded as if
//! nothing had happened.

use barrow_analyzer::{Recording, Silent, verify};
use barrow_testdata::{Heap, Random, Vocabulary};
use barrow_writer::{
    KindId, KindRole, Label, Object, Options, Shard, SnapshotInfo, StrengthId, StringId, TypeDescription, TypeId,
    Writer, WriterError,
};

const STRONG: StrengthId = StrengthId::STRONG;

/// Announces something wrong in a snapshot of its own, and returns the error that came of it. Then
/// checks that the recording goes on.
fn error_of(announce: impl Fn(&mut Shard<'_>, TypeId) -> Result<(), WriterError>) -> WriterError {
    let mut errors = [0, 2].map(|threads| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("errors.barrow");
        let writer = Writer::create(&path, Options { threads, ..Options::default() }).unwrap();
        let vocabulary = Vocabulary::declare(&writer).unwrap();
        let heap = Heap::random(&mut Random::new(1), 50, &vocabulary);
        heap.record(&writer).unwrap();
        let error = {
            let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
            let mut shard = snapshot.shard();
            let announced = announce(&mut shard, vocabulary.types[0]).and_then(|()| shard.finish());
            announced.and_then(|()| snapshot.commit().map(drop)).unwrap_err()
        };
        heap.record(&writer).unwrap();
        assert_eq!(writer.finish().unwrap().snapshots, 2);
        let recording = Recording::open(&path).unwrap();
        assert_eq!(recording.damage(), None);
        assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
        for id in recording.snapshot_ids() {
            assert_eq!(Heap::read(&recording, id).unwrap(), heap);
        }
        Some(error)
    });
    assert_eq!(errors[0].as_ref().unwrap().to_string(), errors[1].as_ref().unwrap().to_string());
    errors[0].take().unwrap()
}

fn objects(shard: &mut Shard<'_>, type_id: TypeId, ids: impl IntoIterator<Item = u64>) -> Result<(), WriterError> {
    ids.into_iter().try_for_each(|id| shard.object(id, &Object::new(type_id, 16)))
}

#[test]
fn announced_twice() {
    for ids in [&[0, 1, 1][..], &[0, 1, 2, 0], &[1, 2, 0, 1, 2]] {
        let error = error_of(|shard, type_id| objects(shard, type_id, ids.iter().copied()));
        let twice = *ids.last().unwrap();
        assert!(
            matches!(error, WriterError::ObjectAnnouncedTwice { object } if object == twice || object == 1),
            "{error}"
        );
    }
}

#[test]
fn never_announced() {
    let error = error_of(|shard, type_id| objects(shard, type_id, [0, 1, 4]));
    assert!(matches!(error, WriterError::ObjectNeverAnnounced { object: 2, announced: 3 }), "{error}");
    let error = error_of(|shard, type_id| objects(shard, type_id, [5]));
    assert!(matches!(error, WriterError::ObjectNeverAnnounced { object: 0, announced: 1 }), "{error}");
}

#[test]
fn a_reference_to_nobody() {
    let error = error_of(|shard, type_id| {
        objects(shard, type_id, [0])?;
        shard.reference(Label::Unknown, STRONG, 1)?;
        objects(shard, type_id, [1])?;
        shard.reference(Label::Unknown, STRONG, 0)?;
        shard.reference(Label::Index(0), STRONG, 7)
    });
    assert!(matches!(error, WriterError::ReferenceToUnannounced { from: 1, target: 7, announced: 2 }), "{error}");
    // Far down in an array that does not fit one block.
    let error = error_of(|shard, type_id| {
        objects(shard, type_id, [0, 1])?;
        (0..600_000).try_for_each(|index| shard.reference(Label::Index(index), STRONG, index / 599_999 * 9))?;
        objects(shard, type_id, [2])
    });
    assert!(matches!(error, WriterError::ReferenceToUnannounced { from: 1, target: 9, announced: 3 }), "{error}");
}

#[test]
fn a_root_that_is_nobody() {
    let error = error_of(|shard, type_id| {
        objects(shard, type_id, [0])?;
        shard.root(StringId(0), None, 3)
    });
    assert!(matches!(error, WriterError::RootToUnannounced { target: 3, announced: 1 }), "{error}");
}

#[test]
fn ids_that_were_never_given_out() {
    let error = error_of(|shard, _| shard.object(0, &Object::new(TypeId(99), 1)));
    assert!(matches!(error, WriterError::Undeclared { what: "type", id: 99, known: 6 }), "{error}");
    let error = error_of(|shard, type_id| {
        objects(shard, type_id, [0])?;
        shard.reference(Label::Name(StringId(5000)), STRONG, 0)
    });
    assert!(matches!(error, WriterError::Undeclared { what: "string", id: 5000, .. }), "{error}");
    let error = error_of(|shard, type_id| {
        objects(shard, type_id, [0])?;
        shard.reference(Label::Unknown, StrengthId(2), 0)
    });
    assert!(matches!(error, WriterError::Undeclared { what: "strength", id: 2, known: 2 }), "{error}");
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).unwrap();
    let error = writer.declare_type(&TypeDescription::new(KindId(0), "type")).unwrap_err();
    assert!(matches!(error, WriterError::Undeclared { what: "kind", id: 0, known: 0 }), "{error}");
}

#[test]
fn values_out_of_range() {
    let largest = u64::from(u32::MAX) - 1;
    let error = error_of(|shard, type_id| objects(shard, type_id, [largest + 1]));
    assert!(matches!(error, WriterError::OutOfRange { value, limit, .. } if value == largest + 1 && limit == largest));
    let error = error_of(|shard, type_id| {
        objects(shard, type_id, [0])?;
        shard.reference(Label::Unknown, STRONG, u64::MAX)
    });
    assert!(matches!(error, WriterError::OutOfRange { value: u64::MAX, .. }), "{error}");
    let error = error_of(|shard, _| shard.reference(Label::Unknown, STRONG, 0));
    assert!(matches!(error, WriterError::ReferenceWithoutObject), "{error}");
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).unwrap();
    let error = writer.string(&"x".repeat((1 << 20) + 1)).unwrap_err();
    assert!(matches!(error, WriterError::OutOfRange { value: 1_048_577, limit: 1_048_576, .. }), "{error}");
}

#[test]
fn shards_and_snapshots_end_before_their_owner() {
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let type_id = writer.declare_type(&TypeDescription::new(kind, "type")).unwrap();

    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    assert!(matches!(writer.begin_snapshot(SnapshotInfo::default()), Err(WriterError::SnapshotOpen)));
    let mut shard = snapshot.shard();
    shard.object(0, &Object::new(type_id, 1)).unwrap();
    drop(shard);
    assert!(matches!(snapshot.commit(), Err(WriterError::ShardAbandoned)));

    // Nothing of it is left: the same number can be announced again.
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    shard.object(0, &Object::new(type_id, 1)).unwrap();
    shard.finish().unwrap();
    assert_eq!(snapshot.commit().unwrap().objects, 1);
    assert_eq!(writer.finish().unwrap().snapshots, 1);
}
