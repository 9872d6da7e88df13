//! Compiles the shim, which is loaded into the programs that are measured, so that the recorder holds it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=shim");
    let out = PathBuf::from(variable("OUT_DIR")).join("shim.so");
    // Its allocator is that of glibc on Linux.
    if variable("CARGO_CFG_TARGET_OS") != "linux" || variable("CARGO_CFG_TARGET_ENV") != "gnu" {
        fs::write(&out, []).expect("the output folder can be written");
        return;
    }
    // One segment less to map, where the linker knows the option.
    let compiled = compile(&out, &["-Clink-arg=-Wl,--no-rosegment"]) || compile(&out, &[]);
    assert!(compiled, "the shim cannot be compiled");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Returns whether it could be compiled with these options. Every run loads the shim, so it has no code of the compiler's
/// that begins and ends libraries, and glibc's functions are looked up when they are first called.
fn compile(out: &Path, options: &[&str]) -> bool {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=cdylib", "--crate-name=barrow_trial_shim"]);
    rustc.args(["--target", &variable("TARGET"), "-Copt-level=3", "-Cpanic=abort", "-Cstrip=symbols"]);
    rustc.args(["-Cforce-frame-pointers=yes", "-Crelocation-model=pic"]);
    rustc.args(["-Crelro-level=off", "-Clink-arg=-nostartfiles", "-Clink-arg=-Wl,-z,lazy"]).args(options);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc.arg("-C").arg({
            let mut option = std::ffi::OsString::from("linker=");
            option.push(linker);
            option
        });
    }
    rustc.arg("-o").arg(out).arg("shim/shim.rs");
    rustc.status().expect("rustc can be run").success()
}
