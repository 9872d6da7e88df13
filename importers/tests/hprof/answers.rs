//! Questions about objects of a JVM that runs now, whose answers the program printed.

use crate::live::{Cases, cases, said};
use crate::read::SNAPSHOT;
use barrow_analyzer::{FieldPath, Heap, Held, ObjectId, ObjectSet, Silent};
use std::collections::BTreeMap;

/// The answer to a question about an object, as the programs print it.
fn answer(heap: &Heap, meanings: &[Held], object: ObjectId, question: &str) -> String {
    let set = ObjectSet::from_sorted(SNAPSHOT, heap.object_count(), [object]);
    match question {
        "elements" => format!("{:?}", heap.fillings(&set, &Silent).expect("a heap")[0].elements.expect("a number")),
        "entries" => {
            let entries = heap.entries(object, usize::MAX, &Silent).expect("a heap").expect("a collection");
            assert!(entries.are_known && !entries.has_more);
            entries.entries.len().to_string()
        }
        "line" => heap.lines(&[object], &Silent).expect("a heap").remove(0).expect("a line"),
        "value" => said(heap, meanings, heap.stand_for(&set, &Silent).expect("a heap")[0]),
        path => {
            let path = FieldPath::typed(path).expect("a path");
            let held = heap.field_column(&set, &path, &Silent).expect("a heap")[0];
            said(heap, meanings, held)
        }
    }
}

/// Asks everything that the program printed an answer to: the name of an object, then questions and answers by turns.
fn assert_answers(program: &str, least: usize) {
    let Some(Cases { heap, meanings, cases, lines }) = cases(program) else { return };
    let objects: BTreeMap<&str, ObjectId> = cases.iter().map(|(name, held)| (name.as_str(), *held)).collect();
    let (mut differences, mut asked) = (Vec::new(), 0);
    for line in &lines {
        let words: Vec<&str> = line.split('\t').collect();
        for pair in words[1..].chunks(2) {
            let (question, expected) = (pair[0], pair[1]);
            let found = answer(&heap, &meanings, objects[words[0]], question);
            asked += 1;
            if found != expected {
                differences.push(format!("{} {question}: {found} for {expected}", words[0]));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(asked >= least, "{asked}");
}

#[test]
fn fields_that_hide_those_of_the_jdk_are_others() {
    assert_answers("Hidden", 25);
}

#[test]
fn keys_of_many_classes_lead_to_their_values() {
    assert_answers("Keys", 46);
}
