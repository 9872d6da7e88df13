//! `barrow trial` and what programs print: where it goes, what is found in it, and what is kept of failed runs.

#![cfg(target_os = "linux")]

mod program;

use program::trials::{asked, barrow, trial, values};
use serde_json::Value;

#[test]
fn the_standard_output_goes_where_it_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = folder.join("printed").display().to_string();
    let cases: [(&[&str], &str); 8] = [
        (&[], "/dev/null"),
        (&["--output", "null"], "/dev/null"),
        (&["--output=pipe"], "pipe:["),
        (&["--output", &file], &file),
        (&["--output", "inherit"], "pipe:["),
        (&["--show-output"], "pipe:["),
        (&["--value", "x=x=([0-9]+)"], "pipe:["),
        (&["--value", "x=x=([0-9]+)", "--output", "null", "--conclude", "echo x=1"], "/dev/null"),
    ];
    for (words, expected) in cases {
        let _ = std::fs::remove_file(folder.join("log"));
        // The redirections of a shell are its own for a moment; a substitution leaves it alone.
        let line = "out=$(readlink /proc/$$/fd/1); err=$(readlink /proc/$$/fd/2); echo $out >> log; echo $err >> log; \
                    echo x=7; echo to stderr >&2";
        let run = trial(folder, &[&["-n", "2"], words, &[line]].concat());
        assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
        let log = std::fs::read_to_string(folder.join("log")).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines.len(), 4);
        for run in lines.chunks(2) {
            assert!(run[0].starts_with(expected) && run[1].starts_with("pipe:["), "{words:?}: {log}");
        }
        let shown = if matches!(words, ["--output", "inherit"] | ["--show-output"]) { 2 } else { 0 };
        assert_eq!(run.stdout.matches("x=7\n").count(), shown, "{words:?}: {}", run.stdout);
        let shown = if words == ["--show-output"] { 2 } else { 0 };
        assert_eq!(run.stderr.matches("to stderr").count(), shown, "{words:?}: {}", run.stderr);
    }
    // That of the last run.
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x=7\n");
}

#[test]
fn a_value_is_found_at_the_beginning_of_a_long_output() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line =
        "echo early=7; head -c 200000000 /dev/zero | tr '\\0' x; echo; echo late=8; echo both=1 >&2; echo both=2";
    let inner = ["trial", "-o", "inner.barrow", "-n", "2", "--no-heap-counts"];
    let patterns = ["early=early=([0-9]+)", "late=^late=([0-9]+)$", "both=both=([0-9]+)"];
    let patterns: Vec<&str> = patterns.iter().flat_map(|pattern| ["--value", pattern]).collect();
    // One trial measures the other.
    let words = [&["-n", "1", "--no-heap-counts", "--", env!("CARGO_BIN_EXE_barrow")], &inner[..], &patterns, &[line]];
    let run = trial(folder, &words.concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let peak = values(folder, "peak_resident")[0];
    assert!(peak < 150e6, "{peak}");
    std::fs::rename(folder.join("inner.barrow"), folder.join("t.barrow")).unwrap();
    assert_eq!([values(folder, "early"), values(folder, "late")], [[7.0; 2], [8.0; 2]]);
    assert_eq!(values(folder, "both"), [2.0, 1.0, 2.0, 1.0]);
}

#[test]
fn a_run_without_a_value_has_failed_and_others_follow() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Each second run has none.
    let line = "echo begin; test -e odd && rm odd && echo nothing && exit; touch odd; echo x=5";
    let run = trial(folder, &["-n", "6", "--value", "x=x=([0-9]+)", line]);
    assert_eq!(run.code, 1);
    let said = "which printed nothing that the pattern of `x` matches; it printed first: begin; and last: nothing";
    assert!(run.stderr.contains("3 of 6 runs failed") && run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(values(folder, "x"), [5.0; 3]);
    let failed = asked(folder, &["runs", "failed"]);
    let failed = failed["rows"].as_array().unwrap();
    assert_eq!(failed.len(), 3);
    let number = failed[0]["run"].to_string();
    let one = barrow(folder, &["runs", "t.barrow", &number]);
    assert!(one.stdout.contains("barrow: it printed nothing that the pattern of `x` matches"), "{}", one.stdout);
    // Nothing was read in which it could be.
    let run = trial(folder, &["-n", "2", "--output", "null", "--value", "x=x=([0-9]+)", "echo x=5"]);
    assert!(run.code == 1 && run.stderr.contains("`--output pipe` keeps it"), "{}", run.stderr);
}

#[test]
fn a_failed_run_shows_its_first_and_last_lines() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "echo begin >&2; head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo end >&2; exit 3";
    let run = trial(folder, &["-n", "2", line]);
    let said = "ended with status 3; it printed first: begin; and last: end; its standard output was discarded, and \
                `--output pipe` keeps it";
    assert!(run.code == 1 && run.stderr.contains(said), "{}", run.stderr);
    let run = trial(folder, &["-n", "4", &format!("test -e done || {{ touch done; {line}; }}")]);
    assert!(run.code == 1 && run.stderr.contains("1 of 4 runs failed"), "{}", run.stderr);
    let one = barrow(folder, &["runs", "t.barrow", "0", "--format", "json"]);
    let one: Value = serde_json::from_str(&one.stdout).unwrap();
    let output = one["output"].as_str().unwrap();
    // 4 KiB of each end.
    assert!(output.starts_with("begin\nxxx") && output.ends_with("xxx\nend\n"), "{output}");
    assert!(output.contains("[barrow left out 299") && output.len() < 8300, "{}", output.len());
}

#[test]
fn what_cannot_be_written_is_said_before_the_first_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let pipe = folder.join("pipe").display().to_string();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let cases: [(&[&str], &str); 5] = [
        // Nobody reads it: it would be waited for.
        (&["--output", &pipe], "No such device or address"),
        (&["--export-json", "nowhere/x.json"], "there is no folder nowhere"),
        (&["--export-csv", "-"], "`./-` is a file"),
        (&["--value", "v=a([0-9]+)", "--value", "v=b([0-9]+)"], "`v` has two patterns"),
        (&["--output", "/"], "Is a directory"),
    ];
    for (words, why) in cases {
        let run = trial(folder, &[&["-n", "2"], words, &["touch ran"]].concat());
        assert!(run.code != 0 && run.stderr.contains(why), "{words:?}: {} {}", run.code, run.stderr);
        assert!(!folder.join("ran").exists(), "{words:?}");
    }
}

#[test]
fn values_of_parameters_are_no_places_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let words =
        ["-n", "1", "-L", "n", "{m}", "-L", "m", "q", "--prepare", "echo {n}-{m} >> prepared", "echo {n} {m} >> ran"];
    let run = trial(folder, &words);
    assert_eq!(run.code, 0, "{}", run.stderr);
    // As hyperfine does.
    assert_eq!(std::fs::read_to_string(folder.join("ran")).unwrap(), "{m} q\n");
    assert_eq!(std::fs::read_to_string(folder.join("prepared")).unwrap(), "{m}-q\n");
}

#[test]
fn a_pattern_that_reads_nothing_is_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "echo x=7; head -c 400000 /dev/zero | tr '\\0' x; echo; echo z=8";
    let cases: [(&[&str], &str, &str); 4] = [
        (&["--output", "out"], "x=x=([0-9]+)", "went to a file and was not read, and `--output pipe` reads it"),
        (&["--output", "inherit"], "x=x=([0-9]+)", "was shown and not read, and `--output pipe` reads it"),
        (&[], "y=y=([0-9]+)", "it printed much, of which a match may be 32 KiB long at most"),
        (&[], r"y=x=([0-9])(?:.|\n)*z=8", "it printed much, of which a match may be 32 KiB long at most"),
    ];
    for (words, pattern, expected) in cases {
        let run = trial(folder, &[&["-n", "1", "--value", pattern], words, &[line]].concat());
        let is_told = run.stderr.contains("nothing that the pattern of `") && run.stderr.contains(expected);
        assert!(run.code != 0 && is_told, "{words:?} {pattern}: {}", run.stderr);
    }
    // It begins and ends in one window, which is not the whole text.
    let run = trial(folder, &["-n", "1", "--value", r"x=x=([0-9])\nx+", line]);
    assert!(run.stderr.contains("for `x`, a match that is longer than 32 KiB"), "{}", run.stderr);
}
