//! A Python that has the package as it is here.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// An interpreter, and a folder with the package.
pub(crate) struct Python {
    package: TempDir,
    minor: u32,
}

impl Python {
    /// `BARROW_PYTHON`, or `python3`, if there is one that barrow can record.
    pub(crate) fn find() -> Option<Python> {
        let package = tempfile::tempdir().expect("a temporary folder");
        let folder = package.path().join("barrow");
        copy_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("python/barrow"), &folder);
        // Beside this test.
        let built = std::env::current_exe().expect("this test").with_file_name("lib_barrow.so");
        std::fs::copy(&built, folder.join("_barrow.abi3.so")).expect("the native half is built with this test");
        let mut python = Python { package, minor: 0 };
        let version = python.command().args(["-c", "import sys; print(*sys.version_info[:2])"]).output();
        let version = version.ok().filter(|output| output.status.success()).map(|output| output.stdout);
        let minor =
            version.and_then(|text| String::from_utf8(text).ok()?.strip_prefix("3 ")?.trim().parse::<u32>().ok());
        let Some(minor) = minor.filter(|minor| (9..=14).contains(minor)) else {
            println!("SKIPPED: there is no CPython 3.9 to 3.14");
            return None;
        };
        python.minor = minor;
        Some(python)
    }

    /// The second number of its version.
    #[allow(dead_code, reason = "not every test that has this module asks")]
    pub(crate) fn minor(&self) -> u32 {
        self.minor
    }

    pub(crate) fn command(&self) -> Command {
        let python = std::env::var_os("BARROW_PYTHON").unwrap_or_else(|| "python3".into());
        let mut command = Command::new(python);
        command.arg("-B").env("PYTHONPATH", self.package.path()).env("PYTHONUTF8", "1").env_remove("BARROW_OUT");
        command
    }
}

fn copy_sources(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("made");
    for file in std::fs::read_dir(from).expect("the package") {
        let file = file.expect("a file").path();
        let copy = to.join(file.file_name().expect("a name"));
        if file.is_dir() {
            copy_sources(&file, &copy);
        } else if file.extension() == Some(OsStr::new("py")) {
            std::fs::copy(&file, copy).expect("copied");
        }
    }
}

/// What a program printed that must have ended well.
pub(crate) fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}
