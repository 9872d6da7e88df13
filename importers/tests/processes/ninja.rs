//! Imports of ninja's logs.

use crate::logs::NINJA;
use crate::recorded::record;

#[test]
fn commands_are_processes() {
    let recorded = record(NINJA).expect("a log");
    let expected = "\
0us begin 0 (pid 1)
attributes 0: label=a.o command hash=179ccd21a11a38fc mtime=1795429206630124186
0us begin 1 (pid 2)
attributes 1: label=b.o command hash=b3f90a7a9068a778 also made=b.h
29000us end 0 status 0
38000us end 1 status 0
38000us begin 2 (pid 3)
attributes 2: label=sub/game command hash=3fcbeb9340556a
68000us end 2 status 0
";
    assert_eq!(recorded.text(), expected);
    assert_eq!(recorded.fact("recorded by").as_deref(), Some("ninja"));
    assert_eq!((recorded.imported.processes, recorded.lost(), recorded.imported.notes.len()), (3, None, 0));
}

#[test]
fn builds_follow_each_other() {
    let recorded = record(&format!("{NINJA}1\t20\t0\ta.o\t179ccd21a11a38fc\n20\t30\t0\tsub/game\t1\n")).expect("a log");
    let text = recorded.text();
    assert!(
        text.contains("69000us begin 3 (pid 4)\nattributes 3: label=a.o command hash=179ccd21a11a38fc build=2\n"),
        "{text}"
    );
    assert!(text.contains("98000us end 4 status 0\n"), "{text}");
    assert!(recorded.fact("builds").expect("a fact").starts_with("the log holds 2 builds; they follow each other"));
    assert_eq!(recorded.imported.notes.len(), 1);
}

#[test]
fn builds_that_are_mixed_are_named_so() {
    let recorded = record("# ninja log v7\n50\t60\t0\tb\t1\n0\t9\t0\ta\t2\n30\t40\t0\tc\t3\n").expect("a log");
    assert!(recorded.text().starts_with("0us begin 0 (pid 1)\nattributes 0: label=a "));
    assert!(recorded.imported.notes[0].contains("cannot be told apart"));
}

#[test]
fn lines_that_are_torn_are_left_out() {
    let recorded = record("# ninja log v6\n\n# x\n0\t9\t0\ta\t2\n9\t7\t0\tb\t1\nx\n").expect("a log");
    let lost =
        "2 lines were left out, 10 bytes in all; the first is at byte 30: `9\\t7\\t0\\tb\\t1`; 1 process was imported";
    assert_eq!(recorded.lost().as_deref(), Some(lost));
}

#[test]
fn other_versions_are_refused() {
    let error = record("# ninja log v4\n0\t9\t0\ta\tgcc\n").map(drop).expect_err("too old").to_string();
    assert_eq!(error, "a log of ninja of another version than 5, 6 and 7; build once with a ninja from 2012 or later");
}
