//! The bytes of a file: mapped, or held in memory. The analyzer's only unsafe code.

#![expect(unsafe_code, reason = "mapping a file is unsafe: somebody else could change it")]

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
