//! The end of the file: frames are appended as a whole or not at all.

use std::fs::File;
use std::io::{Error, Seek, SeekFrom, Write};

use barrow_format::chain::Chain;
use barrow_format::commit::Commit;
use barrow_format::frame::{FRAME_HEADER_BYTES, SectionType, encode_frame, set_sequence};
use barrow_format::index::IndexRow;

use crate::error::{Result, WriterError};

enum Output {
    File(File),
    Stream(Box<dyn Write + Send>),
}

/// Appends frames and remembers their positions.
pub(crate) struct Sink {
    output: Output,
    /// Number of bytes written so far: the start of the next frame.
    length: u64,
    sequence: u32,
    /// The chain of the frames that were appended as a whole.
    chain: Chain,
    /// The rows of the trailing index.
    index: Vec<IndexRow>,
    broken: bool,
    /// A snapshot is open.
    has_snapshot: bool,
    /// The cause of the failure, while the snapshot is open in which it happened: several threads meet the failure at
    /// once, and the first one to report it must know the cause.
    cause: Option<Cause>,
}

/// The reason why nothing more can be appended.
struct Cause {
    action: &'static str,
    source: Error,
}

impl Cause {
    fn error(&self) -> WriterError {
        WriterError::Io { action: self.action, source: copy(&self.source) }
    }
}

/// A copy of an error.
fn copy(error: &Error) -> Error {
    match error.raw_os_error() {
        Some(code) => Error::from_raw_os_error(code),
        None => Error::new(error.kind(), error.to_string()),
    }
}

impl Sink {
    pub(crate) fn file(file: File) -> Self {
        Self::new(Output::File(file))
    }

    pub(crate) fn stream(stream: Box<dyn Write + Send>) -> Self {
        Self::new(Output::Stream(stream))
    }

    fn new(output: Output) -> Self {
        Sink {
            output,
            length: 0,
            sequence: 0,
            chain: Chain::new(),
            index: Vec::new(),
            broken: false,
            has_snapshot: false,
            cause: None,
        }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn index(&self) -> &[IndexRow] {
        &self.index
    }

    /// Appends bytes other than frames: header and trailer.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.broken {
            return Err(self.cause.as_ref().map_or(WriterError::Broken, Cause::error));
        }
        // A stream of the caller's may panic: nothing may follow the partial data.
        self.broken = true;
        let written = match &mut self.output {
            Output::File(file) => file.write_all(bytes),
            Output::Stream(stream) => stream.write_all(bytes),
        };
        if let Err(error) = written {
            self.take_back();
            return Err(self.failed("append to the recording", error));
        }
        self.broken = false;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Converts an error. Its cause is kept for the other threads if nothing more can be appended.
    fn failed(&mut self, action: &'static str, source: Error) -> WriterError {
        if self.broken && self.has_snapshot {
            self.cause.get_or_insert_with(|| Cause { action, source: copy(&source) });
        }
        WriterError::Io { action, source }
    }

    /// Removes a partly written frame, so that the next one can follow the last whole one. If that is not possible,
    /// nothing more may be appended.
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
        // Only now: a removed frame is not in the chain, and its number is free.
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

    /// Marks that a snapshot was opened.
    pub(crate) fn begin_snapshot(&mut self) {
        self.has_snapshot = true;
    }

    /// Marks that a snapshot was closed. If it was abandoned, its index rows are removed.
    pub(crate) fn end_snapshot(&mut self, snapshot: u32, was_committed: bool) {
        self.has_snapshot = false;
        self.cause = None;
        if !was_committed {
            self.index.retain(|row| row.snapshot != snapshot);
        }
    }

    /// Flushes a stream, and waits for the disk if the options say so.
    pub(crate) fn sync_if(&mut self, wanted: bool) -> Result<()> {
        if wanted || matches!(self.output, Output::Stream(_)) { self.sync() } else { Ok(()) }
    }

    /// Waits until all appended bytes are on the disk; flushes a stream. After a failure the system may have dropped
    /// unwritten bytes, so nothing more is appended.
    pub(crate) fn sync(&mut self) -> Result<()> {
        let synced = match &mut self.output {
            Output::File(file) => file.sync_data(),
            Output::Stream(stream) => stream.flush(),
        };
        self.broken |= synced.is_err();
        synced.map_err(|error| self.failed("sync the recording", error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream whose device is full.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(Error::from_raw_os_error(FULL))
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Err(Error::from_raw_os_error(FULL))
        }
    }

    /// `ENOSPC`.
    const FULL: i32 = 28;

    fn code(result: Result<()>) -> Option<i32> {
        match result {
            Err(WriterError::Io { source, .. }) => source.raw_os_error(),
            Err(WriterError::Broken) => None,
            other => panic!("{other:?}"),
        }
    }

    /// Two threads append one after the other, and the second may be the one that tells the failure.
    #[test]
    fn all_failures_while_a_snapshot_is_open_name_the_cause() {
        let mut sink = Sink::stream(Box::new(Full));
        sink.begin_snapshot();
        assert_eq!([code(sink.append(b"a")), code(sink.append(b"b"))], [Some(FULL); 2]);
        sink.end_snapshot(0, false);
        assert_eq!(code(sink.append(b"c")), None);

        let mut sink = Sink::stream(Box::new(Full));
        sink.begin_snapshot();
        assert_eq!([code(sink.sync()), code(sink.append(b"a"))], [Some(FULL); 2]);

        let mut sink = Sink::stream(Box::new(Full));
        assert_eq!([code(sink.append(b"a")), code(sink.append(b"b"))], [Some(FULL), None]);
    }

    #[test]
    fn an_error_without_a_code_keeps_its_text() {
        let error = Error::new(std::io::ErrorKind::BrokenPipe, "the reader went away");
        assert_eq!((copy(&error).kind(), copy(&error).to_string()), (error.kind(), error.to_string()));
    }
}
