//! `barrow trial`: what it runs, what it keeps, and what it says of both.

#![cfg(target_os = "linux")]

mod program;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use program::trials::{asked, barrow, trial, values};
use program::{finished, program};
use serde_json::Value;

const BARROW: &str = env!("CARGO_BIN_EXE_barrow");

fn different(values: &[f64]) -> usize {
    values.iter().map(|value| value.to_bits()).collect::<BTreeSet<_>>().len()
}

/// A program of C in the folder; `None` if there is no compiler, or no static libraries.
fn compiled(folder: &Path, name: &str, source: &str, flags: &[&str]) -> Option<()> {
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, source).unwrap();
    let output: Output =
        Command::new("cc").args(["-O1", "-o"]).arg(folder.join(name)).arg(file).args(flags).output().ok()?;
    output.status.success().then_some(())
}

#[test]
fn every_value_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run =
        trial(folder, &["-n", "7", "--warmup", "2", "--value", "x=x=([0-9]+) MB/s:higher", "--", "echo", "x=5 MB/s"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let trials = asked(folder, &["trials"]);
    let names: Vec<&str> =
        trials["rows"].as_array().unwrap().iter().map(|row| row["metric"].as_str().unwrap()).collect();
    for metric in ["wall", "user", "system", "peak_resident", "page_faults", "context_switches", "x"] {
        assert!(names.contains(&metric) && values(folder, metric).len() == 7, "{metric}: {names:?}");
    }
    let row = trials["rows"].as_array().unwrap().iter().find(|row| row["metric"] == "x").unwrap();
    assert_eq!(
        (row["unit"].as_str(), row["median"].as_f64(), row["runs"].as_u64()),
        (Some("MB/s"), Some(5.0), Some(7))
    );
    let runs = asked(folder, &["runs"]);
    let states: Vec<&str> = runs["rows"].as_array().unwrap().iter().map(|row| row["state"].as_str().unwrap()).collect();
    assert_eq!(states.len(), 9);
    assert_eq!(states.iter().filter(|state| **state == "warm-up").count(), 2);
    assert_eq!(barrow(folder, &["verify", "t.barrow"]).code, 0);
}

#[test]
fn runs_that_fail_stay_runs_that_failed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Each second run fails.
    let line = "test -e odd && rm odd && echo 'no odd one' && exit 3; touch odd";
    let run = trial(folder, &["-n", "6", "--output", "pipe", line]);
    assert_eq!(run.code, 1);
    let said = "3 of 6 runs failed, first run 1 of `test -e odd && rm odd && echo 'no odd one' && exit 3; touch odd`, which \
                ended with status 3; it printed: no odd one";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(values(folder, "wall").len(), 3);
    let failed = asked(folder, &["runs", "failed"]);
    let failed = failed["rows"].as_array().unwrap();
    assert_eq!(failed.len(), 3);
    assert!(failed.iter().all(|run| run["exit_status"] == 3 && run["output"] == "no odd one"));
    assert_eq!(barrow(folder, &["assert", "t.barrow", "failed() = 0"]).code, 1);
    assert_eq!(trial(folder, &["-n", "6", "-i", line]).code, 0);
    assert_eq!(trial(folder, &["-n", "6", "--ignore-failure=3,4", line]).code, 0);
    assert_eq!(values(folder, "wall").len(), 6);
    let late = trial(folder, &["-n", "2", "--time-limit", "50ms", "--", "sleep", "30"]);
    assert!(
        late.code == 1 && late.stderr.contains("no run succeeded") && late.stderr.contains("longer"),
        "{}",
        late.stderr
    );
    let killed = trial(folder, &["-n", "2", "kill -SEGV $$"]);
    assert!(killed.code == 1 && killed.stderr.contains("killed by signal 11"), "{}", killed.stderr);
}

#[test]
fn a_program_that_never_succeeds_stops_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = trial(folder, &["-n", "9", "true", "false", "sleep 0.001"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let runs = asked(folder, &["runs"]);
    let of = |name: &str| runs["rows"].as_array().unwrap().iter().filter(|run| run["variant"] == name).count();
    assert_eq!(["true", "false", "sleep 0.001"].map(of), [9, 3, 9]);
    // Of more than two programs, each other one with values is compared with the first in its time.
    assert!(run.stdout.contains("A  true"), "{}", run.stdout);
    let compared = asked(folder, &["compare"]);
    let rows: Vec<_> =
        compared["rows"].as_array().unwrap().iter().map(|row| (&row["variant"], &row["metric"])).collect();
    assert!(rows.iter().all(|(variant, _)| **variant == "sleep 0.001") && rows.len() > 5, "{rows:?}");
    trial(folder, &["-n", "9", "--name", "c {n}", "-L", "n", "1,3,2", "sleep 0.00{n}"]);
    let compared = asked(folder, &["compare"]);
    let rows: Vec<_> =
        compared["rows"].as_array().unwrap().iter().map(|row| (&row["variant"], &row["metric"])).collect();
    assert_eq!(rows, [(&Value::from("c 3"), &Value::from("wall")), (&Value::from("c 2"), &Value::from("wall"))]);
}

#[test]
fn the_memory_of_barrow_is_not_that_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let words = ["trial", "-o", "t.barrow", "-n", "3", "--", "true"];
    let run = barrow(folder, &words);
    assert!(run.stderr.contains("`true` may use less memory than peak_resident says"), "{}", run.stderr);
    // The binary of barrow alone is larger.
    assert!(values(folder, "peak_resident").iter().all(|&peak| peak < 3e6), "{:?}", values(folder, "peak_resident"));
}

#[test]
fn what_cannot_be_measured_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("old.barrow"), "kept").unwrap();
    let cases: [(&[&str], u8, &str); 20] = [
        (&["-o", "n.barrow", "--", "no-such-program"], 127, "`no-such-program` was not found"),
        (&["-o", "n.barrow", "--", "/etc/passwd"], 126, "cannot be executed"),
        (&["--force", "-o", "/dev/null", "--", "true"], 3, "/dev/null is not a file: it does not keep the recording"),
        (&["-o", "old.barrow", "--", "true"], 3, "old.barrow: File exists (os error 17); add --force to replace it"),
        (&["-o", "no/folder", "--", "true"], 3, "no/folder: No such file or directory"),
        (&["-o", "n.barrow"], 2, "which command?"),
        (
            &["-o", "n.barrow", "--value", "x=([0-9]+)", "--", "echo", "none"],
            1,
            "`echo none` printed nothing that the pattern of `x` matches; it printed: none",
        ),
        (
            &["-o", "n.barrow", "--value", "x=x=(.*)", "--", "echo", "x=NaN"],
            1,
            "printed, for `x`, `NaN`, which is no finite number",
        ),
        (&["-o", "n.barrow", "--value", "x=(", "--", "true"], 2, "--value: the expression of `x` is not valid"),
        (&["-o", "n.barrow", "--read", "none.json", "--", "true"], 1, "run 0 of `true` did not write `none.json`"),
        (&["--output", "n.barrow", "--", "true"], 2, "the recording is `-o n.barrow`"),
        (&["-o", "n.barrow", "--read", "-", "--output", "null", "--", "true"], 2, "that is `--output pipe`"),
        (&["-o", "n.barrow", "--layout", "chaotic", "--", "true"], 2, "`chaotic` is no layout"),
        (&["-o", "n.barrow", "-n", "5", "--until", "5%", "--", "true"], 2, "give one of them"),
        (&["-o", "n.barrow", "--min-runs", "5", "--", "true"], 2, "limit `--until`"),
        (&["-o", "n.barrow", "--compare", "a | b", "--", "true"], 2, "needs a shell"),
        (&["-o", "n.barrow", "--value", "wall=([0-9]+)", "--", "true"], 2, "give these values another name"),
        (&["-o", "n.barrow", "--value", "x=[0-9]+", "--", "true"], 2, "Write it as a group"),
        (&["-o", "n.barrow", "sort", "none.txt"], 2, "a program is written `barrow trial -- sort none.txt`"),
        (&["-o", "n.barrow", "--setup", "exit 4", "--", "true"], 125, "`exit 4` failed: ended with status 4"),
    ];
    for (words, code, said) in cases {
        let run = barrow(folder, &[&["trial", "--quiet"], words].concat());
        let _ = std::fs::remove_file(folder.join("n.barrow"));
        assert_eq!((run.code, run.stdout.as_str()), (i32::from(code), ""), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains(said) && run.stderr.lines().count() == 1, "{words:?}: {}", run.stderr);
    }
    assert_eq!(std::fs::read(folder.join("old.barrow")).unwrap(), b"kept");
}

/// Prints where things are.
const PLACES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
int main(int count, char **words) {
    char *block = malloc(100);
    memset(block, count, 100);
    printf("stack=%lu environment=%lu heap=%lu", (unsigned long)&count, (unsigned long)environ[0], (unsigned long)block);
    return 0;
}
"#;

const PATTERNS: [&str; 6] =
    ["--value", "stack=stack=([0-9]+)", "--value", "environment=environment=([0-9]+)", "--value", "heap=heap=([0-9]+)"];

#[test]
fn random_layouts_differ_and_fixed_ones_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if compiled(folder, "places", PLACES, &[]).is_none() {
        return;
    }
    let count = |layout: &str| {
        let run = trial(folder, &[&["-n", "40", "--layout", layout], &PATTERNS[..], &["--", "./places"]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        ["stack", "environment", "heap"].map(|metric| different(&values(folder, metric)))
    };
    assert_eq!(count("fixed"), [1, 1, 1]);
    for (layout, varies) in [
        ("random=env", [true, true, false]),
        ("random=argv", [true, true, false]),
        ("random=stack", [true, false, false]),
        ("random=heap", [false, false, true]),
        ("random", [true, true, true]),
    ] {
        let found = count(layout).map(|count| count > 25);
        assert_eq!(found, varies, "{layout}");
    }
}

#[test]
fn a_run_is_repeated_under_its_layout() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if compiled(folder, "places", PLACES, &[]).is_none() {
        return;
    }
    let layout = "random=env,argv,stack,heap";
    let run = trial(folder, &[&["-n", "5", "--layout", layout], &PATTERNS[..], &["--", "./places"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let [stack, environment, heap] = ["stack", "environment", "heap"].map(|metric| values(folder, metric)[3]);
    let again = barrow(folder, &["trial", "--replay", "3", "t.barrow"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""));
    assert_eq!(again.stdout, format!("stack={stack} environment={environment} heap={heap}"));
    let under = barrow(folder, &["trial", "--replay", "3", "t.barrow", "--under", "env -u NOTHING"]);
    assert_eq!(under.code, 0, "{}", under.stderr);
    assert!(under.stdout.starts_with("stack="));
    let missing = barrow(folder, &["trial", "--replay", "5", "t.barrow"]);
    assert!(missing.code == 2 && missing.stderr.contains("there is no run 5"), "{}", missing.stderr);
    // The exit status is that of the program.
    trial(folder, &["-n", "2", "-i", "exit 7"]);
    assert_eq!(barrow(folder, &["trial", "--replay", "0", "t.barrow", "--quiet"]).code, 7);
}

#[test]
fn memory_of_a_fixed_layout_repeats_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let numbers: Vec<String> = (0..20_000_u32).map(|number| (number * 7919 % 20_011).to_string()).collect();
    std::fs::write(folder.join("numbers"), numbers.join("\n")).unwrap();
    for command in [&["sort", "--parallel=1", "numbers"][..], &["python3", "-c", "print(len(str([{}] * 9999)))"]] {
        // The first run of an interpreter may write its caches.
        let run = trial(folder, &[&["-n", "6", "--warmup", "1", "--layout", "fixed", "--"], command].concat());
        if run.code == 127 {
            continue;
        }
        assert_eq!(run.code, 0, "{}", run.stderr);
        let trials = asked(folder, &["trials"]);
        if !trials["rows"].as_array().unwrap().iter().any(|row| row["metric"] == "peak_heap") {
            // No glibc.
            continue;
        }
        for metric in ["peak_heap", "allocated", "blocks", "live_at_end"] {
            let found = values(folder, metric);
            assert!(different(&found) == 1 && found[0] > 0.0, "{command:?}: {metric} {found:?}");
        }
        // One byte more is seen; the same is not.
        let peak = values(folder, "peak_heap")[0];
        assert_eq!(barrow(folder, &["assert", "t.barrow", &format!("median(peak_heap) <= {peak}")]).code, 0);
        assert_eq!(barrow(folder, &["assert", "t.barrow", &format!("median(peak_heap) < {peak}")]).code, 1);
    }
}

#[test]
fn a_static_program_is_no_success_of_the_shim() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if compiled(folder, "static", PLACES, &["-static"]).is_none() {
        return;
    }
    let run = barrow(folder, &["trial", "-o", "t.barrow", "-n", "3", "--layout", "random", "--", "./static"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said = "`./static` is linked statically: its allocations are not counted, the knobs stack and heap do nothing";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(!run.stdout.contains("peak_heap") && run.stdout.contains("wall"), "{}", run.stdout);
    let runs = asked(folder, &["runs"]);
    let knobs = runs["rows"][0]["knobs"].as_object().unwrap();
    assert!(knobs.contains_key("env") && !knobs.contains_key("heap_offset"), "{knobs:?}");
}

/// The system resets what was asked of addresses when a program gains the rights of its owner.
#[test]
fn a_program_with_rights_of_its_owner_is_not_said_to_be_fixed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if compiled(folder, "privileged", PLACES, &[]).is_none() {
        return;
    }
    let own = std::fs::Permissions::from_mode(0o4755);
    std::fs::set_permissions(folder.join("privileged"), own).unwrap();
    let patterns = &PATTERNS[..];
    let words =
        [&["trial", "--force", "-o", "t.barrow", "-n", "8", "--layout", "fixed"], patterns, &["--", "./privileged"]];
    let run = barrow(folder, &words.concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let runs = asked(folder, &["runs"]);
    let knob = |run: &Value| run["knobs"]["aslr"].as_str().unwrap().to_owned();
    let knobs: BTreeSet<String> = runs["rows"].as_array().unwrap().iter().map(knob).collect();
    // The addresses tell: they are the same only where the system permits no such rights.
    let is_fixed = different(&values(folder, "stack")) == 1;
    assert_eq!(knobs.into_iter().collect::<Vec<_>>(), [if is_fixed { "off" } else { "on" }], "{}", run.stderr);
    let said = "`./privileged` has the rights of its owner: the system randomises its addresses in every run";
    assert_eq!(run.stderr.contains(said), !is_fixed, "{}", run.stderr);
}

#[test]
fn forbidden_system_calls_are_named() {
    // A filter of system calls that refuses personality and prctl for huge pages.
    let script = "
import ctypes, os, platform, struct, sys
number = {'x86_64': 135, 'aarch64': 92}[platform.machine()]
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
filters = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in code))
class Program(ctypes.Structure): _fields_ = [('length', ctypes.c_ushort), ('filters', ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
program = Program(len(code), ctypes.addressof(filters))
assert libc.prctl(22, 2, ctypes.byref(program)) == 0
os.execv(sys.argv[1], ['barrow', 'trial', '-n', '3', '-o', 't.barrow', '--layout', 'fixed', '--', 'true'])
";
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("python3").args(["-c", script, BARROW]).current_dir(folder.path()).output();
    let Ok(output) = output else { return };
    let run = finished(output);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("the system forbids to switch address space randomisation off"), "{}", run.stderr);
    let runs = asked(folder.path(), &["runs"]);
    assert!(!runs["rows"][0]["knobs"].as_object().unwrap().contains_key("aslr"));
}

#[test]
fn programs_take_turns_and_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let words = ["-n", "12", "--value", "t=t=([0-9]+)", "--name", "old", "--name", "new"];
    let run = trial(folder, &[&words[..], &["echo t=100", "--compare", "echo t=150"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("A  old\nB  new\n"), "{}", run.stdout);
    let compared = asked(folder, &["compare", "old", "new", "t"]);
    assert_eq!(compared["rows"][0]["verdict"], "larger");
    assert_eq!(compared["rows"][0]["modes"].as_array().unwrap().len(), 1);
    // Each block has both, in random order.
    let runs = asked(folder, &["runs"]);
    let order: Vec<&str> =
        runs["rows"].as_array().unwrap().iter().map(|row| row["variant"].as_str().unwrap()).collect();
    assert!(order.chunks(2).all(|block| block[0] != block[1]));
    assert!(order.chunks(2).any(|block| block[0] == "new") && order.chunks(2).any(|block| block[0] == "old"));
    let holds = |assertion: &str| barrow(folder, &["assert", "t.barrow", assertion]).code;
    assert_eq!([holds("compare(t) <= 60%"), holds("compare(t) <= 5%"), holds("compare(t, new, old) <= 0")], [0, 1, 0]);
}

#[test]
fn what_users_of_hyperfine_expect() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = trial(
        folder,
        &[
            "-n",
            "3",
            "-P",
            "n",
            "1",
            "3",
            "-D",
            "2",
            "-L",
            "word",
            "a,b",
            "--setup",
            "echo setup {n}{word} >> log",
            "--prepare",
            "echo prepare {n} >> log",
            "--conclude",
            "echo conclude >> log",
            "--cleanup",
            "echo cleanup >> log",
            "--export-markdown",
            "t.md",
            "--export-json",
            "t.json",
            "--export-csv",
            "t.csv",
            "echo {n} {word}",
        ],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    let count = |word: &str| log.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!([count("setup"), count("prepare"), count("conclude"), count("cleanup")], [4, 12, 12, 4]);
    assert!(log.contains("setup 1a") && log.contains("setup 3b"), "{log}");
    let trials = asked(folder, &["trials"]);
    let programs: BTreeSet<&str> =
        trials["rows"].as_array().unwrap().iter().map(|row| row["variant"].as_str().unwrap()).collect();
    assert_eq!(programs.into_iter().collect::<Vec<_>>(), ["echo 1 a", "echo 1 b", "echo 3 a", "echo 3 b"]);
    let markdown = std::fs::read_to_string(folder.join("t.md")).unwrap();
    assert!(markdown.starts_with("| metric | program |") && markdown.contains("| relative |"), "{markdown}");
    let json: Value = serde_json::from_slice(&std::fs::read(folder.join("t.json")).unwrap()).unwrap();
    assert_eq!(json["rows"], trials["rows"]);
    assert_eq!(trials["rows"][3]["parameter_n"], "3");
    assert_eq!(trials["rows"][3]["parameter_word"], "b");
    assert_eq!(json["results"][1]["parameters"], serde_json::json!({ "n": "1", "word": "b" }));
    // The export can be imported.
    let again = barrow(folder, &["trials", "t.csv", "--format", "json"]);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    let medians = |answer: &Value| -> Vec<Value> {
        let rows = answer["rows"].as_array().unwrap().iter();
        rows.map(|row| serde_json::json!([row["metric"], row["variant"], row["median"], row["runs"]])).collect()
    };
    assert_eq!(medians(&again), medians(&trials));
    let header = std::fs::read_to_string(folder.join("t.csv")).unwrap();
    assert!(header.starts_with("metric,unit,direction,variant,run,iteration,seed,value,parameter_n,parameter_word"));
    let parameters = |answer: &Value| -> Vec<Value> {
        answer["rows"].as_array().unwrap().iter().map(|row| row["parameter_word"].clone()).collect()
    };
    assert_eq!(parameters(&again), parameters(&trials));
    std::fs::write(folder.join("input"), "a word").unwrap();
    let run = trial(folder, &["-n", "2", "--input", "input", "--value", "n=^ *([0-9]+)$", "--shell=none", "wc -c"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(values(folder, "n"), [6.0, 6.0]);
    let shown = trial(folder, &["-n", "2", "--show-output", "--", "echo", "shown"]);
    assert!(shown.stdout.starts_with("shown\nshown\n"), "{}", shown.stdout);
}

/// The results of hyperfine have what its `src/benchmark/benchmark_result.rs` writes; statistics are checked against a plain
/// computation from the times.
#[test]
fn json_has_the_results_of_hyperfine() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run =
        trial(folder, &["-n", "4", "-i", "--warmup", "1", "-P", "n", "0", "1", "--export-json", "t.json", "exit {n}"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json: Value = serde_json::from_slice(&std::fs::read(folder.join("t.json")).unwrap()).unwrap();
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for (at, result) in results.iter().enumerate() {
        assert_eq!(result["command"], format!("exit {at}"));
        assert_eq!(result["exit_codes"], serde_json::json!([at, at, at, at]));
        assert_eq!(result["parameters"]["n"], at.to_string());
        let times: Vec<f64> = result["times"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
        let mean = times.iter().sum::<f64>() / 4.0;
        let deviation = (times.iter().map(|time| (time - mean) * (time - mean)).sum::<f64>() / 3.0).sqrt();
        for (key, expected) in [("mean", mean), ("stddev", deviation)] {
            assert!((result[key].as_f64().unwrap() - expected).abs() <= 1e-9 * expected, "{key}: {result}");
        }
        assert!(times.iter().all(|time| (1e-5..60.0).contains(time)), "seconds: {times:?}");
        let least = result["min"].as_f64().unwrap();
        assert!(least <= result["median"].as_f64().unwrap() && times.contains(&least));
        let memory = result["memory_usage_byte"].as_array().unwrap();
        assert!(memory.len() == 4 && memory.iter().all(|bytes| bytes.as_u64().unwrap() > 100_000), "{memory:?}");
        assert!(result["user"].is_f64() && result["system"].is_f64() && result["max"].is_f64());
    }
    // It is imported as results of hyperfine.
    let again = barrow(folder, &["trials", "t.json", "wall", "--format", "json"]);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    let [row] = &again["rows"].as_array().unwrap()[..] else {
        panic!("runs of the other program have failed: {again}")
    };
    assert_eq!((&row["parameter_n"], &row["runs"]), (&Value::from("0"), &Value::from(4)));
}

/// Of three programs the reference is first and the one that the others are compared with; the slowest is last.
#[test]
fn programs_have_an_order_a_reference_and_a_unit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = trial(
        folder,
        &[
            "-n",
            "6",
            "--sort",
            "mean-time",
            "-u",
            "second",
            "--reference",
            "sleep 0.02",
            "--reference-name",
            "base",
            "--export-markdown",
            "t.md",
            "--export-asciidoc",
            "t.adoc",
            "--export-orgmode",
            "t.org",
            "sleep 0.04",
            "true",
        ],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let programs = |lines: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        let wall = lines.filter(|line| line.contains("wall"));
        wall.map(|line| line.split(['|']).nth(2).unwrap_or_default().trim().to_owned()).collect()
    };
    let exported = ["t.md", "t.adoc", "t.org"].map(|name| std::fs::read_to_string(folder.join(name)).unwrap());
    assert_eq!(programs(&mut exported[0].lines()), ["true", "base", "sleep 0.04"]);
    assert_eq!(programs(&mut exported[2].lines()), ["true", "base", "sleep 0.04"]);
    let base: Vec<&str> = exported[0].lines().filter(|line| line.starts_with("| wall | base |")).collect();
    assert!(base[0].ends_with("| 1.000 |") && base[0].contains(" s |") && !base[0].contains("ms"), "{base:?}");
    assert!(exported[1].starts_with("[cols=\"<,<,>"), "{}", exported[1]);
    assert!(run.stdout.contains("A  base\n"), "{}", run.stdout);
    let compared = asked(folder, &["compare", "--reference", "true"]);
    assert_eq!(compared["a"], "true");
    let wrong = barrow(folder, &["export", "t.barrow", "--to", "markdown", "--reference", "other"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("other"), "{}", wrong.stderr);
}

#[test]
fn it_stops_when_enough_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let words = ["trial", "-o", "t.barrow", "--until", "5%", "--value", "t=t=([0-9]+)", "--", "echo", "t=7"];
    let run = barrow(folder, &words);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("values are known to 0.0 % after 20 runs"), "{}", run.stderr);
    assert_eq!(values(folder, "t").len(), 20);
    // Two modes of unknown weights need more runs than are permitted.
    let line = tells(folder, |_, random| if random < 0.5 { 100.0 } else { 200.0 });
    let run = trial(folder, &["--until", "1%", "--max-runs", "40", "--value", "t=t=([0-9]+)", &line]);
    assert_eq!(run.code, 0);
    let known = run.stderr.lines().find_map(|line| line.split("values are known to ").nth(1)).expect(&run.stderr);
    let (known, wanted) = known.split_once(" %, not to 1 %").expect(&run.stderr);
    assert!(known.parse::<f64>().unwrap() > 1.0 && wanted.contains("the limit of runs"), "{}", run.stderr);
    assert_eq!(values(folder, "t").len(), 40);
    // It looks again and again: a weight of 20 % is known to 8 points after about 1.96² · 0.2 · 0.8 / 0.08² = 96 runs.
    let line = tells(folder, |_, random| if random < 0.2 { 200.0 } else { 100.0 });
    let words = ["--until", "8%", "--min-runs", "6", "--max-runs", "200", "--value", "t=t=([0-9]+)", &line];
    let run = trial(folder, &words);
    assert!((70..140).contains(&values(folder, "t").len()), "{}", run.stderr);
    // Values that drift would be known after 20 runs if each were independent of the one before.
    let line = tells(folder, |run, _| 1000.0 + run as f64);
    let run = trial(folder, &["--until", "5%", "--max-runs", "30", "--value", "t=t=([0-9]+)", &line]);
    assert!(run.stderr.contains("values depend on the order of runs"), "{}", run.stderr);
    assert_eq!(values(folder, "t").len(), 30);
}

/// A command of the shell whose runs tell one value after the other, of their number and a random number below 1.
fn tells(folder: &Path, value: impl Fn(usize, f64) -> f64) -> String {
    let mut random = barrow_statistics::Random::new(1);
    let lines: String = (0..300).map(|run| format!("t={}\n", value(run, random.below(1000) as f64 / 1e3))).collect();
    std::fs::write(folder.join("told"), lines).unwrap();
    std::fs::write(folder.join("next"), "1").unwrap();
    "n=$(cat next); echo $((n + 1)) > next; sed -n ${n}p told".to_owned()
}

#[test]
fn files_that_runs_write_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "printf 'metric,unit,value\\nlatency,ns,12\\nlatency,ns,14\\nwall,ns,5\\n' > values.csv";
    let run = trial(folder, &["-n", "3", "--read", "values.csv", line]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let rows = asked(folder, &["values", "latency"]);
    let rows: Vec<(u64, u64, f64)> = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["run"].as_u64().unwrap(), row["iteration"].as_u64().unwrap(), row["value"].as_f64().unwrap()))
        .collect();
    assert_eq!(rows, [(0, 0, 12.0), (0, 1, 14.0), (1, 0, 12.0), (1, 1, 14.0), (2, 0, 12.0), (2, 1, 14.0)]);
    // A wall time of the file is not that of the run.
    assert!(values(folder, "wall").iter().all(|wall| *wall > 1000.0));
}

/// Whatever ends barrow, each run that ended is in the recording.
/// Under `nohup`, the tests and all that they start go on when a terminal is closed.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 == 1
}

#[test]
fn a_trial_that_is_stopped_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let temporary = folder.join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(130)), ("HUP", Some(130)), ("KILL", None)] {
        if signal == "HUP" && ignores_hangups() {
            continue;
        }
        let words = ["trial", "--force", "-o", "t.barrow", "-n", "100000", "echo $LD_PRELOAD: >> log"];
        let _ = std::fs::remove_file(folder.join("log"));
        let child = program(folder)
            .current_dir(folder)
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env("TMPDIR", &temporary)
            .spawn()
            .unwrap();
        let began = Instant::now();
        let runs = || std::fs::read_to_string(folder.join("log")).map_or(0, |log| log.lines().count());
        while runs() < 10 {
            assert!(began.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
        Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), code, "{signal}");
        if code.is_some() {
            let [shown, said] = [ended.stdout, ended.stderr].map(|text| String::from_utf8(text).unwrap());
            assert!(shown.contains("wall") && said.contains("stopped after "), "{signal}: {shown}{said}");
            // Without a terminal, nothing tells how far it is.
            assert!(!said.contains("/s, "), "{signal}: {said}");
            let log = std::fs::read_to_string(folder.join("log")).unwrap();
            let library = Path::new(log.split(':').next().unwrap());
            assert!(library.as_os_str().is_empty() || !library.parent().unwrap().exists(), "{signal}: {library:?}");
            assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{signal}");
        }
        let trials = barrow(folder, &["trials", "t.barrow", "--format", "json"]);
        let is_damaged = signal == "KILL" && trials.code == 4;
        assert!(trials.code == 0 || is_damaged, "{signal}: {}", trials.stderr);
        let answer: Value = serde_json::from_str(&trials.stdout).unwrap();
        let kept = answer["rows"][0]["runs"].as_u64().unwrap();
        assert!(kept >= 9, "{signal}: {kept}");
    }
    // Another trial removes the leftovers of the killed one as soon as the program of its last run has ended.
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    let library = Path::new(log.split(':').next().unwrap());
    let began = Instant::now();
    let is_left = || {
        let is_in_memory = !library.as_os_str().is_empty() && library.parent().unwrap().exists();
        is_in_memory || std::fs::read_dir(&temporary).unwrap().count() > 0
    };
    assert!(is_left());
    while is_left() {
        assert!(began.elapsed() < Duration::from_secs(20), "{library:?}");
        let words = ["trial", "--quiet", "--force", "-o", "next.barrow", "-n", "1", "true"];
        let mut next = program(folder);
        next.current_dir(folder).args(words).env("TMPDIR", &temporary).output().unwrap();
    }
}

/// A recording `NAME.barrow` of values that scatter around 100 µs by 1 %; in this many of 60 runs, 20 % more.
fn imported(folder: &Path, name: &str, slow: usize, seed: u64) {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut levels: Vec<f64> = (0..60).map(|run| if run < slow { 120_000.0 } else { 100_000.0 }).collect();
    (1..60).rev().for_each(|last| levels.swap(last, (next() * (last + 1) as f64) as usize));
    let row = |(run, level): (usize, f64)| {
        let scatter = (0..12).map(|_| next()).sum::<f64>() - 6.0;
        format!("time,ns,{run},1,,{}\n", level + 1000.0 * scatter)
    };
    let rows: String = levels.into_iter().enumerate().map(row).collect();
    std::fs::write(folder.join("values.csv"), format!("metric,unit,run,iteration,seed,value\n{rows}")).unwrap();
    let run = barrow(folder, &["import", "values.csv", "-o", &format!("{name}.barrow"), "--force"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn an_assertion_holds_only_where_the_values_support_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    imported(folder, "a", 12, 1);
    let asserted = |text: &str| barrow(folder, &["assert", "b.barrow", text, "--baseline", "a.barrow"]);
    // The same program: 60 runs do not know the weight of a mode of 20 % to 10 points.
    imported(folder, "b", 12, 2);
    let run = asserted("compare(time) <= 5%");
    assert_eq!(run.code, 2, "{}", run.stdout);
    assert!(run.stdout.contains("known to ±15 points, and 10 matter; about 280 runs"), "{}", run.stdout);
    assert_eq!(asserted("compare(time) <= 5%, weight <= 20%").code, 0);
    // Twice as many runs in the slower mode: neither equal nor surely worse.
    imported(folder, "b", 24, 3);
    assert_eq!(asserted("compare(time) <= 5%").code, 2);
    // Three times as many: worse, unless that much is allowed.
    imported(folder, "b", 36, 4);
    let run = asserted("compare(time) <= 5%");
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.contains("mode 2 has +40 points of the values"), "{}", run.stdout);
    assert_eq!(asserted("compare(time) <= 5%, weight <= 50%").code, 2);
    assert_eq!(asserted("compare(time) <= 25%, weight <= 60%").code, 0);
    let row = &asked_of(folder, &["compare", "a.barrow", "b.barrow"])["rows"][0];
    assert_eq!((row["verdict"].as_str(), row["about"].as_str()), (Some("worse weight"), Some("weight of mode 2")));
}

fn asked_of(folder: &Path, words: &[&str]) -> Value {
    let run = barrow(folder, &[words, &["--format", "json"]].concat());
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn the_limit_of_an_assertion_has_no_floor() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // 30 times around 0.2 ns, and around 0.4 ns: twice as much, though less than 1 ns more.
    for (name, middle) in [("before", 0.2), ("after", 0.4)] {
        let row = |run: u32| format!("time,ns,{run},0,0,{}\n", middle + f64::from(run * 7 % 30) / 3000.0);
        let text = "metric,unit,run,iteration,seed,value\n".to_owned() + &(0..30).map(row).collect::<String>();
        std::fs::write(folder.join(format!("{name}.csv")), text).unwrap();
        let (from, to) = (format!("{name}.csv"), format!("{name}.barrow"));
        assert_eq!(barrow(folder, &["import", &from, "-o", &to]).code, 0);
    }
    let asserted = |limit| {
        let text = format!("compare(time) <= {limit}");
        barrow(folder, &["assert", "after.barrow", &text, "--baseline", "before.barrow"]).code
    };
    assert_eq!(["5%", "150%"].map(asserted), [1, 0]);
    let compared = barrow(folder, &["compare", "before.barrow", "after.barrow", "--format", "json"]);
    let compared: Value = serde_json::from_str(&compared.stdout).unwrap();
    assert_eq!(compared["rows"][0]["verdict"], "equal");
}
