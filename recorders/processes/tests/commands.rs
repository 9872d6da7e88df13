//! Real commands, recorded and read back.

#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex};

use barrow_analyzer::Recording;
use barrow_process_recorder::{Ended, Options, RecorderError, record};
use barrow_processes::ProcessTree;
use barrow_writer::Writer;

/// The recorder hears of every child of this process: one recording at a time.
static TURN: Mutex<()> = Mutex::new(());

fn recorded(words: &[&str]) -> (Ended, ProcessTree) {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.barrow");
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let create = || Ok(Writer::create(&path, barrow_writer::Options::default())?);
    let outcome = record(&words, "a command", Options::default(), create).unwrap();
    assert!(outcome.failure.is_none());
    (outcome.ended, read(&path))
}

fn read(path: &Path) -> ProcessTree {
    ProcessTree::read(Arc::new(Recording::open(path).unwrap())).unwrap()
}

#[test]
fn a_chain_of_programs_is_one_process() {
    let (ended, tree) = recorded(&["sh", "-c", "true & wait; exec env sh -c 'exit 7'"]);
    assert_eq!(ended, Ended::Status(7));
    assert_eq!(tree.processes().len(), 2);
    // Of the command: sh, env, sh. Of the other: a copy of sh, or nothing at all if `true` is built in.
    assert!(tree.images().len() >= 4, "{}", tree.images().len());
}

#[test]
fn a_signal_that_ends_the_command_is_named() {
    let (ended, _) = recorded(&["sh", "-c", "kill -TERM $$"]);
    assert_eq!(ended, Ended::Signal(15));
}

#[test]
fn a_stopped_process_goes_on_when_it_is_told_to() {
    let script = "sleep 0.2 & kill -STOP $!; sleep 0.1; kill -CONT $!; wait $!";
    let (ended, tree) = recorded(&["sh", "-c", script]);
    assert_eq!(ended, Ended::Status(0));
    assert_eq!(tree.processes().len(), 3);
}

#[test]
fn a_command_that_is_not_there_is_not_recorded() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let create = || Ok(Writer::to_stream(Box::new(std::io::sink()), barrow_writer::Options::default())?);
    let refused = record(&["no-such-command".into()], "", Options::default(), create);
    assert!(matches!(refused, Err(RecorderError::NotFound(_))));
}
