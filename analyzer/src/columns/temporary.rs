//! Files that have a temporary name until they are complete.

use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

/// A new file in `folder`, removed on drop unless it gets a name. Its permissions are those of any new file of this
/// process; in a private folder only the owner may read it.
///
/// # Errors
/// The system's.
pub fn temporary(folder: &Path, prefix: &str, suffix: &str) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(suffix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let is_private = std::fs::metadata(folder)?.permissions().mode() & 0o077 == 0;
        builder.permissions(PermissionsExt::from_mode(if is_private { 0o600 } else { 0o666 }));
    }
    builder.tempfile_in(folder)
}

/// Removes permissions of a file that its `source` does not grant.
pub(crate) fn restrict_to(file: &File, source: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let own = file.metadata()?.permissions().mode() & 0o777;
        let allowed = std::fs::metadata(source)?.permissions().mode();
        // The owner keeps access, even if the source does not grant it.
        let restricted = own & (allowed | 0o600);
        if restricted != own {
            file.set_permissions(PermissionsExt::from_mode(restricted))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (file, source);
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn files_of_a_private_folder_are_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let mode = || {
            let file = temporary(folder.path(), ".a.", ".half").unwrap();
            metadata(file.path()).unwrap().permissions().mode() & 0o777
        };
        set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        assert_eq!(mode(), 0o600);
        set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let usual = folder.path().join("usual");
        std::fs::write(&usual, "").unwrap();
        assert_eq!(mode(), metadata(&usual).unwrap().permissions().mode() & 0o777);
    }
}
