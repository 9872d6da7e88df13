//! Measures reachability, distances and incoming references of one snapshot, in references per second.
//!
//! `BARROW_BENCH` names the recording.

use std::sync::Arc;

use barrow_analyzer::{Heap, IndexPlace, Memory, ObjectId, Recording, Silent};
use barrow_benches::{Amount, measure, recording_path, with_threads};

fn main() {
    let recording = Arc::new(Recording::open(&recording_path()).expect("BARROW_BENCH is a recording"));
    let last = recording.snapshot_ids().next_back().expect("the recording has a snapshot");
    let totals = recording.snapshot(last).expect("it is whole").totals;
    println!("{} objects, {} references", totals.objects, totals.references);
    let references = [Amount { count: totals.references, unit: "references" }];
    let fresh =
        || Heap::new(Arc::clone(&recording), last, &IndexPlace::Nowhere, Memory::unlimited()).expect("it is whole");
    for threads in [1, 2] {
        with_threads(threads, || {
            let heap = fresh();
            // The warm-up run reads the references, which are then kept.
            measure(&format!("reachable objects, {threads} threads"), &references, || {
                drop(heap.reachable(None, &Silent).expect("it is whole"));
            });
            measure(&format!("distances, {threads} threads"), &references, || {
                drop(heap.distances_anew(&Silent).expect("it is whole"));
            });
            measure(&format!("incoming references of one object, {threads} threads"), &references, || {
                drop(heap.referring_objects(ObjectId(0), &Silent).expect("it is whole"));
            });
            measure(&format!("reading rows and turning them around, {threads} threads"), &references, || {
                fresh().incoming(&Silent).expect("it is whole");
            });
        });
    }
}
