//! An answer to a command or a file has every row, unless the line says how many, and is never in memory as a whole.

use crate::program;
use std::path::Path;

use crate::program::{Run, finished, program, recording};

/// Objects of the last snapshot of the bundled recording.
const OBJECTS: usize = 540_607;

/// Runs lines of the prompt in `folder`.
fn lines(folder: &Path, lines: &[&str]) -> Run {
    let mut program = program(folder);
    program.current_dir(folder).args([&recording(), "--quiet", "--no-index"]);
    for line in lines {
        program.args(["-e", line]);
    }
    finished(program.output().unwrap())
}

fn rows(run: &Run) -> usize {
    assert_eq!((run.code, &run.stderr[..]), (0, ""));
    run.stdout.trim().parse().unwrap()
}

#[test]
fn every_row_goes_to_a_command_unless_told_how_many() {
    let folder = tempfile::tempdir().unwrap();
    let count = |line: &str| rows(&lines(folder.path(), &[&format!("{line} --format csv | tail -n +2 | wc -l")]));
    assert_eq!(count("find all"), OBJECTS);
    assert_eq!(count("find 20000 all"), 20_000);
    assert_eq!(count("find 20 all by size"), 20);
    assert_eq!(count("find frames by references"), count("find frames"));
    assert!(count("top") > 200 && count("top 5") == 5);
    assert!(count("top objects by retained") > 400_000);
    assert!(count("show @2") == 3125 && count("inrefs @15") > 5);
    assert!(count("growth") > 15 && count("dominators @0 0..") > 1000);
}

/// The output of the program is a pipe here.
#[test]
fn every_row_goes_to_a_pipe_unless_told_how_many() {
    let jvm = program::testdata("jvm.barrow").display().to_string();
    let lines = |words: &[&str]| {
        let run = program::run(&[&[words[0], &jvm, "--no-index", "--quiet"], &words[1..]].concat());
        assert_eq!((run.code, &run.stderr[..]), (0, ""), "{words:?}");
        run.stdout.lines().count()
    };
    // The dump has 12,243 objects, as `testdata/foreign/README.md` says. CSV has a line of keys.
    assert_eq!(lines(&["list", "all", "of", "type", "--format", "csv"]), 12_244);
    assert_eq!(lines(&["list", "20", "all", "of", "type", "--format", "csv"]), 21);
    assert!(lines(&["find", "all"]) > 12_243 && lines(&["top"]) > 280);
    let run = program::run(&["find", &jvm, "all", "--format", "json", "--no-index", "--quiet"]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((json["rows"].as_array().unwrap().len(), &json["complete"]), (12_243, &true.into()));
    let words = [&jvm, "--no-index", "--quiet", "-e", "set rows 3", "-e", "find all --format csv"];
    let run = program::run(&words);
    assert_eq!(run.stdout.lines().filter(|line| line.contains(',')).count(), 4, "{}", run.stdout);
}

#[test]
fn tables_and_json_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let run = lines(folder.path(), &["find all > all.txt", "find all --format json > all.json", "count $_"]);
    let text = std::fs::read_to_string(folder.path().join("all.txt")).unwrap();
    let json = std::fs::read_to_string(folder.path().join("all.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(json["complete"], true);
    assert_eq!(json["exactness"], "exact");
    assert_eq!(rows.len(), OBJECTS);
    assert!(rows.windows(2).all(|pair| pair[0]["object"].as_u64() < pair[1]["object"].as_u64()));
    assert_eq!(text.lines().filter(|line| line.contains('@')).count(), rows.len());
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with('%')).count(), 1);
    assert!(!text.contains("more"), "nothing is left for `more`");
    let grouped = |number: usize| format!("{},{:03}", number / 1000, number % 1000);
    assert!(run.stdout.contains(&grouped(rows.len())), "`$_` is all that was listed: {}", run.stdout);
}

#[test]
fn rows_of_a_long_answer_are_not_in_memory_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let peak = |line: &str| {
        let run = lines(folder.path(), &[&format!("{line} | cat > /dev/null; grep VmHWM /proc/$PPID/status")]);
        let digits: String = run.stdout.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr)) << 10
    };
    if !Path::new("/proc/self/status").exists() {
        return;
    }
    // The rows as values would take some 400 bytes each.
    let few = peak("find 10 name ~ /./");
    let (objects, retaining, sorted) = (peak("find all"), peak("top objects by retained"), peak("find all by size"));
    let room = 100 << 20;
    assert!(objects < few + room, "{few} {objects}");
    assert!(retaining < few + room, "{few} {retaining}");
    assert!(sorted < few + room, "{few} {sorted}");
}

#[test]
fn a_command_that_stops_reading_stops_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let run = lines(folder.path(), &["find all | head -2", "count frames"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("snapshot") && run.stdout.contains("objects"), "{}", run.stdout);
    let run = lines(folder.path(), &["find all | head -2", "more"]);
    assert!(run.stderr.contains("there is no more"), "{}", run.stderr);
}

#[test]
fn rankings_go_on_with_more() {
    let folder = tempfile::tempdir().unwrap();
    let run = lines(folder.path(), &["find 3 frames by size", "more", "count $_"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let numbers: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.contains('@'))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(numbers, ["1", "2", "3", "4", "5", "6"], "{}", run.stdout);
    assert!(run.stdout.contains("… 6 of "), "{}", run.stdout);
}
