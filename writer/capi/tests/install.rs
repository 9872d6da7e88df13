//! An installed library can be found by `pkg-config`, linked in both ways, run, moved and removed.

mod library;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use library::{compiler, crate_folder, libraries, run};

fn install() -> Command {
    let profile = if libraries().ends_with("release") { "release" } else { "dev" };
    let mut install = Command::new(crate_folder().join("install"));
    install.env("PROFILE", profile).env("CARGO_TARGET_DIR", libraries().parent().unwrap()).env_remove("DESTDIR");
    install
}

fn has_pkg_config() -> bool {
    let found = Command::new("pkg-config").arg("--version").output().is_ok();
    if !found {
        eprintln!("not tested: no pkg-config here");
    }
    found
}

/// The answer of `pkg-config` about the library below `prefix`, as words of a command line.
fn pkg_config(prefix: &Path, flags: &[&str]) -> Vec<String> {
    let mut ask = Command::new("pkg-config");
    let ask = ask.args(flags).arg("barrow").env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    // A shell reads its answer: it puts a backslash before each space of a path.
    let mut shell = Command::new("sh");
    let lines = run(shell.args(["-euc", &format!("printf '%s\\n' {}", run(ask).trim())]));
    lines.lines().map(str::to_owned).collect()
}

/// Builds the example with the flags of `pkg-config`, and runs it.
fn build_and_run(prefix: &Path, flags: &[&str]) {
    let program = prefix.join("toy_gc");
    let mut cc = Command::new(compiler().get_program());
    cc.arg(crate_folder().join("examples/toy_gc.c")).args(pkg_config(prefix, flags));
    run(cc.args(["-pthread", "-o"]).arg(&program));
    let mut toy = Command::new(&program);
    toy.env("LD_LIBRARY_PATH", prefix.join("lib"));
    let printed = run(toy.arg(prefix.join("toy.barrow")).arg("2"));
    assert_eq!(printed.lines().count(), 2);
    fs::remove_file(program).unwrap();
    fs::remove_file(prefix.join("toy.barrow")).unwrap();
}

/// Uses what is below `prefix` through the shared library, then through the archive, which is all that stays of the two.
fn use_both_libraries(prefix: &Path) {
    let shared = ["--cflags", "--libs"];
    build_and_run(prefix, &shared);
    build_and_run(prefix, &["--define-prefix", "--cflags", "--libs"]);
    let moved = prefix.with_extension("moved");
    fs::rename(prefix, &moved).unwrap();
    build_and_run(&moved, &shared);
    fs::rename(moved.join("lib/libbarrow.so"), moved.join("hidden")).unwrap();
    build_and_run(&moved, &["--cflags", "--libs", "--static"]);
    fs::rename(moved.join("hidden"), moved.join("lib/libbarrow.so")).unwrap();
    fs::rename(&moved, prefix).unwrap();
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn an_installed_library_works_from_any_prefix() {
    if !has_pkg_config() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["prefix", "a prefix with spaces"] {
        let prefix = folder.path().join(name);
        run(install().arg("--prefix").arg(&prefix));
        assert_eq!(files(&prefix).len(), 6, "{:?}", files(&prefix));
        use_both_libraries(&prefix);
        run(install().args(["--uninstall", "--prefix"]).arg(&prefix));
        assert_eq!(files(&prefix), [] as [PathBuf; 0]);
    }
}

#[test]
fn a_destination_goes_before_the_prefix() {
    if !has_pkg_config() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    run(install().args(["--prefix=/opt/barrow", "--destdir"]).arg(folder.path()));
    let staged = folder.path().join("opt/barrow");
    use_both_libraries(&staged);
    // Files that a package manager puts elsewhere do not name the folder that they were staged in.
    let text = fs::read_to_string(staged.join("lib/pkgconfig/barrow.pc")).unwrap();
    assert!(!text.contains(&folder.path().display().to_string()), "{text}");

    // Only what was installed is removed.
    fs::write(staged.join("lib/other"), "").unwrap();
    run(install().args(["/opt/barrow", "--uninstall"]).env("DESTDIR", folder.path()));
    assert_eq!(files(folder.path()), [staged.join("lib/other")]);
}

#[test]
fn an_unknown_option_installs_nothing() {
    let output = install().arg("--prefx=/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--destdir DIR"));
}
