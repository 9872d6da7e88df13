//! docs/embedding.md as a newcomer reads it: its commands run as they are in an empty folder, and its tables name every
//! field of every structure.

mod library;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use barrow_analyzer::{Recording, Silent, verify};
use library::{crate_folder, libraries, run};

fn page() -> String {
    fs::read_to_string(crate_folder().join("../../docs/embedding.md")).unwrap()
}

#[test]
fn its_commands_run_in_an_empty_folder() {
    if Command::new("pkg-config").arg("--version").output().is_err() {
        eprintln!("not tested: no pkg-config here");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("src")).unwrap();
    let repository = crate_folder().join("../..").canonicalize().unwrap();
    std::os::unix::fs::symlink(repository, home.path().join("src/barrow")).unwrap();
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();

    let page = page();
    let blocks = page.split("```sh\n").skip(1).filter_map(|part| part.split("```").next());
    let commands = blocks.collect::<String>();
    let profile = if libraries().ends_with("release") { "release" } else { "dev" };
    let of_cargo = |variable: &str, folder: &str| {
        let usual = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(folder);
        std::env::var_os(variable).map_or_else(usual, PathBuf::from)
    };
    let mut shell = Command::new("sh");
    shell.args(["-euc", &commands]).current_dir(&empty).env("HOME", home.path());
    shell.env("CARGO_HOME", of_cargo("CARGO_HOME", ".cargo")).env("RUSTUP_HOME", of_cargo("RUSTUP_HOME", ".rustup"));
    shell.env("PROFILE", profile).env("CARGO_TARGET_DIR", libraries().parent().unwrap());
    run(shell.env_remove("LD_LIBRARY_PATH").env_remove("PKG_CONFIG_PATH"));

    for name in ["runtime.barrow", "static.barrow"] {
        let recording = Recording::open(&empty.join(name)).unwrap();
        assert_eq!(verify(&recording, &Silent).unwrap().problems, [], "{name}");
        assert!(recording.snapshot_count() > 0, "{name}");
    }

    // The installed folder goes on working elsewhere.
    let moved = home.path().join("moved");
    fs::rename(home.path().join(".local"), &moved).unwrap();
    let mut ask = Command::new("pkg-config");
    let answer = run(ask.args(["--cflags", "barrow"]).env("PKG_CONFIG_PATH", moved.join("lib/pkgconfig")));
    let include = PathBuf::from(answer.trim().trim_start_matches("-I"));
    assert!(include.join("barrow.h").exists(), "{answer}");
}

/// Names of fields in the lines of a structure in C.
fn declared(body: &str) -> BTreeSet<String> {
    let lines = body.lines().map(str::trim).filter(|line| line.ends_with(';') && !line.starts_with('*'));
    lines.filter_map(name).collect()
}

/// The name that a declaration ends with.
fn name(line: &str) -> Option<String> {
    let last = line.trim_end_matches(';').split_whitespace().last()?;
    Some(last.trim_start_matches('*').split('[').next()?.to_owned())
}

#[test]
fn its_tables_name_every_field() {
    let page = page();
    let header = fs::read_to_string(crate_folder().join("include/barrow.h")).unwrap();
    let mut structures = 0;
    for part in header.split("typedef struct ").skip(1).filter(|part| part.lines().next().unwrap().ends_with('{')) {
        let (structure, body) = part.split_once(" {").unwrap();
        let fields = declared(body.split("\n}").next().unwrap());
        if fields.len() < 2 {
            continue;
        }
        structures += 1;
        let section = page.split(&format!("### `{structure}`\n")).nth(1);
        let section = section.unwrap_or_else(|| panic!("{structure} is not described"));
        let section = section.split("\n#").next().unwrap();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        assert_eq!(rows.map(str::to_owned).collect::<BTreeSet<_>>(), fields, "{structure}");
    }
    assert!(structures > 8, "the header has {structures} structures");
}
