//! Keys of dictionaries and texts of classes of a Python program, against what Python itself says of them.

mod python;

use std::collections::BTreeMap;

use barrow_analyzer::{
    Expression, FieldPath, FieldValue, Heap, Held, IndexPlace, Memory, ObjectId, ObjectSet, Recording, Silent,
    SnapshotId,
};
use python::{Python, said};

const SNAPSHOT: SnapshotId = SnapshotId(0);

#[test]
fn keys_and_texts_are_those_of_python() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("keys.barrow");
    let mut command = python.command();
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/keys.py")).arg(&path);
    let said = said(&command.output().expect("a Python"));
    let recording = Recording::open(&path).expect("a whole recording").into();
    let heap = Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).expect("a snapshot");
    let is_case = Expression::parse("type ~ /Case$/ and kind = object").expect("an expression");
    let all: Vec<ObjectId> = heap.select(&[], &is_case, &Silent).expect("a heap").0.iter().collect();
    let cases: BTreeMap<String, ObjectId> = all.iter().map(|&id| (text(&heap, id, ".name"), id)).collect();
    let mut differences = Vec::new();
    for line in said.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let found = text(&heap, cases[words[0]], words[1]);
        if found != words[2] {
            differences.push(format!("{line}: {found}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(said.lines().count() >= 43, "{said}");
}

/// What a path leads to from an object.
fn text(heap: &Heap, object: ObjectId, path: &str) -> String {
    let set = ObjectSet::from_sorted(SNAPSHOT, heap.object_count(), [object]);
    let path = FieldPath::typed(path).expect("a path");
    match heap.field_column(&set, &path, &Silent).expect("a heap")[0] {
        Held::Value(FieldValue::Text(text)) => heap.recording().tables().expect("tables").string(text).to_owned(),
        other => format!("{other:?}"),
    }
}
