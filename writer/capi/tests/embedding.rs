//! The C blocks of docs/embedding.md are one program, which records what it says. Its Rust blocks are
//! documentation tests of `barrow-writer`.

mod library;

use std::fs;
use std::sync::Arc;

use barrow_analyzer::{
    FieldValue, Heap, Held, IndexPlace, Memory, ObjectId, Recording, Silent, SiteId, SnapshotId, StrengthClass,
    StrengthId, Threads, object, outgoing, summary, verify,
};
use library::{Build, build, command, crate_folder, run};

/// The blocks of a language, one after the other.
fn blocks(document: &str, language: &str) -> String {
    let opening = format!("```{language}\n");
    let parts = document.split(&opening).skip(1);
    parts.filter_map(|part| part.split("```").next()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_page_is_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let page = fs::read_to_string(crate_folder().join("../../docs/embedding.md")).unwrap();
    let rest = fs::read_to_string(crate_folder().join("tests/embedding.c")).unwrap();
    let source = folder.path().join("page.c");
    fs::write(&source, blocks(&page, "c") + &rest).unwrap();

    let path = folder.path().join("page.barrow");
    for way in [Build::Static, Build::Address, Build::Thread] {
        if !way.is_possible(folder.path()) {
            continue;
        }
        let program = build(way, &source, folder.path(), "page");
        let printed = run(command(&[], &program).arg(&path));
        let recording = Arc::new(Recording::open(&path).unwrap());
        assert_eq!(recording.damage(), None);
        assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
        let found: String = recording.snapshot_ids().map(|id| totals(&recording, id)).collect();
        assert_eq!(printed, found);
        assert_contents(&recording);
    }
}

fn totals(recording: &Recording, snapshot: SnapshotId) -> String {
    let totals = summary(recording, snapshot).unwrap().totals;
    format!("{} objects {} references {} roots\n", totals.objects, totals.references, totals.roots)
}

fn assert_values(recording: &Arc<Recording>) {
    let heap = Heap::new(Arc::clone(recording), SnapshotId(4), &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
    let found = heap.object_fields(ObjectId(0)).unwrap();
    let found: Vec<_> = found.iter().map(|field| (field.name, field.held)).collect();
    let Held::Value(FieldValue::Text(text)) = found[1].1 else { panic!("{found:?}") };
    assert_eq!(recording.tables().unwrap().string(text), "ünï");
    assert_eq!([found[0], found[2]], [("hits", Held::Value(FieldValue::Signed(-7))), ("head", Held::Null)]);
}

fn assert_contents(recording: &Arc<Recording>) {
    let tables = recording.tables().unwrap();
    assert_eq!(recording.facts().unwrap(), [("runtime".to_owned(), "example 1.0".to_owned())]);
    assert_eq!(recording.snapshot(SnapshotId(0)).unwrap().gc_number, Some(5));
    for snapshot in [SnapshotId(0), SnapshotId(1)] {
        let last = object(recording, snapshot, ObjectId(98)).unwrap();
        assert_eq!(tables.type_name(last.type_id), "Cell");
        assert_eq!((tables.type_file(last.type_id), tables.type_line(last.type_id)), (Some("cell.x"), Some(3)));
        let site = recording.site(last.site.unwrap()).unwrap().unwrap();
        assert_eq!((site.place(), site.caller), (Some("main.x:7".to_owned()), Some(SiteId(1))));
        let references = outgoing(recording, snapshot, ObjectId(98)).unwrap();
        assert_eq!((references[0].target, references[0].strength), (ObjectId(97), StrengthId::STRONG));
    }
    let strengths = outgoing(recording, SnapshotId(2), ObjectId(0)).unwrap();
    let classes: Vec<_> = strengths.iter().map(|reference| tables.strength_class(reference.strength)).collect();
    assert_eq!(classes, [StrengthClass::Weak, StrengthClass::Weak, StrengthClass::Ephemeron]);
    assert_values(recording);
    let threads = Threads::read(recording, SnapshotId(3)).unwrap();
    let told: Vec<_> = threads
        .rows()
        .iter()
        .map(|row| {
            let [name, state, label] = [row.name, row.state, row.root_label].map(|id| tables.string(id.unwrap()));
            (row.id, name, state, label, row.allocated_bytes, row.allocated_objects, row.cpu_time_ns)
        })
        .collect();
    let expected = [
        (1, "main", "running", "main", Some(12_800), None, Some(90_000)),
        (2, "helper", "waiting", "helper", Some(0), None, Some(0)),
    ];
    assert_eq!(told, expected);
}
