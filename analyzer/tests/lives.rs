//! Births and deaths, compared with their definition on recordings whose serials are known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use barrow_analyzer::{
    AgeCount, Between, CountBounds, Expression, Lives, ObjectId, Recording, SerialOrigin, SeriesOptions, Silent,
    SnapshotId, Survival, Turnovers,
};
use barrow_testdata::{Heap, Random, Vocabulary};
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
            serials.sort_by_cached_key(|_| random.next());
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
        let recording = Arc::new(recorded(&series));
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
        let range = [SnapshotId(first as u32), last];
        let found = Turnovers::of(&recording, range, &SeriesOptions::default(), &Silent).unwrap().by_type[0];
        let born = first_seen.iter().filter(|(_, born)| **born > first);
        let left = born.clone().filter(|(serial, _)| series[series.len() - 1].contains(serial));
        assert_eq!((found.born, found.born - found.died), (born.clone().count() as u64, left.count() as u64));
        survival_is_as_defined(&recording, &series, &first_seen);
        between_is_as_defined(&recording, &series, random);
    }
}

fn survival_is_as_defined(recording: &Arc<Recording>, series: &[Vec<u64>], first_seen: &BTreeMap<u64, usize>) {
    let mut expected = vec![AgeCount::default(); series.len()];
    for (at, pair) in series.windows(2).enumerate() {
        for serial in pair[0].iter().filter(|&serial| *serial != 0 && first_seen[serial] > 0) {
            let age = &mut expected[at - first_seen[serial]];
            age.objects += 1;
            age.died += u64::from(!pair[1].contains(serial));
        }
    }
    let all = Expression::parse("").unwrap();
    let found = Survival::of(recording, (&[], &all), &SeriesOptions::default(), &Silent).unwrap();
    assert_eq!((found.ages, found.origin), (expected, SerialOrigin::Runtime));
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

/// A heap of objects with serials, and what becomes of it: some objects die, others are born, and all move.
fn changed(random: &mut Random, before: &Heap, vocabulary: &Vocabulary, next: &mut u64) -> Heap {
    let mut after = before.clone();
    let born = Heap::random(random, before.nodes.len() as u32, vocabulary);
    for (place, new) in born.nodes.into_iter().enumerate() {
        let node = &mut after.nodes[place];
        match random.below(4) {
            // Another object in its place, which may look the same.
            0 if random.below(2) == 0 => *node = new,
            0 => {}
            _ => continue,
        }
        *next += 1;
        node.identity.1 = Some(*next);
    }
    let mut address = 4096;
    for node in &mut after.nodes {
        address += 16 * (1 + random.below(3));
        node.identity.0 = Some(address);
    }
    after
}

/// Heaps with serials, and a recording of them without.
fn stripped(random: &mut Random) -> (Vec<Heap>, Recording) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stripped.barrow");
    let writer = Writer::create(&path, Options::default()).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let size = 2 + random.below(150) as u32;
    let mut heap = Heap::random(random, size, &vocabulary);
    let mut next = 0;
    let mut heaps = Vec::new();
    for _ in 0..3 {
        heap = changed(random, &heap, &vocabulary, &mut next);
        for node in &mut heap.nodes {
            node.identity.1 = node.identity.1.or_else(|| {
                next += 1;
                Some(next)
            });
        }
        let mut without = heap.clone();
        without.nodes.iter_mut().for_each(|node| node.identity.1 = None);
        without.record(&writer).unwrap();
        heaps.push(heap.clone());
    }
    writer.finish().unwrap();
    (heaps, Recording::from_bytes(std::fs::read(path).unwrap()).unwrap())
}

#[test]
fn bounds_hold_the_truth_and_births_less_deaths_are_exact() {
    let random = &mut Random::new(11);
    for _ in 0..100 {
        let (heaps, recording) = stripped(random);
        for (earlier, later) in [(0, 1), (1, 2), (0, 2)] {
            let found = Between::of(&recording, SnapshotId(earlier), SnapshotId(later), &Silent).unwrap();
            assert_eq!(found.origin, SerialOrigin::Matched);
            let [earlier, later] = [earlier, later].map(|snapshot| snapshot as usize);
            let (before, after) = (&heaps[earlier], &heaps[later]);
            let types: BTreeSet<_> = heaps.iter().flat_map(|heap| &heap.nodes).map(|node| node.type_id).collect();
            for of in types {
                let serials = |heap: &Heap| -> BTreeSet<_> {
                    heap.nodes.iter().filter(|node| node.type_id == of).map(|node| node.identity.1).collect()
                };
                let counts: Vec<u64> = heaps[earlier..=later].iter().map(|heap| serials(heap).len() as u64).collect();
                let (old, new) = (serials(before), serials(after));
                let died = (CountBounds::died(&counts), old.difference(&new).count() as u64);
                let born = (CountBounds::born(&counts), new.difference(&old).count() as u64);
                let stayed = (CountBounds::stayed(&counts), new.intersection(&old).count() as u64);
                let estimated = |heap: &Heap, set: &barrow_analyzer::ObjectSet| {
                    set.iter().filter(|object| heap.nodes[object.index()].type_id == of).count() as u64
                };
                let estimates =
                    [estimated(before, &found.died), estimated(after, &found.born), estimated(after, &found.stayed)];
                for ((bounds, truth), estimate) in [died, born, stayed].into_iter().zip(estimates) {
                    assert!((bounds.low..=bounds.high).contains(&truth), "{bounds:?} {truth}");
                    assert!((bounds.low..=bounds.high).contains(&estimate), "{bounds:?} {estimate}");
                }
                assert_eq!(estimates[1] as i64 - estimates[0] as i64, new.len() as i64 - old.len() as i64);
            }
        }
    }
}
