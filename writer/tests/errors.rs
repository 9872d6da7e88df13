//! Whatever is announced wrongly is an error with its numbers, and the next snapshot is recorded all the same.

use barrow_analyzer::{Recording, Silent, SnapshotId, summary, verify};
use barrow_testdata::Shelf;
use barrow_writer::{
    KindId, KindRole, Label, Object, Options, Result, Shard, SiteDescription, SiteId, Snapshot, SnapshotInfo,
    StrengthClass, StrengthId, StringId, TypeDescription, TypeId, Writer, WriterError,
};

/// The largest number of an object.
const MAX_OBJECT: u64 = u32::MAX as u64 - 1;

/// Does something wrong in a snapshot of its own, then records a good one: the file holds just that.
fn assert_error(expected: &str, wrong: impl Fn(&Writer, TypeId) -> Result<()>) {
    for threads in [0, 2] {
        let shelf = Shelf::default();
        let options = Options { threads, ..Options::default() };
        let writer = Writer::to_stream(Box::new(shelf.clone()), options).unwrap();
        let kind = writer.kind("object", KindRole::Object).unwrap();
        let type_id = writer.declare_type(&TypeDescription::new(kind, "T")).unwrap();
        let error = wrong(&writer, type_id).expect_err(expected);
        assert_eq!(error.to_string(), expected);

        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        announce(&mut shard, type_id, 0..7).unwrap();
        shard.root(StringId(0), None, 6).unwrap();
        shard.finish().unwrap();
        assert_eq!(snapshot.commit().unwrap().objects, 7);
        assert_eq!(writer.finish().unwrap().snapshots, 1);
        let recording = Recording::from_bytes(shelf.bytes()).unwrap();
        assert_eq!(recording.damage(), None);
        assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
        assert_eq!(summary(&recording, SnapshotId(0)).unwrap().totals.objects, 7, "{expected}");
    }
}

/// Objects with a reference each, to themselves.
fn announce(shard: &mut Shard<'_>, type_id: TypeId, numbers: std::ops::Range<u64>) -> Result<()> {
    for number in numbers {
        shard.object(number, &Object::new(type_id, 8))?;
        shard.reference(Label::Unknown, StrengthId::STRONG, number)?;
    }
    Ok(())
}

/// Announces in one shard, then commits.
fn in_shard(writer: &Writer, announce: impl FnOnce(&mut Shard<'_>) -> Result<()>) -> Result<()> {
    let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
    let mut shard = snapshot.shard();
    announce(&mut shard)?;
    shard.finish()?;
    snapshot.commit().map(drop)
}

/// Announces each range in a shard of its own.
fn in_shards(snapshot: &Snapshot<'_>, type_id: TypeId, ranges: &[std::ops::Range<u64>]) -> Result<()> {
    for range in ranges {
        let mut shard = snapshot.shard();
        announce(&mut shard, type_id, range.clone())?;
        shard.finish()?;
    }
    Ok(())
}

#[test]
fn objects_announced_twice() {
    assert_error("object 3 was announced twice", |writer, type_id| {
        in_shard(writer, |shard| {
            announce(shard, type_id, 0..5)?;
            announce(shard, type_id, 3..4)
        })
    });
    // The shard has handed on the block that holds it.
    assert_error("object 3 was announced twice", |writer, type_id| {
        in_shard(writer, |shard| {
            announce(shard, type_id, 0..5)?;
            announce(shard, type_id, 8..9)?;
            announce(shard, type_id, 3..4)?;
            announce(shard, type_id, 5..8)
        })
    });
    for ranges in [&[0..5, 5..9, 4..6][..], &[4..9, 0..5], &[0..9, 4..5], &[4..5, 0..9]] {
        assert_error("object 4 was announced twice", |writer, type_id| {
            let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
            in_shards(&snapshot, type_id, ranges)?;
            snapshot.commit().map(drop)
        });
    }
}

#[test]
fn objects_never_announced() {
    let cases = [
        ("object 5 was never announced, though 7 objects were and later numbers are taken", [0..5, 6..8]),
        ("object 0 was never announced, though 4 objects were and later numbers are taken", [1..3, 3..5]),
        ("object 2 was never announced, though 3 objects were and later numbers are taken", [100..101, 0..2]),
    ];
    for (expected, ranges) in cases {
        assert_error(expected, |writer, type_id| {
            let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
            in_shards(&snapshot, type_id, &ranges)?;
            snapshot.commit().map(drop)
        });
    }
}

#[test]
fn references_and_roots_to_nothing() {
    assert_error("object 2 refers to object 9, which was never announced (5 were)", |writer, type_id| {
        in_shard(writer, |shard| {
            announce(shard, type_id, 0..3)?;
            shard.reference(Label::Index(1), StrengthId::STRONG, 9)?;
            announce(shard, type_id, 3..5)
        })
    });
    // In a later block.
    assert_error("object 8 refers to object 12, which was never announced (9 were)", |writer, type_id| {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
        in_shards(&snapshot, type_id, &[4..8, 0..4])?;
        let mut shard = snapshot.shard();
        announce(&mut shard, type_id, 8..9)?;
        shard.reference(Label::Unknown, StrengthId::STRONG, 12)?;
        shard.finish()?;
        snapshot.commit().map(drop)
    });
    // In the continuation of an array that does not fit a block.
    assert_error("object 1 refers to object 7, which was never announced (3 were)", |writer, type_id| {
        in_shard(writer, |shard| {
            announce(shard, type_id, 0..2)?;
            for index in 0..600_000 {
                let target = if index == 599_999 { 7 } else { 0 };
                shard.reference(Label::Index(index), StrengthId::STRONG, target)?;
            }
            announce(shard, type_id, 2..3)
        })
    });
    assert_error("a root refers to object 4, which was never announced (4 were)", |writer, type_id| {
        in_shard(writer, |shard| {
            shard.root(StringId(0), None, 4)?;
            announce(shard, type_id, 0..4)
        })
    });
    assert_error("a root refers to object 0, which was never announced (0 were)", |writer, _| {
        in_shard(writer, |shard| shard.root(StringId(0), None, 0))
    });
}

#[test]
fn ids_that_were_never_given_out() {
    let object = |type_id| Object::new(type_id, 8);
    assert_error("type 5 was never declared (1 were)", |writer, _| {
        in_shard(writer, |shard| shard.object(0, &object(TypeId(5))))
    });
    assert_error("string 99 was never declared (3 were)", |writer, type_id| {
        in_shard(writer, |shard| {
            announce(shard, type_id, 0..1)?;
            shard.reference(Label::Name(StringId(99)), StrengthId::STRONG, 0)
        })
    });
    assert_error("strength 1 was never declared (1 were)", |writer, type_id| {
        in_shard(writer, |shard| {
            announce(shard, type_id, 0..1)?;
            shard.reference(Label::Unknown, StrengthId(1), 0)
        })
    });
    assert_error("string 7 was never declared (3 were)", |writer, _| {
        in_shard(writer, |shard| shard.root(StringId(7), None, 0))
    });
    assert_error("string 8 was never declared (3 were)", |writer, _| {
        in_shard(writer, |shard| shard.root(StringId(0), Some(StringId(8)), 0))
    });
    assert_error("string 3 was never declared (3 were)", |writer, type_id| {
        in_shard(writer, |shard| shard.object(0, &Object { name: Some(StringId(3)), ..object(type_id) }))
    });
    for (caller, expected) in [
        (0, "calling site 0 was never declared (1 were)"),
        (2, "calling site 2 was never declared (1 were)"),
        (u32::MAX, "calling site 4294967295 was never declared (1 were)"),
    ] {
        assert_error(expected, |writer, _| {
            let first = writer.site(&SiteDescription::default())?;
            assert_eq!(first, SiteId(1));
            writer.site(&SiteDescription { caller: Some(SiteId(caller)), ..SiteDescription::default() }).map(drop)
        });
    }
    assert_error("kind 3 was never declared (1 were)", |writer, _| {
        writer.declare_type(&TypeDescription::new(KindId(3), "T")).map(drop)
    });
    assert_error("base type 4 was never declared (1 were)", |writer, _| {
        let base = Some(TypeId(4));
        writer.declare_type(&TypeDescription { base, ..TypeDescription::new(KindId(0), "T") }).map(drop)
    });
}

#[test]
fn numbers_the_format_has_no_room_for() {
    assert_error("number of an object is 4294967295, the limit is 4294967294", |writer, type_id| {
        in_shard(writer, |shard| announce(shard, type_id, MAX_OBJECT + 1..MAX_OBJECT + 2))
    });
    assert_error("target of a reference is 18446744073709551615, the limit is 4294967294", |writer, type_id| {
        in_shard(writer, |shard| {
            announce(shard, type_id, 0..1)?;
            shard.reference(Label::Unknown, StrengthId::STRONG, u64::MAX)
        })
    });
    assert_error("target of a root is 4294967295, the limit is 4294967294", |writer, _| {
        in_shard(writer, |shard| shard.root(StringId(0), None, MAX_OBJECT + 1))
    });
    assert_error("index of a reference is 288230376151711744, the limit is 288230376151711743", |writer, type_id| {
        in_shard(writer, |shard| {
            announce(shard, type_id, 0..1)?;
            shard.reference(Label::Index(1 << 58), StrengthId::STRONG, 0)
        })
    });
    assert_error("strength is 16, the limit is 15", |writer, type_id| {
        for number in 1..17 {
            writer.strength(&format!("strength {number}"), StrengthClass::Weak)?;
        }
        in_shard(writer, |shard| {
            announce(shard, type_id, 0..1)?;
            shard.reference(Label::Unknown, StrengthId(16), 0)
        })
    });
    assert_error("length of the rows that wait to be written is 6000017, the limit is 4194304", |writer, _| {
        let attributes = vec![("T", "T"); 3_000_000];
        let description = TypeDescription { attributes: &attributes, ..TypeDescription::new(KindId(0), "T") };
        writer.declare_type(&description).map(drop)
    });
}

#[test]
fn calls_out_of_order() {
    assert_error("a reference was announced without the object that holds it", |writer, _| {
        in_shard(writer, |shard| shard.reference(Label::Unknown, StrengthId::STRONG, 0))
    });
    assert_error("a snapshot is still open: commit or drop it first", |writer, _| {
        let _open = writer.begin_snapshot(SnapshotInfo::default())?;
        writer.begin_snapshot(SnapshotInfo::default()).map(drop)
    });
    assert_error("2 shards of the snapshot are not finished", |writer, _| {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
        // Shards that are never dropped: their threads hang, perhaps.
        std::mem::forget((snapshot.shard(), snapshot.shard()));
        snapshot.commit().map(drop)
    });
    assert_error(
        "a shard of the snapshot was dropped without being finished; the snapshot is not recorded",
        |writer, type_id| {
            let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
            announce(&mut snapshot.shard(), type_id, 0..3)?;
            snapshot.commit().map(drop)
        },
    );
}

/// After an error, the same shard can be used where that makes sense: nothing of the
/// wrong call is recorded.
#[test]
fn a_shard_goes_on_after_a_wrong_call() {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let type_id = writer.declare_type(&TypeDescription::new(kind, "T")).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    announce(&mut shard, type_id, 0..2).unwrap();
    let undeclared = shard.object(5, &Object::new(TypeId(9), 8));
    assert!(matches!(undeclared, Err(WriterError::Undeclared { id: 9, known: 1, .. })));
    let twice = shard.object(1, &Object { site: Some(SiteId(3)), ..Object::new(type_id, 8) });
    assert!(matches!(twice, Err(WriterError::ObjectAnnouncedTwice { object: 1 })));
    shard.reference(Label::Unknown, StrengthId(7), 0).unwrap_err();
    announce(&mut shard, type_id, 2..4).unwrap();
    shard.finish().unwrap();
    let totals = snapshot.commit().unwrap();
    assert_eq!((totals.objects, totals.references), (4, 4));
    writer.finish().unwrap();
    assert_eq!(verify(&Recording::from_bytes(shelf.bytes()).unwrap(), &Silent).unwrap().problems, []);
}
