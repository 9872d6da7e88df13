//! A dump in memory: the file mapped, so that only the pages in use take memory.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::progress::Progress;

/// A dump file.
pub(crate) enum Dump {
    /// An empty file cannot be mapped.
    Empty,
    Mapped(memmap2::Mmap),
}

impl Dump {
    /// Opens and maps a file.
    pub(crate) fn open(path: &Path) -> io::Result<Dump> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Dump::Empty);
        }
        map(&file).map(Dump::Mapped)
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
