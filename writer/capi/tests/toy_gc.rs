//! The example is built and run, as it is and under every tool that looks for races and wrong accesses; its
//! recording holds what the program counted itself.

mod library;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use barrow_analyzer::{Label, Recording, Silent, SiteId, SnapshotId, StrengthClass, summary, verify, walk};
use library::{Build, MEMCHECK, build, command, crate_folder, has_memcheck, run};

/// The example, built in this way.
fn example(way: Build, folder: &Path) -> PathBuf {
    build(way, &crate_folder().join("examples/toy_gc.c"), folder, "toy_gc")
}

/// A line of the example: what it counted in one snapshot.
fn line(recording: &Recording, snapshot: SnapshotId) -> String {
    let totals = summary(recording, snapshot).unwrap().totals;
    let mut notes = 0;
    walk(recording, snapshot, &Silent, |object, _| {
        notes += u64::from(object.site == Some(SiteId(3)));
        Ok(())
    })
    .unwrap();
    format!(
        "{snapshot} objects {} references {} roots {} bytes {} notes {notes}",
        totals.objects, totals.references, totals.roots, totals.heap_bytes
    )
}

fn lines(recording: &Recording) -> Vec<String> {
    recording.snapshot_ids().map(|snapshot| line(recording, snapshot)).collect()
}

/// Runs the example under `tool`. Returns its recording, which holds what it counted.
fn record(tool: &[&str], program: &Path, folder: &Path, collections: usize) -> Recording {
    let path = folder.join("toy.barrow");
    let printed = run(command(tool, program).arg(&path).arg(collections.to_string()));
    let recording = Recording::open(&path).unwrap();
    assert_eq!(recording.damage(), None);
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    assert_eq!(printed.lines().collect::<Vec<_>>(), lines(&recording));
    assert_eq!(recording.snapshot_count(), collections);
    recording
}

#[test]
fn the_recording_holds_what_the_program_counted() {
    let folder = tempfile::tempdir().unwrap();
    for way in [Build::Static, Build::Shared] {
        let recording = record(&[], &example(way, folder.path()), folder.path(), 8);
        assert_eq!(recording.facts().unwrap(), [("runtime".to_owned(), "toy_gc".to_owned())]);
        let last = recording.snapshot(SnapshotId(7)).unwrap();
        assert_eq!(last.gc_number, Some(7));
        assert!(last.time_ns > Some(0) && last.totals.objects > 1000, "{last:?}");
        assert_details(&recording);
    }
}

/// Names, strengths and sites have arrived.
fn assert_details(recording: &Recording) {
    let tables = recording.tables().unwrap();
    let site = recording.site(SiteId(3)).unwrap().unwrap();
    assert_eq!((site.function, site.caller), (Some("note"), Some(SiteId(2))));
    assert!(site.file.unwrap().ends_with("toy_gc.c") && site.line.is_some());
    let mut seen = [0; 3];
    walk(recording, SnapshotId(7), &Silent, |object, references| {
        assert!(object.address.is_some() && object.site.is_some());
        for reference in references {
            let label = match reference.label {
                Label::Name(name) => tables.string(name),
                Label::Index(_) => "element",
                Label::Unknown => "unknown",
            };
            let is_weak = tables.strength_class(reference.strength) == StrengthClass::Weak;
            match (tables.type_name(object.type_id), label, is_weak) {
                ("Tree", "left" | "right", false) => seen[0] += 1,
                ("Tree", "note", false) => seen[1] += 1,
                ("WeakBox", "target", true) => seen[2] += 1,
                other => panic!("{other:?}"),
            }
        }
        Ok(())
    })
    .unwrap();
    assert!(seen.iter().all(|&count| count > 10), "{seen:?}");
}

#[test]
fn under_address_sanitizer() {
    let folder = tempfile::tempdir().unwrap();
    if Build::Address.is_possible(folder.path()) {
        record(&[], &example(Build::Address, folder.path()), folder.path(), 4);
    }
}

#[test]
fn under_thread_sanitizer() {
    let folder = tempfile::tempdir().unwrap();
    if Build::Thread.is_possible(folder.path()) {
        record(&[], &example(Build::Thread, folder.path()), folder.path(), 4);
    }
}

#[test]
fn under_memcheck() {
    let folder = tempfile::tempdir().unwrap();
    if has_memcheck() {
        record(&MEMCHECK, &example(Build::Static, folder.path()), folder.path(), 2);
    }
}

#[test]
fn committed_snapshots_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let program = example(Build::Static, folder.path());
    let path = folder.path().join("killed.barrow");
    for round in 0..10_u64 {
        let mut child = Command::new(&program).arg(&path).arg("100000").stdout(Stdio::piped()).spawn().unwrap();
        let mut printed = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut committed: Vec<String> = (0..2).map(|_| printed.next().unwrap().unwrap()).collect();
        // Somewhere in the middle of a later collection.
        std::thread::sleep(Duration::from_micros(1717 * round));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "it did not end on its own");
        committed.extend(printed.map_while(Result::ok).filter(|line| line.contains(" notes ")));

        let recording = Recording::open(&path).unwrap();
        assert_eq!(recording.damage().expect("not finished").lost, []);
        let problems = verify(&recording, &Silent).unwrap().problems;
        assert!(problems.iter().all(|problem| problem.snapshot.is_none()), "{problems:?}");
        let found = lines(&recording);
        // Printed snapshots were committed before; one more may have been.
        assert!(found.starts_with(&committed), "{found:?} after {committed:?}");
        assert!(found.len() <= committed.len() + 1, "{found:?} after {committed:?}");
    }
}
