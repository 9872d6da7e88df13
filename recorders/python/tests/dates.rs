//! Dates and numbers of a Python program, against what Python itself says of them.

mod python;

use std::collections::BTreeMap;

use barrow_analyzer::{
    Expression, FieldPath, GroupKey, Heap, Held, IndexPlace, Memory, Number, NumberTotals, ObjectSet, Recording,
    Silent, SnapshotId,
};
use python::{Python, said};

#[test]
fn dates_and_numbers_compare_as_in_python() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("dates.barrow");
    let mut command = python.command();
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dates.py")).arg(&path);
    let said = said(&command.output().expect("a Python"));
    let recording = Recording::open(&path).expect("a whole recording").into();
    let heap = Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).expect("a snapshot");
    let is_case = "type ~ /Case$/ and kind = object";
    let all = select(&heap, is_case);
    assert_eq!(all.len(), 400);
    let days = sizes_of_groups(&heap, &all, ".day");
    let mut differences = Vec::new();
    for line in said.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let found = match words[0] {
            "count" => select(&heap, &format!("{is_case} and {}", words[1])).len().to_string(),
            "group" => days.get(words[1]).copied().unwrap_or_default().to_string(),
            _ => {
                let mut totals = NumberTotals::default();
                let path = FieldPath::parse(words[1]).expect("a field");
                heap.field_numbers(&all, &path, &Silent, &mut |_, found| totals.add_found(found)).expect("numbers");
                totals.sum().map_or(String::new(), |sum| {
                    if let Number::Whole(sum) = sum { sum.to_string() } else { format!("{sum:?}") }
                })
            }
        };
        if words.last() != Some(&&*found) {
            differences.push(format!("{line}: {found}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(said.lines().count() > 60, "{said}");
}

fn select(heap: &Heap, text: &str) -> ObjectSet {
    heap.select(&[], &Expression::parse(text).expect(text), &Silent).expect(text).0
}

/// The number of objects of each group, by its line.
fn sizes_of_groups(heap: &Heap, set: &ObjectSet, field: &str) -> BTreeMap<String, u64> {
    let key = GroupKey::Field(FieldPath::parse(field).expect("a field"));
    let groups = heap.groups(set, &[key], &Silent).expect("groups");
    let held: Vec<Held> = groups.groups.iter().map(|group| groups.held(group)[0]).collect();
    let lines = heap.lines_of(&held, &Silent).expect("lines");
    let named = groups.groups.iter().zip(&held).filter_map(|(group, held)| match held {
        Held::Object(object) => Some((lines.get(object)?.text.clone(), group.objects)),
        _ => None,
    });
    named.collect()
}
