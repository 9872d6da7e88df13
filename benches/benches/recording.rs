//! Measures the analyzer on a recording: opening, totals and decoding.

use std::sync::Arc;

use barrow_analyzer::{
    Expression, Heap, IndexPlace, Memory, Recording, Silent, SnapshotId, summary, verified_summaries, verify,
};
use barrow_benches::{Amount, measure, recording_path, with_threads};

fn main() {
    let path = recording_path();
    let open = || Recording::open(&path).expect("BARROW_BENCH is a recording");
    let recording = Arc::new(open());
    let ids: Vec<SnapshotId> = recording.snapshot_ids().collect();
    let found = verify(&recording, &Silent).expect("it is never cancelled");
    assert_eq!(found.problems, [], "the recording is whole");
    let objects = Amount { count: found.objects, unit: "objects" };
    let references = Amount { count: found.references, unit: "references" };
    let bytes = Amount { count: found.stored_bytes, unit: "bytes" };
    println!(
        "{}: {} bytes, {} snapshots, {} objects, {} references, {:.2} bytes an object",
        path.display(),
        recording.length_bytes(),
        ids.len(),
        found.objects,
        found.references,
        recording.length_bytes() as f64 / found.objects as f64
    );
    measure("open", &[], || drop(open()));
    measure("open, totals of all snapshots", &[], || {
        let recording = open();
        ids.iter().for_each(|&id| drop(summary(&recording, id).expect("it is whole")));
    });
    let everything = Expression::parse("size > 100").expect("it is valid");
    for threads in [1, 2] {
        with_threads(threads, || {
            measure(&format!("verified totals, {threads} threads"), &[objects], || {
                drop(verified_summaries(&recording, &ids, &Silent).expect("it is whole"));
            });
            measure(&format!("verify, {threads} threads"), &[objects, references, bytes], || {
                drop(verify(&recording, &Silent).expect("it is never cancelled"));
            });
            measure(&format!("count size > 100, {threads} threads"), &[objects], || {
                for &id in &ids {
                    let heap = Heap::new(Arc::clone(&recording), id, &IndexPlace::Nowhere, Memory::unlimited());
                    heap.and_then(|heap| heap.count(&[], &everything, &Silent)).expect("it is whole");
                }
            });
        });
    }
}
