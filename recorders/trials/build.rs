//! Compiles the shim, which is loaded into the programs that are measured, so that the recorder holds it.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=shim");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let out = PathBuf::from(variable("OUT_DIR")).join("shim.so");
    // Its allocator is that of glibc on Linux.
    if variable("CARGO_CFG_TARGET_OS") != "linux" || variable("CARGO_CFG_TARGET_ENV") != "gnu" {
        fs::write(&out, []).expect("the output folder can be written");
        return;
    }
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=cdylib", "--crate-name=barrow_trial_shim"]);
    rustc.args(["--target", &variable("TARGET"), "-Copt-level=3", "-Cpanic=abort", "-Cstrip=symbols"]);
    rustc.args(["-Cforce-frame-pointers=yes", "-Crelocation-model=pic"]);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc.arg("-C").arg({
            let mut option = std::ffi::OsString::from("linker=");
            option.push(linker);
            option
        });
    }
    rustc.arg("-o").arg(&out).arg("shim/shim.rs");
    let compiled = rustc.status().expect("rustc can be run");
    assert!(compiled.success(), "the shim cannot be compiled: {rustc:?}");
}
