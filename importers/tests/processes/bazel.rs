//! What becomes of Bazel's profiles.

use crate::logs::BAZEL;
use crate::recorded::record;

#[test]
fn actions_are_processes() {
    let recorded = record(BAZEL).expect("a profile");
    let expected = "\
5us begin 0 (pid 1)
attributes 0: description=Writing file a action_ns=2000 label=//a output=bin/a not traced=Bazel ran no process of its own on this machine for this action
7us end 0
12us begin 1 (pid 2) CppCompile
attributes 1: description=Compiling a.c action_ns=40000 label=//a:a output=bin/a.o
42us end 1
";
    assert_eq!(recorded.text(), expected);
    assert_eq!(recorded.fact("version of Bazel").as_deref(), Some("release 8.4.1"));
    assert_eq!((recorded.imported.processes, recorded.lost()), (2, None));
    assert!(recorded.imported.notes[0].starts_with("actions for which Bazel ran no process on this machine: 1;"));
}

#[test]
fn merged_events_are_told() {
    let slim = BAZEL
        .replace("Writing file a\"", "merged 12 events\"")
        .replace("\"cat\":\"action processing\",\"name\":\"m", "\"name\":\"m");
    let recorded = record(&slim).expect("a profile");
    assert_eq!(recorded.imported.processes, 1);
    assert!(
        recorded.imported.notes[0].starts_with("events that Bazel merged into others"),
        "{:?}",
        recorded.imported.notes
    );
}

#[test]
fn events_that_are_torn_are_left_out() {
    let recorded = record(&BAZEL.replace("\"dur\":40", "\"dur\":-")).expect("a profile");
    let lost = recorded.lost().expect("a loss");
    assert!(lost.starts_with("1 event was left out, "), "{lost}");
    assert_eq!(recorded.imported.processes, 1);
}
