//! Tables that compress far better than anything else: what a writer commits can be read, and what cannot be read is
//! refused by the writer.

use std::sync::Arc;

use barrow_analyzer::{
    Expression, Heap, IndexPlace, Memory, ObjectId, Page, Recording, Silent, SnapshotId, StringId, summary, verify,
};
use barrow_rewrite::repair;
use barrow_testdata::Shelf;
use barrow_writer::{
    KindRole, Object, Options, SiteDescription, SnapshotInfo, ThreadDescription, TypeDescription, Writer, WriterError,
};

const FIRST: SnapshotId = SnapshotId(0);

fn options() -> Options {
    Options::without_threads()
}

/// A recording of what `fill` declares, with an object named by each string that it returns.
fn record(fill: impl FnOnce(&Writer) -> Vec<barrow_writer::StringId>) -> Vec<u8> {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), options()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let type_id = writer.declare_type(&TypeDescription::new(kind, "T")).unwrap();
    let names = fill(&writer);
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for (id, name) in (0..).zip(&names) {
        shard.object(id, &Object { name: Some(*name), ..Object::new(type_id, 16) }).unwrap();
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    shelf.take()
}

/// Opens it with and without its index, and after a repair. All are without a problem.
fn assert_whole(bytes: &[u8], check: impl Fn(&Recording)) {
    let folder = tempfile::tempdir().unwrap();
    let recording = Recording::from_bytes(bytes.to_vec()).unwrap();
    let repaired = folder.path().join("repaired.barrow");
    assert_eq!(repair(&recording, &repaired, &Silent).unwrap().kept.len(), 1);
    let cut = Recording::from_bytes(bytes[..bytes.len() - 1].to_vec()).unwrap();
    for recording in [recording, Recording::open(&repaired).unwrap()] {
        assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
        check(&recording);
    }
    assert_eq!(cut.snapshot_count(), 1, "{:?}", cut.damage());
    check(&cut);
}

#[test]
fn many_types() {
    let bytes = record(|writer| {
        let kind = writer.kind("class", KindRole::Type).unwrap();
        let description = TypeDescription::new(kind, "C");
        for _ in 1..400_000 {
            writer.declare_type(&description).unwrap();
        }
        Vec::new()
    });
    assert_whole(&bytes, |recording| {
        let tables = recording.tables().unwrap();
        assert_eq!(tables.type_count(), 400_000);
        assert_eq!(tables.type_name(barrow_analyzer::TypeId(399_999)), "C");
        assert_eq!(summary(recording, FIRST).unwrap().totals.objects, 0);
    });
}

fn long(number: u32) -> String {
    format!("{}{number:08}", "row of a table ".repeat(20))
}

#[test]
fn many_strings_that_are_nearly_equal() {
    let bytes = record(|writer| (0..80_000).map(|number| writer.string(&long(number)).unwrap()).collect());
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    assert_whole(&bytes, |recording| {
        let tables = recording.tables().unwrap();
        let text = tables.string(StringId(tables.string_count() as u32 - 1));
        assert_eq!(text, long(79_999));
        tables.check_strings().unwrap();
    });
    let recording = Arc::new(Recording::from_bytes(bytes).unwrap());
    let heap = Heap::new(recording, FIRST, &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
    let texts = heap.texts(None, &Silent).unwrap().found;
    assert_eq!(texts.len(), 80_000);
    let wanted = Expression::parse("name ~ *00079998").unwrap();
    let found = heap.find(&[], &wanted, Page { from: ObjectId(0), limit: 5 }, &Silent).unwrap();
    assert_eq!(found.objects.iter().map(|object| object.id).collect::<Vec<_>>(), [ObjectId(79_998)]);
    let none = Expression::parse("not name ~ *row*").unwrap();
    assert_eq!(heap.count(&[], &none, &Silent).unwrap().objects, 0);
}

/// More than what is kept in memory: the rest goes to files.
#[test]
fn more_strings_than_memory_holds() {
    let text = |number: u32| format!("{number:08}{}", "x".repeat(9992));
    let bytes = record(|writer| (0..12_000).map(|number| writer.string(&text(number)).unwrap()).collect());
    assert!(bytes.len() < 2 << 20, "{}", bytes.len());
    let recording = Recording::from_bytes(bytes).unwrap();
    let tables = recording.tables().unwrap();
    let first = tables.string_count() as u32 - 12_000;
    let texts: Vec<&str> = (0..12_000).map(|number| tables.string(StringId(first + number))).collect();
    assert!((0..).zip(&texts).all(|(number, &found)| found == text(number)));
    tables.check_strings().unwrap();
}

#[test]
fn many_sites() {
    let bytes = record(|writer| {
        let site = SiteDescription { function: Some("f"), line: Some(7), ..SiteDescription::default() };
        for _ in 0..400_000 {
            writer.site(&site).unwrap();
        }
        Vec::new()
    });
    assert_whole(&bytes, |recording| assert_eq!(recording.site_count().unwrap(), 400_000));
}

#[test]
fn many_threads() {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), options()).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    (0..400_000).for_each(|_| snapshot.thread(&ThreadDescription::new(7)).unwrap());
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    assert_whole(&shelf.take(), |recording| {
        assert_eq!(barrow_analyzer::Threads::read(recording, FIRST).unwrap().rows().len(), 400_000);
    });
}

/// The writer refuses the row that no reader would read; what it had before can still be committed.
#[test]
fn a_table_that_is_too_large_is_refused_when_it_is_written() {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), options()).unwrap();
    let kind = writer.kind("class", KindRole::Type).unwrap();
    let attributes = vec![("key", "value"); 250_000];
    let description = TypeDescription { attributes: &attributes, ..TypeDescription::new(kind, "C") };
    let (types, error) = declare_until_refused(&writer, &description);
    assert!(matches!(error, WriterError::OutOfRange { what: "memory for tables (TYPES)", .. }), "{error}");
    writer.begin_snapshot(SnapshotInfo::default()).unwrap().commit().unwrap();
    writer.finish().unwrap();
    let recording = Recording::from_bytes(shelf.take()).unwrap();
    assert_eq!(recording.tables().unwrap().type_count(), types);
    assert_eq!(summary(&recording, FIRST).unwrap().totals.objects, 0);
}

/// Number of these types that the writer takes, and the error that follows.
fn declare_until_refused(writer: &Writer, description: &TypeDescription<'_>) -> (usize, WriterError) {
    let mut declared = 0;
    loop {
        match writer.declare_type(description) {
            Ok(_) => declared += 1,
            Err(error) => return (declared, error),
        }
        assert!(declared < 10_000);
    }
}
