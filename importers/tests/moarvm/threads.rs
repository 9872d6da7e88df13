//! An import by any number of threads makes the same recording.

use crate::dump::{DEBIAN, Dump, Snapshot, tiny};
use crate::recorded::{Recorded, record_with};
use barrow_analyzer::{SnapshotId, type_totals};
use barrow_testdata::Random;
use std::num::NonZero;

/// Every how many objects references are compared.
const STEP: usize = 9_973;

/// A heap of some runs of 65,536 collectables. Its references are in another order than their sources, its types and
/// names come up one after the other, and the second snapshot adds some of each.
pub(crate) fn large() -> Dump {
    let mut dump = tiny();
    let root_kinds = [9, 5, 6, 7, 8, 10, 11];
    for number in 0..300 {
        dump.strings.push(format!("name {number}").into_bytes());
        dump.types.push([number % 12, 12 + number]);
        dump.frames.push([12 + number, 5, number, 6]);
    }
    dump.snapshots = [140_000_u64, 66_000].into_iter().map(|count| snapshot(count, &root_kinds)).collect();
    dump.snapshots[0].tables = [12 + 200, 2 + 200, 2 + 200];
    dump.snapshots[1].tables = [dump.strings.len(), dump.types.len(), dump.frames.len()];
    dump
}

/// A snapshot of `count` collectables; the smaller one has more types and names.
fn snapshot(count: u64, root_kinds: &[u64]) -> Snapshot {
    let names = if count > 100_000 { 200 } else { 300 };
    let mut random = Random::new(count);
    let mut snapshot = Snapshot::default();
    for number in 0..count {
        let kind = root_kinds.get(number as usize).copied().unwrap_or_else(|| 1 + random.below(4));
        let type_index = (number * names / count + random.below(3)).min(names - 1);
        let type_index = if kind > 4 { 0 } else { type_index };
        let references = if random.below(1000) == 0 { random.below(300) } else { random.below(5) };
        snapshot.collectables.push([kind, type_index, random.below(100), random.below(2) * 40, 0, references]);
    }
    // The last collectable's references come first.
    for row in snapshot.collectables.iter_mut().rev() {
        row[4] = snapshot.references.len() as u64;
        for number in 0..row[5] {
            let label = [[0, 0], [1, number], [1, 1 << (random.below(40) + 1)], [2, random.below(12 + names)]]
                [random.below(4) as usize];
            snapshot.references.push([label[0], label[1], random.below(count)]);
        }
    }
    snapshot
}

fn record(dump: &[u8], threads: usize) -> Recorded {
    let recorded = record_with(dump, NonZero::new(threads).expect("threads")).expect("a dump");
    assert_eq!(recorded.imported.lost, None);
    recorded
}

/// Everything but bytes: which shape comes first, and where a block ends, depends on who was faster.
fn assert_same(one: &Recorded, other: &Recorded, what: &str) {
    assert_eq!(other.imported.snapshots, one.imported.snapshots, "{what}");
    assert_eq!(other.imported.notes, one.imported.notes, "{what}");
    for snapshot in 0..one.imported.snapshots.len() as u32 {
        assert!(other.objects(snapshot, STEP) == one.objects(snapshot, STEP), "objects of {snapshot}, {what}");
        let types = |recorded: &Recorded| type_totals(&recorded.recording, SnapshotId(snapshot)).expect("totals");
        assert_eq!(types(other), types(one), "{what}");
    }
}

#[test]
fn any_number_of_threads_makes_the_same_recording() {
    let dump = large();
    let expected = record(&dump.format2(DEBIAN), 1);
    for (bytes, format) in [(dump.format1(), 1), (dump.format2(DEBIAN), 2), (dump.format3(Some("")), 3)] {
        let one = record(&bytes, 1);
        for snapshot in 0..2 {
            assert!(one.objects(snapshot, STEP) == expected.objects(snapshot, STEP), "format {format}");
        }
        for threads in [2, 3, 8] {
            assert_same(&one, &record(&bytes, threads), &format!("format {format}, {threads} threads"));
        }
    }
}

#[test]
fn any_number_of_threads_finds_the_first_damage() {
    for (first, second) in [(70_000, 139_999), (139_999, 70_000), (65_535, 65_536)] {
        let mut dump = large();
        dump.snapshots.truncate(1);
        dump.snapshots.insert(0, tiny().snapshots.swap_remove(0));
        dump.snapshots[1].collectables[first][1] = 1_000;
        dump.snapshots[1].collectables[first][0] = 1;
        dump.snapshots[1].collectables[second][0] = 12;
        for bytes in [dump.format1(), dump.format2(DEBIAN), dump.format3(Some(""))] {
            let losses = [1, 2, 8].map(|threads| {
                let recorded = record_with(&bytes, NonZero::new(threads).expect("threads")).expect("a snapshot");
                assert_eq!(recorded.imported.snapshots.len(), 1);
                recorded.imported.lost.expect("a loss").to_string()
            });
            let first_is_type = first < second;
            assert_eq!(losses[0].contains("the type of a collectable"), first_is_type, "{}", losses[0]);
            assert!(losses.iter().all(|loss| *loss == losses[0]), "{losses:?}");
        }
    }
}
