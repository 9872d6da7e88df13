//! Imports of Bazel's profiles.

use crate::logs::BAZEL;
use crate::recorded::record;

#[test]
fn actions_are_processes() {
    let recorded = record(BAZEL).expect("a profile");
    let expected = "\
5us begin 0 (pid 1) Writing file a
attributes 0: description=Writing file a label=//a output=bin/a not traced=Bazel ran no process of its own on this machine for this action
7us end 0
10us begin 1 (pid 2) CppCompile
attributes 1: description=Compiling a.c run_ns=30000 label=//a:a output=bin/a.o
50us end 1
";
    assert_eq!(recorded.text(), expected);
    assert_eq!(recorded.fact("version of Bazel").as_deref(), Some("release 8.4.1"));
    assert_eq!(recorded.fact("time of day").as_deref(), Some("known"));
    let old = BAZEL.replace(",\"profile_start_ts\":1700000000000", "");
    assert_eq!(record(&old).expect("a profile").fact("time of day"), None);
    assert_eq!((recorded.imported.processes, recorded.lost()), (2, None));
    assert!(recorded.imported.notes[0].starts_with("actions for which Bazel ran no process on this machine: 1"));
}

/// Three actions of 10 s, one after the other: before and after their process, or without one, they wait.
#[test]
fn waiting_is_a_part_of_an_action() {
    let action = |name: &str, start: u64| {
        format!(
            r#"{{"cat":"action processing","name":"{name}","ph":"X","ts":{start},"dur":10000000,"pid":1,"tid":10}}"#
        )
    };
    let part = |category: &str, name: &str, start: u64, duration: u64| {
        format!(r#"{{"cat":"{category}","name":"{name}","ph":"X","ts":{start},"dur":{duration},"pid":1,"tid":10}}"#)
    };
    let events = [
        action("Compiling a.cc", 0),
        part("Remote execution queuing time", "queue", 0, 2_000_000),
        part("Remote execution upload time", "upload", 2_000_000, 5_000_000),
        part("general information", "subprocess.run", 8_000_000, 1_000_000),
        action("Linking a", 10_000_000),
        part("action resource lock", "wait for cpu: 1, memory: 512", 10_000_000, 3_000_000),
        part("remote output download", "download", 18_000_000, 1_000_000),
        action("Writing x", 20_000_000),
    ];
    let profile =
        format!(r#"{{"otherData":{{"build_id":"","output_base":"/o"}},"traceEvents":[{}]}}"#, events.join(",\n"));
    let recorded = record(&profile).expect("a profile");
    let text = recorded.text();
    for line in [
        "0us begin 0 (pid 1) Compiling a.cc",
        "attributes 0: description=Compiling a.cc run_ns=1000000000 queue_ns=2000000000 upload_ns=5000000000",
        "10000000us end 0",
        "20000000us end 1",
        "30000000us end 2",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    assert!(text.contains("download_ns=1000000000"), "{text}");
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
