//! Births and deaths, compared with their definition on recordings whose serials are known.

use std::collections::{BTreeMap, BTreeSet};

use barrow_analyzer::{Between, Lives, ObjectId, Recording, SerialOrigin, Silent, SnapshotId};
use barrow_testdata::Random;
use barrow_writer::{KindRole, Object, Options, SnapshotInfo, TypeDescription, Writer};

/// A recording whose snapshots hold objects of these serials, 0 for none.
fn recorded(snapshots: &[Vec<u64>]) -> Recording {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lives.barrow");
    let writer = Writer::create(&path, Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let pair = writer.declare_type(&TypeDescription::new(kind, "Pair")).unwrap();
    for serials in snapshots {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        for (number, &serial) in (0..).zip(serials) {
            let serial = (serial != 0).then_some(serial);
            shard.object(number, &Object { serial, ..Object::new(pair, 8) }).unwrap();
        }
        shard.finish().unwrap();
        snapshot.commit().unwrap();
    }
    writer.finish().unwrap();
    Recording::from_bytes(std::fs::read(path).unwrap()).unwrap()
}

/// Snapshots of up to 30 objects out of 40, in any order, some without a serial.
fn random_series(random: &mut Random) -> Vec<Vec<u64>> {
    let mut alive: BTreeSet<u64> = BTreeSet::new();
    let mut next = 0;
    let snapshots = 1 + random.below(6);
    (0..snapshots)
        .map(|_| {
            alive = alive.iter().copied().filter(|_| random.below(4) > 0).collect();
            for _ in 0..random.below(8) {
                next += 1 + random.below(3);
                alive.insert(next);
            }
            let mut serials: Vec<u64> = alive.iter().copied().collect();
            serials.extend((0..random.below(3)).map(|_| 0));
            serials.sort_by_key(|_| random.next());
            // The first object says whether the runtime gives serials.
            serials.sort_by_key(|&serial| serial == 0);
            serials
        })
        .collect()
}

#[test]
fn births_and_deaths_are_those_of_the_definition() {
    let random = &mut Random::new(4);
    for round in 0..200 {
        let series = random_series(random);
        if series.iter().any(|serials| serials.first().is_none_or(|&serial| serial == 0)) {
            continue;
        }
        let recording = recorded(&series);
        let last = SnapshotId(series.len() as u32 - 1);
        let mut lives = Lives::new(&recording, last).unwrap();
        assert_eq!(lives.origin(), SerialOrigin::Runtime);
        let mut first_seen: BTreeMap<u64, usize> = BTreeMap::new();
        for (at, serials) in series.iter().enumerate() {
            let step = lives.next(&Silent).unwrap().unwrap();
            for (object, &serial) in serials.iter().enumerate() {
                let born = (serial != 0).then(|| *first_seen.entry(serial).or_insert(at));
                assert_eq!(step.born(ObjectId(object as u32)), born, "{round} {at}");
            }
            let before = if at == 0 { &[][..] } else { &series[at - 1][..] };
            let died = before.iter().enumerate().filter(|(_, serial)| **serial != 0 && !serials.contains(serial));
            let died: Vec<_> = died.map(|(object, serial)| (ObjectId(object as u32), first_seen[serial])).collect();
            assert_eq!(step.died, died, "{round} {at}");
            let old = step.objects_born(|born| born < at);
            assert_eq!(
                old.len() as usize,
                serials.iter().filter(|&serial| *serial != 0 && first_seen[serial] < at).count()
            );
        }
        assert_eq!(lives.next(&Silent).unwrap(), None);
        let first = random.below(series.len() as u64) as usize;
        let types_of = |snapshot: SnapshotId| Ok(vec![0; series[snapshot.0 as usize].len()]);
        let mut lives = Lives::new(&recording, last).unwrap();
        let found = lives.turnover(SnapshotId(first as u32), types_of, &Silent).unwrap()[0];
        let born = first_seen.iter().filter(|(_, born)| **born > first);
        let left = born.clone().filter(|(serial, _)| series[series.len() - 1].contains(serial));
        assert_eq!((found.born, found.born - found.died), (born.clone().count() as u64, left.count() as u64));
        between_is_as_defined(&recording, &series, random);
    }
}

fn between_is_as_defined(recording: &Recording, series: &[Vec<u64>], random: &mut Random) {
    let later = random.below(series.len() as u64) as usize;
    let earlier = random.below(later as u64 + 1) as usize;
    let found = Between::of(recording, SnapshotId(earlier as u32), SnapshotId(later as u32), &Silent).unwrap();
    let (before, after) = (&series[earlier], &series[later]);
    let missing = |these: &[u64], others: &[u64]| -> Vec<ObjectId> {
        let gone = these.iter().enumerate().filter(|(_, serial)| **serial != 0 && !others.contains(serial));
        gone.map(|(object, _)| ObjectId(object as u32)).collect()
    };
    assert_eq!(found.born.iter().collect::<Vec<_>>(), missing(after, before));
    assert_eq!(found.died.iter().collect::<Vec<_>>(), missing(before, after));
    let known = after.iter().filter(|&&serial| serial != 0).count() as u64;
    assert_eq!(found.stayed.len() + found.born.len(), known);
    let unknown = |serials: &[u64]| serials.iter().filter(|&&serial| serial == 0).count();
    assert_eq!(found.unknown as usize, unknown(before) + unknown(after));
}

#[test]
fn one_snapshot_twice_is_no_change() {
    let recording = recorded(&[vec![5, 3, 0, 9]]);
    let found = Between::of(&recording, SnapshotId(0), SnapshotId(0), &Silent).unwrap();
    assert_eq!((found.born.len(), found.died.len(), found.stayed.len(), found.unknown), (0, 0, 3, 2));
    assert!(Between::of(&recording, SnapshotId(0), SnapshotId(1), &Silent).is_err());
}
