//! Files that have another name until they are whole.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

/// A new file in `folder`, gone unless it is given a name. Whoever may read what others write there may read it: as far as
/// the process allows, like any new file.
pub(crate) fn temporary(folder: &Path, prefix: &str, suffix: &str) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(suffix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}
