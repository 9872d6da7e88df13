//! Temporary files of columns. Room on the disk is taken before it is written to, so that a full disk is an error and
//! not the end of the process.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::{AnalyzerError, Result};

/// The room that stays free on a disk for other programs, in bytes; on a small disk, a twentieth of it.
const RESERVE_BYTES: u64 = 1 << 30;

/// A file without a name, which the system removes when the process ends.
#[derive(Debug)]
pub(super) struct Spill {
    pub(super) file: File,
    folder: PathBuf,
}

impl Spill {
    /// A file of `bytes` bytes in `folder`, of which none are allocated yet.
    ///
    /// # Errors
    /// [`AnalyzerError::Io`].
    pub(super) fn new(folder: &Path, bytes: u64) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).and_then(|file| file.set_len(bytes).map(|()| file));
        let file = file.map_err(AnalyzerError::io(folder, "make a temporary file in"))?;
        Ok(Spill { file, folder: folder.to_owned() })
    }

    /// Takes the room for a part of the file.
    ///
    /// # Errors
    /// [`AnalyzerError::TemporaryRoom`] if the disk has less free room, or its reserve would be used.
    pub(super) fn allocate(&self, start: u64, bytes: u64) -> Result<()> {
        let free_bytes = match DiskSpace::around(&self.file) {
            Some(room) if !room.holds(bytes) => room.free,
            _ => match allocate(&self.file, start, bytes) {
                Err(error) if error.kind() == std::io::ErrorKind::StorageFull => 0,
                // Some file systems cannot allocate in advance. There was room a moment ago.
                _ => return Ok(()),
            },
        };
        Err(AnalyzerError::TemporaryRoom { folder: self.folder.clone(), needed_bytes: bytes, free_bytes })
    }
}

/// The room on a disk.
#[derive(Debug, Clone, Copy)]
struct DiskSpace {
    /// Bytes that are free.
    free: u64,
    /// Bytes that stay free.
    reserve: u64,
}

impl DiskSpace {
    /// The room on the disk of a file; `None` if the system does not report it.
    #[cfg(unix)]
    fn around(file: &File) -> Option<Self> {
        let disk = rustix::fs::fstatvfs(file).ok()?;
        let all = disk.f_blocks.saturating_mul(disk.f_frsize);
        Some(DiskSpace { free: disk.f_bavail.saturating_mul(disk.f_frsize), reserve: RESERVE_BYTES.min(all / 20) })
    }

    #[cfg(not(unix))]
    fn around(_: &File) -> Option<Self> {
        None
    }

    fn holds(self, bytes: u64) -> bool {
        bytes.saturating_add(self.reserve) <= self.free
    }
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, start: u64, bytes: u64) -> std::io::Result<()> {
    Ok(rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), start, bytes)?)
}

/// Does nothing: other systems have no call, or none that all of them share.
#[cfg(not(target_os = "linux"))]
fn allocate(_: &File, _: u64, _: u64) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_disk_stays_free() {
        let room = DiskSpace { free: 1000, reserve: 100 };
        assert_eq!([0, 900, 901, u64::MAX].map(|bytes| room.holds(bytes)), [true, true, false, false]);
    }

    #[cfg(unix)]
    #[test]
    fn more_than_a_disk_holds_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(folder.path(), 1 << 20).unwrap();
        spill.allocate(0, 4096).unwrap();
        match spill.allocate(4096, 1 << 50) {
            Err(AnalyzerError::TemporaryRoom { folder: named, needed_bytes, free_bytes }) => {
                assert_eq!((named.as_path(), needed_bytes), (folder.path(), 1 << 50));
                assert!(free_bytes < 1 << 50);
            }
            other => panic!("{other:?}"),
        }
    }
}
