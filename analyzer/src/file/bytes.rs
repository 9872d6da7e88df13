//! The bytes of a file: mapped, or held in memory.

#![expect(unsafe_code, reason = "mapping a file is unsafe: somebody else could change it; so is giving back its pages")]

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
    /// Maps a file: no byte is read before it is used.
    pub(crate) fn map(path: &Path) -> Result<Self> {
        Self::of(&File::open(path).map_err(AnalyzerError::io(path, "open"))?, path)
    }

    /// Maps an opened file, whatever has its name by now.
    pub(crate) fn of(file: &File, path: &Path) -> Result<Self> {
        let length = file.metadata().map_err(AnalyzerError::io(path, "open"))?.len();
        if length == 0 {
            // An empty file cannot be mapped.
            return Ok(Bytes::Owned(Vec::new()));
        }
        // SAFETY: the mapping is private and read-only. Rust requires that the bytes do not change
        // while they are borrowed: recordings are only ever appended to, beyond the mapped length.
        // Somebody who truncates or rewrites one while it is analyzed can make this process fail;
        // the README says so.
        let map = unsafe { memmap2::Mmap::map(file) }.map_err(AnalyzerError::io(path, "map"))?;
        Ok(Bytes::Mapped(map))
    }
}

impl Bytes {
    /// The bytes if they are those of a file, which can be read again.
    pub(crate) fn mapped(&self) -> Option<&[u8]> {
        match self {
            Bytes::Mapped(map) => Some(map),
            Bytes::Owned(_) => None,
        }
    }

    /// Tells the system that a part is about to be read as a whole: it is then mapped at once, not page
    /// by page.
    pub(crate) fn will_be_read(&self, start: usize, length: usize) {
        #[cfg(target_os = "linux")]
        if let Bytes::Mapped(map) = self {
            // A wish: older systems do not know it.
            let _ = map.advise_range(memmap2::Advice::PopulateRead, start, length);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (start, length);
    }

    /// Gives back what the process holds of a mapped file: a long scan leaves all of it behind. It is
    /// read from the page cache when it is needed again.
    pub(crate) fn release(&self) {
        if let Bytes::Mapped(map) = self {
            // SAFETY: the range is this mapping, which lives; it is private, and nobody writes to it.
            unsafe { give_back(map.as_ptr() as usize, map.len()) };
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

/// Gives back pages that are mapped. Those of shared mappings of files, and of private ones that nobody writes to, hold
/// the same bytes when they are read again, so that others may read them meanwhile; anonymous ones hold zeros.
///
/// # Safety
/// All of the range is mapped until this returns, begins at a page, and its bytes are those of a file as above or
/// are never looked at again.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn give_back(address: usize, length: usize) {
    let start = std::ptr::with_exposed_provenance_mut::<u8>(address);
    // SAFETY: as the caller says.
    unsafe {
        libc::madvise(start.cast(), length, libc::MADV_DONTNEED);
    }
}

/// Elsewhere the system decides alone which pages stay.
///
/// # Safety
/// None is needed.
#[cfg(not(target_os = "linux"))]
pub(crate) unsafe fn give_back(_address: usize, _length: usize) {}
