//! A temporary file without a name: the encoded parts of a snapshot wait there for its commit.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use crate::error::{Result, WriterError};

/// Appends bytes and reads them back. The file is created with the first bytes, in the system's folder for temporary
/// files, and vanishes with this value, however the process ends.
#[derive(Debug, Default)]
pub(crate) struct Spill {
    file: Option<File>,
    length: u64,
}

impl Spill {
    /// Appends bytes. Returns their offset.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile().map_err(WriterError::io("create a temporary file"))?),
        };
        let offset = self.length;
        // Bytes that an earlier failure left after the end are overwritten.
        let written = file.seek(SeekFrom::Start(offset)).and_then(|_| file.write_all(bytes));
        written.map_err(WriterError::io("write a temporary file"))?;
        self.length += bytes.len() as u64;
        Ok(offset)
    }

    /// Reads `length` bytes into `out`, which is overwritten.
    pub(crate) fn read(&mut self, offset: u64, length: u64, out: &mut Vec<u8>) -> Result<()> {
        let read = WriterError::io("read a temporary file");
        out.clear();
        let Some(file) = &mut self.file else { return Ok(()) };
        out.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(out)).map_err(read)
    }
}
