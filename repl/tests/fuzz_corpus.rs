//! Every input in the corpus of `fuzz` is an answer: found by fuzzing, replayed on a stable compiler. The crate there is a
//! workspace of its own, which would build every dependency again: its functions are a module here.

#[expect(unused_imports, unreachable_pub, reason = "the fuzz targets and the program that writes seeds use them")]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use std::fs;
use std::path::Path;

/// A file of each kind of input is read by the function of its folder.
fn replay(folder: &str, target: fn(&[u8])) {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus")).join(folder);
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
    replay("recording", fuzz::recording);
}

#[test]
fn recordings_with_right_checksums() {
    replay("recording_fixed", fuzz::recording_fixed);
}

#[test]
fn recordings_to_redact() {
    replay("redact", fuzz::redact);
}

#[test]
fn moarvm_dumps() {
    replay("moarvm", fuzz::dump);
}

#[test]
fn hprof_dumps() {
    replay("hprof", fuzz::dump);
}

#[test]
fn damaged_dumps() {
    replay("damaged_hprof", fuzz::damaged_hprof);
    replay("damaged_logs", fuzz::damaged_logs);
    replay("damaged_ruby", fuzz::damaged_ruby);
    replay("damaged_v8", fuzz::damaged_v8);
}

#[test]
fn dumps_of_json_lines() {
    replay("json_lines", fuzz::dump);
}

#[test]
fn logs_of_processes() {
    replay("process_logs", fuzz::dump);
}

#[test]
fn files_of_measured_values() {
    replay("measurements", fuzz::measurements);
}

#[test]
fn expressions_about_processes() {
    replay("process_expression", fuzz::process_expression);
}

#[test]
fn v8_snapshots() {
    replay("v8", fuzz::dump);
}

#[test]
fn expressions() {
    replay("expression", fuzz::expression);
}

#[test]
fn lines() {
    replay("lines", fuzz::lines);
}

#[test]
fn assertions() {
    replay("assertion", fuzz::assertion);
}

#[test]
fn index_files() {
    replay("index", fuzz::index);
}

#[test]
fn index_files_with_right_checksums() {
    replay("index_fixed", fuzz::index_fixed);
}

#[test]
fn cached_imports() {
    replay("cache", fuzz::cache);
}

#[test]
fn varints() {
    replay("varint", fuzz::varint);
}
