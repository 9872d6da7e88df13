//! Measurements: their rows, one after the other, in the order in which they were recorded.
//!
//! Rows are decoded chunk by chunk. All ids in a row are checked before it is passed on.

use barrow_format::FormatError;
use barrow_format::codec::Decompressor;
use barrow_format::frame::SectionType;
use barrow_format::rows::MeasurementRow;

use crate::error::{AnalyzerError, Result};
use crate::file::measurement_ids::IdChecker;
use crate::file::recording::Recording;
use crate::file::tables::{TableRoom, chunk_at};

impl Recording {
    /// Returns whether it holds measurements.
    #[must_use]
    pub fn has_measurements(&self) -> bool {
        self.measurement_chunks().next().is_some()
    }

    /// Reads its measurements from the beginning. Strings in a row are those of [`Recording::tables`].
    ///
    /// # Errors
    /// [`AnalyzerError::Section`] if the table is damaged; those of `visit`, which ends the reading.
    pub fn measurement_rows(&self, mut visit: impl FnMut(MeasurementRow) -> Result<()>) -> Result<()> {
        let mut checked = IdChecker::new(self.tables()?.counts().strings);
        let mut room = TableRoom::new(self.bytes());
        let mut decompressor = Decompressor::new();
        let mut known = 0;
        for offset in self.measurement_chunks() {
            let at = AnalyzerError::section("MEASUREMENTS", offset);
            let chunk = chunk_at(self.bytes(), SectionType::MEASUREMENTS, offset, &mut room).map_err(&at)?;
            if chunk.first != known {
                let what = "first row of a table chunk";
                return Err(at(FormatError::Mismatch { what, stored: chunk.first, found: known }));
            }
            known += chunk.count;
            let mut rows = Vec::new();
            let read = chunk.for_each(&mut decompressor, |row| {
                checked.check(&row)?;
                rows.push(row);
                Ok(())
            });
            read.map_err(&at)?;
            rows.into_iter().try_for_each(&mut visit)?;
        }
        Ok(())
    }

    fn measurement_chunks(&self) -> impl Iterator<Item = u64> + '_ {
        let chunks = self.contents().chunks.iter();
        chunks.filter(|(section, _)| *section == SectionType::MEASUREMENTS).map(|&(_, offset)| offset)
    }
}
