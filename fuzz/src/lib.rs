//! What the fuzz targets do with their bytes: any bytes, and every answer must be `Ok` or `Err`.
//!
//! ```text
//!   fuzz_targets/<name>.rs ─────────┐
//!                                   ├─▶ one function here ─▶ panics if an answer contradicts another
//!   ../repl/tests/fuzz_corpus.rs ───┘
//! ```

#![forbid(unsafe_code)]

mod checksums;
mod damaged;
mod kept;
mod processes;
mod redaction;

use std::sync::{Arc, OnceLock};

use barrow_analyzer::{
    AnalyzerError, Expression, FieldPath, Heap, IndexPlace, Memory, Names, ObjectId, ObjectSet, Page, PathOptions,
    Recording, Silent, SnapshotId, Threads, object, outgoing, outgoing_page, summary, verified_summaries, verify, walk,
};
use barrow_format::varint::{decode_u32, scalar};
use barrow_importers::{Silent as Unwatched, import_bytes, read_values};
use barrow_repl::Console;
use barrow_rewrite::{RepackOptions, repack, repair};
use barrow_testdata::Shelf;
use barrow_writer::{
    Compression, Encoding, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Value, Writer,
    WriterError,
};

pub use checksums::with_checksums;
pub use damaged::{damaged_hprof, damaged_logs, damaged_ruby, damaged_v8};
pub use kept::{cache, genuine_index, index, index_fixed};
pub use processes::process_expression;
pub use redaction::redact;

/// Lines that one input is read as; more would only be slow.
const MOST_LINES: usize = 6;

/// Opens the bytes as a recording and asks everything.
pub fn recording(bytes: &[u8]) {
    let Ok(recording) = Recording::from_bytes(bytes.to_vec()).map(Arc::new) else { return };
    if let Some(damage) = recording.damage() {
        assert!(!damage.to_string().contains('\n'), "one sentence: {damage}");
    }
    let found = verify(&recording, &Silent).expect("never cancelled");
    let is_whole = recording.damage().is_none() && found.problems.is_empty();
    for id in recording.snapshot_ids() {
        let answers = ask(&recording, id);
        assert!(!is_whole || answers.is_ok(), "verified, but {answers:?}");
    }
    let processes = processes::ask(&recording);
    assert!(!is_whole || processes.is_ok(), "verified, but {processes:?}");
    check_repair(&recording);
    if is_whole {
        check_repack(&recording);
    }
}

/// [`recording`] with every checksum made right first, so that lies get past them.
pub fn recording_fixed(bytes: &[u8]) {
    recording(&with_checksums(bytes));
}

fn ask(recording: &Arc<Recording>, id: SnapshotId) -> barrow_analyzer::Result<()> {
    let info = recording.snapshot(id);
    let totals = summary(recording, id);
    let verified = verified_summaries(recording, &[id], &Silent);
    let threads = Threads::read(recording, id);
    let many = Expression::parse("refs > 1 or type ~ a*").expect("an expression");
    let heap = Heap::new(Arc::clone(recording), id, &IndexPlace::Nowhere, Memory::unlimited())?;
    let counted = heap.count(&[], &many, &Silent);
    let page = heap.find(&[], &many, Page { from: ObjectId(1), limit: 3 }, &Silent);
    let graph = ask_graph(&heap);
    // No recording has all of these fields; that is an answer, too.
    for path in [".next", ".a", ".count", ".next.count"] {
        let path = FieldPath::parse(path).expect("a path");
        if let Ok(column) = heap.field_column(&heap.all_objects(), &path, &Silent) {
            assert_eq!(column.len() as u64, heap.object_count());
        }
        let test = Expression::parse(&format!("{path} != null or {path} > 1 or {path} ~ a*")).expect("an expression");
        let _ = heap.count(&[], &test, &Silent);
    }
    for number in [0, 1, 7, u32::MAX] {
        let _ = heap.object_fields(ObjectId(number));
        let (object, references) = (object(recording, id, ObjectId(number)), outgoing(recording, id, ObjectId(number)));
        if let (Ok(object), Ok(references)) = (object, references) {
            assert_eq!(object.references, references.len() as u64);
            let (page, total) = outgoing_page(recording, id, object.id, 1, 2)?;
            assert_eq!(total, object.references);
            assert!(references.iter().skip(1).take(2).eq(&page));
        }
    }
    let mut walked = 0;
    walk(recording, id, &Silent, |_, _| {
        walked += 1;
        Ok(())
    })?;
    let info = info?;
    assert_eq!(info.totals.objects, walked);
    graph?;
    assert!(counted?.objects <= walked);
    assert!(page?.objects.len() <= 3);
    assert_eq!(totals?.kinds, verified?[0].kinds);
    let threads = threads?;
    assert_eq!(threads.ended_since(&threads), 0);
    heap.thread_roots(&threads, &Silent)?;
    recording.facts().map(drop)
}

/// What follows from the references of all objects.
fn ask_graph(heap: &Heap) -> barrow_analyzer::Result<()> {
    let dominators = heap.dominators(&Silent)?;
    let unreachable = heap.unreachable(&Silent)?.len();
    assert_eq!(dominators.reachable_count() + unreachable, heap.object_count());
    let largest = dominators.largest(3, |_| true);
    for &object in &largest {
        let paths = heap.paths(object, &PathOptions { count: 2, ..PathOptions::default() }, &Silent)?;
        assert!(!paths.is_empty(), "what is dominated is reachable");
        for path in &paths {
            heap.steps(path, 0..path.objects.len())?;
        }
        let referrers = heap.referrers(object, &Silent)?;
        let count = referrers.count();
        assert_eq!(heap.incoming_page(&referrers, 0, usize::MAX)?.len() as u64, count);
        assert_eq!(heap.incoming_by_type(object, &Silent)?.iter().map(|one| one.references).sum::<u64>(), count);
        heap.outgoing_by_type(object, &Silent)?;
        heap.referring_objects(object, &Silent)?;
        assert!(heap.incoming(&Silent)?.count(object) <= heap.recording().snapshot(heap.snapshot())?.totals.references);
    }
    heap.duplicates(&Silent)?;
    heap.waste(&Silent)?;
    heap.leak_suspects(0.1, &Silent)?;
    heap.retained_by_kind(&Silent)?;
    heap.retained_by_site(&Silent)?;
    heap.retained_by_generation(&Silent)?;
    assert!(heap.known_to_be_dominated(&heap.all_objects(), &Silent)? <= Some(dominators.reachable_bytes()));
    heap.retained_by_type(&Silent).map(drop)
}

/// Whatever can be repaired is clean afterwards.
fn check_repair(recording: &Recording) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("repaired.barrow");
    let Ok(repaired) = repair(recording, &path, &Silent) else { return };
    if repaired.bytes.is_none() {
        assert!(!path.exists(), "nothing could be kept");
        return;
    }
    let clean = Recording::open(&path).expect("a repaired recording");
    assert_eq!(clean.damage(), None);
    assert_eq!(clean.snapshot_count(), repaired.kept.len());
    assert_eq!(verify(&clean, &Silent).expect("never cancelled").problems, []);
}

/// Whatever is whole can be repacked, and is whole again.
fn check_repack(recording: &Recording) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("repacked.barrow");
    let repacked = repack(recording, &path, RepackOptions { level: 1 }, &Silent).expect("it is whole");
    assert_eq!(repacked.snapshots.len(), recording.snapshot_count());
    let small = Recording::open(&path).expect("a repacked recording");
    assert_eq!(verify(&small, &Silent).expect("never cancelled").problems, []);
    for id in recording.snapshot_ids() {
        let totals = [recording, &small].map(|recording| summary(recording, id).expect("it is whole").kinds);
        assert_eq!(totals[0], totals[1]);
    }
}

/// [`dump`] for files of measured values: what is read of one without a recording is what an import finds.
pub fn measurements(bytes: &[u8]) {
    dump(bytes);
    let Ok(read) = read_values(bytes) else { return };
    assert!(!read.values.is_empty() && read.values.iter().all(|value| value.value.is_finite()));
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("a stream to nowhere");
    let imported = import_bytes(bytes, &writer, &Unwatched).expect("values were read");
    assert_eq!(imported.values, read.values.len() as u64);
    writer.finish().expect("the writer is usable after any import");
}

/// Imports the bytes as a dump; what was written must be a whole recording.
pub fn dump(bytes: &[u8]) {
    let shelf = Shelf::default();
    let options = Options { compression: Compression::None, ..Options::without_threads() };
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).expect("a stream in memory");
    let imported = import_bytes(bytes, &writer, &Unwatched);
    writer.finish().expect("the writer is usable after any import");
    let recording = Recording::from_bytes(shelf.take()).expect("what the writer wrote");
    assert_eq!(recording.damage(), None);
    assert_eq!(verify(&recording, &Silent).expect("never cancelled").problems, []);
    if let Ok(imported) = imported {
        assert_eq!(recording.snapshot_count(), imported.snapshots.len());
        if let Some(loss) = imported.lost {
            assert!(!loss.to_string().is_empty());
        }
    }
}

/// Reads the bytes as an expression and looks for what it describes.
pub fn expression(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Expression::parse_with(&text, &SmallNames) {
        Ok(expression) => {
            let page = Page { from: ObjectId(0), limit: 100 };
            let found = match small().find(&[], &expression, page, &Silent) {
                Err(AnalyzerError::NoObject { object, .. }) => {
                    assert!(u64::from(object.0) >= small().object_count());
                    return;
                }
                found => found.expect("a whole recording"),
            };
            let (set, counted) = small().select(&[], &expression, &Silent).expect("a whole recording");
            assert_eq!(counted.objects, found.objects.len() as u64);
            assert!(set.iter().eq(found.objects.iter().map(|object| object.id)));
        }
        Err(error) => assert!(error.position <= text.len() && !error.message.is_empty()),
    }
}

/// `$a` is of the small recording, `$b` of another snapshot; row 1 is object 3.
struct SmallNames;

impl Names for SmallNames {
    fn snapshot(&self) -> SnapshotId {
        SnapshotId(0)
    }

    fn set(&self, name: &str) -> Option<Arc<ObjectSet>> {
        let snapshot = ["a", "b"].iter().position(|known| *known == name)?;
        let ids = [1, 4].map(ObjectId);
        Some(Arc::new(ObjectSet::from_sorted(SnapshotId(snapshot as u32), 5, ids)))
    }

    fn set_names(&self) -> Vec<String> {
        ["a", "b"].map(str::to_owned).into()
    }

    fn row(&self, row: usize) -> Option<(SnapshotId, ObjectId)> {
        (row == 1).then_some((SnapshotId(0), ObjectId(3)))
    }

    fn row_count(&self) -> usize {
        1
    }
}

/// A recording of a few objects that differ in all that an expression can ask for.
fn small() -> &'static Heap {
    static SMALL: OnceLock<Heap> = OnceLock::new();
    SMALL.get_or_init(|| {
        let bytes = record_small().expect("a recording in memory");
        let recording = Arc::new(Recording::from_bytes(bytes).expect("what the writer wrote"));
        Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).expect("it has a snapshot")
    })
}

/// A recording of one snapshot with values of fields.
///
/// # Errors
/// Those of the writer.
pub fn record_small() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    record(1)
}

/// A recording with this number of snapshots of these objects.
fn record(snapshots: usize) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let shelf = Shelf::default();
    let uuid = Some(*b"small, for fuzzi");
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options { uuid, ..Options::without_threads() })?;
    (0..snapshots).try_for_each(|_| announce_small(&writer))?;
    writer.finish()?;
    Ok(shelf.take())
}

/// Reads the bytes as lines of the prompt, or as assertions, and answers them.
pub fn lines(bytes: &[u8]) {
    static SERIES: OnceLock<Vec<u8>> = OnceLock::new();
    let text = String::from_utf8_lossy(bytes);
    // The pool of threads is one for the whole process.
    if text.contains("thread") {
        return;
    }
    let series = SERIES.get_or_init(|| record(9).expect("a recording in memory"));
    let mut console = Console::of_recording(series.clone()).expect("what the writer wrote");
    for line in text.lines().take(MOST_LINES) {
        let printed = console.ask(line);
        assert!([0, 1, 2, 3, 4, 5].contains(&printed.code), "{line}: {printed:?}");
        assert!(printed.code == 0 || !printed.text.is_empty(), "{line}: {printed:?}");
    }
}

/// Reads the bytes as an assertion.
pub fn assertion(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).replace(['\n', '\r'], " ");
    lines(format!("assert {text}").as_bytes());
}

fn announce_small(writer: &Writer) -> Result<(), WriterError> {
    let kinds = [writer.kind("object", KindRole::Object)?, writer.kind("frame", KindRole::Frame)?];
    let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
    let mut shard = snapshot.shard();
    for (number, name) in (0u64..).zip(["Hash", "Array", "größer", "a b", ""]) {
        let type_id = writer.declare_type(&TypeDescription {
            layout: Some("P6opaque"),
            file: (number > 2).then_some("src/app.raku"),
            ..TypeDescription::new(kinds[usize::from(number > 2)], name)
        })?;
        let count = writer.field(type_id, "count", Encoding::Signed, false)?;
        let open = writer.field(type_id, "a", Encoding::Boolean, number == 2)?;
        writer.field(type_id, "next", Encoding::Reference, false)?;
        shard.object(number, &Object { unmanaged_bytes: 1 << number, ..Object::new(type_id, 1 << (10 * number)) })?;
        shard.value(count, Value::Signed(3 - (1 << number)))?;
        if number > 1 {
            shard.value(open, Value::Boolean(number % 2 == 0))?;
        }
        for index in 0..number {
            shard.reference(Label::Index(index), StrengthId::STRONG, index)?;
        }
    }
    shard.finish()?;
    snapshot.commit().map(drop)
}

/// Both decoders of varints say the same. The first two bytes are the count.
pub fn varint(bytes: &[u8]) {
    let Some((count, bytes)) = bytes.split_first_chunk() else { return };
    let ends = bytes.iter().filter(|&&byte| byte < 0x80).count();
    for count in [usize::from(u16::from_le_bytes(*count)), ends] {
        let (mut one, mut other) = (Vec::new(), vec![7; 3]);
        let slow = scalar::decode_u32("fuzz", bytes, count, &mut one);
        let fast = decode_u32("fuzz", bytes, count, &mut other);
        assert_eq!(slow.is_ok(), fast.is_ok(), "{slow:?} {fast:?}");
        assert!(slow.is_err() || one == other);
    }
}
