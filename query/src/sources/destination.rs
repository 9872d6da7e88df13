//! A file that appears whole or not at all: written under a temporary name beside it, then renamed.

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::QueryError;

/// The ending of names of half-written files.
pub(crate) const PART: &str = ".part";

/// A file that is to be written.
#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    /// The path as it was named.
    shown: String,
}

/// A destination that is being written, under another name. It is removed unless it is committed.
#[derive(Debug)]
pub(crate) struct PartialFile {
    destination: Destination,
    file: NamedTempFile,
}

/// The readers of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody whom the process's umask allows to.
    Usual,
    /// Its owner only.
    Owner,
}

impl Destination {
    /// A file that is to be written at `path`, or at the target of a symbolic link. It is made of `sources`.
    ///
    /// # Errors
    /// A usage error without a path, or if something is there and `force` is not, or if that is one of the sources or
    /// no regular file.
    pub(crate) fn new(path: Option<&Path>, force: bool, sources: &[&Path]) -> Result<Self, QueryError> {
        let path = path.ok_or_else(|| QueryError::usage("where to? add `-o DST`"))?;
        let shown = path.display();
        // A file that is not there yet has no other name.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if sources.iter().any(|source| source.canonicalize().is_ok_and(|source| source == target)) {
            return Err(QueryError::usage(format!("{shown} is what is read; choose another name")));
        }
        if path.is_dir() {
            return Err(QueryError::usage(format!("{shown} is a folder; name a file in it")));
        }
        if path.is_symlink() && !path.exists() {
            return Err(QueryError::usage(format!("{shown} is a link that leads nowhere; choose another name")));
        }
        if path.exists() && !path.is_file() {
            return Err(QueryError::usage(format!("{shown} is no regular file; choose another name")));
        }
        if path.exists() && !force {
            return Err(QueryError::usage(format!("{shown} exists already; `--force` replaces it")));
        }
        Ok(Destination { shown: shown.to_string(), path: target })
    }

    /// A file that is to be written at `path`, whatever is there.
    pub(crate) fn replacing(path: &Path) -> Self {
        Destination { path: path.to_owned(), shown: path.display().to_string() }
    }

    /// Where it is to be.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path as it was named.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Begins to write it: makes a new file beside it, whose name cannot be foreseen. What has that name already is
    /// neither opened nor followed.
    ///
    /// # Errors
    /// A usage error if the path names no file; the system's, if no file can be made.
    pub(crate) fn begin(self, access: Access) -> Result<PartialFile, QueryError> {
        let name = self.path.file_name();
        let name = name.ok_or_else(|| QueryError::usage(format!("{} names no file", self.shown)))?;
        let prefix = format!(".{}.", name.to_string_lossy());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(PART);
        #[cfg(unix)]
        if access == Access::Usual {
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        #[cfg(not(unix))]
        let _ = access;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = builder.tempfile_in(folder).map_err(|source| QueryError::file(&self.path, source))?;
        Ok(PartialFile { destination: self, file })
    }
}

impl PartialFile {
    /// Where it is to be, as it was named.
    pub(crate) fn shown(&self) -> &str {
        &self.destination.shown
    }

    /// The name it has meanwhile.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The file to write to.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn file(&self) -> Result<File, QueryError> {
        self.file.as_file().try_clone().map_err(|source| QueryError::file(&self.destination.path, source))
    }

    /// It is whole: gives it its name, and returns that as it was named.
    ///
    /// # Errors
    /// The system's, if it cannot be renamed.
    pub(crate) fn commit(self) -> Result<String, QueryError> {
        let Destination { path, shown } = self.destination;
        self.file.persist(&path).map_err(|error| QueryError::file(&path, error.error))?;
        Ok(shown)
    }
}

/// A new file, which is written at once.
#[derive(Debug)]
pub struct NewFile(PartialFile);

/// A file that is to be written at `path`: it appears whole or not at all. It is made of `sources`.
///
/// # Errors
/// A usage error if something is there and `force` is not, or if that is one of the sources or no regular file; the
/// system's.
pub fn write_file(path: &Path, force: bool, sources: &[&Path]) -> Result<NewFile, QueryError> {
    Destination::new(Some(path), force, sources)?.begin(Access::Usual).map(NewFile)
}

impl NewFile {
    /// Writes all of it.
    ///
    /// # Errors
    /// The system's.
    pub fn write(self, bytes: &[u8]) -> Result<(), QueryError> {
        use std::io::Write;
        self.0.file()?.write_all(bytes).map_err(|source| QueryError::file(&self.0.destination.path, source))?;
        self.0.commit().map(drop)
    }
}

/// Writes a file that appears whole or not at all. A file that is replaced keeps its permissions; of a symbolic link,
/// the file that it leads to is replaced.
///
/// # Errors
/// Those of the system and of `write`.
pub fn replace_file(path: &Path, write: impl FnOnce(File) -> Result<(), QueryError>) -> Result<(), QueryError> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let part = Destination::replacing(&target).begin(Access::Usual)?;
    write(part.file()?)?;
    if let Ok(before) = target.metadata() {
        // A file that is replaced may still be read by the same users.
        let _ = std::fs::set_permissions(part.path(), before.permissions());
    }
    part.commit().map(drop)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.barrow");
        let begun = || Destination::new(Some(&path), false, &[]).unwrap().begin(Access::Usual).unwrap();
        let abandoned = begun();
        abandoned.file().unwrap().write_all(b"half").unwrap();
        drop(abandoned);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        let whole = begun();
        whole.file().unwrap().write_all(b"whole").unwrap();
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
            let through = Destination::new(Some(&link), true, &[]).unwrap().begin(Access::Usual).unwrap();
            through.file().unwrap().write_all(b"through").unwrap();
            through.commit().unwrap();
            assert_eq!(fs::read_to_string(&source).unwrap(), "through");
            assert!(link.is_symlink());
            let refused = Destination::new(Some(Path::new("/dev/null")), true, &[]).unwrap_err();
            assert!(refused.to_string().contains("no regular file"), "{refused}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_chosen_when_the_file_is_made() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let mode = |access| {
            let part = Destination::replacing(&folder.path().join("a")).begin(access).unwrap();
            fs::metadata(part.path()).unwrap().permissions().mode() & 0o777
        };
        assert_eq!(mode(Access::Owner), 0o600);
        let usual = folder.path().join("usual");
        fs::write(&usual, "").unwrap();
        assert_eq!(mode(Access::Usual), fs::metadata(&usual).unwrap().permissions().mode() & 0o777);
    }
}
