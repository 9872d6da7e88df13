//! The end of the file: frames are appended to it, whole or not at all.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use barrow_format::chain::Chain;
use barrow_format::commit::Commit;
use barrow_format::frame::{FRAME_HEADER_BYTES, SectionType, encode_frame, set_sequence};
use barrow_format::index::IndexRow;

use crate::error::{Result, WriterError};

enum Output {
    File(File),
    Stream(Box<dyn Write + Send>),
}

/// Appends frames and remembers where they are.
pub(crate) struct Sink {
    output: Output,
    /// Bytes written so far: where the next frame starts.
    length: u64,
    sequence: u32,
    /// Of the frames that were appended as a whole.
    chain: Chain,
    /// The rows of the trailing index.
    index: Vec<IndexRow>,
    broken: bool,
}

impl Sink {
    pub(crate) fn file(file: File) -> Self {
        Self::new(Output::File(file))
    }

    pub(crate) fn stream(stream: Box<dyn Write + Send>) -> Self {
        Self::new(Output::Stream(stream))
    }

    fn new(output: Output) -> Self {
        Sink { output, length: 0, sequence: 0, chain: Chain::new(), index: Vec::new(), broken: false }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn index(&self) -> &[IndexRow] {
        &self.index
    }

    /// Appends bytes that are no frame: header and trailer.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.broken {
            return Err(WriterError::Broken);
        }
        // A stream of the caller's may panic: nothing may follow what it has left.
        self.broken = true;
        let written = match &mut self.output {
            Output::File(file) => file.write_all(bytes),
            Output::Stream(stream) => stream.write_all(bytes),
        };
        if let Err(error) = written {
            self.take_back();
            return Err(WriterError::Io { action: "append to the recording", source: error });
        }
        self.broken = false;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Removes a partly written frame, so that the next one can follow the last whole one. Where
    /// that is not possible, nothing more may be appended.
    fn take_back(&mut self) {
        self.broken = match &mut self.output {
            Output::File(file) => {
                file.set_len(self.length).and_then(|()| file.seek(SeekFrom::Start(self.length))).is_err()
            }
            Output::Stream(_) => true,
        };
    }

    /// Appends an encoded frame. Returns its offset.
    pub(crate) fn append_frame(&mut self, frame: &mut [u8]) -> Result<u64> {
        let offset = self.length;
        set_sequence(frame, self.sequence);
        self.append(frame)?;
        // Only now: a frame that was taken back is not in the chain, and its number is free.
        self.sequence = self.sequence.wrapping_add(1);
        self.chain.add(&frame[..FRAME_HEADER_BYTES]);
        Ok(offset)
    }

    /// Appends a COMMIT frame and enters it and its blocks into the index. Returns its offset.
    pub(crate) fn append_commit(&mut self, commit: &mut Commit) -> Result<u64> {
        self.index.extend(IndexRow::of_blocks(commit));
        let body = commit.seal(self.chain);
        let offset = self.append_section(SectionType::COMMIT, commit.snapshot, 1, &[], &body)?;
        self.chain = Chain::after_commit(commit.checksum);
        Ok(offset)
    }

    /// Appends a section of one frame and enters it into the index. Returns its offset.
    pub(crate) fn append_section(
        &mut self,
        section: SectionType,
        snapshot: u32,
        rows: u64,
        directory: &[u8],
        body: &[u8],
    ) -> Result<u64> {
        let mut frame = encode_frame(section, snapshot, 0, directory, body);
        let offset = self.append_frame(&mut frame)?;
        let length = frame.len() as u64;
        self.index.push(IndexRow { section, snapshot, offset, length, rows, split_offset: offset });
        Ok(offset)
    }

    /// Forgets the index rows of a snapshot that was given up.
    pub(crate) fn forget(&mut self, snapshot: u32) {
        self.index.retain(|row| row.snapshot != snapshot);
    }

    /// Flushes a stream, and waits for the disk if the options say so.
    pub(crate) fn sync_if(&mut self, wanted: bool) -> Result<()> {
        if wanted || matches!(self.output, Output::Stream(_)) { self.sync() } else { Ok(()) }
    }

    /// Waits until all that was appended is on the disk; flushes a stream. After a failure the system
    /// may have dropped what was not written, so that nothing more is appended.
    pub(crate) fn sync(&mut self) -> Result<()> {
        let synced = match &mut self.output {
            Output::File(file) => file.sync_data(),
            Output::Stream(stream) => stream.flush(),
        };
        self.broken |= synced.is_err();
        synced.map_err(WriterError::io("sync the recording"))
    }
}
