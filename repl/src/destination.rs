//! The new recording that `record` and `trial` write.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use barrow_writer::{Options, Writer, WriterError};

/// Creates a recording; one that exists is replaced only by force. `refused` makes an error of a sentence.
///
/// # Errors
/// The file cannot be created or written, or another process writes a recording there.
pub(crate) fn create<E: From<WriterError>>(to: &Path, force: bool, refused: fn(String) -> E) -> Result<Writer, E> {
    Ok(Reserved::new(to, force).map_err(refused)?.writer()?)
}

/// The file of a recording that is not begun yet. It is locked, so that no other process replaces it.
struct Reserved {
    file: File,
}

impl Reserved {
    /// Opens the file, which may exist only by force.
    ///
    /// # Errors
    /// A sentence.
    fn new(to: &Path, force: bool) -> Result<Self, String> {
        let said = |error: io::Error| format!("{}: {error}", to.display());
        let mut how = OpenOptions::new();
        how.write(true);
        if force {
            how.create(true).truncate(false)
        } else {
            how.create_new(true)
        };
        let file = how.open(to).map_err(|error| {
            let hint = if error.kind() == io::ErrorKind::AlreadyExists { "; add --force to replace it" } else { "" };
            said(error) + hint
        })?;
        // Devices such as /dev/null have several writers.
        let is_file = file.metadata().map_err(said)?.is_file();
        // A file system without locks, of which some of networks are, is used without.
        if is_file && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(format!("{}: another process writes a recording there", to.display()));
        }
        Ok(Reserved { file })
    }

    /// Begins the recording, in place of what the file held.
    fn writer(self) -> Result<Writer, WriterError> {
        let emptied = |file: File| match file.metadata()?.is_file() {
            true => file.set_len(0).map(|()| file),
            false => Ok(file),
        };
        let file = emptied(self.file).map_err(|source| WriterError::Io { action: "begin the recording", source })?;
        Writer::to_file(file, Options::without_threads())
    }
}
