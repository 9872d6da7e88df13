//! The recorder as the global allocator of processes that exit, fork, are killed, and meet others.
//!
//! Each test starts this program again, as one of its own tests with a variable in the environment.

use std::alloc::System;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use barrow_analyzer::{Recording, Silent, summary, verify};

#[global_allocator]
static ALLOC: barrow_alloc::Recorder<System> = barrow_alloc::Recorder::system();

/// Says what a child is to do.
const ROLE: &str = "BARROW_ALLOC_TEST";

/// Starts `role` with these variables.
fn start(role: &str, variables: &[(&str, &str)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture", "--test-threads=1"]).env(ROLE, role);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    command.envs(variables.iter().copied()).spawn().unwrap()
}

fn finish(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    errors
}

/// Opens a recording in which nothing may be wrong but its end.
fn sound(path: &Path) -> Recording {
    let recording = Recording::open(path).unwrap();
    let verification = verify(&recording, &Silent).unwrap();
    let problems = verification.problems.iter().filter(|problem| problem.snapshot.is_some());
    assert_eq!(problems.count(), 0, "{:?}", verification.problems);
    recording
}

fn labels(recording: &Recording) -> Vec<String> {
    recording.snapshot_ids().map(|id| recording.snapshot(id).unwrap().label.unwrap().to_owned()).collect()
}

/// What the children do.
#[test]
fn child() {
    match std::env::var(ROLE).as_deref() {
        Ok("leaks") => leak(1000),
        Ok("works") => work(),
        Ok("forks") => fork(),
        Ok("starts another") => {
            leak(10);
            finish(start("leaks", &[]));
        }
        _ => {}
    }
}

#[inline(never)]
fn leak(blocks: usize) {
    for _ in 0..blocks {
        std::mem::forget(std::hint::black_box(vec![1u8; 12_345]));
    }
}

/// Allocates on several threads until it is killed.
fn work() {
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut kept: Vec<String> = Vec::new();
                for n in 0u64.. {
                    kept.push(format!("{n} and more"));
                    if n % 1000 == 0 {
                        kept.clear();
                        std::thread::spawn(|| drop(vec![0; 100])).join().unwrap();
                    }
                }
            });
        }
    });
}

/// Forks while other threads allocate; both go on.
fn fork() {
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0u64;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                n += 1;
                std::hint::black_box(format!("{n}").repeat(n as usize % 100));
            }
        });
        for round in 0..20 {
            barrow_alloc::snapshot(&format!("parent {round}")).unwrap().unwrap();
            // SAFETY: the child only allocates, asks for snapshots and exits.
            let process = unsafe { libc::fork() };
            if process == 0 {
                leak(100);
                assert_eq!(barrow_alloc::snapshot("child").unwrap(), None);
                assert!(barrow_alloc::recording("child.barrow").is_err());
                // SAFETY: with the functions that were registered for the exit.
                unsafe { libc::exit(0) };
            }
            let mut status = 0;
            // SAFETY: the status goes to our variable.
            assert_eq!(unsafe { libc::waitpid(process, &raw mut status, 0) }, process);
            assert_eq!(status, 0, "the child of round {round}");
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn the_environment_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leaks.barrow");
    for frames in ["pointers", "tables"] {
        finish(start("leaks", &[("BARROW_OUT", path.to_str().unwrap()), ("BARROW_FRAMES", frames)]));
        let recording = sound(&path);
        assert!(recording.damage().is_none());
        assert_eq!(labels(&recording), ["exit"]);
        let id = recording.snapshot_ids().last().unwrap();
        let bytes = summary(&recording, id).unwrap().totals.heap_bytes;
        assert!((12_345_000..13_345_000).contains(&bytes), "{bytes}");
    }
}

#[test]
fn a_process_that_is_killed_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.barrow");
    let mut child = start("works", &[("BARROW_OUT", path.to_str().unwrap()), ("BARROW_INTERVAL", "0.02")]);
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut seen = 0;
    while seen < 3 {
        assert!(Instant::now() < deadline, "no snapshots");
        std::thread::sleep(Duration::from_millis(20));
        seen = Recording::open(&path).map_or(0, |recording| recording.snapshot_count());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let recording = sound(&path);
    assert!(recording.snapshot_count() >= seen);
    assert!(labels(&recording).iter().all(|label| label.ends_with(" s")));
}

#[test]
fn a_fork_leaves_the_recording_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forks.barrow");
    finish(start("forks", &[("BARROW_OUT", path.to_str().unwrap())]));
    let recording = sound(&path);
    assert!(recording.damage().is_none());
    let mut expected: Vec<String> = (0..20).map(|round| format!("parent {round}")).collect();
    expected.push("exit".to_owned());
    assert_eq!(labels(&recording), expected);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn two_processes_take_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.barrow");
    finish(start("starts another", &[("BARROW_OUT", path.to_str().unwrap())]));
    let mut sizes: Vec<u64> = Vec::new();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let recording = sound(&file.unwrap().path());
        sizes.push(summary(&recording, recording.snapshot_ids().last().unwrap()).unwrap().totals.heap_bytes);
    }
    sizes.sort_unstable();
    assert_eq!(sizes.len(), 2);
    assert!(sizes[0] < 1_234_500 && sizes[1] > 12_345_000, "{sizes:?}");
}

#[test]
fn what_is_wrong_with_the_environment_is_told() {
    let told = finish(start("leaks", &[("BARROW_OUT", "/nowhere/at/all.barrow")]));
    assert!(told.contains("barrow-alloc: /nowhere/at/all.barrow: cannot create the recording"), "{told}");
    let told = finish(start("leaks", &[("BARROW_OUT", "app.barrow"), ("BARROW_DEPTH", "many")]));
    assert!(told.contains("BARROW_DEPTH is `many`"), "{told}");
}
