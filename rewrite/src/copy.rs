//! Writes a recording from another one: frames are copied or made, at other offsets.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use barrow_analyzer::raw::{Frames, temporary};
use barrow_analyzer::{AnalyzerError, Recording};
use barrow_format::SnapshotId;
use barrow_format::chain::Chain;
use barrow_format::commit::Commit;
use barrow_format::frame::{FRAME_HEADER_BYTES, Frame, NO_SNAPSHOT, SectionType, encode_frame, set_sequence};
use barrow_format::header::{Header, Trailer};
use barrow_format::index::{IndexRow, encode_index};
use barrow_format::rows::Chunk;

use crate::error::{Result, RewriteError};

/// Fails if `destination` is the file of the recording itself.
pub(crate) fn refuse_same_file(recording: &Recording, destination: &Path) -> Result<()> {
    let is_same = recording.path().is_some_and(
        |path| matches!((path.canonicalize(), destination.canonicalize()), (Ok(one), Ok(other)) if one == other),
    );
    if is_same { Err(RewriteError::SameFile { path: destination.to_owned() }) } else { Ok(()) }
}

/// Writes a recording with this identifier and the time of `source` to `destination`, which is replaced when the new
/// file is complete: header, the output of `fill`, index and trailer. Returns its length in bytes.
pub(crate) fn write_anew<'r>(
    source: &'r Recording,
    uuid: [u8; 16],
    destination: &Path,
    fill: impl FnOnce(&mut Copy<'r>) -> Result<()>,
) -> Result<u64> {
    // A new file in the same folder, so that it can take the destination's name when it is whole.
    let folder = destination.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let partial = temporary(folder, ".", ".half").map_err(RewriteError::io(folder, "create a file"))?;
    let mut copy = Copy::new(source, destination, BufWriter::new(partial));
    let header = Header::new(uuid, source.created_ns());
    copy.write(&header.encode())?;
    fill(&mut copy)?;
    copy.finish()?;
    let (length, out) = (copy.length, copy.out);
    let partial = out.into_inner().map_err(|error| RewriteError::io(destination, "write")(error.into_error()))?;
    partial.as_file().sync_all().map_err(RewriteError::io(destination, "sync"))?;
    partial.persist(destination).map_err(|error| RewriteError::io(destination, "replace")(error.error))?;
    Ok(length)
}

/// A recording being written.
pub(crate) struct Copy<'r> {
    source: Frames<'r>,
    destination: PathBuf,
    out: BufWriter<NamedTempFile>,
    length: u64,
    sequence: u32,
    /// The chain of the written frames.
    chain: Chain,
    /// The new offsets of the frames of the current snapshot.
    moved: HashMap<u64, u64>,
    index: Vec<IndexRow>,
    last_commit: Option<u64>,
}

impl<'r> Copy<'r> {
    fn new(source: &'r Recording, destination: &Path, out: BufWriter<NamedTempFile>) -> Self {
        let (destination, moved, index) = (destination.to_owned(), HashMap::new(), Vec::new());
        let source = Frames::of(source);
        Copy { source, destination, out, length: 0, sequence: 0, chain: Chain::new(), moved, index, last_commit: None }
    }

    /// Copies all tables.
    pub(crate) fn tables(&mut self) -> Result<()> {
        for &(section, offset) in self.source.tables() {
            self.copy_rows(section, NO_SNAPSHOT, offset)?;
        }
        Ok(())
    }

    /// Copies a snapshot unchanged, without its threads if they cannot be read.
    pub(crate) fn snapshot(&mut self, id: SnapshotId, with_threads: bool) -> Result<()> {
        let mut commit = self.source.commit(id)?.clone();
        for (section, block) in commit.own_blocks() {
            self.copy_frame(section, block.offset)?;
        }
        self.statistics(&mut commit)?;
        for offset in &mut commit.roots {
            *offset = self.copy_rows(SectionType::ROOTS, id.0, *offset)?;
        }
        if with_threads {
            self.threads(&mut commit)?;
        } else {
            commit.threads.clear();
        }
        let own = commit.blocks.iter_mut().filter(|block| block.length > 0);
        own.for_each(|block| block.offset = self.moved[&block.offset]);
        self.commit(commit)
    }

    /// Copies the statistics of a snapshot, and updates its commit.
    pub(crate) fn statistics(&mut self, commit: &mut Commit) -> Result<()> {
        for offset in &mut commit.stats {
            *offset = self.copy_rows(SectionType::STATS, commit.snapshot, *offset)?;
        }
        Ok(())
    }

    /// Copies the threads of a snapshot, and updates its commit.
    pub(crate) fn threads(&mut self, commit: &mut Commit) -> Result<()> {
        for offset in &mut commit.threads {
            *offset = self.copy_rows(SectionType::THREADS, commit.snapshot, *offset)?;
        }
        Ok(())
    }

    /// Ends a snapshot whose frames are written.
    pub(crate) fn commit(&mut self, mut commit: Commit) -> Result<()> {
        commit.previous_offset = self.last_commit;
        self.index.extend(IndexRow::of_blocks(&commit));
        let (section, snapshot) = (SectionType::COMMIT, commit.snapshot);
        let offset = self.append(encode_frame(section, snapshot, 0, &[], &commit.seal(self.chain)))?;
        self.chain = Chain::after_commit(commit.checksum);
        self.last_commit = Some(offset);
        self.enter(section, snapshot, offset, 1);
        self.moved.clear();
        Ok(())
    }

    /// Writes a chunk of a table and enters it into the index. Returns its offset.
    pub(crate) fn rows(&mut self, section: SectionType, snapshot: u32, rows: u64, frame: Vec<u8>) -> Result<u64> {
        let offset = self.append(frame)?;
        self.enter(section, snapshot, offset, rows);
        Ok(offset)
    }

    /// Appends a frame. Returns its offset.
    pub(crate) fn append(&mut self, mut frame: Vec<u8>) -> Result<u64> {
        let offset = self.length;
        set_sequence(&mut frame, self.sequence);
        self.sequence = self.sequence.wrapping_add(1);
        self.chain.add(&frame[..FRAME_HEADER_BYTES]);
        self.write(&frame)?;
        Ok(offset)
    }

    fn finish(&mut self) -> Result<()> {
        let index_offset = self.length;
        let body = encode_index(&self.index);
        self.append(encode_frame(SectionType::INDEX, NO_SNAPSHOT, 0, &[], &body))?;
        self.write(&Trailer { index_offset, index_length: self.length - index_offset }.encode())?;
        self.out.flush().map_err(RewriteError::io(&self.destination, "write"))
    }

    /// Copies a chunk of a table and enters it into the index. Returns its new offset.
    fn copy_rows(&mut self, section: SectionType, snapshot: u32, offset: u64) -> Result<u64> {
        let name = section.name().unwrap_or("section");
        let frame = self.copy_frame(section, offset)?;
        let chunk = frame.directory().and_then(|directory| Chunk::parse(directory, frame.body()?));
        let rows = chunk.map_err(|source| AnalyzerError::Section { section: name, offset, source })?.count;
        let to = self.moved[&offset];
        self.enter(section, snapshot, to, rows);
        Ok(to)
    }

    /// Enters the last written section into the index.
    fn enter(&mut self, section: SectionType, snapshot: u32, offset: u64, rows: u64) {
        let length = self.length - offset;
        self.index.push(IndexRow { section, snapshot, offset, length, rows, split_offset: offset });
    }

    fn copy_frame(&mut self, section: SectionType, offset: u64) -> Result<Frame<'r>> {
        let frame = self.source.frame(section, None, offset)?;
        let bytes = self.source.bytes();
        let bytes = usize::try_from(frame.offset)
            .ok()
            .zip(usize::try_from(frame.end()).ok())
            .and_then(|(start, end)| bytes.get(start..end));
        let to = self.append(bytes.unwrap_or_default().to_vec())?;
        self.moved.insert(offset, to);
        Ok(frame)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(RewriteError::io(&self.destination, "write"))?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}
