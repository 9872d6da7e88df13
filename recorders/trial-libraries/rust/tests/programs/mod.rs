//! Programs that use the libraries, and the lines that they report.
#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// Iterations of each program.
pub(crate) const ITERATIONS: usize = 60;

/// How a program runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Layouts<'l> {
    /// Outside of a trial.
    Off,
    Fixed,
    /// With a seed and knobs.
    Random(u64, &'l str),
}

/// What a program printed, and the lines that it reported.
pub(crate) struct Told {
    pub(crate) printed: String,
    pub(crate) lines: Vec<String>,
}

/// The folder of all libraries.
pub(crate) fn libraries() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The program `examples/sum.rs`, as its source is now. The features are those of the whole workspace, as its tests are
/// built: with those of this package alone, 39 of the 110 parts of the program would be compiled again.
pub(crate) fn example() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let test = std::env::current_exe().unwrap();
        let profile = test.ancestors().nth(2).expect("tests are in a folder of their profile");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--workspace", "--example", "sum", "--target-dir"]);
        cargo.arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        said(&cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap());
        profile.join("examples/sum")
    });
    &PROGRAM
}

/// Runs a program in this layout.
pub(crate) fn run(mut command: Command, layouts: Layouts<'_>) -> Told {
    let values = tempfile::NamedTempFile::new().unwrap();
    for name in ["VALUES", "SEED", "LAYOUT", "KNOBS"] {
        command.env_remove(format!("BARROW_TRIAL_{name}"));
    }
    if !matches!(layouts, Layouts::Off) {
        command.env("BARROW_TRIAL_VALUES", values.path());
    }
    match layouts {
        Layouts::Off => {}
        Layouts::Fixed => {
            command.env("BARROW_TRIAL_LAYOUT", "fixed").env("BARROW_TRIAL_SEED", format!("{:020}", 1));
        }
        Layouts::Random(seed, knobs) => {
            command.env("BARROW_TRIAL_LAYOUT", "random").env("BARROW_TRIAL_SEED", format!("{seed:020}"));
            command.env("BARROW_TRIAL_KNOBS", knobs);
        }
    }
    let printed = said(&command.output().unwrap());
    let lines = fs::read_to_string(values.path()).unwrap().lines().map(str::to_owned).collect();
    Told { printed, lines }
}

/// The number of different values of each column that a program printed.
pub(crate) fn distinct(printed: &str) -> Vec<usize> {
    let mut columns: Vec<BTreeSet<&str>> = Vec::new();
    for line in printed.lines() {
        for (at, cell) in line.split(' ').enumerate() {
            columns.resize_with(columns.len().max(at + 1), BTreeSet::new);
            columns[at].insert(cell);
        }
    }
    columns.iter().map(BTreeSet::len).collect()
}

/// What a program printed that must have ended well.
pub(crate) fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}
