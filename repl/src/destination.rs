//! A file that appears whole or not at all: written under a temporary name beside it, then renamed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::ReplError;

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    temporary: PathBuf,
}

impl Destination {
    /// A file that is to be written at `path`.
    ///
    /// # Errors
    /// A usage error without a path, or if something is there and `force` is not.
    pub(crate) fn new(path: Option<&Path>, force: bool) -> Result<Self, ReplError> {
        let path = path.ok_or_else(|| ReplError::usage("where to? add `-o DST`"))?;
        let shown = path.display();
        if path.is_dir() {
            return Err(ReplError::usage(format!("{shown} is a folder; name a file in it")));
        }
        if path.exists() && !force {
            return Err(ReplError::usage(format!("{shown} exists already; `--force` replaces it")));
        }
        Destination::replacing(path)
    }

    /// A file that is to be written at `path`, whatever is there.
    ///
    /// # Errors
    /// A usage error if `path` names no file.
    pub(crate) fn replacing(path: &Path) -> Result<Self, ReplError> {
        let name = path.file_name();
        let name = name.ok_or_else(|| ReplError::usage(format!("{} names no file", path.display())))?;
        let temporary = format!(".{}.{}.part", name.to_string_lossy(), std::process::id());
        Ok(Destination { path: path.to_owned(), temporary: path.with_file_name(temporary) })
    }

    /// Where it is to be.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where to write meanwhile.
    pub(crate) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// It is whole: gives it its name, and returns that.
    ///
    /// # Errors
    /// The system's, if it cannot be renamed.
    pub(crate) fn commit(self) -> Result<String, ReplError> {
        fs::rename(&self.temporary, &self.path).map_err(|source| ReplError::file(&self.path, source))?;
        Ok(self.path.display().to_string())
    }
}

impl Drop for Destination {
    /// What was not committed leaves nothing behind.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.barrow");
        let abandoned = Destination::new(Some(&path), false).unwrap();
        fs::write(abandoned.temporary(), "half").unwrap();
        drop(abandoned);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        let whole = Destination::new(Some(&path), false).unwrap();
        fs::write(whole.temporary(), "whole").unwrap();
        whole.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert!(Destination::new(Some(&path), false).unwrap_err().to_string().contains("--force"));
        assert!(Destination::new(Some(&path), true).is_ok());
        assert!(Destination::new(Some(folder.path()), true).is_err());
    }
}
