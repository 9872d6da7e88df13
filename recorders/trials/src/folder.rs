//! A folder of a trial for files that programs open by name; what killed trials left is removed.
//!
//! A trial locks its folder as long as it lives (`flock`), and the system unlocks it when the trial ends, however it ends.
//! Each trial removes the folders of the same user that are not locked, unless a program that outlived its trial still uses
//! one. A folder is removed only by the process that has locked it, and a new one is used only if it is still there when it
//! has been locked.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Error};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tempfile::TempDir;

use crate::program::contains;
use crate::system;

/// Prefix of the names of all such folders.
const PREFIX: &str = "barrow-trial-";
/// Number of random characters after the prefix. It is constant so that fixed layouts are the same in all trials.
const RANDOM_CHARACTERS: usize = 8;
/// Number of attempts to make a folder, since another trial may remove it before it is locked. A trial removes each folder
/// once, so more attempts mean another fault.
const ATTEMPTS: usize = 8;

/// A folder that is removed when this is dropped, or by a later trial.
pub(crate) struct Folder {
    directory: TempDir,
    /// Holds the lock; no program inherits it. None where files cannot be locked, so that nothing is swept either.
    _lock: Option<File>,
}

impl Folder {
    /// A new folder among these, in which all files of killed trials are removed first.
    pub(crate) fn new(among: &Path) -> io::Result<Self> {
        sweep(among);
        let mut builder = tempfile::Builder::new();
        // A program may go on as another user, who finds files by their names and cannot list the folder.
        builder.prefix(PREFIX).rand_bytes(RANDOM_CHARACTERS).permissions(Permissions::from_mode(0o711));
        for _ in 0..ATTEMPTS {
            let directory = builder.tempdir_in(among)?;
            match locked(directory.path()) {
                Ok(Some(lock)) => return Ok(Folder { directory, _lock: Some(lock) }),
                Err(_) if directory.path().exists() => return Ok(Folder { directory, _lock: None }),
                Ok(None) | Err(_) => {}
            }
        }
        Err(Error::other("a new folder is removed again and again"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Locks a folder of this user. `None` if another process has locked it, it is that of another user, or it is gone.
///
/// # Errors
/// It is no folder, or cannot be locked.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let folder = File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(path)?;
    let details = folder.metadata()?;
    if details.uid() != system::user() {
        return Ok(None);
    }
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    // The previous holder of the lock may have removed it.
    let is_there = fs::symlink_metadata(path).is_ok_and(|now| now.ino() == details.ino() && now.dev() == details.dev());
    Ok(is_there.then_some(folder))
}

/// Removes the folders that no trial has locked and no program uses, if they can be removed.
fn sweep(among: &Path) {
    let Ok(entries) = fs::read_dir(among) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| is_name(path)) {
        let Ok(Some(_lock)) = locked(&path) else { continue };
        if !is_used(&path) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn is_name(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let random = name.and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM_CHARACTERS && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Whether a living process has a file of the folder open or mapped, or would load one into the next program: programs
/// outlive a trial that was killed. Processes that this user may not look at have lost the library with their rights.
fn is_used(folder: &Path) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    let own = std::process::id().to_string();
    let processes = processes.flatten().filter(|entry| {
        entry.file_name() != own.as_str() && entry.file_name().as_bytes().iter().all(u8::is_ascii_digit)
    });
    processes.map(|entry| entry.path()).any(|process| is_used_by(&process, folder))
}

fn is_used_by(process: &Path, folder: &Path) -> bool {
    let is_named = ["environ", "maps"].iter().any(|file| {
        let text = fs::read(process.join(file)).unwrap_or_default();
        contains(&text, folder.as_os_str().as_bytes())
    });
    let mut descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    is_named || descriptors.any(|entry| fs::read_link(entry.path()).is_ok_and(|file| file.starts_with(folder)))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    /// A folder as a trial that was killed leaves it.
    fn left(among: &Path, name: &str) -> PathBuf {
        let path = among.join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("shim.so"), "library").unwrap();
        path
    }

    #[test]
    fn what_no_process_uses_is_removed() {
        let among = tempfile::tempdir().unwrap();
        let living = Folder::new(among.path()).unwrap();
        let abandoned = left(among.path(), "barrow-trial-abcDEF12");
        let others = ["barrow-trial-x", "barrow-trial-abcDEF123", "barrow-trial-abc.EF12", "other"];
        let others = others.map(|name| left(among.path(), name));
        std::os::unix::fs::symlink(&others[0], among.path().join("barrow-trial-LINK0000")).unwrap();
        let next = Folder::new(among.path()).unwrap();
        assert!(living.path().exists() && next.path().exists() && !abandoned.exists());
        assert!(others.iter().all(|other| other.join("shim.so").exists()));
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_program_still_uses_stays() {
        let among = tempfile::tempdir().unwrap();
        let path = left(among.path(), "barrow-trial-abcDEF12");
        let file = path.join("shim.so");
        let mut by_environment = Command::new("sleep").arg("60").env("BARROW_TRIAL_SHIM", &file).spawn().unwrap();
        let mut by_descriptor = Command::new("sleep").arg("60").stdin(File::open(&file).unwrap()).spawn().unwrap();
        for process in [&mut by_environment, &mut by_descriptor] {
            drop(Folder::new(among.path()).unwrap());
            assert!(file.exists());
            process.kill().unwrap();
            process.wait().unwrap();
        }
        drop(Folder::new(among.path()).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_was_removed_is_not_used() {
        let among = tempfile::tempdir().unwrap();
        let path = left(among.path(), "barrow-trial-abcDEF12");
        let lock = locked(&path).unwrap().unwrap();
        assert!(locked(&path).unwrap().is_none(), "it is locked");
        drop(lock);
        let lock = locked(&path).unwrap();
        assert!(lock.is_some());
        fs::remove_dir_all(&path).unwrap();
        assert!(locked(&path).is_err());
    }
}
