//! Programs in C for tests: built with `cc` against the library as it is now, and run.
#![allow(dead_code, reason = "each test uses a part")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// System libraries that a static library of Rust needs.
const SYSTEM_LIBRARIES: [&str; 4] = ["-pthread", "-ldl", "-lm", "-lgcc_s"];

/// The compiler, told where the header is.
pub(crate) fn compiler() -> Command {
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.arg("-I").arg(crate_folder().join("include"));
    compiler
}

/// Returns whether the compiler has this language.
pub(crate) fn speaks(language: &str) -> bool {
    let empty = compiler().args(["-fsyntax-only", "-x", language, "/dev/null"]).output();
    empty.is_ok_and(|done| done.status.success())
}

pub(crate) fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The linking of a program, and its sanitizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// With `libbarrow.a`.
    Static,
    /// With `libbarrow.so`.
    Shared,
    /// With `libbarrow.a`, under AddressSanitizer, which sees the memory that Rust allocates too.
    Address,
    /// With `libbarrow.so`, under ThreadSanitizer. It sees the program, and of the library, whose locks it
    /// does not know, only which threads it starts.
    Thread,
}

impl Build {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Build::Static | Build::Shared => &[],
            Build::Address => &["-fsanitize=address", "-fno-omit-frame-pointer"],
            Build::Thread => &["-fsanitize=thread"],
        }
    }

    /// Returns whether programs can be built and run in this way here; prints why not.
    pub(crate) fn is_possible(self, folder: &Path) -> bool {
        let (source, program) = (folder.join("probe.c"), folder.join("probe"));
        std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        let done = compiler().args(self.flags()).arg(&source).arg("-o").arg(&program).output();
        let done = done.and_then(|done| if done.status.success() { Command::new(&program).output() } else { Ok(done) });
        match done {
            Ok(done) if done.status.success() => return true,
            Ok(done) => eprintln!("not tested: {self:?}: {}", String::from_utf8_lossy(&done.stderr)),
            Err(error) => eprintln!("not tested: {self:?}: {error}"),
        }
        false
    }
}

/// Builds `source` as `folder/name`. Warnings are errors.
pub(crate) fn build(build: Build, source: &Path, folder: &Path, name: &str) -> PathBuf {
    let program = folder.join(name);
    let mut compiler = compiler();
    compiler.args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]).args(build.flags());
    compiler.arg(source).arg("-o").arg(&program);
    let libraries = libraries();
    match build {
        Build::Static | Build::Address => compiler.arg(libraries.join("libbarrow.a")),
        Build::Shared | Build::Thread => {
            // Programs look for it under the name of its ABI.
            let soname = folder.join("libbarrow.so.1");
            if !soname.exists() {
                std::os::unix::fs::symlink(libraries.join("libbarrow.so"), &soname).unwrap();
            }
            compiler.arg(&soname).arg(format!("-Wl,-rpath,{}", folder.display()))
        }
    };
    let done = compiler.args(SYSTEM_LIBRARIES).output().expect("there is a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

/// The tool that watches every access to memory, those of the library too.
pub(crate) const MEMCHECK: [&str; 5] =
    ["valgrind", "--quiet", "--error-exitcode=66", "--leak-check=full", "--errors-for-leak-kinds=all"];

/// Returns whether there is such a tool here; prints that there is none.
pub(crate) fn has_memcheck() -> bool {
    let found = Command::new(MEMCHECK[0]).arg("--version").output().is_ok_and(|done| done.status.success());
    if !found {
        eprintln!("not tested: no valgrind here");
    }
    found
}

/// A command under a tool, if one is given, and with what the sanitizers are to do.
pub(crate) fn command(tool: &[&str], program: &Path) -> Command {
    let words: Vec<&OsStr> = tool.iter().map(OsStr::new).chain([program.as_os_str()]).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env("ASAN_OPTIONS", "detect_leaks=1");
    // Work of the C library on behalf of code that TSan does not see would look like races.
    command.env("TSAN_OPTIONS", "ignore_noninstrumented_modules=1 exitcode=66");
    command
}

/// Runs a command that must succeed. Returns what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?} ended with {status}:\n{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// The folder of the libraries, as the sources are now. Cargo does not build them for tests, since no test can
/// be linked with them: this asks the compiler for them. An example makes the features those of the workspace with its
/// tests, where all but these libraries is built already.
pub(crate) fn libraries() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // target/debug/deps/test
        let test = std::env::current_exe().unwrap();
        let profile = test.ancestors().nth(2).expect("tests are in a folder of their profile").to_path_buf();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--workspace", "--lib", "--example", "sum", "--target-dir"]);
        cargo.arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        run(cargo.current_dir(crate_folder()));
        profile
    })
}
