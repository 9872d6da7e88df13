//! Names the commit that the program is built from, for `barrow --version`: `BARROW_COMMIT`, empty if it is unknown.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Number of digits of a commit that are shown.
const DIGITS: usize = 7;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = packaged().or_else(checked_out).unwrap_or_default();
    println!("cargo::rustc-env=BARROW_COMMIT={}", commit.get(..DIGITS).unwrap_or_default());
}

/// The commit of a packaged crate: cargo writes it beside the manifest. It goes first, since a packaged crate may lie
/// in an unrelated repository.
fn packaged() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    rest.split('"').nth(1).filter(|commit| is_commit(commit)).map(str::to_owned)
}

/// The commit of the repository that holds this folder as `repl/`.
fn checked_out() -> Option<String> {
    if git(&["rev-parse", "--show-prefix"])? != "repl/" || git(&["ls-files", "Cargo.toml"])?.is_empty() {
        return None;
    }
    // HEAD changes with the branch, and its reflog with every commit, also in a worktree. The branch is for repositories
    // without reflogs. Cargo would run this script at every build for a file that does not exist.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "logs/HEAD"].into_iter().chain(branch.as_deref()) {
        let file = PathBuf::from(git(&["rev-parse", "--git-path", name])?);
        if file.exists() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    git(&["rev-parse", "HEAD"]).filter(|commit| is_commit(commit))
}

fn is_commit(text: &str) -> bool {
    text.len() >= DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The output of git, if there is a git and it succeeds.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_owned())
}
