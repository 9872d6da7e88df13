//! A file that appears whole or not at all: written under a temporary name beside it, then renamed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::ReplError;

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    /// The path as it was named.
    shown: String,
    temporary: PathBuf,
}

impl Destination {
    /// A file that is to be written at `path`; behind a symbolic link, where that leads. It is made of `sources`.
    ///
    /// # Errors
    /// A usage error without a path, or if something is there and `force` is not, or if that is one of the sources or
    /// no regular file.
    pub(crate) fn new(path: Option<&Path>, force: bool, sources: &[&Path]) -> Result<Self, ReplError> {
        let path = path.ok_or_else(|| ReplError::usage("where to? add `-o DST`"))?;
        let shown = path.display();
        // What is not there yet has no other name.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if sources.iter().any(|source| source.canonicalize().is_ok_and(|source| source == target)) {
            return Err(ReplError::usage(format!("{shown} is what is read; choose another name")));
        }
        if path.is_dir() {
            return Err(ReplError::usage(format!("{shown} is a folder; name a file in it")));
        }
        if path.is_symlink() && !path.exists() {
            return Err(ReplError::usage(format!("{shown} is a link that leads nowhere; choose another name")));
        }
        if path.exists() && !path.is_file() {
            return Err(ReplError::usage(format!("{shown} is no regular file; choose another name")));
        }
        if path.exists() && !force {
            return Err(ReplError::usage(format!("{shown} exists already; `--force` replaces it")));
        }
        let mut destination = Destination::replacing(&target)?;
        destination.shown = shown.to_string();
        Ok(destination)
    }

    /// A file that is to be written at `path`, whatever is there.
    ///
    /// # Errors
    /// A usage error if `path` names no file.
    pub(crate) fn replacing(path: &Path) -> Result<Self, ReplError> {
        let name = path.file_name();
        let name = name.ok_or_else(|| ReplError::usage(format!("{} names no file", path.display())))?;
        let temporary = format!(".{}.{}.part", name.to_string_lossy(), std::process::id());
        let shown = path.display().to_string();
        Ok(Destination { path: path.to_owned(), shown, temporary: path.with_file_name(temporary) })
    }

    /// Where it is to be.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path as it was named.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
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
        Ok(self.shown.clone())
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
        let abandoned = Destination::new(Some(&path), false, &[]).unwrap();
        fs::write(abandoned.temporary(), "half").unwrap();
        drop(abandoned);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        let whole = Destination::new(Some(&path), false, &[]).unwrap();
        fs::write(whole.temporary(), "whole").unwrap();
        whole.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert!(Destination::new(Some(&path), false, &[]).unwrap_err().to_string().contains("--force"));
        assert!(Destination::new(Some(&path), true, &[]).is_ok());
        assert!(Destination::new(Some(folder.path()), true, &[]).is_err());
    }

    #[test]
    fn what_is_read_is_not_replaced_nor_what_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let [source, other] = ["a.hprof", "b.hprof"].map(|name| folder.path().join(name));
        fs::write(&source, "dump").unwrap();
        let of_sources = |path: &Path| Destination::new(Some(path), true, &[&other, &source]).map(drop);
        let refused = of_sources(&folder.path().join(".").join("a.hprof")).unwrap_err();
        assert!(refused.to_string().contains("is what is read"), "{refused}");
        of_sources(&other).unwrap();
        #[cfg(unix)]
        {
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(&source, &link).unwrap();
            assert!(of_sources(&link).is_err());
            let through = Destination::new(Some(&link), true, &[]).unwrap();
            fs::write(through.temporary(), "through").unwrap();
            through.commit().unwrap();
            assert_eq!(fs::read_to_string(&source).unwrap(), "through");
            assert!(link.is_symlink());
            let refused = Destination::new(Some(Path::new("/dev/null")), true, &[]).unwrap_err();
            assert!(refused.to_string().contains("no regular file"), "{refused}");
        }
    }
}
