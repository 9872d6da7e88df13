//! A leak has the same fingerprint in every run, and no other leak has it.

use std::sync::Arc;

use barrow_analyzer::{Fingerprint, Heap, IndexPlace, Memory, Silent, SnapshotId};
use barrow_testdata::Graph;

/// The fingerprints of what retains most of a graph in words. A name's first letter is its type.
fn fingerprints(text: &str) -> Vec<Fingerprint> {
    let (mut graph, names) = Graph::of_words(text);
    for (type_id, name) in graph.types.iter_mut().zip(&names) {
        let letter = name.chars().next().unwrap().to_ascii_uppercase();
        *type_id = Graph::TYPES.iter().position(|known| known.starts_with(letter)).unwrap() as u8;
    }
    fingerprints_of(&graph)
}

fn fingerprints_of(graph: &Graph) -> Vec<Fingerprint> {
    let recording = Arc::new(graph.recording());
    let heap = Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
    let suspects = heap.leak_suspects(0.3, &Silent).unwrap();
    suspects.iter().map(|suspect| heap.fingerprint(suspect, &Silent).unwrap()).collect()
}

#[test]
fn numbers_and_sizes_make_no_difference() {
    let few = fingerprints("root -> p -> m(10) -> leaf1(30); m -> leaf2(30); m -> leaf3(30); root -> pair(30)");
    let many =
        "root -> pair(500); root -> leaf9(7); root -> p -> m(50) -> leaf1(850); m -> leaf2(800); m -> leaf3(700)";
    assert_eq!((few.len(), &few), (1, &fingerprints(many)));
    // Which one of several shortest paths is found depends on numbers; dominators do not.
    let around = |first: &str, second: &str| {
        fingerprints(&format!(
            "root -> p -> {first} -> m(10) -> leaf1(40); p -> {second} -> m -> leaf2(40); root -> pair(30)"
        ))
    };
    assert_eq!(around("pair", "list"), around("list", "pair"));
}

#[test]
fn the_length_of_a_list_makes_no_difference() {
    let list = |length: usize| {
        let nodes: Vec<String> = (0..length).map(|at| format!("p{at}(10)")).collect();
        fingerprints(&format!("root -> {} -> m(9) -> leaf(900)", nodes.join(" -> ")))
    };
    assert_eq!(list(2), list(30));
}

#[test]
fn many_objects_of_a_type_have_one_fingerprint() {
    let many = |count: usize| {
        let leaves: Vec<String> = (0..count).map(|at| format!("m -> leaf{at}(100)")).collect();
        fingerprints(&format!("root -> m; root -> m2(1); {}; root -> leaf(1)", leaves.join("; ")))
    };
    assert_eq!((many(5).len(), many(5)), (1, many(50)));
    assert_ne!(many(5), fingerprints("root -> m -> leaf(100)"));
}

#[test]
fn another_holder_gives_another_fingerprint() {
    let held_by = |holder: &str| fingerprints(&format!("root -> {holder} -> leaf1(90); {holder} -> leaf2(90)"));
    assert_ne!(held_by("m"), held_by("list"));
    assert_ne!(held_by("m"), held_by("list -> m"));
    let (mut graph, _) = Graph::of_words("root -> a -> b(90)");
    let globals = fingerprints_of(&graph);
    graph.roots[0].0 = 0;
    assert_ne!(globals, fingerprints_of(&graph));
}
