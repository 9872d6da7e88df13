//! The program under test, the bundled recording, and files that are compared or blessed.
#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod trials;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use barrow_testdata::Graph;

/// The exit code and the output of a run of the program.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A file of `testdata/`.
pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata").join(name)
}

/// The bundled recording: three snapshots of a Raku process.
pub(crate) fn recording() -> String {
    testdata("raku.barrow").display().to_string()
}

/// The program with a cache of its own and an empty history.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barrow"));
    command.env("BARROW_CACHE", folder.join("cache")).env("XDG_STATE_HOME", folder).stdin(Stdio::null());
    command
}

/// Runs the program with these words.
pub(crate) fn run(words: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    finished(program(folder.path()).args(words).output().expect("the program starts"))
}

/// The code and the output of a program that has ended.
pub(crate) fn finished(output: Output) -> Run {
    Run {
        code: output.status.code().expect("no signal ended the program"),
        stdout: String::from_utf8(output.stdout).expect("answers are UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("errors are UTF-8"),
    }
}

/// A recording at `path` with a snapshot for each count: a map of the globals that holds this number of lists, each of
/// 1000 bytes with a leaf of 24, and a pair of 5000 bytes. Types are called Map, List, Leaf and Pair.
pub(crate) fn record_series(path: &Path, counts: &[usize]) {
    record_lists(path, counts, None);
}

/// The same as a recording that grows: with more counts it has the same snapshots, and more.
pub(crate) fn record_growing(path: &Path, counts: &[usize]) {
    record_lists(path, counts, Some([7; 16]));
}

fn record_lists(path: &Path, counts: &[usize], uuid: Option<[u8; 16]>) {
    let graphs: Vec<Graph> = counts.iter().map(|&count| lists(count)).collect();
    let graphs: Vec<&Graph> = graphs.iter().collect();
    std::fs::write(path, Graph::bytes_of(&graphs, uuid)).expect("the recording can be written");
}

fn lists(count: usize) -> Graph {
    let mut words = "root -> m(64); root -> p(5000)".to_owned();
    (0..count).for_each(|at| words += &format!("; m -> list{at}(1000) -> leaf{at}(24)"));
    let (mut graph, names) = Graph::of_words(&words);
    for (type_id, name) in graph.types.iter_mut().zip(&names) {
        *type_id = match name.as_str() {
            "p" => 0,
            "m" => 2,
            name if name.starts_with("list") => 1,
            _ => 3,
        };
    }
    graph
}

/// Compares with the file at `path`; `BLESS=1` writes it instead.
pub(crate) fn compare(path: &Path, text: &str) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, text).expect("the expected text can be written");
        return;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert!(expected == text, "{} differs; BLESS=1 rewrites it\n--- now:\n{text}", path.display());
}
