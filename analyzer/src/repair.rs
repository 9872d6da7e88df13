//! Repairing a recording: a new file with every snapshot that is whole, and an index.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use barrow_format::SnapshotId;
use barrow_format::commit::Commit;
use barrow_format::frame::{Frame, NO_SNAPSHOT, SectionType, encode_frame, set_sequence};
use barrow_format::header::{HEADER_BYTES, Header, Trailer};
use barrow_format::index::{IndexRow, encode_index};
use barrow_format::rows::Chunk;

use crate::error::{AnalyzerError, Result};
use crate::progress::Progress;
use crate::recording::Recording;
use crate::verify::verify;

/// What a repaired recording holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// Snapshots that were kept.
    pub snapshots: u32,
    /// Length of the new file, in bytes.
    pub bytes: u64,
    /// What was left out, a sentence each.
    pub dropped: Vec<String>,
}

/// Verifies `recording` and writes what is whole to `destination`, which is replaced when all of it
/// is there. Snapshots keep their numbers.
///
/// # Errors
/// [`AnalyzerError::SameFile`], [`AnalyzerError::Io`], [`AnalyzerError::Cancelled`], or that not even
/// the tables can be read.
pub fn repair(recording: &Recording, destination: &Path, progress: &dyn Progress) -> Result<Repaired> {
    if recording.path().is_some_and(|path| is_same_file(path, destination)) {
        return Err(AnalyzerError::SameFile { path: destination.to_owned() });
    }
    let rescanned = match recording.sites() {
        Ok(_) => None,
        Err(error) => Some(recording.rescanned(error.to_string())?),
    };
    let recording = rescanned.as_ref().unwrap_or(recording);
    let mut dropped: Vec<String> = recording.damage().map(ToString::to_string).into_iter().collect();
    let kept = whole_snapshots(recording, progress, &mut dropped)?;

    // A new file in the same folder, so that it can take the destination's name when it is whole.
    let folder = destination.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let partial = NamedTempFile::new_in(folder).map_err(AnalyzerError::io(folder, "create a file"))?;
    let mut out = BufWriter::new(partial);
    let bytes = Copy::new(recording, &mut out).run(&kept).map_err(|cause| match cause {
        CopyError::Io(source) => AnalyzerError::Io { path: destination.to_owned(), action: "write", source },
        CopyError::Analyzer(error) => error,
    })?;
    let partial = out.into_inner().map_err(|error| AnalyzerError::io(destination, "write")(error.into_error()))?;
    partial.as_file().sync_all().map_err(AnalyzerError::io(destination, "sync"))?;
    partial.persist(destination).map_err(|error| AnalyzerError::io(destination, "replace")(error.error))?;
    Ok(Repaired { snapshots: u32::try_from(kept.len()).unwrap_or(u32::MAX), bytes, dropped })
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// The snapshots without any problem; the others are reported.
fn whole_snapshots(
    recording: &Recording,
    progress: &dyn Progress,
    dropped: &mut Vec<String>,
) -> Result<Vec<SnapshotId>> {
    let verification = verify(recording, progress)?;
    let mut problem_of = HashMap::new();
    for problem in &verification.problems {
        problem_of.entry(problem.snapshot).or_insert(problem);
    }
    let mut kept = Vec::new();
    for id in recording.snapshot_ids() {
        match problem_of.get(&Some(id)) {
            None => kept.push(id),
            Some(problem) => dropped.push(format!("left out {problem}")),
        }
    }
    Ok(kept)
}

/// Why a copy was not finished.
enum CopyError {
    Io(std::io::Error),
    Analyzer(AnalyzerError),
}

impl From<std::io::Error> for CopyError {
    fn from(error: std::io::Error) -> Self {
        CopyError::Io(error)
    }
}

impl From<AnalyzerError> for CopyError {
    fn from(error: AnalyzerError) -> Self {
        CopyError::Analyzer(error)
    }
}

/// Copies frames to a new file, where each may stand elsewhere.
struct Copy<'r, W> {
    recording: &'r Recording,
    out: W,
    length: u64,
    sequence: u32,
    /// Where the frames of the snapshot at hand went.
    moved: HashMap<u64, u64>,
    index: Vec<IndexRow>,
    last_commit: Option<u64>,
}

impl<'r, W: Write> Copy<'r, W> {
    fn new(recording: &'r Recording, out: W) -> Self {
        let (moved, index) = (HashMap::new(), Vec::new());
        Copy { recording, out, length: 0, sequence: 0, moved, index, last_commit: None }
    }

    fn run(mut self, kept: &[SnapshotId]) -> Result<u64, CopyError> {
        let header = self.recording.header();
        self.write(&Header::new(header.uuid, header.created_ns).encode())?;
        debug_assert_eq!(self.length, HEADER_BYTES as u64);
        for &(section, offset) in &self.recording.contents().chunks {
            self.copy_rows(section, NO_SNAPSHOT, offset)?;
        }
        for &id in kept {
            self.copy_snapshot(id)?;
        }
        let index_offset = self.length;
        let body = encode_index(&self.index);
        self.append(encode_frame(SectionType::INDEX, NO_SNAPSHOT, 0, &[], &body))?;
        self.write(&Trailer { index_offset, index_length: self.length - index_offset }.encode())?;
        self.out.flush()?;
        Ok(self.length)
    }

    fn copy_snapshot(&mut self, id: SnapshotId) -> Result<(), CopyError> {
        self.moved.clear();
        let mut commit = self.recording.commit(id)?.clone();
        for block in &commit.blocks {
            self.copy_frame(SectionType::BLOCK, block.offset)?;
        }
        for (section, offsets) in [(SectionType::ROOTS, &commit.roots), (SectionType::STATS, &commit.stats)] {
            for &offset in offsets {
                self.copy_rows(section, id.0, offset)?;
            }
        }
        let to = |offset: &mut u64| *offset = self.moved[&*offset];
        commit.blocks.iter_mut().for_each(|block| to(&mut block.offset));
        commit.stats.iter_mut().chain(&mut commit.roots).for_each(to);
        commit.previous_offset = self.last_commit;
        self.commit(&commit)
    }

    fn commit(&mut self, commit: &Commit) -> Result<(), CopyError> {
        self.index.extend(IndexRow::of_blocks(commit));
        let frame = encode_frame(SectionType::COMMIT, commit.snapshot, 0, &[], &commit.encode());
        let (offset, length) = (self.length, frame.len() as u64);
        self.last_commit = Some(offset);
        let (section, snapshot) = (SectionType::COMMIT, commit.snapshot);
        self.index.push(IndexRow { section, snapshot, offset, length, rows: 1, split_offset: offset });
        self.append(frame)
    }

    /// Copies a chunk of a table and enters it into the index.
    fn copy_rows(&mut self, section: SectionType, snapshot: u32, offset: u64) -> Result<(), CopyError> {
        let name = section.name().unwrap_or("section");
        let frame = self.copy_frame(section, offset)?;
        let chunk = frame.directory().and_then(|directory| Chunk::parse(directory, frame.body()?));
        let rows = chunk.map_err(AnalyzerError::section(name, offset))?.count;
        let (offset, length) = (self.moved[&offset], frame.end() - frame.offset);
        self.index.push(IndexRow { section, snapshot, offset, length, rows, split_offset: offset });
        Ok(())
    }

    fn copy_frame(&mut self, section: SectionType, offset: u64) -> Result<Frame<'r>, CopyError> {
        let frame = self.recording.frame(section, None, offset)?;
        let bytes = self.recording.bytes();
        let bytes = usize::try_from(frame.offset)
            .ok()
            .zip(usize::try_from(frame.end()).ok())
            .and_then(|(start, end)| bytes.get(start..end));
        self.moved.insert(offset, self.length);
        self.append(bytes.unwrap_or_default().to_vec())?;
        Ok(frame)
    }

    fn append(&mut self, mut frame: Vec<u8>) -> Result<(), CopyError> {
        set_sequence(&mut frame, self.sequence);
        self.sequence = self.sequence.wrapping_add(1);
        self.write(&frame)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), CopyError> {
        self.out.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}
