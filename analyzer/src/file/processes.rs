//! The log of a process tree: its rows, one after the other, in the order in which things happened.
//!
//! Rows are decoded chunk by chunk and not kept, so a question that needs them once takes little memory, however many
//! there are. All ids in a row are checked before it is handed over.

use std::sync::Arc;

use barrow_format::FormatError;
use barrow_format::codec::Decompressor;
use barrow_format::frame::SectionType;
use barrow_format::rows::ProcessRow;

use crate::error::{AnalyzerError, Result};
use crate::file::process_ids::Checked;
use crate::file::recording::Recording;
use crate::file::tables::{TableRoom, chunk_at};

impl Recording {
    /// Whether it holds a process tree.
    #[must_use]
    pub fn has_processes(&self) -> bool {
        self.process_chunks().next().is_some()
    }

    /// Reads the log of its process tree from the beginning. Strings in a row are those of [`Recording::tables`].
    ///
    /// # Errors
    /// [`AnalyzerError::Section`] if the table is damaged; those of `visit`, which ends the reading.
    pub fn process_rows(&self, mut visit: impl FnMut(ProcessRow) -> Result<()>) -> Result<()> {
        let mut place = Place::beginning_of(self)?;
        for offset in self.process_chunks() {
            place.read(self, offset, &mut visit)?;
        }
        Ok(())
    }

    fn process_chunks(&self) -> impl Iterator<Item = u64> + '_ {
        let chunks = self.contents().chunks.iter();
        chunks.filter(|(section, _)| *section == SectionType::PROCESSES).map(|&(_, offset)| offset)
    }
}

/// The log of a process tree, chunk by chunk: for a question that gives its answer piece by piece.
pub struct ProcessLog {
    recording: Arc<Recording>,
    place: Place,
    /// Chunks that were read.
    chunks: usize,
}

impl ProcessLog {
    /// The log from its beginning.
    ///
    /// # Errors
    /// Those of [`Recording::tables`].
    pub fn new(recording: Arc<Recording>) -> Result<Self> {
        Ok(ProcessLog { place: Place::beginning_of(&recording)?, recording, chunks: 0 })
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
        let mut rows = Vec::new();
        self.place.read(&self.recording, offset, &mut |row| {
            rows.push(row);
            Ok(())
        })?;
        // The log is read once, and the file may be larger than what the question needs.
        self.recording.release();
        Ok(Some(rows))
    }
}

/// What is known where the reading of a log has come to.
struct Place {
    checked: Checked,
    room: TableRoom,
    rows: u64,
}

impl Place {
    fn beginning_of(recording: &Recording) -> Result<Self> {
        let checked = Checked { strings: recording.tables()?.counts().strings, processes: 0 };
        Ok(Place { checked, room: TableRoom::new(recording.bytes()), rows: 0 })
    }

    /// Reads the chunk at `offset`.
    fn read(
        &mut self,
        recording: &Recording,
        offset: u64,
        visit: &mut dyn FnMut(ProcessRow) -> Result<()>,
    ) -> Result<()> {
        let at = AnalyzerError::section("PROCESSES", offset);
        let chunk = chunk_at(recording.bytes(), SectionType::PROCESSES, offset, &mut self.room).map_err(&at)?;
        if chunk.first != self.rows {
            let what = "first row of a table chunk";
            return Err(at(FormatError::Mismatch { what, stored: chunk.first, found: self.rows }));
        }
        self.rows += chunk.count;
        // An error of `visit` stops the chunk; it is not one of the format.
        let mut failed = None;
        let read = chunk.for_each(&mut Decompressor::new(), |row| {
            self.checked.check(&row)?;
            visit(row).map_err(|error| {
                failed = Some(error);
                FormatError::Missing { what: "a further row" }
            })
        });
        match failed {
            Some(error) => Err(error),
            None => read.map_err(&at),
        }
    }
}
