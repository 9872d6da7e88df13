//! Facts that logs of other tools do not hold are unknown, not 0, in tables, in JSON, in counts and in assertions.

use crate::program;
use crate::program::{Run, run};
use serde_json::Value;

/// A log of testdata, with what it cannot tell.
struct Log {
    name: &'static str,
    knows_programs: bool,
    knows_failures: bool,
    knows_starters: bool,
}

const LOGS: [Log; 4] = [
    Log { name: "kleknev.log", knows_programs: true, knows_failures: true, knows_starters: true },
    Log { name: "ninja.ninja_log", knows_programs: false, knows_failures: false, knows_starters: false },
    Log { name: "bazel-4.2.profile.gz", knows_programs: true, knows_failures: false, knows_starters: false },
    Log { name: "make.strace", knows_programs: true, knows_failures: true, knows_starters: true },
];

fn ask(words: &[&str]) -> Run {
    run(words)
}

fn json(words: &[&str]) -> Value {
    let run = ask(&[words, &["--format", "json"]].concat());
    assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// Returns whether a table of facts has a row.
fn has(table: &str, fact: &str) -> bool {
    table.lines().any(|line| line.strip_prefix(fact).is_some_and(|rest| rest.starts_with("  ")))
}

#[test]
fn what_frames_hold_is_unknown_before_python_3_13() {
    let path = program::testdata("foreign/python-3.11.jsonl.zst").display().to_string();
    let words = ["stack", &path, "thread", "139632813936704"];
    assert!(json(&words)["objects_held"].is_null());
    let table = ask(&words).stdout;
    assert!(!has(&table, "objects held") && table.contains("does not tell what these frames hold"), "{table}");
}

#[test]
fn summaries_of_logs_say_only_what_the_logs_say() {
    for Log { name, knows_programs, knows_failures, knows_starters } in LOGS {
        let path = program::testdata(&format!("foreign/{name}")).display().to_string();
        let table = ask(&["summary", &path]).stdout;
        let json = json(&["summary", &path])["processes"].clone();
        assert!(!has(&table, "not waited for") && json["not_waited_for"].is_null(), "{name}: {table}");
        assert!(!has(&table, "forked only") && !has(&table, "killed, out of memory"), "{name}: {table}");
        assert!(json["out_of_memory"].is_null(), "{name}");
        assert_eq!((has(&table, "programs"), json["programs"].is_u64()), (knows_programs, knows_programs), "{name}");
        assert_eq!((has(&table, "failed"), json["failed"].is_u64()), (knows_failures, knows_failures), "{name}");
        assert_eq!(json["forked"].is_u64(), knows_starters, "{name}");
        let count = self::json(&["count", &path, "pid > 0"]);
        assert_eq!(count["failed"].is_u64(), knows_failures, "{name}: {count}");
        assert_eq!(count["programs"].is_u64(), knows_programs, "{name}: {count}");
    }
    // The wrapper was killed in testdata, and Kleknev logged exit status 0.
    let path = program::testdata("foreign/kleknev.log").display().to_string();
    let told = ask(&["summary", &path]).stdout;
    assert!(told.contains("more may have failed"), "{told}");
}

#[test]
fn what_is_unknown_decides_nothing() {
    for Log { name, knows_failures, knows_starters, .. } in LOGS {
        let path = program::testdata(&format!("foreign/{name}")).display().to_string();
        for (expression, is_known) in [
            ("not waited", false),
            ("not outofmemory", false),
            ("not failed", knows_failures),
            ("depth = 0", knows_starters),
        ] {
            let counted = ask(&["count", &path, expression]);
            assert_eq!(counted.code, if is_known { 0 } else { 2 }, "{name}: {expression}");
            assert_eq!(counted.stderr.contains(" is unknown: "), !is_known, "{name}: {}", counted.stderr);
            let judged = ask(&["assert", &path, &format!("count({expression}) >= 0")]);
            assert_eq!(judged.stdout.contains("undecided"), !is_known, "{name}: {}", judged.stdout);
        }
        let judged = ask(&["assert", &path, "failed() >= 0"]);
        assert_eq!(judged.stdout.contains("undecided"), !knows_failures, "{name}: {}", judged.stdout);
    }
}

#[test]
fn what_barrow_recorded_is_known() {
    let path = program::testdata("builds/make-j2.barrow").display().to_string();
    let table = ask(&["summary", &path]).stdout;
    assert!(has(&table, "not waited for") && has(&table, "failed") && has(&table, "programs"), "{table}");
    let json = json(&["summary", &path])["processes"].clone();
    assert_eq!((&json["not_waited_for"], &json["forked"], &json["out_of_memory"]), (&0.into(), &0.into(), &0.into()));
    assert_eq!(ask(&["assert", &path, "count(not waited) = 0"]).code, 0);
}

#[test]
fn sums_of_what_a_log_tells_of_no_process_are_unknown() {
    let path = program::testdata("foreign/make.strace").display().to_string();
    for measure in ["cpu", "user", "system", "waiting"] {
        let table = ask(&["classes", &path, "by", measure]).stdout;
        let sums: Vec<&str> = table.lines().filter(|line| line.starts_with("(all)")).collect();
        assert!(!sums.is_empty() && !table.contains("0.00 s\n"), "{measure}: {table}");
    }
}
