//! Every input in the corpus is an answer: found by fuzzing, replayed by plain `cargo test`.

use std::fs;
use std::path::Path;

/// A file of each kind of input is read by the function of its folder.
fn replay(folder: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(folder);
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("the corpus") {
        let path = entry.expect("a file of the corpus").path();
        let bytes = fs::read(&path).expect("a file of the corpus");
        // Shown only if the test fails: the last one is to blame.
        println!("{}", path.display());
        target(&bytes);
        count += 1;
    }
    assert!(count > 0, "no corpus in {}", folder.display());
}

#[test]
fn recordings() {
    replay("recording", barrow_fuzz::recording);
}

#[test]
fn recordings_with_right_checksums() {
    replay("recording_fixed", barrow_fuzz::recording_fixed);
}

#[test]
fn recordings_to_redact() {
    replay("redact", barrow_fuzz::redact);
}

#[test]
fn moarvm_dumps() {
    replay("moarvm", barrow_fuzz::dump);
}

#[test]
fn hprof_dumps() {
    replay("hprof", barrow_fuzz::dump);
}

#[test]
fn damaged_dumps() {
    replay("damaged_hprof", barrow_fuzz::damaged_hprof);
    replay("damaged_logs", barrow_fuzz::damaged_logs);
    replay("damaged_ruby", barrow_fuzz::damaged_ruby);
    replay("damaged_v8", barrow_fuzz::damaged_v8);
}

#[test]
fn dumps_of_json_lines() {
    replay("json_lines", barrow_fuzz::dump);
}

#[test]
fn logs_of_processes() {
    replay("process_logs", barrow_fuzz::dump);
}

#[test]
fn files_of_measured_values() {
    replay("measurements", barrow_fuzz::measurements);
}

#[test]
fn expressions_about_processes() {
    replay("process_expression", barrow_fuzz::process_expression);
}

#[test]
fn v8_snapshots() {
    replay("v8", barrow_fuzz::dump);
}

#[test]
fn expressions() {
    replay("expression", barrow_fuzz::expression);
}

#[test]
fn lines() {
    replay("lines", barrow_fuzz::lines);
}

#[test]
fn assertions() {
    replay("assertion", barrow_fuzz::assertion);
}

#[test]
fn index_files() {
    replay("index", barrow_fuzz::index);
}

#[test]
fn index_files_with_right_checksums() {
    replay("index_fixed", barrow_fuzz::index_fixed);
}

#[test]
fn cached_imports() {
    replay("cache", barrow_fuzz::cache);
}

#[test]
fn varints() {
    replay("varint", barrow_fuzz::varint);
}
