//! The index file beside a recording: answers come from it if it is valid, and are right if it is not.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, SystemTime};

use barrow_analyzer::{
    AnalyzerError, Canopy, Dominators, Expression, Heap, Holder, IndexPlace, KindId, LEAK_THRESHOLD, Memory, ObjectId,
    ObjectSet, PathOptions, Progress, Recording, Result, Silent, SnapshotId, StrengthClass, TreePlace,
};
use barrow_format::codec::{Codec, Decompressor};
use barrow_testdata::{Graph, Heap as TestHeap, LimitedProgress, Phases, Random, Shelf, Vocabulary};
use barrow_writer::{Options, SiteDescription, Writer};

const SNAPSHOT: SnapshotId = SnapshotId(0);
const BESIDE: IndexPlace = IndexPlace::BESIDE;

fn graph(seed: u64, most: u64) -> Graph {
    let mut random = Random::new(seed);
    let mut graph = Graph::random(&mut random, most, true);
    // Some object is always reachable, from two root categories.
    graph.roots.extend([(0, 0), (2, 0)]);
    graph
}

/// A graph with two root categories, an ephemeron and an unreachable object.
fn small() -> Graph {
    let (mut graph, _) = Graph::of_words("root -> a(16) -> b(24) -> d(40); a -> c(8) -> d; e(7) -> e");
    graph.roots.push((0, 2));
    graph.references[0].push((2, StrengthClass::Ephemeron));
    graph
}

fn open(path: &Path, place: &IndexPlace) -> Heap {
    heap(path, SNAPSHOT, place).unwrap()
}

fn heap(path: &Path, snapshot: SnapshotId, place: &IndexPlace) -> Result<Heap> {
    Heap::new(Arc::new(Recording::open(path)?), snapshot, place, Memory::unlimited())
}

fn objects(heap: &Heap) -> impl Iterator<Item = ObjectId> + use<> {
    (0..heap.object_count() as u32).map(ObjectId)
}

/// All answers that an index file has columns for, as text.
fn answers(heap: &Heap, progress: &dyn Progress) -> Result<String> {
    let (dominators, distances) = (heap.dominators(progress)?, heap.distances(progress)?);
    let (incoming, by_type) = (heap.incoming(progress)?, heap.retained_by_type(progress)?);
    let lines = objects(heap).map(|object| {
        let held = (dominators.immediate_dominator(object), dominators.retained_bytes(object));
        let reached = (distances.distance(object), distances.parent_of(object));
        format!("{object}: {held:?} {:?} {reached:?} {:?}\n", dominators.place(object), incoming.sources(object))
    });
    let totals = (dominators.is_exact(), dominators.reachable_count(), dominators.reachable_bytes());
    let most_asked = (heap.leak_suspects(LEAK_THRESHOLD, progress)?, heap.root_groups(progress)?);
    Ok(lines.collect::<String>() + &format!("{totals:?} {by_type:?} {most_asked:?} {}", tables(heap, progress)?))
}

/// Retained sizes of kinds, sites and other classes of objects, except types.
fn tables(heap: &Heap, progress: &dyn Progress) -> Result<String> {
    let by_type = (heap.retained_by_kind(progress)?, heap.retained_by_identity(progress)?);
    let by_site = (heap.retained_by_site(progress)?, heap.retained_by_generation(progress)?);
    Ok(format!("{by_type:?} {by_site:?} {:?}", heap.site_totals(progress)?))
}

/// The objects that match expressions over types and sizes.
fn selected(heap: &Heap) -> String {
    let texts = [
        "retained > 20",
        "retained <= 20",
        "retained != 16 and size > 8",
        "type ~ A* or unmanaged > 4",
        "not (size in 10..30 and retained < 40)",
    ];
    let select = |text: &&str| heap.select(&[], &Expression::parse(text).unwrap(), &Silent).unwrap();
    format!(
        "{:?} {:?}",
        texts.iter().map(select).collect::<Vec<_>>(),
        heap.count(&[KindId(0)], &Expression::parse("").unwrap(), &Silent)
    )
}

/// The answers without an index file.
fn computed(path: &Path, snapshot: SnapshotId) -> String {
    answers(&heap(path, snapshot, &IndexPlace::Nowhere).unwrap(), &Silent).unwrap()
}

fn index_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".index");
    name.into()
}

fn names(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<OsString> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    names
}

/// Checks that the answers are right and that nothing is computed for them.
fn assert_kept(path: &Path, place: &IndexPlace, expected: &str) {
    let phases = Phases::default();
    assert_eq!(answers(&open(path, place), &phases).unwrap(), expected);
    assert_eq!(phases.so_far(), [""; 0]);
}

/// Checks that the answers are right, that they are computed, and that the index file keeps them then.
fn assert_renewed(path: &Path, expected: &str) {
    let (heap, phases) = (open(path, &BESIDE), Phases::default());
    assert_eq!(answers(&heap, &phases).unwrap(), expected);
    assert!(!phases.so_far().is_empty(), "the index was taken for a good one");
    assert_eq!(heap.index_problem(), None);
    assert_kept(path, &BESIDE, expected);
}

/// A folder in memory where the system has one, because thousands of small files are slow on a disk.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// A recording of a graph in a folder of its own, with its index.
struct Kept {
    folder: tempfile::TempDir,
    path: PathBuf,
    expected: String,
    canopy: Canopy,
    /// The objects of a shortest path to the fourth object.
    path_to_far: OnceLock<Vec<ObjectId>>,
    /// Asked only where it is compared: about 40,000 objects it takes a minute.
    one_by_one: OnceLock<String>,
    index: Vec<u8>,
}

/// The objects of a shortest path to the fourth object, as the first question about the recording.
fn path_to_far(heap: &Heap) -> Vec<ObjectId> {
    let Some(far) = objects(heap).nth(3) else { return Vec::new() };
    let paths = heap.paths(far, &PathOptions::default(), &Silent).unwrap();
    paths.iter().flat_map(|path| &path.objects).copied().collect()
}

/// For each object its holder, retained size, type, distance and sources, each asked of a fresh heap; and the objects
/// that retain much or little.
fn one_by_one(heap: &Heap) -> String {
    let line = |object| {
        let asked = heap.ask_dominators(&Silent, |dominators| {
            let holders: Vec<Holder> = dominators.holders(object).collect();
            Ok::<_, AnalyzerError>(format!("{holders:?} {}", dominators.retained_bytes(object)))
        });
        let (types, distance) = (heap.types_of(&[object], &Silent).unwrap(), heap.distance(object, &Silent).unwrap());
        let sources = heap.referring_objects(object, &Silent).unwrap();
        format!("{object}: {} {types:?} {distance:?} {sources:?}\n", asked.unwrap())
    };
    let lines: String = objects(heap).map(line).collect();
    format!("{lines}{} {}", selected(heap), tables(heap, &Silent).unwrap())
}

impl Kept {
    fn of(graph: &Graph) -> Self {
        let folder = folder();
        let path = folder.path().join("heap.barrow");
        fs::write(&path, Graph::bytes_of(&[graph], None)).unwrap();
        let expected = computed(&path, SNAPSHOT);
        assert_eq!(answers(&open(&path, &BESIDE), &Silent).unwrap(), expected);
        let index = fs::read(index_of(&path)).unwrap();
        let canopy = open(&path, &BESIDE).kept_canopy().unwrap().expect("it is kept");
        Kept { folder, path, expected, canopy, path_to_far: OnceLock::new(), one_by_one: OnceLock::new(), index }
    }

    /// Replaces the index by these bytes, and checks that no answer is wrong.
    fn assert_right_with(&self, index: &[u8], what: impl Fn() -> String) {
        let computed = || open(&self.path, &IndexPlace::Nowhere);
        let expected = self.path_to_far.get_or_init(|| path_to_far(&computed()));
        fs::write(index_of(&self.path), index).unwrap();
        assert_eq!(path_to_far(&open(&self.path, &BESIDE)), *expected, "{}", what());
        let expected = self.one_by_one.get_or_init(|| one_by_one(&computed()));
        fs::write(index_of(&self.path), index).unwrap();
        assert_eq!(one_by_one(&open(&self.path, &BESIDE)), *expected, "{}", what());
        fs::write(index_of(&self.path), index).unwrap();
        let canopy = open(&self.path, &BESIDE).kept_canopy().unwrap();
        assert!(canopy.is_none_or(|canopy| canopy == self.canopy), "{}", what());
        fs::write(index_of(&self.path), index).unwrap();
        assert_eq!(answers(&open(&self.path, &BESIDE), &Silent).unwrap(), self.expected, "{}", what());
    }
}

// ---- Kept, and found again --------------------------------------------------------------------------

#[test]
fn the_second_time_nothing_is_computed() {
    for seed in 0..40 {
        let kept = Kept::of(&graph(seed, 60));
        assert_kept(&kept.path, &BESIDE, &kept.expected);
        assert_eq!(names(kept.folder.path()), ["heap.barrow", "heap.barrow.index"]);
        assert_eq!(fs::read(index_of(&kept.path)).unwrap(), kept.index, "an index that was only read is the same");
    }
    let large = Kept::of(&graph(1, 40_000));
    assert_kept(&large.path, &BESIDE, &large.expected);
}

#[test]
fn tables_are_kept_with_the_tree() {
    let folder = folder();
    let path = folder.path().join("heap.barrow");
    fs::write(&path, Graph::bytes_of(&[&graph(5, 300)], None)).unwrap();
    let phases = Phases::default();
    tables(&open(&path, &BESIDE), &phases).unwrap();
    let count = |name| phases.so_far().iter().filter(|phase| *phase == name).count();
    assert_eq!((count("keeping the index"), count("summing up groups")), (1, 1));
}

#[test]
fn what_a_search_answers_finds_no_other_tree() {
    let kept = Kept::of(&graph(5, 300));
    let expected = open(&kept.path, &IndexPlace::Nowhere).unreachable(&Silent).unwrap();
    let unreachable = Expression::parse("unreachable").unwrap();
    // Damage one column of the tree at a time: positions, those of categories, and vertices.
    for number in [1, 15, 2] {
        let (key, mut columns) = parts(&kept.index);
        let column = columns.iter_mut().find(|column| column.number == number).unwrap();
        column.bytes[0] = 0xff;
        column.bytes[3] = 0xff;
        fs::write(index_of(&kept.path), index_with(&key, &columns)).unwrap();
        let (heap, phases) = (open(&kept.path, &BESIDE), Phases::default());
        assert_eq!(heap.unreachable(&phases).unwrap(), expected, "column {number}");
        assert_eq!(heap.select(&[], &unreachable, &phases).unwrap().0, expected, "column {number}");
        assert!(!phases.so_far().contains(&"numbering objects".to_owned()), "column {number}");
    }
}

/// Equal totals, types and block lengths do not imply equal references.
#[test]
fn the_index_of_another_recording_with_the_same_totals_is_not_used() {
    let folder = folder();
    let path = folder.path().join("heap.barrow");
    let uuid = Some([3; 16]);
    let (chain, _) = Graph::of_words("root -> a(16) -> b(24) -> c(40); a -> b");
    let (diamond, _) = Graph::of_words("root -> a(16) -> b(24) -> c(40); a -> c");
    let [before, after] = [&chain, &diamond].map(|graph| Graph::bytes_of(&[graph], uuid));
    assert_eq!(before.len(), after.len());
    let info = |bytes: &[u8]| Recording::from_bytes(bytes.to_vec()).unwrap().snapshot(SNAPSHOT).unwrap();
    assert_eq!(info(&before), info(&after), "what the commits say is the same");
    let retained = |place: &IndexPlace| open(&path, place).dominators(&Silent).unwrap().retained_bytes(ObjectId(1));
    for place in [BESIDE, IndexPlace::Beside { otherwise: Some(folder.path().join("others")), most_bytes: None }] {
        let _ = fs::remove_file(index_of(&path));
        for (bytes, expected) in [(&before, 64), (&after, 24)] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(retained(&place), expected);
            assert_renewed(&path, &computed(&path, SNAPSHOT));
            assert_eq!(retained(&place), expected);
        }
    }
}

/// A recording of one snapshot. The writer describes a site before it, and perhaps one after it.
fn with_sites(last: bool) -> Vec<u8> {
    let shelf = Shelf::default();
    let options = Options { uuid: Some([5; 16]), created_ns: Some(0), ..Options::without_threads() };
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    TestHeap::random(&mut Random::new(3), 40, &vocabulary).record(&writer).unwrap();
    if last {
        writer.site(&SiteDescription { line: Some(7), ..SiteDescription::default() }).unwrap();
    }
    writer.finish().unwrap();
    shelf.take()
}

/// The kept columns of a snapshot stay valid when the recording is finished, and when rows follow it.
#[test]
fn the_content_is_all_frames_up_to_the_commit() {
    let folder = folder();
    let path = folder.path().join("heap.barrow");
    let whole = with_sites(false);
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert!(Recording::open(&path).unwrap().damage().is_some());
    assert_renewed(&path, &computed(&path, SNAPSHOT));
    fs::write(&path, &whole).unwrap();
    assert_kept(&path, &BESIDE, &computed(&path, SNAPSHOT));
    fs::write(&path, with_sites(true)).unwrap();
    assert_kept(&path, &BESIDE, &computed(&path, SNAPSHOT));
}

#[test]
fn a_snapshot_of_nothing() {
    let kept = Kept::of(&Graph::default());
    assert_kept(&kept.path, &BESIDE, &kept.expected);
}

#[test]
fn without_a_place_there_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heap.barrow");
    fs::write(&path, Graph::bytes_of(&[&small()], None)).unwrap();
    let heap = open(&path, &IndexPlace::Nowhere);
    answers(&heap, &Silent).unwrap();
    assert_eq!(heap.index_problem(), None);
    assert_eq!(names(folder.path()), ["heap.barrow"]);
    // In memory there is no place beside a recording.
    let recording = Arc::new(small().recording());
    let place = IndexPlace::Beside { otherwise: Some(folder.path().to_owned()), most_bytes: None };
    answers(&Heap::new(recording, SNAPSHOT, &place, Memory::unlimited()).unwrap(), &Silent).unwrap();
    assert_eq!(names(folder.path()), ["heap.barrow"]);
}

#[test]
fn each_snapshot_has_its_own_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heap.barrow");
    let graphs: Vec<Graph> = (0..3).map(|seed| graph(seed, 50)).collect();
    fs::write(&path, Graph::bytes_of(&graphs.iter().collect::<Vec<_>>(), None)).unwrap();
    let ids: Vec<SnapshotId> = (0..3).map(SnapshotId).collect();
    let expected: Vec<String> = ids.iter().map(|&id| computed(&path, id)).collect();
    // All heaps are opened first, and then queried at the same time.
    let heaps: Vec<Heap> = ids.iter().map(|&id| heap(&path, id, &BESIDE).unwrap()).collect();
    std::thread::scope(|scope| {
        for (heap, expected) in heaps.iter().zip(&expected) {
            scope.spawn(move || assert_eq!(&answers(heap, &Silent).unwrap(), expected));
        }
    });
    for (&id, expected) in ids.iter().zip(&expected) {
        assert_eq!(&answers(&heap(&path, id, &BESIDE).unwrap(), &Silent).unwrap(), expected);
    }
    for (&id, expected) in ids.iter().zip(&expected) {
        let phases = Phases::default();
        assert_eq!(&answers(&heap(&path, id, &BESIDE).unwrap(), &phases).unwrap(), expected);
        assert_eq!(phases.so_far(), [""; 0], "snapshot {id}");
    }
    assert_eq!(names(folder.path()), ["heap.barrow", "heap.barrow.index"]);
}

// ---- Stale, foreign, damaged ------------------------------------------------------------------------

#[test]
fn an_index_of_another_recording() {
    let (one, other) = (Kept::of(&graph(1, 50)), Kept::of(&graph(2, 50)));
    // The same objects in a file of another name.
    let twin = Kept::of(&graph(1, 50));
    for foreign in [&other, &twin] {
        fs::write(index_of(&one.path), &foreign.index).unwrap();
        assert_renewed(&one.path, &one.expected);
    }
    // Another recording takes the name.
    fs::copy(&other.path, &one.path).unwrap();
    assert_renewed(&one.path, &other.expected);
}

#[test]
fn a_recording_that_grew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heap.barrow");
    let (first, second) = (graph(3, 50), graph(4, 50));
    let write = |graphs: &[&Graph]| fs::write(&path, Graph::bytes_of(graphs, Some([7; 16]))).unwrap();
    write(&[&first]);
    assert_renewed(&path, &computed(&path, SNAPSHOT));
    write(&[&first, &second]);
    assert_kept(&path, &BESIDE, &computed(&path, SNAPSHOT));
    // One of the same name, whose only snapshot is another.
    write(&[&second]);
    assert_renewed(&path, &computed(&path, SNAPSHOT));
}

#[test]
fn an_index_cut_anywhere() {
    let kept = Kept::of(&small());
    alone(|| {
        for length in 0..kept.index.len() {
            kept.assert_right_with(&kept.index[..length], || format!("cut after {length} bytes"));
        }
        for tail in [&b"\0"[..], b"tail"] {
            kept.assert_right_with(&[&kept.index, tail].concat(), || "with a tail".to_owned());
        }
    });
    fs::write(index_of(&kept.path), &kept.index[..kept.index.len() / 2]).unwrap();
    assert_renewed(&kept.path, &kept.expected);
}

#[test]
fn a_flipped_bit_of_every_byte() {
    const THREADS: usize = 2;
    std::thread::scope(|scope| {
        for first in 0..THREADS {
            scope.spawn(move || alone(|| flip_bits(first, THREADS)));
        }
    });
}

/// Each bit of the header and of the heads of sections, some of which no checksum covers. Of each other byte one bit: a
/// CRC differs for any of them.
fn bits_to_flip(index: &[u8]) -> Vec<usize> {
    let mut is_head = vec![false; index.len()];
    let mut at = 0;
    while at < index.len() {
        is_head[at..at + HEADER_BYTES].fill(true);
        at += if at == 0 { HEADER_BYTES } else { u64_at(index, at + 8) };
    }
    (0..8 * index.len()).filter(|bit| is_head[bit / 8] || bit % 8 == bit / 8 % 8).collect()
}

fn flip_bits(first: usize, step: usize) {
    let kept = Kept::of(&small());
    for bit in bits_to_flip(&kept.index).into_iter().skip(first).step_by(step) {
        let mut index = kept.index.clone();
        index[bit / 8] ^= 1 << (bit % 8);
        kept.assert_right_with(&index, || format!("bit {} of byte {}", bit % 8, bit / 8));
    }
    assert_kept(&kept.path, &BESIDE, &kept.expected);
}

#[test]
fn something_else_under_the_name() {
    let kept = Kept::of(&small());
    let mut random = Random::new(5);
    let garbage: Vec<u8> = (0..5000).map(|_| random.next() as u8).collect();
    for bytes in [&[][..], &garbage, &fs::read(&kept.path).unwrap(), &[0; 4096]] {
        fs::write(index_of(&kept.path), bytes).unwrap();
        assert_renewed(&kept.path, &kept.expected);
    }
    fs::remove_file(index_of(&kept.path)).unwrap();
    fs::create_dir(index_of(&kept.path)).unwrap();
    let heap = open(&kept.path, &BESIDE);
    assert_eq!(answers(&heap, &Silent).unwrap(), kept.expected);
    assert!(heap.index_problem().is_some_and(|problem| problem.contains("the index is not kept")));
    assert_eq!(names(kept.folder.path()), ["heap.barrow", "heap.barrow.index"], "nothing half-written is left");
    // A file that is there and cannot be read is replaced; the superuser reads it.
    fs::remove_dir(index_of(&kept.path)).unwrap();
    fs::write(index_of(&kept.path), &kept.index).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(index_of(&kept.path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    assert_eq!(answers(&open(&kept.path, &BESIDE), &Silent).unwrap(), kept.expected);
    assert_kept(&kept.path, &BESIDE, &kept.expected);
}

/// A damaged last commit says nothing about the snapshots before it.
#[test]
fn a_recording_whose_last_commit_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heap.barrow");
    let bytes = Graph::bytes_of(&[&small(), &graph(4, 50)], None);
    fs::write(&path, &bytes).unwrap();
    let expected = computed(&path, SNAPSHOT);
    let is_frame = |at: &usize| bytes[*at..].starts_with(b"BrwF\x0a\0");
    let commit = (0..bytes.len()).rfind(is_frame).unwrap();
    for damaged in [commit, commit + 12, commit + 60] {
        let mut changed = bytes.clone();
        changed[damaged] ^= 1;
        fs::write(&path, &changed).unwrap();
        assert_eq!(answers(&open(&path, &BESIDE), &Silent).unwrap(), expected, "byte {}", damaged - commit);
        assert_eq!(answers(&open(&path, &BESIDE), &Silent).unwrap(), expected, "byte {}", damaged - commit);
    }
}

// ---- Where it is kept -------------------------------------------------------------------------------

/// A name so long that no index can be written beside the recording, even by the superuser: the index would have a name
/// of 255 bytes, and a temporary file a longer one.
fn unwritable(folder: &Path) -> PathBuf {
    folder.join("h".repeat(249))
}

#[test]
fn a_folder_that_cannot_be_written_to() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = unwritable(folder.path());
    fs::write(&path, Graph::bytes_of(&[&graph(6, 50)], None)).unwrap();
    let expected = computed(&path, SNAPSHOT);
    let place = IndexPlace::Beside { otherwise: Some(other.path().to_owned()), most_bytes: None };
    let heap = open(&path, &place);
    assert_eq!(answers(&heap, &Silent).unwrap(), expected);
    assert_eq!(heap.index_problem(), None);
    assert_kept(&path, &place, &expected);
    assert_eq!((names(folder.path()).len(), names(other.path()).len()), (1, 1));

    // The other folder fails as well: the first reason is reported once.
    let file = other.path().join("a file");
    fs::write(&file, "").unwrap();
    for otherwise in [None, Some(file.join("folder"))] {
        let heap = open(&path, &IndexPlace::Beside { otherwise, most_bytes: None });
        assert_eq!(answers(&heap, &Silent).unwrap(), expected);
        let problem = heap.index_problem().expect("it cannot be kept");
        assert!(problem.starts_with(&index_of(&path).display().to_string()), "{problem}");
        assert_eq!(heap.index_problem(), None);
    }
    assert_eq!(names(folder.path()).len(), 1);
}

/// The index of another user beside the recording holds some columns; the missing ones are kept in the other folder.
#[test]
fn both_places_together() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = unwritable(folder.path());
    fs::write(&path, Graph::bytes_of(&[&graph(6, 50)], None)).unwrap();
    let expected = computed(&path, SNAPSHOT);
    let place = IndexPlace::Beside { otherwise: Some(other.path().to_owned()), most_bytes: None };
    open(&path, &place).dominators(&Silent).unwrap();
    let own = fs::read_dir(other.path()).unwrap().next().unwrap().unwrap().path();
    fs::rename(own, index_of(&path)).unwrap();
    let heap = open(&path, &place);
    assert_eq!(answers(&heap, &Silent).unwrap(), expected);
    // Columns in the memory of the heap do not hide columns that the file lost.
    assert_eq!(heap.index_problem(), None);
    assert_kept(&path, &place, &expected);
}

#[test]
fn half_written_files_of_others() {
    let kept = Kept::of(&small());
    let names_before = names(kept.folder.path());
    let half = |name: &str, age: u64| {
        let path = kept.folder.path().join(name);
        fs::write(&path, "half").unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(SystemTime::now() - Duration::from_secs(age))
            .unwrap();
        path
    };
    let old = half(".heap.barrow.index.abcdef.half", 3600);
    let young = half(".heap.barrow.index.bcdefg.half", 5);
    let foreign = [half(".heap.barrow.index.notes", 3600), half(".heap.barrow.index.other.barrow", 3600)];
    fs::remove_file(index_of(&kept.path)).unwrap();
    assert_eq!(answers(&open(&kept.path, &BESIDE), &Silent).unwrap(), kept.expected);
    assert!(!old.exists(), "a temporary file older than an hour is removed");
    assert!(young.exists(), "another process may still be writing it");
    assert!(foreign.iter().all(|path| path.exists()), "files of others stay");
    fs::remove_file(young).unwrap();
    foreign.iter().for_each(|path| fs::remove_file(path).unwrap());
    assert_eq!(names(kept.folder.path()), names_before);
}

// ---- Appended, and removed --------------------------------------------------------------------------

/// When a section was used last, and its columns.
fn sections(index: &[u8]) -> Vec<(usize, Vec<u32>)> {
    let (mut at, mut sections) = (HEADER_BYTES, Vec::new());
    while at < index.len() {
        let columns = (0..u32_at(index, at + 28) as usize).map(|entry| u32_at(index, at + 64 + 48 * entry));
        sections.push((u64_at(index, at + 40), columns.collect()));
        at += u64_at(index, at + 8);
    }
    sections
}

#[test]
fn columns_are_appended() {
    let kept = Kept::of(&graph(1, 3000));
    fs::remove_file(index_of(&kept.path)).unwrap();
    let mut before = Vec::new();
    let questions: [fn(&Heap); 3] = [
        |heap| _ = heap.distances(&Silent).unwrap(),
        |heap| _ = heap.dominators(&Silent).unwrap(),
        |heap| _ = heap.incoming(&Silent).unwrap(),
    ];
    for (number, question) in questions.into_iter().enumerate() {
        question(&open(&kept.path, &BESIDE));
        let index = fs::read(index_of(&kept.path)).unwrap();
        assert!(index.starts_with(&before) && sections(&index).len() == number + 1);
        before = index;
    }
    assert_kept(&kept.path, &BESIDE, &kept.expected);
}

#[test]
fn the_sections_that_were_not_used_for_the_longest_time_are_removed() {
    let kept = Kept::of(&graph(1, 3000));
    fs::remove_file(index_of(&kept.path)).unwrap();
    let most = |most_bytes| IndexPlace::Beside { otherwise: None, most_bytes: Some(most_bytes) };
    open(&kept.path, &BESIDE).distances(&Silent).unwrap();
    let of_distances = fs::metadata(index_of(&kept.path)).unwrap().len();
    open(&kept.path, &BESIDE).dominators(&Silent).unwrap();
    let mut index = fs::read(index_of(&kept.path)).unwrap();
    let [(now, distances), (_, dominators)] = &sections(&index)[..] else { panic!("there are two sections") };
    // Both were used two hours ago. Then the distances are used again.
    for at in [HEADER_BYTES, HEADER_BYTES + u64_at(&index, HEADER_BYTES + 8)] {
        index[at + 40..at + 48].copy_from_slice(&(*now as u64 - 7200).to_le_bytes());
    }
    fs::write(index_of(&kept.path), &index).unwrap();
    open(&kept.path, &BESIDE).distances(&Silent).unwrap();
    let marked = sections(&fs::read(index_of(&kept.path)).unwrap());
    assert!(marked[0].0 >= *now && marked[1].0 == now - 7200, "{marked:?}");
    // One more byte than there is room for.
    let place = most(index.len() as u64);
    open(&kept.path, &place).incoming(&Silent).unwrap();
    let left = sections(&fs::read(index_of(&kept.path)).unwrap());
    assert!(left.len() == 2 && left[0].1 == *distances && left[1].1 != *dominators, "{left:?}");
    assert!(fs::metadata(index_of(&kept.path)).unwrap().len() <= index.len() as u64);
    assert_eq!(names(kept.folder.path()), ["heap.barrow", "heap.barrow.index"]);
    assert!(answers(&open(&kept.path, &place), &Silent).unwrap() == kept.expected);
    assert!(fs::metadata(index_of(&kept.path)).unwrap().len() <= index.len() as u64);
    // A column that alone is larger is not kept, and those that were there stay.
    fs::remove_file(index_of(&kept.path)).unwrap();
    for _ in 0..2 {
        let heap = open(&kept.path, &most(of_distances));
        assert!(answers(&heap, &Silent).unwrap() == kept.expected);
        assert_eq!(heap.index_problem(), None);
        assert!(fs::metadata(index_of(&kept.path)).unwrap().len() <= of_distances);
    }
}

#[test]
fn processes_that_add_at_the_same_time() {
    let kept = Kept::of(&graph(1, 3000));
    for _ in 0..20 {
        fs::remove_file(index_of(&kept.path)).unwrap();
        // Each heap opens the file itself, as processes do.
        let heaps: Vec<Heap> = (0..4).map(|_| open(&kept.path, &BESIDE)).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| heaps[0].distances(&Silent).unwrap());
            scope.spawn(|| heaps[1].dominators(&Silent).unwrap());
            scope.spawn(|| heaps[2].incoming(&Silent).unwrap());
            scope.spawn(|| heaps[3].distances(&Silent).unwrap());
        });
        assert!(heaps.iter().all(|heap| heap.index_problem().is_none()));
        assert_kept(&kept.path, &BESIDE, &kept.expected);
    }
    assert_eq!(names(kept.folder.path()), ["heap.barrow", "heap.barrow.index"]);
}

/// Columns that are damaged again and again are replaced, and the file does not grow with them.
#[test]
fn replaced_sections_are_removed() {
    let kept = Kept::of(&graph(1, 3000));
    let usual = kept.index.len();
    for _ in 0..10 {
        let mut index = fs::read(index_of(&kept.path)).unwrap();
        let last = index.len() - 200;
        // The newest columns are damaged: all of them.
        for at in (HEADER_BYTES..last).step_by(500).filter(|at| at % 64 > 8) {
            index[at] ^= 1;
        }
        fs::write(index_of(&kept.path), &index).unwrap();
        assert!(answers(&open(&kept.path, &BESIDE), &Silent).unwrap() == kept.expected);
        let length = fs::metadata(index_of(&kept.path)).unwrap().len() as usize;
        assert!(length <= 3 * usual, "{length} bytes, and {usual} would do");
    }
}

// ---- Stopped in the middle --------------------------------------------------------------------------

#[test]
fn cancelled_anywhere() {
    let kept = Kept::of(&graph(1, 40_000));
    // The old file lacks one column.
    fs::remove_file(index_of(&kept.path)).unwrap();
    open(&kept.path, &BESIDE).distances(&Silent).unwrap();
    let old = fs::read(index_of(&kept.path)).unwrap();
    let mut stopped = 0;
    for calls in 0.. {
        let heap = open(&kept.path, &BESIDE);
        match heap.dominators(&LimitedProgress::new(calls)) {
            Ok(_) => break,
            Err(AnalyzerError::Cancelled) => stopped += 1,
            Err(error) => panic!("{error}"),
        }
        assert_eq!(names(kept.folder.path()), ["heap.barrow", "heap.barrow.index"], "after {calls} calls");
        assert!(fs::read(index_of(&kept.path)).unwrap() == old, "the old index changed after {calls} calls");
        if calls % 20 == 0 {
            assert!(answers(&open(&kept.path, &IndexPlace::Nowhere), &Silent).unwrap() == kept.expected);
            // The same heap is used again.
            heap.dominators(&Silent).unwrap();
            assert!(answers(&heap, &Silent).unwrap() == kept.expected);
            fs::write(index_of(&kept.path), &old).unwrap();
        }
    }
    assert!(stopped > 10, "there were only {stopped} chances to stop");
    assert!(answers(&open(&kept.path, &BESIDE), &Silent).unwrap() == kept.expected);
    assert_kept(&kept.path, &BESIDE, &kept.expected);
}

// ---- Written after the answer ------------------------------------------------------------------------

fn keeping_later(path: &Path) -> Heap {
    open(path, &BESIDE).keeping_the_index_later()
}

#[test]
fn what_is_written_after_the_answer_is_the_same() {
    for seed in 0..40 {
        let kept = Kept::of(&graph(seed, 60));
        let largest = open(&kept.path, &IndexPlace::Nowhere).largest(&Silent).unwrap().objects().to_vec();
        fs::remove_file(index_of(&kept.path)).unwrap();
        let heap = keeping_later(&kept.path);
        assert_eq!(heap.largest(&Silent).unwrap().objects(), largest);
        assert!(heap.owes_index() && !index_of(&kept.path).exists());
        if seed % 2 == 0 {
            let phases = Phases::default();
            assert_eq!(answers(&heap, &phases).unwrap(), kept.expected);
            assert!(!phases.so_far().iter().any(|phase| phase == "numbering objects"), "they are computed twice");
        }
        heap.keep_index(&Silent).unwrap();
        let written = fs::read(index_of(&kept.path)).unwrap();
        heap.keep_index(&Silent).unwrap();
        assert!(!heap.owes_index() && fs::read(index_of(&kept.path)).unwrap() == written);
        assert_eq!(answers(&heap, &Silent).unwrap(), kept.expected);
        assert_kept(&kept.path, &BESIDE, &kept.expected);
    }
}

#[test]
fn a_question_may_come_while_it_is_written() {
    let kept = Kept::of(&graph(3, 40_000));
    fs::remove_file(index_of(&kept.path)).unwrap();
    let heap = keeping_later(&kept.path);
    heap.largest(&Silent).unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| heap.keep_index(&Silent));
        let phases = Phases::default();
        assert!(answers(&heap, &phases).unwrap() == kept.expected);
        assert!(!phases.so_far().iter().any(|phase| phase == "numbering objects"), "they are computed twice");
        writing.join().unwrap().unwrap();
    });
    assert_kept(&kept.path, &BESIDE, &kept.expected);
}

#[test]
fn writing_that_was_stopped_is_tried_again() {
    let kept = Kept::of(&graph(1, 40_000));
    fs::remove_file(index_of(&kept.path)).unwrap();
    let heap = keeping_later(&kept.path);
    heap.largest(&Silent).unwrap();
    let mut stopped = 0;
    while let Err(error) = heap.keep_index(&LimitedProgress::new(stopped)) {
        assert!(matches!(error, AnalyzerError::Cancelled), "{error}");
        stopped += 1;
        assert!(heap.owes_index(), "after {stopped} calls");
    }
    assert!(stopped > 10, "there were only {stopped} chances to stop");
    assert_eq!(answers(&open(&kept.path, &BESIDE), &Silent).unwrap(), kept.expected);
}

#[test]
fn without_memory_nothing_waits() {
    let kept = Kept::of(&graph(1, 40_000));
    fs::remove_file(index_of(&kept.path)).unwrap();
    // The program takes 48 MiB of it.
    let memory = Memory::limited(49 << 20);
    let heap = Heap::new(Arc::new(Recording::open(&kept.path).unwrap()), SNAPSHOT, &BESIDE, memory).unwrap();
    let heap = heap.keeping_the_index_later();
    heap.largest(&Silent).unwrap();
    assert!(!heap.owes_index() && index_of(&kept.path).exists());
}

/// Environment variables that name the recording for a child process to index repeatedly, or until its disk is full.
const KILLED: &str = "BARROW_INDEX_KILLED";
const FULL: &str = "BARROW_INDEX_FULL";

/// The work of the child process until it is killed. In the parent this test does nothing.
#[test]
fn child_to_be_killed() {
    let Some(path) = std::env::var_os(KILLED).map(PathBuf::from) else { return };
    loop {
        let _ = fs::remove_file(index_of(&path));
        answers(&open(&path, &BESIDE), &Silent).unwrap();
    }
}

fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).stdout(Stdio::null());
    command
}

#[test]
fn killed_while_writing() {
    let kept = Kept::of(&graph(1, 40_000));
    let mut random = Random::new(std::process::id().into());
    let mut half_written = 0;
    for _ in 0..25 {
        let _ = fs::remove_file(index_of(&kept.path));
        let mut child = child("child_to_be_killed").env(KILLED, &kept.path).spawn().unwrap();
        while !index_of(&kept.path).exists() {
            assert!(child.try_wait().unwrap().is_none(), "the child ended on its own");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        // SIGKILL: the child has no way to clean up.
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "the child did not end on its own");
        assert!(answers(&open(&kept.path, &BESIDE), &Silent).unwrap() == kept.expected);
        assert_kept(&kept.path, &BESIDE, &kept.expected);
        for name in names(kept.folder.path()).iter().filter(|name| name.to_string_lossy().starts_with('.')) {
            half_written += 1;
            fs::remove_file(kept.folder.path().join(name)).unwrap();
        }
    }
    eprintln!("{half_written} of 25 were killed while writing");
}

/// The work of the child process on its small disk. In the parent this test does nothing.
#[test]
fn child_on_a_small_disk() {
    let Some(folder) = std::env::var_os(FULL).map(PathBuf::from) else { return };
    let (path, ballast) = (folder.join("heap.barrow"), folder.join("ballast"));
    fs::write(&path, Graph::bytes_of(&[&graph(1, 40_000)], None)).unwrap();
    let expected = computed(&path, SNAPSHOT);
    open(&path, &BESIDE).distances(&Silent).unwrap();
    let old = fs::read(index_of(&path)).unwrap();
    // Leave room for some of the next columns.
    let free = 8 << 20;
    fs::write(&ballast, vec![1; free - fs::metadata(&path).unwrap().len() as usize - old.len() - (40 << 10)]).unwrap();
    let heap = open(&path, &BESIDE);
    assert!(answers(&heap, &Silent).unwrap() == expected);
    let problem = heap.index_problem().expect("the disk is full");
    assert!(problem.contains("the index is not kept: No space left"), "{problem}");
    // Small columns were written, and earlier columns still exist.
    let (key, columns) = parts(&old);
    let (key_now, columns_now) = parts(&fs::read(index_of(&path)).unwrap());
    assert!(key == key_now && columns.iter().all(|column| columns_now.contains(column)), "the old columns are gone");
    assert_eq!(names(&folder), ["ballast", "heap.barrow", "heap.barrow.index"]);
    fs::remove_file(&ballast).unwrap();
    assert!(answers(&open(&path, &BESIDE), &Silent).unwrap() == expected);
    assert_kept(&path, &BESIDE, &expected);
}

#[test]
fn a_disk_that_fills_up() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=8m tmpfs "$1" || exit 77; shift; exec "$@""#;
    let status = Command::new("unshare")
        .args(["-rm", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "child_on_a_small_disk", "--nocapture"])
        .env(FULL, folder.path())
        .status();
    match status {
        Ok(status) if status.success() => {}
        // Only `unshare` without permission exits with 1; failed tests exit with 101.
        Ok(status) if matches!(status.code(), Some(1 | 77)) => eprintln!("not tested: no disk can be mounted here"),
        Ok(status) => panic!("the child failed: {status}"),
        Err(error) => eprintln!("not tested: no unshare here ({error})"),
    }
}

// ---- Made by hand -----------------------------------------------------------------------------------

/// A column and its values, as the documentation of the index file's layout defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    snapshot: u32,
    number: u32,
    form: u8,
    width: usize,
    bytes: Vec<u8>,
    /// The offset and the length of the pieces stated in the directory, if they differ from the real ones.
    claimed: Option<(u64, u64)>,
}

/// The forms of columns.
const PLAIN: u8 = 0;
const NARROW: u8 = 1;
const DIFFERENCES: u8 = 2;

const HEADER_BYTES: usize = 64;

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

fn piece_bytes(form: u8) -> usize {
    [1 << 18, 4096 * 4, 1 << 16, 1 << 16][usize::from(form)]
}

/// The bytes that a piece was encoded from.
fn decoded(form: u8, width: usize, bytes: usize, stored: &[u8]) -> Vec<u8> {
    match form {
        PLAIN => stored.to_vec(),
        NARROW => {
            let (numbers, shift, exceptions) = (usize::from(stored[0]), stored[1], u32_at(stored, 0) >> 16);
            let mut values: Vec<u32> = (0..bytes / 4)
                .map(|at| {
                    let number = stored[4 + numbers * at..][..numbers].iter().rev();
                    number.fold(0, |value, &byte| value << 8 | u32::from(byte)) << shift
                })
                .collect();
            let places = 4 + numbers * values.len();
            for exception in 0..exceptions as usize {
                let place =
                    usize::from(stored[places + 2 * exception]) | usize::from(stored[places + 2 * exception + 1]) << 8;
                values[place] = u32_at(stored, places + 2 * exceptions as usize + 4 * exception);
            }
            values.iter().flat_map(|value| value.to_le_bytes()).collect()
        }
        _ => {
            let (mut decompressor, mut buffer) = (Decompressor::new(), Vec::new());
            let codec = Codec::from_number(stored[0].into()).unwrap();
            let planes = decompressor.decompress("a piece", codec, &stored[1..], bytes, &mut buffer).unwrap();
            let length = bytes / width;
            let mut before = 0u64;
            let value = |at: usize| {
                let value =
                    (0..width).rev().fold(0, |value, plane| value << 8 | u64::from(planes[plane * length + at]));
                before = if form == DIFFERENCES {
                    before.wrapping_add(value >> 1 ^ (value & 1).wrapping_neg())
                } else {
                    value
                };
                before.to_le_bytes()[..width].to_vec()
            };
            (0..length).flat_map(value).collect()
        }
    }
}

/// Encodes a piece as simply as its form allows.
fn encoded(form: u8, width: usize, piece: &[u8]) -> Vec<u8> {
    match form {
        PLAIN => piece.to_vec(),
        NARROW => [&[4, 0, 0, 0], piece].concat(),
        _ => {
            let mut before = 0;
            let mut number = |value: &[u8]| {
                let value = value.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
                if form != DIFFERENCES {
                    return value.to_le_bytes();
                }
                let beyond = 64 - 8 * width;
                let difference = (value.wrapping_sub(before) << beyond).cast_signed() >> beyond;
                before = value;
                (difference << 1 ^ difference >> 63).cast_unsigned().to_le_bytes()
            };
            let numbers: Vec<[u8; 8]> = piece.chunks_exact(width).map(&mut number).collect();
            let planes = (0..width).flat_map(|plane| numbers.iter().map(move |number| number[plane]));
            [0].into_iter().chain(planes).collect()
        }
    }
}

/// Parses an index: its header, the checksum of the content in its sections, and their columns. Of those that are kept
/// twice, the newer one.
fn parts(index: &[u8]) -> (Vec<u8>, Vec<Column>) {
    let (mut at, mut columns, mut key) = (HEADER_BYTES, Vec::<Column>::new(), index[..HEADER_BYTES].to_vec());
    while at < index.len() {
        let section = &index[at..at + u64_at(index, at + 8)];
        key.truncate(HEADER_BYTES);
        key.extend(&section[16..24]);
        for entry in section[64..].chunks(48).take(u32_at(section, 28) as usize) {
            let (form, width) = (entry[4], usize::from(entry[5]));
            let (values, start, stored) = (u64_at(entry, 8), u64_at(entry, 16), u64_at(entry, 24));
            let length = values * width;
            let mut bytes = Vec::new();
            let mut before = 0;
            for piece in 0..length.div_ceil(piece_bytes(form)) {
                let end = u64_at(section, start + stored + 12 * piece);
                let of_piece = piece_bytes(form).min(length - piece * piece_bytes(form));
                bytes.extend(decoded(form, width, of_piece, &section[start + before..start + end]));
                before = end;
            }
            let (snapshot, number) = (u32_at(section, 24), u32_at(entry, 0));
            columns.retain(|other| (other.snapshot, other.number) != (snapshot, number));
            columns.push(Column { snapshot, number, form, width, bytes, claimed: None });
        }
        at += section.len();
    }
    (key, columns)
}

/// Builds an index with valid checksums: a section for the columns of each snapshot.
fn index_with(key: &[u8], columns: &[Column]) -> Vec<u8> {
    let mut index = key[..HEADER_BYTES].to_vec();
    let snapshots: std::collections::BTreeSet<u32> = columns.iter().map(|column| column.snapshot).collect();
    for snapshot in snapshots {
        let columns: Vec<&Column> = columns.iter().filter(|column| column.snapshot == snapshot).collect();
        index.extend(section_with(&key[HEADER_BYTES..], snapshot, &columns));
    }
    index
}

fn section_with(content: &[u8], snapshot: u32, columns: &[&Column]) -> Vec<u8> {
    let (mut directory, mut body) = (Vec::new(), Vec::new());
    let start = 64 + 48 * columns.len();
    for column in columns {
        body.resize((start + body.len()).next_multiple_of(64) - start, 0);
        let offset = start + body.len();
        let mut list = Vec::new();
        for piece in column.bytes.chunks(piece_bytes(column.form)) {
            let stored = encoded(column.form, column.width, piece);
            body.extend(&stored);
            list.extend(((start + body.len() - offset) as u64).to_le_bytes());
            list.extend(crc32c::crc32c(&stored).to_le_bytes());
        }
        let real = (offset as u64, (start + body.len() - offset) as u64);
        body.extend(&list);
        let (offset, stored) = column.claimed.unwrap_or(real);
        directory.extend(column.number.to_le_bytes());
        directory.extend([column.form, column.width as u8, 0, 0]);
        for number in [(column.bytes.len() / column.width) as u64, offset, stored] {
            directory.extend(number.to_le_bytes());
        }
        // The list is that after the stated end of the pieces.
        let all = [vec![0; start], body.clone()].concat();
        let after = |end: u64| all.get(end as usize..end.checked_add(list.len() as u64)? as usize);
        let claimed = offset.checked_add(stored).and_then(after);
        directory.extend(crc32c::crc32c(claimed.unwrap_or(&list)).to_le_bytes());
        directory.extend([0; 12]);
    }
    body.resize((start + body.len()).next_multiple_of(64) - start, 0);
    let mut head = b"BRWSECT\n".to_vec();
    head.extend(((start + body.len()) as u64).to_le_bytes());
    head.extend(content);
    head.extend(snapshot.to_le_bytes());
    head.extend((columns.len() as u32).to_le_bytes());
    head.extend(crc32c::crc32c_append(crc32c::crc32c(&head), &directory).to_le_bytes());
    head.extend([0; 4]);
    head.extend(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs().to_le_bytes());
    head.resize(64, 0);
    [head, directory, body].concat()
}

/// Asks all questions that use columns. Answers may be wrong, but every question must end.
fn ask(heap: &Heap) {
    // Questions end for any damage, for columns checked piece by piece and for those checked as a whole.
    heap.ask_dominators(&Silent, |dominators| {
        walk(heap, dominators);
        Ok::<_, AnalyzerError>(())
    })
    .unwrap();
    let _ = (selected(heap), tables(heap, &Silent).unwrap());
    let _ = answers(heap, &Silent).unwrap();
    let dominators = heap.dominators(&Silent).unwrap();
    walk(heap, dominators);
    let all = heap.all_objects();
    for object in objects(heap) {
        let _ = (dominators.retained_count(object), dominators.dominated(object).count());
        let options = PathOptions { count: 2, ..PathOptions::default() };
        heap.paths(object, &options, &Silent).unwrap();
    }
    dominators.largest(3, |_| true);
    heap.kept_canopy().unwrap();
    heap.merged_paths(&all, &Silent).unwrap();
    heap.leak_suspects(0.1, &Silent).unwrap();
    heap.retained_set(&ObjectSet::from_sorted(SNAPSHOT, heap.object_count(), [ObjectId(0)]), &Silent).unwrap();
}

/// Down the tree from the top, and up from every object.
fn walk(heap: &Heap, dominators: &Dominators) {
    let (mut places, mut seen) = (vec![dominators.top()], 0);
    while let Some(place) = places.pop() {
        let children: Vec<TreePlace> = dominators.children(place).collect();
        let _ = (dominators.count_at(place), dominators.bytes_at(place), dominators.at(place));
        places.extend(children);
        seen += 1;
        assert!(seen <= 10 * heap.object_count() + 10, "the tree has more places than there are objects");
    }
    for object in objects(heap) {
        let holders = dominators.holders(object).count() as u64;
        assert!(holders <= heap.object_count() + 1, "holders go in circles");
    }
}

/// Questions end for any content of an index with valid checksums.
fn assert_end(kept: Kept, cases: impl Iterator<Item = (Vec<u8>, String)> + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    // A hanging thread cannot be stopped, so the test fails while it still runs.
    let asking = std::thread::spawn(move || {
        alone(|| {
            for (index, what) in cases {
                sender.send(what.clone()).unwrap();
                fs::write(index_of(&kept.path), &index).unwrap();
                ask(&open(&kept.path, &BESIDE));
                let length = fs::metadata(index_of(&kept.path)).unwrap().len();
                let is_small = length < 4 * (index.len() + kept.index.len()) as u64;
                assert!(is_small, "the index has grown to {length} bytes: {what}");
            }
        });
    });
    let mut last = String::new();
    loop {
        match receiver.recv_timeout(Duration::from_secs(20)) {
            Ok(next) => last = next,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("no answer: {last}"),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    asking.join().unwrap_or_else(|_| panic!("a panic: {last}"));
}

/// Small questions are answered faster by a single thread.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(work)
}

#[test]
fn an_index_put_together_by_hand_is_the_same() {
    // Unmanaged sizes have a column if any of them is not 0.
    for (graph, number) in [(small(), 27), (graph(8, 30), 28)] {
        let kept = Kept::of(&graph);
        let (key, columns) = parts(&kept.index);
        assert_eq!(columns.iter().map(|column| column.number).collect::<std::collections::BTreeSet<_>>().len(), number);
        fs::write(index_of(&kept.path), index_with(&key, &columns)).unwrap();
        assert_kept(&kept.path, &BESIDE, &kept.expected);
    }
}

#[test]
fn wild_numbers_in_columns() {
    std::thread::scope(|scope| {
        for (seed, graph) in [small(), graph(8, 30), graph(9, 90)].into_iter().enumerate() {
            scope.spawn(move || {
                let kept = Kept::of(&graph);
                let (key, columns) = parts(&kept.index);
                let mut random = Random::new(seed as u64);
                let cases = (0..600).map(move |round| {
                    let mut columns = columns.clone();
                    for _ in 0..1 + random.below(4) {
                        let at = random.below(columns.len() as u64) as usize;
                        change(&mut columns, at, &mut random);
                    }
                    (index_with(&key, &columns), format!("round {round} of {seed}: {columns:?}"))
                });
                assert_end(kept, cases);
            });
        }
    });
}

/// One file has positions for a column that is unreadable there and shorter in the other file.
#[test]
fn columns_of_two_files_that_do_not_belong_together() {
    let (kept, other) = (Kept::of(&small()), tempfile::tempdir().unwrap());
    let place = IndexPlace::Beside { otherwise: Some(other.path().to_owned()), most_bytes: None };
    // The name of an index in the other folder.
    let uuid: String = Recording::open(&kept.path).unwrap().uuid().iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(other.path().join(format!("{uuid}.index")), &kept.index).unwrap();
    let (key, mut columns) = parts(&kept.index);
    let (position, vertex) = (1, 2);
    columns.retain(|column| [position, vertex].contains(&column.number));
    for column in &mut columns {
        column.form = PLAIN;
        if column.number == vertex {
            column.bytes.resize(4 * 2000, 0xee);
        } else {
            // All positions are beyond the column of the other file.
            column.bytes.chunks_exact_mut(4).for_each(|bytes| bytes.copy_from_slice(&1000u32.to_le_bytes()));
        }
    }
    let mut index = index_with(&key, &columns);
    let in_vertex = index.windows(4).position(|bytes| bytes == [0xee; 4]).unwrap();
    index[in_vertex] ^= 1;
    fs::write(index_of(&kept.path), &index).unwrap();
    assert_eq!(answers(&open(&kept.path, &place), &Silent).unwrap(), kept.expected);
}

/// Changes one column: a number, its length, its name, or where it is.
fn change(columns: &mut Vec<Column>, at: usize, random: &mut Random) {
    let others = columns.clone();
    let column = &mut columns[at];
    let width = column.width;
    let numbers = column.bytes.len() / width;
    match random.below(12) {
        0 => column.bytes.truncate(width * random.below(numbers as u64 + 1) as usize),
        1 => column.bytes.extend(vec![1; width * (1 + random.below(3) as usize)]),
        2 => column.bytes.push(0),
        3 => column.number = 1 + random.below(13) as u32,
        4 => drop(columns.remove(at)),
        5 => columns.push(others[random.below(others.len() as u64) as usize].clone()),
        6 => column.bytes.fill(0),
        7 => column.bytes.fill(0xff),
        _ => {
            for _ in 0..1 + random.below(4).min(numbers as u64) {
                let number = random.below(numbers as u64) as usize;
                let wild = [0, 1, 2, random.below(numbers as u64 + 2), 0x7fff_ffff, u64::MAX, random.next()];
                let wild = wild[random.below(7) as usize].to_le_bytes();
                if let Some(bytes) = column.bytes.get_mut(number * width..(number + 1) * width) {
                    bytes.copy_from_slice(&wild[..width]);
                }
            }
        }
    }
    if columns.is_empty() {
        columns.push(others[0].clone());
    }
}

#[test]
fn wild_places_in_the_directory() {
    let kept = Kept::of(&small());
    let (key, columns) = parts(&kept.index);
    let end = kept.index.len() as u64;
    let wild = [0, 64, end - 64, end, 1 << 62, u64::MAX - 63, u64::MAX];
    let claims = wild.into_iter().flat_map(move |offset| wild.map(|length| (offset, length)));
    let cases = (0..columns.len()).flat_map(move |at| claims.clone().map(move |claim| (at, claim)));
    let cases = cases.map(move |(at, claim)| {
        let mut columns = columns.clone();
        columns[at].claimed = Some(claim);
        // A column is missing, so that the file is written again.
        columns.retain(|column| column.number != 6);
        (index_with(&key, &columns), format!("column {at} at {claim:?}"))
    });
    assert_end(kept, cases);
}

/// Many entries that name the same large piece could make a rewritten file many times as large.
#[test]
fn entries_that_overlap() {
    let kept = Kept::of(&graph(8, 30));
    let (key, mut columns) = parts(&kept.index);
    columns.retain(|column| column.number == 6);
    columns[0].bytes.resize(1 << 16, 0);
    columns[0].form = PLAIN;
    let start = (64 + 48 * 101u64).next_multiple_of(64);
    let claimed = Some((start, 1 << 16));
    let others = (101..201).map(|number| Column { number, claimed, ..columns[0].clone() });
    let others: Vec<Column> = others.collect();
    columns.extend(others);
    fs::write(index_of(&kept.path), index_with(&key, &columns)).unwrap();
    ask(&open(&kept.path, &BESIDE));
    let length = fs::metadata(index_of(&kept.path)).unwrap().len();
    assert!(length < 1 << 20, "the index has grown to {length} bytes");
}

/// Subtrees that are not properly nested could be walked repeatedly, here 2^50 times.
#[test]
fn a_tree_that_is_none() {
    let (mut graph, _) = Graph::of_words("root -> a(1)");
    for object in 0..100 {
        graph.types.push(0);
        graph.sizes.push((0, 0));
        graph.references[object].push((object as u32 + 1, StrengthClass::Strong));
        graph.references.push(Vec::new());
    }
    let kept = Kept::of(&graph);
    let (key, columns) = parts(&kept.index);
    let cases = (0..3).map(move |pattern| {
        let mut columns = columns.clone();
        for column in &mut columns {
            let count = column.bytes.len() as u32 / column.width as u32;
            let numbers = |of: &dyn Fn(u32) -> u32| (0..count).flat_map(|at| of(at).to_le_bytes()).collect();
            match (column.number, pattern) {
                (3, 0) => column.bytes = numbers(&|at| if at % 2 == 0 { count - at } else { (count - at).min(2) }),
                (3, 1) => column.bytes = numbers(&|_| 1),
                (3, 2) => column.bytes = numbers(&|at| count - at),
                (4, 2) => column.bytes.fill(0),
                (5, _) => column.bytes.fill(0),
                _ => {}
            }
        }
        (index_with(&key, &columns), format!("pattern {pattern}"))
    });
    assert_end(kept, cases);
}

#[cfg(unix)]
#[test]
fn the_index_of_a_private_recording_is_private() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let kept = Kept::of(&small());
    for (mode, expected) in [(0o600, 0o600), (0o640, 0o640 & !0o022), (0o400, 0o600)] {
        fs::set_permissions(&kept.path, PermissionsExt::from_mode(mode)).unwrap();
        let _ = fs::remove_file(index_of(&kept.path));
        ask(&open(&kept.path, &BESIDE));
        let found = fs::metadata(index_of(&kept.path)).unwrap().mode() & 0o777;
        assert_eq!(found & !expected, 0, "{mode:o}: {found:o}");
    }
}
