//! A dump in memory: the file mapped, so that only the pages in use take memory. A compressed one is
//! unpacked first, see [`unpack`].

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use barrow_writer::{SnapshotInfo, Writer};

use crate::context::{Context, Pages, Vocabulary};
use crate::error::{Damage, ImportError};
use crate::intake::packing::Packing;
use crate::intake::unpacking::unpack;
use crate::options::ImportOptions;
use barrow_progress::Progress;

/// A dump file.
pub(crate) enum Dump {
    /// An empty file cannot be mapped.
    Empty,
    Mapped(memmap2::Mmap),
}

impl Dump {
    /// Opens and maps a file, or the unpacked bytes of a compressed one. If unpacking had to end early, also returns
    /// the damage; the bytes before it are there.
    ///
    /// # Errors
    /// [`ImportError::Open`], and those of [`unpack`].
    pub(crate) fn open(
        path: &Path,
        options: &ImportOptions,
        progress: &dyn Progress,
    ) -> Result<(Dump, Option<Damage>), ImportError> {
        let open = open_error(path);
        let mut file = File::open(path).map_err(open)?;
        let length = file.metadata().map_err(open)?.len();
        let (packing, first_bytes) = Packing::of(&mut file).map_err(open)?;
        let Some(packing) = packing else {
            return Ok((Dump::map(&file).map_err(open)?, None));
        };
        let packed = packing.packed(file, first_bytes).map_err(open)?;
        let (unpacked, damage) = unpack(path, packing, packed, length, options, progress)?;
        Ok((Dump::map(&unpacked).map_err(open)?, damage))
    }

    /// Opens and maps a file that is not compressed.
    ///
    /// # Errors
    /// [`ImportError::Open`].
    pub(crate) fn open_plain(path: &Path) -> Result<Option<Dump>, ImportError> {
        let open = open_error(path);
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

    /// Gives the pages of these bytes back to the system. They stay in its cache.
    #[cfg(unix)]
    #[expect(unsafe_code, reason = "advice about mapped memory is unsafe: it can discard what was written")]
    fn release(&self, bytes: Range<usize>) {
        if let Dump::Mapped(mapped) = self
            && bytes.end <= mapped.len()
            && !bytes.is_empty()
        {
            // SAFETY: the map is of a file and nothing is ever written to it, so a page that is
            // dropped comes back with the same bytes. Failing to drop pages is no failure.
            let _ =
                unsafe { mapped.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, bytes.start, bytes.len()) };
        }
    }

    /// Other systems accept no such advice: they decide alone which pages stay.
    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "it is called on every system")]
    fn release(&self, _bytes: Range<usize>) {}
}

/// All pages are released whenever this number of bytes was read, unless the importer releases them itself.
const RELEASE_BYTES: u64 = 64 << 20;

/// Watches the progress of an import and releases read pages, so that a dump larger than memory does not displace
/// everything else.
pub(crate) struct ReleasingProgress<'d> {
    dump: &'d Dump,
    inner: &'d dyn Progress,
    since_release: AtomicU64,
}

impl<'d> ReleasingProgress<'d> {
    pub(crate) fn new(dump: &'d Dump, inner: &'d dyn Progress) -> Self {
        ReleasingProgress { dump, inner, since_release: AtomicU64::new(0) }
    }

    /// The context of an importer that reads the whole dump, which is the file at `source`.
    pub(crate) fn context<'w>(
        &'w self,
        source: &'w Path,
        writer: &'w Writer,
        options: &'w ImportOptions,
        vocabulary: &'w Vocabulary<'w>,
    ) -> Context<'w> {
        let (source, pages, info) = (Some(source), Some(self as &dyn Pages), SnapshotInfo::default());
        Context { writer, progress: self, source, pages, options, info, is_cut: false, vocabulary }
    }
}

impl Pages for ReleasingProgress<'_> {
    fn release(&self, bytes: Range<usize>) {
        let length = bytes.len() as u64;
        self.dump.release(bytes);
        // Relaxed: as in `advance`. The closure never fails.
        let _ = self
            .since_release
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |since| Some(since.saturating_sub(length)));
    }
}

impl Progress for ReleasingProgress<'_> {
    fn begin(&self, phase: &str, total: u64, unit: &'static str) {
        self.inner.begin(phase, total, unit);
    }

    fn advance(&self, steps: u64) {
        self.inner.advance(steps);
        // Relaxed: releasing pages slightly earlier or later, or twice, changes nothing.
        if self.since_release.fetch_add(steps, Ordering::Relaxed) + steps >= RELEASE_BYTES {
            self.since_release.store(0, Ordering::Relaxed);
            self.dump.release(0..self.dump.bytes().len());
        }
    }

    fn cancelled(&self) -> bool {
        self.inner.cancelled()
    }
}

fn open_error(path: &Path) -> impl Fn(io::Error) -> ImportError + Copy {
    move |source| ImportError::Open { path: path.to_path_buf(), source }
}

#[expect(unsafe_code, reason = "mapping a file is unsafe: another process could change it")]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the map is only read, through shared slices, and no parser relies on reading the same
    // bytes twice for memory safety: every count and id is checked where it is used. The user must
    // not shorten the file during the import, which would end the process with SIGBUS.
    unsafe { memmap2::Mmap::map(file) }
}
