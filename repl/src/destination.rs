//! The new recording that `record` and `trial` write.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use barrow_writer::{Options, Writer, WriterError};

/// Creates a recording; one that exists is replaced only by force. `refused` makes an error of a sentence.
///
/// # Errors
/// The file cannot be created or written.
pub(crate) fn create<E: From<WriterError>>(to: &Path, force: bool, refused: fn(String) -> E) -> Result<Writer, E> {
    let mut how = OpenOptions::new();
    how.write(true);
    if force {
        how.create(true).truncate(true)
    } else {
        how.create_new(true)
    };
    let file = how.open(to).map_err(|error| {
        let hint = if error.kind() == io::ErrorKind::AlreadyExists { "; add --force to replace it" } else { "" };
        refused(format!("{}: {error}{hint}", to.display()))
    })?;
    Ok(Writer::to_file(file, Options::without_threads())?)
}
