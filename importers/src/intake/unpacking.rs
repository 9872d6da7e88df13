//! Compressed dumps are unpacked into a temporary file without a name, since importers read a dump more than once.
//! The file vanishes with the process, however that ends.
//!
//! ```text
//!   packed file ──▶ decompressor ──▶ screen ──▶ limits ──▶ temporary file
//!                                      │          └─ the user's or the usual one; room left on the disk
//!                                      └─ ends where the bytes are no dump
//! ```

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::error::{Damage, ImportError};
use crate::intake::packing::Packing;
use crate::intake::screening::Screener;
use crate::options::ImportOptions;
use barrow_progress::Progress;

/// Number of bytes unpacked between two checks for cancellation, which take effect within milliseconds.
const UNPACK_BYTES: usize = 1 << 20;
/// A dump may unpack to this multiple of its length. Dumps are known to shrink to a hundredth; gzip cannot do better
/// than a thousandth, and zstd only if nearly all of a heap is zeros.
const MOST_TIMES: u64 = 10_000;
/// Any dump may unpack to this many bytes.
const LEAST_LIMIT_BYTES: u64 = 1 << 30;
/// Bytes that stay free on a disk; on a small disk, a twentieth of it. Other programs fail when it is full.
#[cfg(unix)]
const RESERVE_BYTES: u64 = 1 << 30;
/// The free space of the disk is checked again after this number of bytes.
const ROOM_STEP_BYTES: u64 = 16 << 20;

/// Unpacks `packed`, which is in the file at `path` of `packed_bytes`, into a temporary file in the folder of the
/// options. If unpacking had to end early, also returns the damage; the file holds the bytes before it.
///
/// # Errors
/// [`ImportError::Open`] if there are none, [`ImportError::Unpack`], [`ImportError::UnpacksToMore`], [`ImportError::NoRoom`], [`ImportError::Cancelled`].
pub(crate) fn unpack(
    path: &Path,
    packing: Packing,
    packed: impl Read,
    packed_bytes: u64,
    options: &ImportOptions,
    progress: &dyn Progress,
) -> Result<(File, Option<Damage>), ImportError> {
    let failed = |source| ImportError::Unpack { folder: options.folder.clone(), source };
    let mut unpacked = tempfile::tempfile_in(&options.folder).map_err(failed)?;
    progress.begin("unpacking", packed_bytes, "bytes");
    let mut limits = Limits::new(packed_bytes, options);
    let mut screening = Screener::new();
    let mut reader = packing.reader(WatchedReader { inner: packed, progress }).map_err(failed)?;
    let mut bytes = vec![0; UNPACK_BYTES];
    let mut unpacked_bytes = 0;
    loop {
        if progress.cancelled() {
            return Err(ImportError::Cancelled);
        }
        let read = match reader.read(&mut bytes) {
            Ok(0) => return Ok((unpacked, None)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let message = packing.cause(&error);
                if unpacked_bytes == 0 {
                    return Err(ImportError::Open { path: path.to_path_buf(), source: packing.nothing(&message) });
                }
                return Ok((unpacked, Some(Damage::Unpack { packing: packing.name(), unpacked_bytes, message })));
            }
        };
        limits.admit(unpacked_bytes + read as u64, &unpacked)?;
        unpacked.write_all(&bytes[..read]).map_err(failed)?;
        unpacked_bytes += read as u64;
        // Refused bytes are written, too: the importer describes their defect.
        if !screening.admits(&bytes[..read]) {
            return Ok((unpacked, Some(Damage::Screened { unpacked_bytes })));
        }
    }
}

/// Limits the unpacked size of a dump.
struct Limits<'o> {
    packed_bytes: u64,
    options: &'o ImportOptions,
    most_bytes: u64,
    /// Length that the file may reach before the disk is checked again, in bytes.
    room_until: u64,
}

impl<'o> Limits<'o> {
    fn new(packed_bytes: u64, options: &'o ImportOptions) -> Self {
        let usual = packed_bytes.saturating_mul(MOST_TIMES).max(LEAST_LIMIT_BYTES);
        Limits { packed_bytes, options, most_bytes: options.max_unpacked.unwrap_or(usual), room_until: 0 }
    }

    /// Checks that the file may grow to `bytes`.
    fn admit(&mut self, bytes: u64, file: &File) -> Result<(), ImportError> {
        if bytes > self.most_bytes {
            return Err(ImportError::UnpacksToMore { packed_bytes: self.packed_bytes, limit: self.most_bytes });
        }
        if bytes > self.room_until {
            if let Some(DiskSpace { free, reserve }) = DiskSpace::around(file)
                && free < reserve.saturating_add(ROOM_STEP_BYTES)
            {
                let folder = self.options.folder.clone();
                return Err(ImportError::NoRoom { folder, unpacked_bytes: bytes, free, reserve });
            }
            self.room_until = bytes + ROOM_STEP_BYTES - UNPACK_BYTES as u64;
        }
        Ok(())
    }
}

/// The space on a disk.
struct DiskSpace {
    /// Free bytes.
    free: u64,
    /// Bytes that must stay free.
    reserve: u64,
}

impl DiskSpace {
    /// The space on the disk of a file; `None` if the system does not tell.
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
}

/// Reports progress in the compressed file.
struct WatchedReader<'p, R> {
    inner: R,
    progress: &'p dyn Progress,
}

impl<R: Read> Read for WatchedReader<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_unpack_to_many_times_its_length_and_the_user_to_more() {
        let file = tempfile::tempfile().expect("a file");
        let options = ImportOptions::default();
        let most = |packed_bytes, options: &ImportOptions| Limits::new(packed_bytes, options).most_bytes;
        assert_eq!(most(132 << 10, &options), (132 << 10) * MOST_TIMES);
        assert_eq!(most(100, &options), LEAST_LIMIT_BYTES);
        assert_eq!(most(u64::MAX, &options), u64::MAX);
        let options = ImportOptions { max_unpacked: Some(5000), ..options };
        let mut limits = Limits::new(100, &options);
        assert!(limits.admit(5000, &file).is_ok());
        let refused = limits.admit(5001, &file).expect_err("more than the user wants");
        assert!(matches!(refused, ImportError::UnpacksToMore { packed_bytes: 100, limit: 5000 }), "{refused}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn room_is_left_on_the_disk() {
        let room = DiskSpace::around(&tempfile::tempfile().expect("a file")).expect("a disk");
        assert!(room.reserve <= RESERVE_BYTES && room.free > 0);
    }
}
