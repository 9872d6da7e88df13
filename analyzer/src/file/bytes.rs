//! The bytes of a file: mapped, or held in memory.

#![expect(
    unsafe_code,
    reason = "mapping a file is unsafe, because another program could change it; so is releasing its pages"
)]

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use crate::error::{AnalyzerError, Result};

/// The bytes of a whole file.
#[derive(Debug)]
pub(crate) enum Bytes {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a file. Its bytes are not read until they are used.
    pub(crate) fn map(path: &Path) -> Result<Self> {
        Self::of(&File::open(path).map_err(AnalyzerError::io(path, "open"))?, path)
    }

    /// Maps an open file, even if its name now belongs to another file.
    pub(crate) fn of(file: &File, path: &Path) -> Result<Self> {
        let length = file.metadata().map_err(AnalyzerError::io(path, "open"))?.len();
        if length == 0 {
            // An empty file cannot be mapped.
            return Ok(Bytes::Owned(Vec::new()));
        }
        // SAFETY: the mapping is private and read-only. Rust requires that the bytes do not change while they are
        // borrowed. Recordings are only appended to, beyond the mapped length. If another program truncates or rewrites
        // the file meanwhile, this process can fail; the README says so.
        let map = unsafe { memmap2::Mmap::map(file) }.map_err(AnalyzerError::io(path, "map"))?;
        Ok(Bytes::Mapped(map))
    }
}

impl Bytes {
    /// The bytes of a mapped file, which can be read again after their pages are released; `None` for bytes in memory.
    pub(crate) fn mapped(&self) -> Option<&[u8]> {
        match self {
            Bytes::Mapped(map) => Some(map),
            Bytes::Owned(_) => None,
        }
    }

    /// Tells the system that a range will be read completely, so that it is mapped at once and not page by page.
    pub(crate) fn will_be_read(&self, start: usize, length: usize) {
        #[cfg(target_os = "linux")]
        if let Bytes::Mapped(map) = self {
            // Only a hint: older systems do not support it.
            let _ = map.advise_range(memmap2::Advice::PopulateRead, start, length);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (start, length);
    }

    /// Releases the pages of a mapped file that this process holds: after a long scan, that is all of it. They are read
    /// from the page cache when they are needed again.
    pub(crate) fn release(&self) {
        if let Bytes::Mapped(map) = self {
            // SAFETY: the range is exactly this mapping, which is alive. The mapping is private and never written.
            unsafe { release_pages(map.as_ptr() as usize, map.len()) };
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// Asks for large pages. If the system has none, small pages are slower, but not wrong.
pub(crate) fn prefer_large_pages(map: &memmap2::MmapMut) {
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    #[cfg(not(target_os = "linux"))]
    let _ = map;
}

/// Releases mapped pages. Pages of shared file mappings, and of private ones that are never written, have the same
/// content when they are read again, so other threads may read them meanwhile. Anonymous pages become zeros.
///
/// # Safety
/// The whole range is mapped until this returns, and it begins at a page boundary. Its bytes are those of a file, as
/// above, or they are never read again.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn release_pages(address: usize, length: usize) {
    let start = std::ptr::with_exposed_provenance_mut::<u8>(address);
    // SAFETY: as the caller says.
    unsafe {
        libc::madvise(start.cast(), length, libc::MADV_DONTNEED);
    }
}

/// Does nothing: on this system only the kernel decides which pages stay.
///
/// # Safety
/// None is needed.
#[cfg(not(target_os = "linux"))]
pub(crate) unsafe fn release_pages(_address: usize, _length: usize) {}
