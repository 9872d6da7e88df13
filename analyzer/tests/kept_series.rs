//! Answers over time that are kept in the index file: the same as fresh ones, whatever was asked before, however the
//! recording grew, and whatever became of the file.

use std::fs;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use barrow_analyzer::{
    Between, Expression, Growth, Heap as Graph, IndexPlace, KindId, LifeStep, Lives, Memory, Moment, Recording,
    SeriesOptions, Silent, SnapshotId, Survival, Turnovers, growth, trend,
};
use barrow_testdata::{Heap, Random, Vocabulary};
use barrow_writer::{Options, Writer};

fn beside() -> SeriesOptions {
    SeriesOptions { place: IndexPlace::BESIDE, ..SeriesOptions::default() }
}

/// A heap, and what becomes of it: some objects are replaced, and many move.
fn changed(random: &mut Random, before: &Heap, vocabulary: &Vocabulary) -> Heap {
    let mut after = before.clone();
    let born = Heap::random(random, before.nodes.len() as u32, vocabulary);
    for (place, new) in born.nodes.into_iter().enumerate() {
        if random.below(4) == 0 {
            after.nodes[place] = new;
        }
    }
    let mut address = 4096;
    for node in &mut after.nodes {
        address += 16 * (1 + random.below(3));
        (node.identity.0, node.identity.1) = (Some(address), None);
    }
    after
}

/// A recording without serials after each of its snapshots, the longest last.
fn series(random: &mut Random, folder: &Path, snapshots: usize) -> Vec<PathBuf> {
    let whole = folder.join("whole.barrow");
    let writer = Writer::create(&whole, Options::default()).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let size = 2 + random.below(150) as u32;
    let mut heap = Heap::random(random, size, &vocabulary);
    let mut lengths = Vec::new();
    for _ in 0..snapshots {
        heap = changed(random, &heap, &vocabulary);
        heap.record(&writer).unwrap();
        lengths.push(fs::metadata(&whole).unwrap().len());
    }
    writer.finish().unwrap();
    let bytes = fs::read(&whole).unwrap();
    let part = |length: u64| {
        let path = folder.join(format!("{length}.barrow"));
        fs::write(&path, &bytes[..length as usize]).unwrap();
        path
    };
    lengths.into_iter().map(part).collect()
}

fn walked(recording: &Recording, last: SnapshotId, options: SeriesOptions) -> (Vec<LifeStep>, Option<f64>) {
    let mut lives = Lives::with(recording, last, options).unwrap();
    let mut steps = Vec::new();
    while let Some(step) = lives.next(&Silent).unwrap() {
        steps.push(step);
    }
    (steps, lives.confidence())
}

/// Growth of each snapshot after the other, from heaps.
fn folded<'a>(recording: &'a Arc<Recording>, snapshots: &[SnapshotId], least_share: f64) -> Growth<'a> {
    let mut growth = Growth::new(snapshots.len(), least_share);
    for (column, &snapshot) in snapshots.iter().enumerate().rev() {
        let heap = Graph::new(Arc::clone(recording), snapshot, &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
        growth.fold(column, recording, &heap, &Silent).unwrap();
    }
    growth.gather_moving();
    growth
}

fn ask_for_growth(random: &mut Random, recording: &Arc<Recording>, range: [SnapshotId; 2]) {
    let snapshots: Vec<SnapshotId> = (range[0].0..=range[1].0).map(SnapshotId).collect();
    let share = [0.0, 0.3, 5.0][random.below(3) as usize];
    let expected = folded(recording, &snapshots, share);
    for options in [beside(), SeriesOptions::default()] {
        let found = growth(recording, &snapshots, share, &options, &Silent).unwrap();
        assert_eq!(found.nodes(), expected.nodes());
        assert_eq!((found.heap_bytes(), found.least_bytes()), (expected.heap_bytes(), expected.least_bytes()));
        assert_eq!((found.rows(), found.is_exact()), (expected.rows(), expected.is_exact()));
    }
}

fn expression(random: &mut Random) -> Expression {
    let texts = ["", "size > 100", "size > 50 and retained > 200", "id < 9", "type ~ /a/", "type ~ *a*"];
    Expression::parse(texts[random.below(texts.len() as u64) as usize]).unwrap()
}

fn ask_for_trend(random: &mut Random, recording: &Arc<Recording>, range: [SnapshotId; 2]) {
    let snapshots: Vec<SnapshotId> = (range[0].0..=range[1].0).map(SnapshotId).collect();
    let expression = expression(random);
    let kinds: &[KindId] = [&[][..], &[KindId(0)], &[KindId(0), KindId(1)]][random.below(3) as usize];
    let expected = snapshots.iter().map(|&snapshot| {
        let heap = Graph::new(Arc::clone(recording), snapshot, &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
        Moment::of(&heap, kinds, &expression, &Silent).unwrap()
    });
    let expected: Vec<Moment> = expected.collect();
    for options in [beside(), SeriesOptions::default()] {
        assert_eq!(trend(recording, &snapshots, (kinds, &expression), &options, &Silent).unwrap(), expected);
    }
}

/// Asks one question at random twice: with the index file, and without.
fn ask(random: &mut Random, recording: Recording) {
    let recording = &Arc::new(recording);
    let count = recording.snapshot_ids().count() as u64;
    let later = random.below(count);
    let earlier = random.below(later + 1);
    let [earlier, later] = [earlier, later].map(|number| SnapshotId(number as u32));
    match random.below(7) {
        4 => {
            let found = Turnovers::of(recording, [earlier, later], &beside(), &Silent).unwrap();
            assert_eq!(found, Turnovers::of(recording, [earlier, later], &SeriesOptions::default(), &Silent).unwrap());
        }
        5 => ask_for_trend(random, recording, [earlier, later]),
        6 => {
            let expression = expression(random);
            let ask = |options| Survival::of(recording, (&[], &expression), options, &Silent).unwrap();
            assert_eq!(ask(&beside()), ask(&SeriesOptions::default()));
        }
        3 => ask_for_growth(random, recording, [earlier, later]),
        0 => assert_eq!(walked(recording, later, beside()), walked(recording, later, SeriesOptions::default())),
        1 => {
            let [mut kept, mut fresh] =
                [beside(), SeriesOptions::default()].map(|options| Lives::with(recording, later, options).unwrap());
            let (last, all) =
                (kept.last(&Silent).unwrap().unwrap(), walked(recording, later, SeriesOptions::default()));
            let mut expected = all.0.last().unwrap().clone();
            expected.died.clear();
            assert_eq!(last, expected);
            assert_eq!(fresh.last(&Silent).unwrap(), Some(last));
            assert_eq!((kept.confidence(), fresh.confidence()), (all.1, all.1));
        }
        _ => {
            let kept = Between::with(recording, [earlier, later], beside(), &Silent).unwrap();
            assert_eq!(kept, Between::of(recording, earlier, later, &Silent).unwrap());
        }
    }
}

#[test]
fn kept_lives_are_those_computed_anew() {
    let random = &mut Random::new(20);
    for _ in 0..60 {
        let folder = tempfile::tempdir().unwrap();
        let path = series(random, folder.path(), 5).pop().unwrap();
        for _ in 0..6 {
            ask(random, Recording::open(&path).unwrap());
        }
    }
}

#[test]
fn a_recording_that_grows_keeps_its_answers_right() {
    let random = &mut Random::new(21);
    for _ in 0..25 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("grows.barrow");
        for part in series(random, folder.path(), 5) {
            fs::copy(part, &path).unwrap();
            (0..2).for_each(|_| ask(random, Recording::open(&path).unwrap()));
        }
    }
}

#[test]
fn what_is_kept_is_read_again() {
    let random = &mut Random::new(22);
    let folder = tempfile::tempdir().unwrap();
    let path = series(random, folder.path(), 4).pop().unwrap();
    let recording = Arc::new(Recording::open(&path).unwrap());
    let all = [0, 1, 2, 3].map(SnapshotId);
    let [first, .., last] = all;
    let index = path.with_extension("barrow.index");
    Between::with(&recording, [first, last], beside(), &Silent).unwrap();
    growth(&recording, &all, 0.01, &beside(), &Silent).unwrap();
    Turnovers::of(&recording, [first, last], &beside(), &Silent).unwrap();
    let large = Expression::parse("size > 10").unwrap();
    trend(&recording, &all, (&[], &large), &beside(), &Silent).unwrap();
    Survival::of(&recording, (&[], &large), &beside(), &Silent).unwrap();
    let written = fs::read(&index).unwrap();
    let phases = barrow_testdata::Phases::default();
    walked(&recording, last, beside());
    Between::with(&recording, [first, last], beside(), &phases).unwrap();
    growth(&recording, &all, 0.01, &beside(), &phases).unwrap();
    growth(&recording, &all[1..3], 0.5, &beside(), &phases).unwrap();
    Turnovers::of(&recording, [SnapshotId(1), SnapshotId(2)], &beside(), &phases).unwrap();
    trend(&recording, &all[1..], (&[], &large), &beside(), &phases).unwrap();
    Survival::of(&recording, (&[], &large), &beside(), &phases).unwrap();
    assert!(phases.so_far().is_empty(), "{:?}", phases.so_far());
    assert_eq!(fs::read(&index).unwrap(), written, "nothing was added");
}

#[test]
fn a_damaged_index_file_changes_no_answer() {
    let random = &mut Random::new(23);
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = series(random, folder.path(), 4).pop().unwrap();
        let recording = Recording::open(&path).unwrap();
        let index = path.with_extension("barrow.index");
        walked(&recording, SnapshotId(3), beside());
        for _ in 0..8 {
            let mut bytes = fs::read(&index).unwrap();
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes.truncate(at),
                _ => bytes[at] ^= 1 << random.below(8),
            }
            fs::write(&index, bytes).unwrap();
            ask(random, Recording::open(&path).unwrap());
        }
    }
}
