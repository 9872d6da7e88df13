//! Where cached recordings are, and who may look into that folder.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::QueryError;

/// The folder of the cache.
#[derive(Debug)]
pub(crate) struct CacheFolder {
    path: PathBuf,
    /// Nothing but barrow uses it: its permissions may be set.
    is_own: bool,
}

impl CacheFolder {
    /// The folder that the environment tells; it need not be there yet.
    ///
    /// # Errors
    /// There is no home, and the folder for temporary files holds another user's folder under our name.
    pub(crate) fn find() -> Result<Self, QueryError> {
        let variable = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
        if let Some(path) = variable("BARROW_CACHE") {
            return Ok(CacheFolder { path, is_own: false });
        }
        let path = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
        match path {
            Some(path) => Ok(CacheFolder { path: path.join("barrow"), is_own: true }),
            None => in_temporary_folder().map(|path| CacheFolder { path, is_own: true }),
        }
    }

    /// The folder at this path.
    pub(crate) fn at(path: &Path) -> Self {
        CacheFolder { path: path.to_owned(), is_own: false }
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it unless it is there. Only its owner may enter it.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn make(&self) -> Result<(), QueryError> {
        make_private(&self.path, true).map_err(|error| QueryError::file(&self.path, error))?;
        if self.is_own {
            restrict(&self.path);
        }
        Ok(())
    }
}

/// A folder of this user's in the system's folder for temporary files, where anybody could have made one of that name.
///
/// # Errors
/// The folder is a link or another user's, or others may enter it.
fn in_temporary_folder() -> Result<PathBuf, QueryError> {
    checked_in(&std::env::temp_dir()).map_err(|error| {
        QueryError::unreadable("the cache of imported dumps", format!("{error}; name a folder in BARROW_CACHE"))
    })
}

#[cfg(unix)]
fn checked_in(parent: &Path) -> io::Result<PathBuf> {
    use std::os::unix::fs::MetadataExt;

    // A new file belongs to this user.
    let user = tempfile::tempfile_in(parent)?.metadata()?.uid();
    let path = parent.join(format!("barrow-{user}"));
    match make_private(&path, false) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Of a link, what the link itself is.
    let found = fs::symlink_metadata(&path)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!("{} is not a folder of this user alone", path.display())));
    }
    Ok(path)
}

/// Elsewhere each user has a folder for temporary files.
#[cfg(not(unix))]
fn checked_in(parent: &Path) -> io::Result<PathBuf> {
    Ok(parent.join("barrow"))
}

fn make_private(path: &Path, recursive: bool) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(recursive);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Takes from others what they may do in a folder that an earlier version has made.
fn restrict(path: &Path) {
    #[cfg(unix)]
    if let Ok(found) = fs::metadata(path) {
        use std::os::unix::fs::PermissionsExt;
        if found.permissions().mode() & 0o077 != 0 {
            // A folder that is not ours stays as it is; the files in it are for their owner only in any case.
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn the_folder_beside_other_users_is_checked() {
        let parent = tempfile::tempdir().unwrap();
        let path = checked_in(parent.path()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(checked_in(parent.path()).unwrap(), path);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(checked_in(parent.path()).is_err(), "others may look into it");
        fs::remove_dir(&path).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), &path).unwrap();
        assert!(checked_in(parent.path()).is_err(), "a link");
    }

    #[test]
    fn folders_are_made_for_their_owner() {
        let parent = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = CacheFolder { path: parent.path().join("cache/barrow"), is_own: true };
        folder.make().unwrap();
        assert_eq!(mode(folder.path()), 0o700);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        folder.make().unwrap();
        assert_eq!(mode(folder.path()), 0o700);
        // One that the user has named may hold other things.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let named = CacheFolder { is_own: false, ..folder };
        named.make().unwrap();
        assert_eq!(mode(named.path()), 0o755);
    }
}

/// Where index files may be that cannot be beside their recordings.
pub(crate) fn index_folder() -> Option<PathBuf> {
    CacheFolder::find().ok().map(|folder| folder.path().to_owned())
}

/// Where large temporary files may be, made unless it is there: readable for the user only, and not in memory as the
/// folder for temporary files often is.
pub(crate) fn folder_for_copies() -> Option<PathBuf> {
    let folder = CacheFolder::find().ok()?;
    folder.make().ok()?;
    Some(folder.path().to_owned())
}
