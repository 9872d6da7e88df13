//! The new recording that `record` and `trial` write.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use barrow_trial_recorder::{Destination, TrialError};
use barrow_writer::{Options, Writer, WriterError};

/// Creates a recording; one that exists is replaced only by force. `refused` makes an error of a sentence.
///
/// # Errors
/// The file cannot be created or written, or another process writes a recording there.
pub(crate) fn create<E: From<WriterError>>(to: &Path, force: bool, refused: fn(String) -> E) -> Result<Writer, E> {
    Ok(Reserved::new(to, force).map_err(refused)?.writer()?)
}

/// The file of a recording that is not begun yet. It keeps what it held, and is locked, so that no other process replaces it.
pub(crate) struct Reserved {
    /// Nothing after the recording was begun.
    file: Option<File>,
    path: PathBuf,
    is_new: bool,
    since: SystemTime,
}

impl Reserved {
    /// Opens the file, which may exist only by force.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn new(to: &Path, force: bool) -> Result<Self, String> {
        let said = |error: io::Error| format!("{}: {error}", to.display());
        let opened = match OpenOptions::new().write(true).create_new(true).open(to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && force => {
                OpenOptions::new().write(true).create(true).truncate(false).open(to).map(|file| (file, false))
            }
            opened => opened.map(|file| (file, true)),
        };
        let (file, is_new) = opened.map_err(|error| {
            let hint = if error.kind() == io::ErrorKind::AlreadyExists { "; add --force to replace it" } else { "" };
            said(error) + hint
        })?;
        if is_used(&file, to).map_err(said)? {
            return Err(format!("{}: another process writes a recording there", to.display()));
        }
        Ok(Reserved { file: Some(file), path: to.to_owned(), is_new, since: SystemTime::now() })
    }

    /// Refuses what is written but cannot be read again.
    ///
    /// # Errors
    /// A sentence: it is a device or a pipe.
    pub(crate) fn kept(self) -> Result<Self, String> {
        match self.file.as_ref().and_then(|file| file.metadata().ok()).is_some_and(|opened| opened.is_file()) {
            true => Ok(self),
            false => {
                Err(format!("{} is not a file: it does not keep the recording to answer from", self.path.display()))
            }
        }
    }

    /// Begins the recording, in place of what the file held.
    fn writer(mut self) -> Result<Writer, WriterError> {
        let since = self.since.duration_since(UNIX_EPOCH).unwrap_or_default();
        let options = Options { created_ns: u64::try_from(since.as_nanos()).ok(), ..Options::without_threads() };
        let emptied = |file: File| match file.metadata()?.is_file() {
            true => file.set_len(0).map(|()| file),
            false => Ok(file),
        };
        let file = self.file.take().map_or_else(|| Err(io::ErrorKind::NotFound.into()), emptied);
        let file = file.map_err(|source| WriterError::Io { action: "begin the recording", source })?;
        Writer::to_file(file, options)
    }
}

/// Locks a file. Returns whether another process has locked it, or has removed it since it was opened.
fn is_used(file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    // Devices such as /dev/null have several writers.
    if !opened.is_file() {
        return Ok(false);
    }
    // A file system without locks, of which some of networks are, is used without.
    let is_locked = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    let is_there = path.metadata().is_ok_and(|now| (now.dev(), now.ino()) == (opened.dev(), opened.ino()));
    Ok(is_locked || !is_there)
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // Made for a recording that was not begun.
        if self.is_new && self.file.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Destination for Reserved {
    fn begin(self) -> Result<Writer, TrialError> {
        Ok(self.writer()?)
    }
}
