//! Real logs.

use std::collections::HashSet;

use barrow_analyzer::ProcessRow;
use barrow_importers::{ImportOptions, Silent, import};
use barrow_writer::{Options, Writer};

use crate::recorded::{Recorded, record_bytes};

fn sample(name: &str) -> Recorded {
    let bytes = std::fs::read(barrow_testdata::path("foreign").join(name)).expect("the sample");
    let recorded = record_bytes(&bytes).expect("a log");
    assert_eq!(recorded.lost(), None);
    recorded
}

/// The arguments of all programs, as lines.
fn programs(recorded: &Recorded) -> Vec<String> {
    let lines = recorded.text();
    let lines = lines.lines().filter(|line| line.contains(" begin ") || line.contains(" image "));
    lines.filter_map(|line| line.split_once(": ")).map(|(_, arguments)| arguments.to_owned()).collect()
}

/// Number of processes that ended with a status or signal.
fn ended(recorded: &Recorded, with: &str) -> usize {
    recorded.text().lines().filter(|line| format!("{line} ").contains(&format!(" {with} "))).count()
}

#[test]
fn kleknevs_own_log() {
    let recorded = sample("kleknev.log");
    assert_eq!(recorded.imported.processes, 8);
    assert_eq!(ended(&recorded, "status 0"), 7, "Kleknev says 0 of a process that was killed");
    assert_eq!(ended(&recorded, "status 1"), 1);
    let programs = programs(&recorded);
    assert!(programs.contains(&"/bin/sh -c gcc  -O2   -c -o src/game.o src/game.c".to_owned()), "{programs:#?}");
    assert!(programs.iter().any(|program| program.contains("./game  'späte Karte' '<&>' > /dev/null && false")));
    let children = recorded.text().lines().filter(|line| line.contains(" of 0, on vm")).count();
    assert_eq!(children, 3, "two objects and an archive in the folder of the recursive make");
    let mut user_ns = 0;
    for row in recorded.rows() {
        if let ProcessRow::End { used, .. } = row {
            user_ns += used.user_ns.expect("known");
        }
    }
    assert!(user_ns > 0);
}

#[test]
fn the_log_of_ninja() {
    let recorded = sample("ninja.ninja_log");
    assert_eq!(recorded.imported.processes, 9);
    assert!(recorded.imported.notes[0].starts_with("the log holds 2 builds"));
    assert!(recorded.text().contains("also made=five.txt"));
}

#[test]
fn a_profile_of_bazel() {
    let path = barrow_testdata::path("foreign").join("bazel-4.2.profile.gz");
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("a sink");
    let imported = import(&path, &writer, &ImportOptions::default(), &Silent).expect("a profile");
    assert_eq!((imported.processes, imported.lost), (14, None));
    // As Bazel said at the end of the build: 14 processes: 7 internal, 7 linux-sandbox.
    assert!(imported.notes[0].starts_with("actions for which Bazel ran no process on this machine: 7"));
}

#[test]
fn a_log_of_strace() {
    let recorded = sample("make.strace");
    let bytes = std::fs::read_to_string(barrow_testdata::path("foreign").join("make.strace")).expect("the sample");
    let exits = bytes.lines().filter(|line| line.ends_with(" +++")).count() as u64;
    assert_eq!(recorded.imported.processes, exits);
    assert_eq!(ended(&recorded, "signal 9"), 1);
    // All but the first have a parent, and each has ended.
    let begun: Vec<ProcessRow> =
        recorded.rows().into_iter().filter(|row| matches!(row, ProcessRow::Begin { .. })).collect();
    let roots = begun.iter().filter(|row| matches!(row, ProcessRow::Begin { parent: None, .. })).count();
    assert_eq!(roots, 1);
    let pids: HashSet<u64> = begun
        .iter()
        .filter_map(|row| if let ProcessRow::Begin { pid, .. } = row { Some(*pid) } else { None })
        .collect();
    let traced: HashSet<u64> = bytes.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
    assert_eq!(pids, traced);
    assert_eq!(recorded.fact("command").as_deref(), Some("make -j2"));
    let programs = programs(&recorded);
    assert!(programs.contains(&"gcc -O2 -c -o deck.o deck.c".to_owned()));
    let executed = bytes.lines().filter(|line| line.contains(" execve(") && line.ends_with(" = 0"));
    let later = bytes.lines().filter(|line| line.ends_with("<... execve resumed>) = 0"));
    assert_eq!(programs.len(), executed.count() + later.count());
}
