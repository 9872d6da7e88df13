//! A dump in memory: the file mapped, so that only the pages in use take memory. A compressed one is
//! unpacked into a temporary file without a name first, since importers go over a dump more than once.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Damage, ImportError};
use crate::packing::Packing;
use crate::progress::Progress;

/// How much is unpacked between two looks at the user's wishes, in bytes.
const UNPACK_BYTES: usize = 1 << 20;

/// A dump file.
pub(crate) enum Dump {
    /// An empty file cannot be mapped.
    Empty,
    Mapped(memmap2::Mmap),
}

impl Dump {
    /// Opens and maps a file; if it is compressed, what it holds, unpacked in `folder`. The damage is
    /// where unpacking had to end; what was unpacked before is there.
    ///
    /// # Errors
    /// [`ImportError::Open`], [`ImportError::Unpack`], [`ImportError::Cancelled`].
    pub(crate) fn open(
        path: &Path,
        folder: &Path,
        progress: &dyn Progress,
    ) -> Result<(Dump, Option<Damage>), ImportError> {
        let open = |source| ImportError::Open { path: path.to_path_buf(), source };
        let mut file = File::open(path).map_err(open)?;
        let length = file.metadata().map_err(open)?.len();
        let (packing, first_bytes) = Packing::of(&mut file).map_err(open)?;
        let Some(packing) = packing else {
            return Ok((Dump::map(&file).map_err(open)?, None));
        };
        let unpack = |source| ImportError::Unpack { folder: folder.to_path_buf(), source };
        let mut unpacked = tempfile::tempfile_in(folder).map_err(unpack)?;
        progress.begin("unpacking", length, "bytes");
        let watched = Watched { inner: io::Cursor::new(first_bytes).chain(file), progress };
        let mut reader = packing.reader(watched).map_err(open)?;
        let mut bytes = vec![0; UNPACK_BYTES];
        let mut unpacked_bytes = 0;
        let damage = loop {
            if progress.cancelled() {
                return Err(ImportError::Cancelled);
            }
            match reader.read(&mut bytes) {
                Ok(0) => break None,
                Ok(read) => {
                    unpacked.write_all(&bytes[..read]).map_err(unpack)?;
                    unpacked_bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    break Some(Damage::Unpack { packing: packing.name(), unpacked_bytes, message: error.to_string() });
                }
            }
        };
        Ok((Dump::map(&unpacked).map_err(unpack)?, damage))
    }

    /// Opens and maps a file that is not compressed.
    ///
    /// # Errors
    /// [`ImportError::Open`].
    pub(crate) fn open_plain(path: &Path) -> Result<Option<Dump>, ImportError> {
        let open = |source| ImportError::Open { path: path.to_path_buf(), source };
        let mut file = File::open(path).map_err(open)?;
        let (packing, _) = Packing::of(&mut file).map_err(open)?;
        if packing.is_some() { Ok(None) } else { Dump::map(&file).map(Some).map_err(open) }
    }

    fn map(file: &File) -> io::Result<Dump> {
        if file.metadata()?.len() == 0 { Ok(Dump::Empty) } else { map(file).map(Dump::Mapped) }
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Dump::Empty => &[],
            Dump::Mapped(mapped) => mapped,
        }
    }

    /// Gives the pages that were read back to the system. They stay in its cache.
    #[expect(unsafe_code, reason = "advice about mapped memory is unsafe: it can discard what was written")]
    fn release(&self) {
        if let Dump::Mapped(mapped) = self {
            // SAFETY: the map is of a file and nothing is ever written to it, so a page that is
            // dropped comes back with the same bytes. Failing to drop pages is no failure.
            let _ = unsafe { mapped.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        }
    }
}

/// Tells how much of a compressed file was read.
struct Watched<'p, R> {
    inner: R,
    progress: &'p dyn Progress,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}

/// Pages are given back whenever this much of the dump was read, in bytes.
const RELEASE_BYTES: u64 = 64 << 20;

/// Watches how far an import is and gives read pages back, so that a dump larger than memory does
/// not push out everything else.
pub(crate) struct Releasing<'d> {
    dump: &'d Dump,
    inner: &'d dyn Progress,
    since_release: AtomicU64,
}

impl<'d> Releasing<'d> {
    pub(crate) fn new(dump: &'d Dump, inner: &'d dyn Progress) -> Self {
        Releasing { dump, inner, since_release: AtomicU64::new(0) }
    }
}

impl Progress for Releasing<'_> {
    fn begin(&self, phase: &str, total: u64, unit: &'static str) {
        self.inner.begin(phase, total, unit);
    }

    fn advance(&self, steps: u64) {
        self.inner.advance(steps);
        // Relaxed: giving pages back a little earlier or later, or twice, changes nothing.
        if self.since_release.fetch_add(steps, Ordering::Relaxed) + steps >= RELEASE_BYTES {
            self.since_release.store(0, Ordering::Relaxed);
            self.dump.release();
        }
    }

    fn cancelled(&self) -> bool {
        self.inner.cancelled()
    }
}

#[expect(unsafe_code, reason = "mapping a file is unsafe: somebody else could change it")]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the map is only read, through shared slices, and no parser relies on reading the same
    // bytes twice for memory safety: every count and id is checked where it is used. The user must
    // not shorten the file during the import, which would end the process with SIGBUS.
    unsafe { memmap2::Mmap::map(file) }
}
