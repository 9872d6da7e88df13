//! `classes`: spans of classes as a part of the whole, and histograms on one scale.

use crate::program;
use std::path::Path;

use barrow_writer::{Options, ProcessDescription, ProcessEnd, ProgramDescription, Usage, Writer};
use serde_json::Value;

/// Program, begin and end in seconds, processor time in ms: make runs for 10 s, compilers from 1 s to 6 s with a pause.
const BUILD: [(&str, i64, i64, u64); 5] =
    [("make", 0, 10, 10), ("cc1", 1, 3, 1000), ("cc1", 2, 3, 1000), ("cc1", 5, 6, 90), ("ld", 8, 10, 500)];

fn record(path: &Path) {
    let writer = Writer::create(path, Options::without_threads()).unwrap();
    let mut parent = None;
    let mut ids = Vec::new();
    for (pid, (program, begin, ..)) in (1..).zip(BUILD) {
        let arguments = [program];
        let program = ProgramDescription { arguments: &arguments, ..ProgramDescription::default() };
        let time_ns = begin * 1_000_000_000;
        let begun = ProcessDescription { time_ns, pid, parent, program, ..ProcessDescription::default() };
        let id = writer.begin_process(&begun).unwrap();
        parent = parent.or(Some(id));
        ids.push(id);
    }
    for (id, (.., end, ms)) in ids.into_iter().zip(BUILD) {
        let used = Usage { user_ns: Some(ms * 1_000_000), ..Usage::default() };
        let end_of = ProcessEnd { exit_status: Some(0), used, ..ProcessEnd::default() };
        writer.end_process(id, end * 1_000_000_000, &end_of).unwrap();
    }
    writer.finish().unwrap();
}

fn ask(words: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.barrow");
    record(&path);
    let path = path.display().to_string();
    let run = program::run(&[&["classes", path.as_str()], words].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout
}

#[test]
fn spans_are_told_in_seconds_and_as_a_part_of_the_whole() {
    let expected = "\
class       processes  running     span        %  from first to last
build-tool          1  10.00 s  10.00 s  100.0 %  |################################|
compiler            3   3.00 s   5.00 s   50.0 %  |   #######......###-            |
linker              1   2.00 s   2.00 s   20.0 %  |                         -######|
(all)               5  10.00 s  10.00 s  100.0 %  |################################|
";
    let table = ask(&[]);
    assert!(table.starts_with(expected), "{table}");
    let json: Value = serde_json::from_str(&ask(&["category", "--format", "json"])).unwrap();
    let schema = &json["schemata"][0];
    assert_eq!(schema["rows"][1]["span_ns"], 5_000_000_000_u64);
    assert_eq!(schema["rows"][1]["span_share"], 0.5);
    assert_eq!(schema["all"]["span_ns"], 10_000_000_000_u64);
    assert_eq!((&schema["all"]["processes"], &schema["all"]["running_ns"]), (&5.into(), &10_000_000_000_u64.into()));
    let csv = ask(&["--format", "csv"]);
    let at = csv.lines().next().unwrap().split(',').position(|column| column == "span_ns").unwrap();
    let row = csv.lines().find(|line| line.starts_with("compiler")).unwrap();
    assert_eq!(row.split(',').nth(at), Some("5000000000"));
}

#[test]
fn histograms_of_all_classes_have_one_scale() {
    // Tenths of 1 s: 10 ms and 90 ms are in the first of them, whatever the class. A `@` is a process.
    let expected = "\
class         from      to  processes
build-tool  0.00 s  0.10 s          1  @
compiler    0.00 s  0.10 s          1  @
compiler    0.90 s  1.00 s          2  @@
linker      0.40 s  0.50 s          1  @
all classes have one scale: ranges are tenths of 1.00 s, the most of any process, and the longest bar is 2 processes
";
    assert_eq!(ask(&["histogram"]), expected);
    let logarithmic = ask(&["histogram", "log"]);
    assert!(logarithmic.ends_with("ranges are powers of two, and the longest bar is 2 processes\n"), "{logarithmic}");
}
