//! The strings that are words of the recorder. The table is loaded and checked when a question first needs it.

use barrow_format::FormatError;
use barrow_format::codec::Decompressor;
use barrow_format::commit::TableCounts;
use barrow_format::frame::SectionType;
use barrow_format::rows::WordRow;

use crate::error::{AnalyzerError, Result};
use crate::file::tables::{CheckedRow, TableRoom, Tables, append, below, chunk_at};

/// Loads the chunks of WORDS and checks their ids against `tables`. Rows that are not known to this version are left out.
pub(crate) fn load(file: &[u8], chunks: &[(SectionType, u64)], tables: &Tables) -> Result<Vec<WordRow>> {
    let mut rows: Vec<Option<WordRow>> = Vec::new();
    let mut decompressor = Decompressor::new();
    let mut room = TableRoom::new(file);
    let known = tables.counts();
    for &(section, offset) in chunks.iter().filter(|(section, _)| *section == SectionType::WORDS) {
        let before = rows.len();
        chunk_at(file, section, offset, &mut room)
            .and_then(|chunk| append(&chunk, &mut decompressor, &mut rows, |row| row))
            .and_then(|()| (0..).zip(&rows).skip(before).try_for_each(|(id, row)| row.check(id, &known)))
            .map_err(AnalyzerError::section("WORDS", offset))?;
    }
    Ok(rows.into_iter().flatten().collect())
}

impl CheckedRow for Option<WordRow> {
    fn check(&self, _id: u64, known: &TableCounts) -> Result<(), FormatError> {
        self.map_or(Ok(()), |word| below("string", word.text.0, known.strings))
    }
}
