//! What a program prints, in an unnamed file in memory that all runs share.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;

use crate::system;

/// More of an output is given up from its beginning.
const MOST_BYTES: u64 = 64 << 20;
/// The end of an output that is kept of a failed run.
const TAIL_BYTES: u64 = 4096;

/// Takes what a program prints to its standard output and standard error.
pub(crate) struct Output {
    file: File,
}

impl Output {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Output { file: system::memory_file()? })
    }

    /// Its number, to be the output of a child.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Forgets what was printed.
    pub(crate) fn clear(&self) -> io::Result<()> {
        self.file.set_len(0)
    }

    /// Forgets what was printed if it is too much: a program that prints on and on takes no more memory.
    pub(crate) fn limit(&self) -> io::Result<()> {
        if self.file.metadata()?.len() > MOST_BYTES { self.clear() } else { Ok(()) }
    }

    /// All of it; what is no UTF-8 is replaced.
    pub(crate) fn text(&self) -> io::Result<String> {
        self.from(0)
    }

    /// The end of it.
    pub(crate) fn tail(&self) -> io::Result<String> {
        let length = self.file.metadata()?.len();
        self.from(length.saturating_sub(TAIL_BYTES))
    }

    fn from(&self, offset: u64) -> io::Result<String> {
        let length = self.file.metadata()?.len().saturating_sub(offset).min(MOST_BYTES);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        let mut read = 0;
        while read < bytes.len() {
            match self.file.read_at(&mut bytes[read..], offset + read as u64)? {
                // A process that outlives the run may have shortened it.
                0 => break,
                more => read += more,
            }
        }
        bytes.truncate(read);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
