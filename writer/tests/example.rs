//! The example of this crate runs, and what it writes is what it announced.

use barrow_analyzer::{Recording, Silent, summary, verify};

#[path = "../examples/record.rs"]
#[allow(dead_code, reason = "`main` reads the command line, and calls what the test calls")]
mod record;

#[test]
fn the_example_records_a_growing_list() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list.barrow");
    assert_eq!(record::record(&file).unwrap().snapshots, 3);

    let recording = Recording::open(&file).unwrap();
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    let totals = recording.snapshot_ids().map(|snapshot| summary(&recording, snapshot).unwrap().totals);
    // A list of 24 bytes and 8 for each text; each text 16 bytes and its letters: 5, 6 and 5.
    let [first, second, third] = [24 + 8 + 21, 24 + 16 + 21 + 22, 24 + 24 + 21 + 22 + 21];
    let counted: Vec<_> = totals.map(|totals| (totals.objects, totals.references, totals.heap_bytes)).collect();
    assert_eq!(counted, [(2, 1, first), (3, 2, second), (4, 3, third)]);
}
