//! Snapshots written as differences hold what was announced, in every column.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use barrow_analyzer::{
    Lives, ObjectId, Recording, Roots, SerialOrigin, Silent, SnapshotId, verified_summaries, verify,
};
use barrow_rewrite::{RepackOptions, repack, repair};
use barrow_testdata::{Edge, Heap, Node, Random, Shelf, Vocabulary};
use barrow_writer::{Compression, Label, Options, SnapshotInfo, StrengthId, Writer, WriterError};

fn options() -> Options {
    Options { patches: true, threads: 2, compression: Compression::Zstd(3), ..Options::default() }
}

/// Heaps, each made from the one before.
struct Series {
    heaps: Vec<Heap>,
    random: Random,
    next_serial: u64,
    has_addresses: bool,
}

impl Series {
    fn new(seed: u64, size: u32, has_addresses: bool, vocabulary: &Vocabulary) -> Self {
        let mut random = Random::new(seed);
        let mut heap = Heap::random(&mut random, size, vocabulary);
        let mut series = Series { heaps: Vec::new(), random, next_serial: 1, has_addresses };
        heap.nodes.iter_mut().for_each(|node| series.name(node));
        series.heaps.push(heap);
        series
    }

    /// A new object gets an identity.
    fn name(&mut self, node: &mut Node) {
        let serial = self.next_serial;
        self.next_serial += 1;
        node.identity = (self.has_addresses.then_some(4096 + 16 * serial), Some(serial * 2 + 1), node.identity.2);
    }

    /// The next heap: some objects die, some change, some are new, now and then all move, or change their order.
    fn step(&mut self, vocabulary: &Vocabulary) {
        let mut heap = self.heaps.last().expect("there is a first").clone();
        let moves = self.random.below(3) == 0;
        let changes = [0, 1, 5, 50][self.random.below(4) as usize];
        let count = heap.nodes.len() as u64;
        for (number, node) in heap.nodes.iter_mut().enumerate() {
            if moves && let (Some(address), ..) = &mut node.identity {
                *address += 64 * (1 + number as u64 / 50);
            }
            if self.random.below(100) < changes {
                self.change(node, count, vocabulary);
            }
        }
        self.bury(&mut heap, changes);
        for mut node in Heap::random(&mut self.random, 1 + changes as u32, vocabulary).nodes {
            self.name(&mut node);
            heap.nodes.push(node);
        }
        if self.random.below(3) == 0 {
            self.reorder(&mut heap);
        }
        self.heaps.push(heap);
    }

    /// One thing about an object is another.
    fn change(&mut self, node: &mut Node, count: u64, vocabulary: &Vocabulary) {
        let target = self.random.below(count) as u32;
        match (self.random.below(8), node.edges.first_mut()) {
            (0, Some(edge)) => edge.target = target,
            (1, Some(edge)) => edge.label = Label::Index(self.random.below(90)),
            (2, Some(edge)) => edge.strength = vocabulary.strengths[self.random.below(2) as usize],
            (3, Some(_)) => drop(node.edges.pop()),
            (0..=3, _) => node.edges.push(Edge { label: Label::Unknown, strength: StrengthId::STRONG, target }),
            (4, _) => node.shallow_bytes += 8,
            (5, _) => node.unmanaged_bytes += 1,
            (6, _) => node.name = vocabulary.names.get(self.random.below(9) as usize).copied(),
            _ => node.type_id = vocabulary.types[self.random.below(6) as usize],
        }
    }

    /// Some objects die, never the first; references to them lead to the first.
    fn bury(&mut self, heap: &mut Heap, share: u64) {
        let lives: Vec<bool> =
            (0..heap.nodes.len()).map(|number| number == 0 || self.random.below(150) >= share).collect();
        let mut next = 0;
        let number_of = lives.iter().map(|&lives| {
            next += u32::from(lives);
            if lives { next - 1 } else { 0 }
        });
        renumber(heap, &number_of.collect::<Vec<_>>());
        let mut lives = lives.iter();
        heap.nodes.retain(|_| lives.next() == Some(&true));
    }

    /// The same objects with other numbers.
    fn reorder(&mut self, heap: &mut Heap) {
        for _ in 0..heap.nodes.len() / 4 {
            let [one, other] = [0, 1].map(|_| self.random.below(heap.nodes.len() as u64) as usize);
            let mut numbers: Vec<u32> = (0..heap.nodes.len() as u32).collect();
            numbers.swap(one, other);
            renumber(heap, &numbers);
            heap.nodes.swap(one, other);
        }
    }

    fn last(&mut self) -> &mut Heap {
        self.heaps.last_mut().expect("there is a first")
    }
}

fn renumber(heap: &mut Heap, number_of: &[u32]) {
    for edge in heap.nodes.iter_mut().flat_map(|node| &mut node.edges) {
        edge.target = number_of[edge.target as usize];
    }
}

/// Announces a heap from several shards, the last part first, and two roots.
fn record(writer: &Writer, heap: &Heap, shards: usize) -> Result<(), WriterError> {
    let snapshot = writer.begin_snapshot(SnapshotInfo { time_ns: Some(7), ..SnapshotInfo::default() })?;
    announce(writer, &snapshot, heap, shards)?;
    snapshot.commit().map(drop)
}

fn announce(
    writer: &Writer,
    snapshot: &barrow_writer::Snapshot<'_>,
    heap: &Heap,
    shards: usize,
) -> Result<(), WriterError> {
    let mut shard = snapshot.shard();
    for target in roots(heap) {
        shard.root(writer.string("globals")?, None, target.into())?;
    }
    shard.finish()?;
    let bounds: Vec<usize> = (0..=shards).map(|part| part * heap.nodes.len() / shards).collect();
    std::thread::scope(|scope| {
        let parts = bounds.windows(2).rev().map(|pair| scope.spawn(|| heap.announce(snapshot, pair[0]..pair[1])));
        let parts: Vec<_> = parts.collect();
        parts.into_iter().try_for_each(|part| part.join().expect("announcing does not panic"))
    })
}

/// The targets of the roots.
fn roots(heap: &Heap) -> [u32; 2] {
    [0, heap.nodes.len() as u32 / 2]
}

/// By serial: an object without its references, and the references with the serials of their targets.
type Named = BTreeMap<u64, (Node, Vec<(Label, StrengthId, u64)>)>;

fn by_serial(heap: &Heap) -> Named {
    let serial = |number: u32| heap.nodes[number as usize].identity.1.expect("all have one");
    let named = |node: &Node| {
        let edges = node.edges.iter().map(|edge| (edge.label, edge.strength, serial(edge.target))).collect();
        (node.identity.1.expect("all have one"), (Node { edges: Vec::new(), ..node.clone() }, edges))
    };
    heap.nodes.iter().map(named).collect()
}

/// The recording verifies, and each snapshot is the heap that was announced.
fn assert_holds(recording: &Recording, heaps: &[Heap]) {
    assert_eq!(verify(recording, &Silent).unwrap().problems, []);
    assert_tells(recording, heaps);
}

/// Each snapshot is the heap that was announced.
fn assert_tells(recording: &Recording, heaps: &[Heap]) {
    let ids: Vec<SnapshotId> = recording.snapshot_ids().collect();
    assert_eq!(ids.len(), heaps.len());
    verified_summaries(recording, &ids, &Silent).unwrap();
    for (id, heap) in ids.into_iter().zip(heaps) {
        let found = Heap::read(recording, id).unwrap();
        assert_eq!(found.nodes.len(), heap.nodes.len());
        if heap.nodes.iter().any(|node| node.identity.1.is_none()) {
            assert!(&found == heap, "snapshot {id} is whole");
            continue;
        }
        let (found_by, expected) = (by_serial(&found), by_serial(heap));
        for (serial, object) in &expected {
            assert_eq!(found_by.get(serial), Some(object), "snapshot {id}, serial {serial}");
        }
        let serials = |heap: &Heap, target: u32| heap.nodes[target as usize].identity.1;
        let targets = Roots::read(recording, id).unwrap();
        let targets: Vec<_> = targets.rows().iter().map(|root| serials(&found, root.target.0)).collect();
        assert_eq!(targets, roots(heap).map(|target| serials(heap, target)));
    }
}

fn open(path: &Path) -> Recording {
    let recording = Recording::open(path).unwrap();
    assert_eq!(recording.damage(), None);
    recording
}

fn patches(recording: &Recording) -> usize {
    let ids = recording.snapshot_ids();
    ids.filter(|&id| recording.snapshot(id).unwrap().base.is_some()).count()
}

#[test]
fn random_series_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.barrow");
    let mut found = 0;
    for seed in 0..80 {
        let threads = [0, 1, 3][seed as usize % 3];
        let writer = Writer::create(&path, Options { threads, ..options() }).unwrap();
        let vocabulary = Vocabulary::declare(&writer).unwrap();
        let mut series = Series::new(seed, 20 + 37 * seed as u32, seed % 2 == 0, &vocabulary);
        record(&writer, &series.heaps[0], 1).unwrap();
        for step in 0..1 + seed % 9 {
            series.step(&vocabulary);
            record(&writer, series.last(), 1 + step as usize % 3).unwrap();
        }
        writer.finish().unwrap();
        let recording = open(&path);
        assert_holds(&recording, &series.heaps);
        assert_eq!(recording.serial_origin().unwrap(), SerialOrigin::Runtime);
        found += patches(&recording);
    }
    assert!(found > 150, "{found} patches");
}

/// A recording in a file, of what `fill` writes.
struct Written {
    folder: tempfile::TempDir,
    recording: Recording,
    heaps: Vec<Heap>,
}

fn written(options: Options, fill: impl FnOnce(&Writer, &Vocabulary) -> Vec<Heap>) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.barrow");
    let writer = Writer::create(&path, options).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let heaps = fill(&writer, &vocabulary);
    writer.finish().unwrap();
    Written { folder, recording: open(&path), heaps }
}

/// A random series of `steps` steps.
fn series(seed: u64, size: u32, steps: usize) -> Written {
    written(options(), |writer, vocabulary| {
        let mut series = Series::new(seed, size, seed.is_multiple_of(2), vocabulary);
        (0..steps).for_each(|_| series.step(vocabulary));
        series.heaps.iter().try_for_each(|heap| record(writer, heap, 2)).unwrap();
        series.heaps
    })
}

impl Written {
    /// For each snapshot whether it is a patch.
    fn are_patches(&self) -> Vec<bool> {
        let ids = self.recording.snapshot_ids();
        ids.map(|id| self.recording.snapshot(id).unwrap().base.is_some()).collect()
    }
}

#[test]
fn long_arrays_are_kept_grow_and_die() {
    // A small budget divides arrays of a few thousand references, and gathers changes in many batches.
    for threads in [0, 2] {
        let options = Options { memory_budget_bytes: 1 << 20, threads, ..options() };
        let written = written(options, |writer, vocabulary| {
            let mut series = Series::new(5, 4000, threads == 0, vocabulary);
            for step in 0..10 {
                let mut heap = series.last().clone();
                heap.nodes[20 + step].shallow_bytes += 1;
                let arrays = [(7, Label::Unknown), (8, Label::Name(vocabulary.names[0])), (2000, Label::Index(0))];
                for (number, label) in arrays {
                    let length = [6000, 6001, 6001, 6001, 10, 6000, 6000, 6000, 6000, 6000][step];
                    let element = |position| Edge {
                        label: if label == Label::Index(0) { Label::Index(position) } else { label },
                        strength: StrengthId::STRONG,
                        // One array refers to the next; in step 6 the last one changes.
                        target: match (position, step, number) {
                            (5000, ..) => [7, 8, 2000][number % 3],
                            (9, 6.., 2000) => 1,
                            _ => 10 + (position % 1900) as u32,
                        },
                    };
                    heap.nodes[number].edges = (0..length).map(element).collect();
                }
                if step == 3 {
                    // Much changes at once: more than is gathered in one go.
                    heap.nodes.iter_mut().skip(101).step_by(4).for_each(|node| node.unmanaged_bytes += 1);
                }
                if step == 9 {
                    series.reorder(&mut heap);
                }
                series.heaps.push(heap);
                record(writer, series.last(), 1 + step % 2).unwrap();
            }
            let mut heap = series.last().clone();
            // The last ones die.
            heap.nodes.truncate(1900);
            for edge in heap.nodes.iter_mut().flat_map(|node| &mut node.edges) {
                edge.target %= 1900;
            }
            series.heaps.push(heap);
            record(writer, series.last(), 1).unwrap();
            series.heaps.split_off(1)
        });
        assert_holds(&written.recording, &written.heaps);
        let are_patches = written.are_patches();
        assert!([1, 2, 3, 5, 6, 7, 8, 9].into_iter().all(|snapshot| are_patches[snapshot]), "{are_patches:?}");
    }
}

#[test]
fn whole_snapshots_come_in_between() {
    let random = series(11, 500, 100);
    assert_holds(&random.recording, &random.heaps);
    // Nothing but one change at a time: only the length of the chain ends it.
    let quiet = written(options(), |writer, vocabulary| {
        let mut series = Series::new(12, 400, true, vocabulary);
        for step in 0..140 {
            let mut heap = series.last().clone();
            heap.nodes[step].shallow_bytes += 1;
            record(writer, &heap, 1).unwrap();
            series.heaps.push(heap);
        }
        series.heaps.split_off(1)
    });
    assert_holds(&quiet.recording, &quiet.heaps);
    let whole: Vec<usize> = (0..140).filter(|&snapshot| !quiet.are_patches()[snapshot]).collect();
    assert_eq!(whole, [0, 65, 130]);
    assert!(quiet.recording.length_bytes() < 150_000, "{}", quiet.recording.length_bytes());
}

#[test]
fn objects_without_a_serial_of_their_own_make_a_snapshot_whole() {
    let written = written(options(), |writer, vocabulary| {
        let mut series = Series::new(13, 300, false, vocabulary);
        for step in 0..8 {
            series.heaps[0].nodes[step].shallow_bytes += 8;
            let mut heap = series.heaps[0].clone();
            match step {
                2 => heap.nodes[17].identity.1 = None,
                5 => heap.nodes[0].identity.1 = heap.nodes[9].identity.1,
                _ => {}
            }
            record(writer, &heap, 2).unwrap();
            series.heaps.push(heap);
        }
        series.heaps.split_off(1)
    });
    // In snapshot 5 two objects have one serial, so that serials do not tell which is which.
    assert_eq!(written.are_patches(), [false, true, false, false, true, false, false, true]);
    assert!(Heap::read(&written.recording, SnapshotId(5)).unwrap() == written.heaps[5]);
    assert_eq!(verify(&written.recording, &Silent).unwrap().problems, []);
    for (id, heap) in written.recording.snapshot_ids().zip(&written.heaps).filter(|(id, _)| ![2, 5].contains(&id.0)) {
        assert_eq!(by_serial(&Heap::read(&written.recording, id).unwrap()), by_serial(heap), "snapshot {id}");
    }
}

#[test]
fn given_up_snapshots_disturb_nothing() {
    let written = written(options(), |writer, vocabulary| {
        let mut series = Series::new(14, 600, true, vocabulary);
        record(writer, series.last(), 1).unwrap();
        for step in 0..12 {
            let mut heap = series.last().clone();
            heap.nodes[step].shallow_bytes += 8;
            // Another heap is announced and given up, or refers to what is not there.
            let mut other = Series::new(step as u64, 500, false, vocabulary);
            let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
            if step % 2 == 0 {
                other.last().nodes[3].edges.push(Edge {
                    label: Label::Unknown,
                    strength: StrengthId::STRONG,
                    target: 500,
                });
                announce(writer, &snapshot, other.last(), 2).unwrap();
                assert!(matches!(snapshot.commit(), Err(WriterError::ReferenceToUnannounced { target: 500, .. })));
            } else {
                announce(writer, &snapshot, other.last(), 2).unwrap();
                drop(snapshot);
            }
            record(writer, &heap, 2).unwrap();
            series.heaps.push(heap);
        }
        series.heaps
    });
    assert_holds(&written.recording, &written.heaps);
    assert_eq!(written.are_patches().iter().filter(|is_patch| !**is_patch).count(), 1);
}

#[test]
fn they_are_repacked_and_repaired() {
    let written = series(21, 800, 7);
    assert!(patches(&written.recording) > 3);
    let (repacked, repaired) = (written.folder.path().join("b.barrow"), written.folder.path().join("c.barrow"));
    repack(&written.recording, &repacked, RepackOptions { level: 1 }, &Silent).unwrap();
    assert_holds(&open(&repacked), &written.heaps);
    assert_eq!(repair(&written.recording, &repaired, &Silent).unwrap().dropped(), [""; 0]);
    assert_holds(&open(&repaired), &written.heaps);
}

#[test]
fn a_file_cut_anywhere_has_every_snapshot_that_was_committed() {
    let written = series(31, 60, 5);
    assert!(patches(&written.recording) > 1);
    let bytes = std::fs::read(written.folder.path().join("a.barrow")).unwrap();
    let mut most = 0;
    for length in 64..bytes.len() {
        let cut = Recording::from_bytes(bytes[..length].to_vec()).unwrap();
        let count = cut.snapshot_count();
        assert!(count >= most && count <= 6, "{count} snapshots in {length} bytes");
        if count > most {
            assert_eq!(
                by_serial(&Heap::read(&cut, SnapshotId(count as u32 - 1)).unwrap()),
                by_serial(&written.heaps[count - 1])
            );
            most = count;
        }
    }
    assert_eq!(most, 6);
}

#[test]
fn a_stream_that_fails_anywhere_keeps_what_was_committed() {
    let record_all = |shelf: &Shelf| -> Result<Vec<Heap>, (Vec<Heap>, WriterError)> {
        let mut committed = Vec::new();
        let mut fill = || {
            let writer = Writer::to_stream(Box::new(shelf.clone()), options())?;
            let mut series = Series::new(2, 80, true, &Vocabulary::declare(&writer)?);
            for _ in 0..4 {
                record(&writer, series.last(), 2)?;
                committed.push(series.last().clone());
                let mut heap = series.last().clone();
                heap.nodes[committed.len()].shallow_bytes += 1;
                series.heaps.push(heap);
            }
            writer.finish().map(drop)
        };
        let filled = fill();
        filled.map_or_else(|error| Err((committed.clone(), error)), |()| Ok(committed.clone()))
    };
    let whole = Shelf::default();
    assert_eq!(record_all(&whole).unwrap().len(), 4);
    assert_eq!(patches(&Recording::from_bytes(whole.bytes()).unwrap()), 3);
    // Times take some bytes more in one run than in another.
    for room in (64..whole.bytes().len() - 64).step_by(11) {
        let shelf = Shelf::with_room(room);
        let (committed, error) = record_all(&shelf).unwrap_err();
        assert!(matches!(error, WriterError::Io { .. } | WriterError::Broken), "{error}");
        let recording = Recording::from_bytes(shelf.bytes()).unwrap();
        assert_eq!(recording.snapshot_count(), committed.len());
        assert_tells(&recording, &committed);
    }
}

/// Tells a child what to do: its seed and its file.
const CHILD: &str = "BARROW_PATCHES_CHILD";

/// The child process: writes snapshots until it is killed. Otherwise this test does nothing.
#[test]
fn child() {
    let Ok(order) = std::env::var(CHILD) else { return };
    let (seed, path) = order.split_once(' ').unwrap();
    let writer = Writer::create(path, options()).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let mut series = Series::new(seed.parse().unwrap(), 300, true, &vocabulary);
    loop {
        record(&writer, series.last(), 2).unwrap();
        series.step(&vocabulary);
    }
}

#[test]
fn committed_snapshots_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.barrow");
    // A vocabulary is the same in every recording: declare it in one that is never read.
    let nowhere = Writer::to_stream(Box::new(std::io::sink()), Options::default()).unwrap();
    let vocabulary = Vocabulary::declare(&nowhere).unwrap();
    let mut found = 0;
    for seed in 0..20 {
        let _ = std::fs::remove_file(&path);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(CHILD, format!("{seed} {}", path.display()))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(30 + 7 * seed));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "the child did not end on its own");
        let Ok(recording) = Recording::open(&path) else { continue };
        let mut series = Series::new(seed, 300, true, &vocabulary);
        (1..recording.snapshot_count()).for_each(|_| series.step(&vocabulary));
        series.heaps.truncate(recording.snapshot_count());
        assert_tells(&recording, &series.heaps);
        let problems = verify(&recording, &Silent).unwrap().problems;
        assert!(problems.iter().all(|problem| problem.snapshot.is_none()), "{problems:?}");
        found += patches(&recording);
    }
    assert!(found > 10, "{found} patches");
}

#[test]
fn births_and_deaths_are_those_of_the_runtime() {
    let written = series(41, 400, 8);
    let serials = |snapshot: usize| -> BTreeSet<u64> {
        written.heaps[snapshot].nodes.iter().filter_map(|node| node.identity.1).collect()
    };
    let mut lives = Lives::new(&written.recording, SnapshotId(8)).unwrap();
    for snapshot in 0..9usize {
        let step = lives.next(&Silent).unwrap().unwrap();
        let stored = |snapshot| written.recording.recorded_serials(SnapshotId(snapshot as u32)).unwrap();
        for (object, serial) in (0..).map(ObjectId).zip(stored(snapshot)) {
            let first = (0..9).find(|&snapshot| serials(snapshot).contains(&serial));
            assert_eq!(step.born(object), first, "serial {serial}");
        }
        let before = snapshot.saturating_sub(1);
        let died: BTreeSet<u64> = step.died.iter().map(|(object, _)| stored(before)[object.index()]).collect();
        assert_eq!(died, &serials(before) - &serials(snapshot));
    }
}
