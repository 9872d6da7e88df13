//! Threads are read as they were announced, and every root is assigned to its thread.

use std::sync::Arc;

use barrow_analyzer::{Heap, IndexPlace, Memory, Recording, Silent, SnapshotId, StringId, Thread, Threads, verify};
use barrow_rewrite::{RepackOptions, repack, repair};
use barrow_testdata::{Random, Shelf};
use barrow_writer::{
    KindRole, Label, Object, Options, SnapshotInfo, StrengthId, ThreadDescription, TypeDescription, Writer,
};

const FIRST: SnapshotId = SnapshotId(0);

/// A thread to announce, with its texts.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    id: u64,
    texts: [Option<String>; 3],
    counters: [Option<u64>; 3],
    attributes: Vec<(String, String)>,
}

impl Told {
    fn random(random: &mut Random) -> Self {
        let mut text = |of: &str| (random.below(2) == 0).then(|| format!("{of} {}", random.below(3)));
        let texts = [text("name"), text("state"), text("label")];
        let counters = [(); 3].map(|()| match random.below(4) {
            0 => None,
            1 => Some(u64::MAX - 1 - random.below(2)),
            2 => Some(random.below(2)),
            _ => Some(random.below(1 << 40)),
        });
        let attributes = (0..random.below(3)).map(|at| (format!("key {at}"), "value".to_owned())).collect();
        let id = if random.below(3) == 0 { u64::MAX - random.below(3) } else { random.below(50) };
        Told { id, texts, counters, attributes }
    }

    fn announce(&self, snapshot: &barrow_writer::Snapshot<'_>) {
        let attributes: Vec<_> = self.attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let [name, state, root_label] = self.texts.each_ref().map(Option::as_deref);
        let [allocated_bytes, allocated_objects, cpu_time_ns] = self.counters;
        let description = ThreadDescription {
            id: self.id,
            name,
            state,
            allocated_bytes,
            allocated_objects,
            cpu_time_ns,
            root_label,
            attributes: &attributes,
        };
        snapshot.thread(&description).unwrap();
    }

    fn read(row: &Thread, recording: &Recording) -> Self {
        let tables = recording.tables().unwrap();
        let text = |id: StringId| tables.string(id).to_owned();
        Told {
            id: row.id,
            texts: [row.name, row.state, row.root_label].map(|id| id.map(text)),
            counters: [row.allocated_bytes, row.allocated_objects, row.cpu_time_ns],
            attributes: row.attributes.iter().map(|&(key, value)| (text(key), text(value))).collect(),
        }
    }
}

fn told(recording: &Recording, snapshot: SnapshotId) -> Vec<Told> {
    let threads = Threads::read(recording, snapshot).unwrap();
    threads.rows().iter().map(|row| Told::read(row, recording)).collect()
}

fn writer(shelf: &Shelf) -> Writer {
    Writer::to_stream(Box::new(shelf.clone()), Options::without_threads()).unwrap()
}

/// The recording as written, and without its end.
fn with_and_without_index(bytes: &[u8]) -> [Recording; 2] {
    let cut = bytes[..bytes.len() - 1].to_vec();
    [bytes.to_vec(), cut].map(|bytes| Recording::from_bytes(bytes).unwrap())
}

#[test]
fn what_was_announced_is_read_from_every_copy() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let shelf = Shelf::default();
        let writer = writer(&shelf);
        let mut expected = Vec::new();
        for _ in 0..random.below(4) {
            let threads: Vec<Told> = (0..random.below(6)).map(|_| Told::random(&mut random)).collect();
            let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
            threads.iter().for_each(|thread| thread.announce(&snapshot));
            snapshot.commit().unwrap();
            expected.push(threads);
        }
        writer.finish().unwrap();
        let bytes = shelf.take();
        let check = |recording: &Recording| {
            let found: Vec<_> = recording.snapshot_ids().map(|id| told(recording, id)).collect();
            assert_eq!(found, expected, "seed {seed}");
        };
        let recordings = with_and_without_index(&bytes);
        recordings.iter().for_each(check);
        assert_eq!(verify(&recordings[0], &Silent).unwrap().problems, []);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.barrow");
        for recording in &recordings {
            repair(recording, &path, &Silent).unwrap();
            check(&Recording::open(&path).unwrap());
            repack(recording, &path, RepackOptions::default(), &Silent).unwrap();
            check(&Recording::open(&path).unwrap());
        }
    }
}

#[test]
fn any_thread_announces_as_many_as_it_likes() {
    let shelf = Shelf::default();
    let writer = writer(&shelf);
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    // A chunk is written for every 256 KiB.
    std::thread::scope(|scope| {
        for part in 0..4 {
            let snapshot = &snapshot;
            scope.spawn(move || {
                for id in 0..10_000 {
                    let cpu_time_ns = Some(u64::MAX - 1);
                    let thread = ThreadDescription { cpu_time_ns, ..ThreadDescription::new(10_000 * part + id) };
                    snapshot.thread(&thread).unwrap();
                }
            });
        }
    });
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    for recording in with_and_without_index(&shelf.take()) {
        let threads = Threads::read(&recording, FIRST).unwrap();
        let mut ids: Vec<u64> = threads.rows().iter().map(|row| row.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..40_000).collect::<Vec<_>>());
    }
}

/// Threads left in the file by an abandoned snapshot do not belong to another snapshot.
#[test]
fn threads_of_a_snapshot_that_was_given_up_are_gone() {
    for next in [&[][..], &[7], &[7, 8]] {
        let shelf = Shelf::default();
        let writer = writer(&shelf);
        let given_up = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        for id in 0..100_000 {
            given_up.thread(&ThreadDescription::new(id)).unwrap();
        }
        drop(given_up);
        for ids in [next, &[]] {
            let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
            ids.iter().for_each(|&id| snapshot.thread(&ThreadDescription::new(id)).unwrap());
            snapshot.commit().unwrap();
        }
        writer.finish().unwrap();
        for recording in with_and_without_index(&shelf.take()) {
            let ids = |id| Threads::read(&recording, id).unwrap().rows().iter().map(|row| row.id).collect::<Vec<_>>();
            assert_eq!((ids(FIRST), ids(SnapshotId(1))), (next.to_vec(), vec![]));
            let problems = verify(&recording, &Silent).unwrap().problems;
            assert_eq!(problems.len(), usize::from(recording.damage().is_some()), "{problems:?}");
        }
    }
}

/// A root: category, label, target.
type RootTold = (&'static str, Option<&'static str>, u64);

/// Objects of 1, 2, 4 … bytes, each of which refers to the next where `references` says so.
fn heap(threads: &[(u64, Option<&str>)], roots: &[RootTold], references: &[(usize, u64)], objects: usize) -> Heap {
    let shelf = Shelf::default();
    let writer = writer(&shelf);
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let type_id = writer.declare_type(&TypeDescription::new(kind, "T")).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    for &(id, root_label) in threads {
        snapshot.thread(&ThreadDescription { root_label, ..ThreadDescription::new(id) }).unwrap();
    }
    let mut shard = snapshot.shard();
    for &(category, label, target) in roots {
        let label = label.map(|label| writer.string(label).unwrap());
        shard.root(writer.string(category).unwrap(), label, target).unwrap();
    }
    for object in 0..objects {
        shard.object(object as u64, &Object::new(type_id, 1 << object)).unwrap();
        for (index, &(_, target)) in (0..).zip(references.iter().filter(|(source, _)| *source == object)) {
            shard.reference(Label::Index(index), StrengthId::STRONG, target).unwrap();
        }
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.take()).unwrap());
    Heap::new(recording, FIRST, &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

/// The row, label, number of roots and retained bytes of each thread that has roots.
fn roots(heap: &Heap) -> Vec<(Option<usize>, String, u64, u64)> {
    let tables = heap.recording().tables().unwrap();
    let threads = Threads::read(heap.recording(), heap.snapshot()).unwrap();
    let (found, is_exact) = heap.thread_roots(&threads, &Silent).unwrap();
    assert!(is_exact);
    let text = |label| tables.string(label).to_owned();
    found.iter().map(|one| (one.row, text(one.label), one.roots, one.retained.bytes)).collect()
}

/// The label, number of roots and retained bytes of each frame of the thread in a row.
fn frames(heap: &Heap, row: usize) -> Vec<(String, u64, u64)> {
    let tables = heap.recording().tables().unwrap();
    let threads = Threads::read(heap.recording(), heap.snapshot()).unwrap();
    let label = threads.rows()[row].root_label.expect("a label");
    let frames = heap.frames(&threads, label, &Silent).unwrap();
    assert!(frames.are_exact);
    frames.rows.iter().map(|one| (tables.string(one.label).to_owned(), one.roots, one.retained.bytes)).collect()
}

#[test]
fn roots_belong_to_the_thread_that_their_label_names() {
    let threads =
        [(1, Some("main")), (2, Some("main: a")), (3, None), (4, Some("idle")), (5, Some("x")), (6, Some("x"))];
    let told = [
        ("frames", Some("main"), 0),
        ("frames", Some("main: run (job.rb:3)"), 1),
        // Roots of two threads refer to it, so neither retains it.
        ("frames", Some("main: a: deep"), 2),
        ("frames", Some("main"), 2),
        ("frames", Some("main: a"), 3),
        ("frames", Some("mainly"), 4),
        // It is unknown which of the two threads.
        ("frames", Some("x: y"), 5),
        ("frames", Some("x"), 2),
        ("globals", None, 1),
    ];
    let heap = heap(&threads, &told, &[(0, 6), (3, 7)], 8);
    let expected = [(Some(0), "main", 3, 1 + 64), (Some(1), "main: a", 2, 8 + 128), (None, "x", 2, 32)];
    let expected = expected.map(|(row, label, roots, bytes)| (row, label.to_owned(), roots, bytes));
    assert_eq!(roots(&heap), expected);
}

#[test]
fn roots_alone_tell_of_threads() {
    let told = [
        ("frames", Some("thread 12"), 0),
        ("frames", Some("thread 9"), 1),
        ("frames", Some("thread 12"), 2),
        ("thread", Some("main"), 3),
        ("Java frame", Some("main: run (job.rb:3)"), 0),
        ("modules", Some("threading"), 4),
    ];
    let heap = heap(&[], &told, &[], 5);
    let expected = [("thread 12", 2, 4), ("thread 9", 1, 2), ("main", 2, 8)];
    assert_eq!(roots(&heap), expected.map(|(label, roots, bytes)| (None, label.to_owned(), roots, bytes)));
}

/// By definition: the objects that are unreachable without the roots whose label `is_removed`, and without an object.
fn lost(
    roots: &[RootTold],
    references: &[(usize, u64)],
    is_removed: impl Fn(&str) -> bool,
    object: Option<u64>,
    objects: usize,
) -> u64 {
    let reach = |without: bool| {
        let is_gone = |object_: u64| without && object == Some(object_);
        let kept = roots.iter().filter(|(_, label, _)| !(without && label.is_some_and(&is_removed)));
        let mut open: Vec<u64> = kept.map(|&(_, _, target)| target).collect();
        let mut seen = vec![false; objects];
        while let Some(object) = open.pop() {
            if is_gone(object) || std::mem::replace(&mut seen[object as usize], true) {
                continue;
            }
            open.extend(references.iter().filter(|(source, _)| *source as u64 == object).map(|&(_, target)| target));
        }
        (0..objects).filter(|&object| seen[object]).map(|object| 1u64 << object).sum::<u64>()
    };
    reach(false) - reach(true)
}

#[test]
fn a_thread_retains_what_is_lost_without_its_roots_and_its_object() {
    const THREADS: [(u64, Option<&str>); 3] = [(1, Some("a")), (2, Some("b")), (3, Some("c"))];
    let mut random = Random::new(77);
    let mut together = 0;
    for _ in 0..1500 {
        let objects = 3 + random.below(16) as usize;
        let mut told: Vec<RootTold> = Vec::new();
        let mut own: [Option<u64>; 3] = [None; 3];
        for (at, &(_, label)) in THREADS.iter().enumerate() {
            if random.below(4) > 0 {
                own[at] = Some(at as u64);
                told.push(("thread", label, at as u64));
            }
        }
        for _ in 0..random.below(10) {
            let label = [None, Some("a"), Some("a: run (a.rb:1)"), Some("a: main (a.rb:9)"), Some("b"), Some("c: x")]
                [random.below(6) as usize];
            told.push(("frames", label, random.below(objects as u64)));
        }
        let references: Vec<(usize, u64)> = (0..random.below(40))
            .map(|_| (random.below(objects as u64) as usize, random.below(objects as u64)))
            .collect();
        let heap = heap(&THREADS, &told, &references, objects);
        for (row, label, _, bytes) in roots(&heap) {
            let object = own[row.unwrap()];
            let is_of_thread = |of: &str| of == label || of.starts_with(&format!("{label}: "));
            let expected = lost(&told, &references, is_of_thread, object, objects);
            assert_eq!(bytes, expected, "{label}: {told:?} {references:?}");
            together += u64::from(object.is_some());
            let mut own_roots = 0;
            for (frame, roots, bytes) in frames(&heap, row.unwrap()) {
                let object = object.filter(|_| frame == label);
                let expected = lost(&told, &references, |of| of == frame, object, objects);
                assert_eq!(bytes, expected, "{frame}: {told:?} {references:?}");
                own_roots += roots;
            }
            assert_eq!(own_roots, told.iter().filter(|root| root.1.is_some_and(is_of_thread)).count() as u64);
        }
    }
    assert!(together > 1000);
}

/// Another thread refers to a thread, as one that joins it does, and a pool refers to it.
#[test]
fn a_thread_that_others_know_retains_what_it_holds() {
    let told = [
        ("thread", Some("main"), 0),
        ("thread", Some("worker"), 1),
        ("Java frame", Some("main: join"), 1),
        ("globals", None, 2),
    ];
    let heap = heap(&[(1, Some("main")), (2, Some("worker"))], &told, &[(2, 1), (1, 3), (1, 4)], 5);
    assert_eq!(roots(&heap), [(Some(0), "main".to_owned(), 2, 1), (Some(1), "worker".to_owned(), 1, 2 + 8 + 16)]);
}

#[test]
fn frames_hold_the_objects_of_their_roots() {
    let told = [
        ("Java frame", Some("main: run"), 2),
        ("thread", Some("main"), 0),
        ("JNI local", Some("main: run"), 3),
        ("Java frame", Some("main: deep"), 2),
        ("Java frame", Some("worker: run"), 1),
        ("globals", None, 2),
    ];
    let heap = heap(&[(1, Some("main"))], &told, &[(2, 3)], 4);
    assert_eq!(
        locals(&heap, 0),
        [
            ("main: run".to_owned(), None, "Java frame".to_owned(), None, 2),
            ("main".to_owned(), None, "thread".to_owned(), None, 0),
            ("main: run".to_owned(), None, "JNI local".to_owned(), None, 3),
            ("main: deep".to_owned(), None, "Java frame".to_owned(), None, 2),
        ]
    );
}

/// A local: label of its frame, function, category, name, object.
type LocalRead = (String, Option<String>, String, Option<String>, u32);

fn locals(heap: &Heap, row: usize) -> Vec<LocalRead> {
    let tables = heap.recording().tables().unwrap();
    let threads = Threads::read(heap.recording(), heap.snapshot()).unwrap();
    let frames = heap.frames(&threads, threads.rows()[row].root_label.expect("a label"), &Silent).unwrap();
    let locals = frames.locals.iter().map(|local| {
        let frame = frames.rows[local.frame];
        let text = |id| tables.string(id).to_owned();
        let name = if let Label::Name(name) = local.name { Some(text(name)) } else { None };
        let function = frame.function.map(|id| tables.type_name(id).to_owned());
        (text(frame.label), function, text(local.category), name, local.object.0)
    });
    locals.collect()
}

/// Frames that are objects hold what they refer to, by the names of local variables. Two calls of one function are one row.
#[test]
fn frames_that_are_objects_hold_their_local_variables() {
    let shelf = Shelf::default();
    let writer = writer(&shelf);
    let [object, frame] =
        [("object", KindRole::Object), ("frame", KindRole::Frame)].map(|(name, role)| writer.kind(name, role).unwrap());
    let int = writer.declare_type(&TypeDescription::new(object, "int")).unwrap();
    let [work, main] = ["work", "main"].map(|name| writer.declare_type(&TypeDescription::new(frame, name)).unwrap());
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let label = Some("thread 1");
    snapshot.thread(&ThreadDescription { root_label: label, ..ThreadDescription::new(1) }).unwrap();
    let mut shard = snapshot.shard();
    let (category, label) = (writer.string("frames").unwrap(), writer.string("thread 1").unwrap());
    for target in [0, 1, 2] {
        shard.root(category, Some(label), target).unwrap();
    }
    for (id, type_id, held) in
        [(0, work, vec![("n", 3)]), (1, work, vec![("n", 4)]), (2, main, vec![("argument", 3), ("n", 4)])]
    {
        shard.object(id, &Object::new(type_id, 100)).unwrap();
        for (name, target) in held {
            shard.reference(Label::Name(writer.string(name).unwrap()), StrengthId::STRONG, target).unwrap();
        }
    }
    (3..5).for_each(|id| shard.object(id, &Object::new(int, 1 << id)).unwrap());
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.take()).unwrap());
    let heap = Heap::new(recording, FIRST, &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
    let threads = Threads::read(heap.recording(), heap.snapshot()).unwrap();
    let frames = heap.frames(&threads, threads.rows()[0].root_label.unwrap(), &Silent).unwrap();
    let rows: Vec<_> = frames.rows.iter().map(|row| (row.function, row.roots, row.retained.bytes)).collect();
    assert_eq!(rows, [(Some(work), 2, 200), (Some(main), 1, 100)]);
    let local = |function: &str, name: &str, object| {
        let texts = [function, "frames", name].map(str::to_owned);
        let [function, category, name] = texts;
        ("thread 1".to_owned(), Some(function), category, Some(name), object)
    };
    let expected = [local("work", "n", 3), local("work", "n", 4), local("main", "argument", 3), local("main", "n", 4)];
    assert_eq!(locals(&heap, 0), expected);
}
