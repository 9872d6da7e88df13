//! The log of a process tree: its rows, one after the other, in the order of the events.
//!
//! Rows are decoded chunk by chunk and not kept, so a question that needs them once takes little memory for any number
//! of rows. All ids in a row are checked before it is passed on.

use std::sync::Arc;

use barrow_format::FormatError;
use barrow_format::codec::Decompressor;
use barrow_format::frame::SectionType;
use barrow_format::rows::{Chunk, ProcessRow};
use rayon::prelude::*;

use crate::error::{AnalyzerError, Result};
use crate::file::process_ids::IdChecker;
use crate::file::recording::Recording;
use crate::file::tables::{TableRoom, chunk_at};

impl Recording {
    /// Returns whether it holds a process tree.
    #[must_use]
    pub fn has_processes(&self) -> bool {
        self.process_chunks().next().is_some()
    }

    /// Reads the log of its process tree from the beginning. Strings in a row are those of [`Recording::tables`].
    ///
    /// # Errors
    /// [`AnalyzerError::Section`] if the table is damaged; those of `visit`, which ends the reading.
    pub fn process_rows(&self, mut visit: impl FnMut(ProcessRow) -> Result<()> + Send) -> Result<()> {
        let mut place = LogState::beginning_of(self)?;
        let chunks = self.process_chunks().map(|offset| place.chunk(self, offset)).collect::<Result<Vec<_>>>()?;
        let mut batches = chunks.chunks(rayon::current_num_threads());
        let mut next = batches.next().map(decoded);
        // While one batch is visited, the next one is decoded.
        while let Some(batch) = next {
            let following = batches.next();
            let (visited, decoded) = rayon::join(
                || batch.into_iter().try_for_each(|rows| place.take(rows?, &mut visit)),
                || following.map(decoded),
            );
            visited?;
            next = decoded;
        }
        Ok(())
    }

    /// The number of rows in the log, for progress. It is that of the directories of its chunks, and unchecked.
    #[must_use]
    pub fn process_row_count(&self) -> u64 {
        let mut room = TableRoom::new(self.bytes());
        let chunks = self
            .process_chunks()
            .filter_map(|offset| chunk_at(self.bytes(), SectionType::PROCESSES, offset, &mut room).ok());
        chunks.map(|chunk| chunk.count).fold(0, u64::saturating_add)
    }

    fn process_chunks(&self) -> impl Iterator<Item = u64> + '_ {
        let chunks = self.contents().chunks.iter();
        chunks.filter(|(section, _)| *section == SectionType::PROCESSES).map(|&(_, offset)| offset)
    }
}

/// The log of a process tree, chunk by chunk: for a question that gives its answer piece by piece. A clone continues from
/// the same place.
#[derive(Clone)]
pub struct ProcessLog {
    recording: Arc<Recording>,
    place: LogState,
    /// Chunks that were read.
    chunks: usize,
}

impl ProcessLog {
    /// The log from its beginning.
    ///
    /// # Errors
    /// Those of [`Recording::tables`].
    pub fn new(recording: Arc<Recording>) -> Result<Self> {
        Ok(ProcessLog { place: LogState::beginning_of(&recording)?, recording, chunks: 0 })
    }

    /// The recording.
    #[must_use]
    pub fn recording(&self) -> &Arc<Recording> {
        &self.recording
    }

    /// The rows of the next chunk, of at most 4 MiB in the file; `None` after the last one.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`] if it is damaged.
    pub fn next_rows(&mut self) -> Result<Option<Vec<ProcessRow>>> {
        let Some(offset) = self.recording.process_chunks().nth(self.chunks) else { return Ok(None) };
        self.chunks += 1;
        let rows = self.place.chunk(&self.recording, offset)?.rows()?;
        let mut checked = Vec::with_capacity(rows.rows.len());
        self.place.take(rows, &mut |row| {
            checked.push(row);
            Ok(())
        })?;
        // The log is read once, and the file may be larger than the memory that the question needs.
        self.recording.release();
        Ok(Some(checked))
    }
}

/// A chunk of the log.
struct LogChunk<'r> {
    offset: u64,
    chunk: Chunk<'r>,
}

/// The rows of a chunk, whose ids are not yet checked.
struct Rows {
    offset: u64,
    rows: Vec<ProcessRow>,
}

impl LogChunk<'_> {
    fn rows(&self) -> Result<Rows> {
        let mut rows = Vec::new();
        let read = self.chunk.for_each(&mut Decompressor::new(), |row| {
            rows.push(row);
            Ok(())
        });
        read.map_err(AnalyzerError::section("PROCESSES", self.offset))?;
        Ok(Rows { offset: self.offset, rows })
    }
}

fn decoded(chunks: &[LogChunk<'_>]) -> Vec<Result<Rows>> {
    chunks.par_iter().map(LogChunk::rows).collect()
}

/// The state of reading a log.
#[derive(Clone)]
struct LogState {
    checked: IdChecker,
    room: TableRoom,
    /// Rows of the chunks so far.
    rows: u64,
}

impl LogState {
    fn beginning_of(recording: &Recording) -> Result<Self> {
        let checked = IdChecker { strings: recording.tables()?.counts().strings, processes: 0 };
        Ok(LogState { checked, room: TableRoom::new(recording.bytes()), rows: 0 })
    }

    /// The next chunk.
    fn chunk<'r>(&mut self, recording: &'r Recording, offset: u64) -> Result<LogChunk<'r>> {
        let at = AnalyzerError::section("PROCESSES", offset);
        let chunk = chunk_at(recording.bytes(), SectionType::PROCESSES, offset, &mut self.room).map_err(&at)?;
        if chunk.first != self.rows {
            let what = "first row of a table chunk";
            return Err(at(FormatError::Mismatch { what, stored: chunk.first, found: self.rows }));
        }
        self.rows += chunk.count;
        Ok(LogChunk { offset, chunk })
    }

    /// Checks the rows of the next chunk and passes them to `visit`.
    fn take(&mut self, rows: Rows, visit: &mut dyn FnMut(ProcessRow) -> Result<()>) -> Result<()> {
        for row in rows.rows {
            self.checked.check(&row).map_err(AnalyzerError::section("PROCESSES", rows.offset))?;
            visit(row)?;
        }
        Ok(())
    }
}
