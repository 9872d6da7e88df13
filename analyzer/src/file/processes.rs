//! The log of a process tree: its rows, one after the other, in the order in which things happened.
//!
//! Rows are decoded chunk by chunk and not kept, so a question that needs them once takes little memory, however many
//! there are. All ids in a row are checked before it is handed over.

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
        let mut checked = Checked { strings: self.tables()?.counts().strings, processes: 0 };
        let mut decompressor = Decompressor::new();
        let mut room = TableRoom::new(self.bytes());
        let mut rows = 0;
        for offset in self.process_chunks() {
            let at = AnalyzerError::section("PROCESSES", offset);
            let chunk = chunk_at(self.bytes(), SectionType::PROCESSES, offset, &mut room).map_err(&at)?;
            if chunk.first != rows {
                let what = "first row of a table chunk";
                return Err(at(FormatError::Mismatch { what, stored: chunk.first, found: rows }));
            }
            rows += chunk.count;
            // An error of `visit` stops the chunk; it is not one of the format.
            let mut failed = None;
            let read = chunk.for_each(&mut decompressor, |row| {
                checked.check(&row)?;
                visit(row).map_err(|error| {
                    failed = Some(error);
                    FormatError::Missing { what: "a further row" }
                })
            });
            match failed {
                Some(error) => return Err(error),
                None => read.map_err(&at)?,
            }
        }
        Ok(())
    }

    fn process_chunks(&self) -> impl Iterator<Item = u64> + '_ {
        let chunks = self.contents().chunks.iter();
        chunks.filter(|(section, _)| *section == SectionType::PROCESSES).map(|&(_, offset)| offset)
    }
}
