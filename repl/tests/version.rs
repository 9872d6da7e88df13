//! `barrow --version` names the version, the commit and the format.

use crate::program;
use std::path::Path;
use std::process::Command;

use crate::program::run;

/// The commit of the tree that is tested; empty where there is no repository.
fn commit() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(folder).output();
    let output = output.ok().filter(|output| output.status.success());
    let text = output.map_or(String::new(), |output| String::from_utf8(output.stdout).expect("a commit is ASCII"));
    text.chars().take(7).collect()
}

#[test]
fn names_the_commit_and_the_format() {
    let recording = std::fs::read(program::testdata("smallest.barrow")).expect("the recording is there");
    let [major, minor] = [8, 10].map(|at| u16::from_le_bytes([recording[at], recording[at + 1]]));
    let commit = match commit() {
        unknown if unknown.is_empty() => unknown,
        commit => commit + ", ",
    };
    let told = run(&["--version"]).stdout;
    assert_eq!(told, format!("barrow {} ({commit}format {major}.{minor})\n", env!("CARGO_PKG_VERSION")));
}
