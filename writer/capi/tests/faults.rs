//! Misuse and misfortune, through C: every wrong call is a code and a message, and harms no recording.
//!
//! ThreadSanitizer has its place in `toy_gc.rs`: here it would take the program's write function for a race, since it
//! does not see the lock that the library calls it under.

mod library;

use std::path::Path;

use barrow_analyzer::{Recording, Silent, SnapshotId, summary, verify};
use library::{Build, MEMCHECK, build, command, crate_folder, has_memcheck, run};

/// Objects of each snapshot of a recording without any problem.
fn objects(path: &Path) -> Vec<u64> {
    let recording = Recording::open(path).unwrap();
    assert_eq!(recording.damage(), None);
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    recording.snapshot_ids().map(|id| summary(&recording, id).unwrap().totals.objects).collect()
}

fn check(way: Build, tool: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    if !way.is_possible(folder.path()) {
        return;
    }
    let program = build(way, &crate_folder().join("tests/faults.c"), folder.path(), "faults");
    let (own, of_child) = (folder.path().join("faults.barrow"), folder.path().join("child.barrow"));
    run(command(tool, &program).arg(&own).arg(&of_child));
    assert_eq!(objects(&own), [100, 1, 1]);
    assert_eq!(objects(&of_child), [77]);
    let patches = folder.path().join("faults.barrow.patches");
    assert_eq!(objects(&patches), [300, 301]);
    let bases = Recording::open(&patches).unwrap().snapshot(SnapshotId(1)).unwrap().base;
    assert_eq!(bases, Some(SnapshotId(0)));
    let recording = Recording::open(&own).unwrap();
    assert_eq!(recording.facts().unwrap(), [("latin-1".to_owned(), "Gr\u{fffd}\u{fffd}e".to_owned())]);
    assert_eq!((recording.uuid()[..4].to_vec(), recording.created_ns()), (vec![1, 2, 3, 0], 5));
}

#[test]
fn every_wrong_call_says_so() {
    check(Build::Static, &[]);
    check(Build::Shared, &[]);
}

#[test]
fn every_wrong_call_under_address_sanitizer() {
    check(Build::Address, &[]);
}

#[test]
fn every_wrong_call_under_memcheck() {
    if has_memcheck() {
        check(Build::Static, &MEMCHECK);
    }
}
