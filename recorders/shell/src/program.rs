//! Which program is wrapped.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The name under which this program wraps the shell.
const OWN_NAME: &str = "barrow-sh";
/// Shells, if `/bin/sh` is this program itself.
const SHELLS: [&str; 3] = ["/bin/dash", "/bin/bash", "/usr/bin/bash"];

/// The program to run in place of this one, given the name under which it was invoked; `None` if there is no other program.
pub(crate) fn wanted(invoked_as: Option<&OsString>) -> Option<PathBuf> {
    let own = std::env::current_exe().and_then(std::fs::metadata).ok();
    let is_other = |path: &PathBuf| is_program(path, own.as_ref());
    let name = invoked_as.and_then(|name| Path::new(name).file_name()).unwrap_or(OsStr::new(OWN_NAME));
    if name != OWN_NAME {
        return in_path(name).find(is_other);
    }
    let shells = SHELLS.into_iter().map(PathBuf::from);
    std::iter::once(PathBuf::from("/bin/sh")).chain(in_path(OsStr::new("sh"))).chain(shells).find(is_other)
}

fn in_path(name: &OsStr) -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let name = name.to_owned();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.into_iter().map(move |folder| folder.join(&name))
}

/// Whether `path` leads, perhaps through links, to a program other than this one.
fn is_program(path: &Path, own: Option<&Metadata>) -> bool {
    let Ok(found) = std::fs::metadata(path) else { return false };
    let is_own = own.is_some_and(|own| (own.dev(), own.ino()) == (found.dev(), found.ino()));
    found.is_file() && found.permissions().mode() & 0o111 != 0 && !is_own
}
