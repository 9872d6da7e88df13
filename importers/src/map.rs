//! A dump in memory: the file mapped, so that only the pages in use take memory.

use std::fs::File;
use std::io;
use std::path::Path;

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
}

#[expect(unsafe_code, reason = "mapping a file is unsafe: somebody else could change it")]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the map is only read, through shared slices, and no parser relies on reading the same
    // bytes twice for memory safety: every count and id is checked where it is used. The user must
    // not shorten the file during the import, which would end the process with SIGBUS.
    unsafe { memmap2::Mmap::map(file) }
}
