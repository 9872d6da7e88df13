//! What is installed can be found by `pkg-config`, linked in both ways, and run.

mod library;

use std::process::Command;

use library::{compiler, crate_folder, libraries, run};

#[test]
fn an_installed_library() {
    if Command::new("pkg-config").arg("--version").output().is_err() {
        eprintln!("not tested: no pkg-config here");
        return;
    }
    let prefix = tempfile::tempdir().unwrap();
    let profile = if libraries().ends_with("release") { "release" } else { "dev" };
    let target = libraries().parent().unwrap();
    let mut install = Command::new(crate_folder().join("install"));
    run(install.arg(prefix.path()).env("PROFILE", profile).env("CARGO_TARGET_DIR", target));

    let program = prefix.path().join("toy_gc");
    for flags in [["--cflags", "--libs"].as_slice(), &["--cflags", "--libs", "--static"]] {
        let mut ask = Command::new("pkg-config");
        let answer = run(ask.args(flags).arg("barrow").env("PKG_CONFIG_PATH", prefix.path().join("lib/pkgconfig")));
        let mut cc = Command::new(compiler().get_program());
        if flags.contains(&"--static") {
            std::fs::remove_file(prefix.path().join("lib/libbarrow.so")).unwrap();
        }
        cc.arg(crate_folder().join("examples/toy_gc.c")).args(answer.split_whitespace());
        run(cc.args(["-pthread", "-o"]).arg(&program));
        let mut toy = Command::new(&program);
        toy.env("LD_LIBRARY_PATH", prefix.path().join("lib"));
        let printed = run(toy.arg(prefix.path().join("toy.barrow")).arg("2"));
        assert_eq!(printed.lines().count(), 2);
    }
}
