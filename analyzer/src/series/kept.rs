//! The parts of the index file that questions over several snapshots keep.
//!
//! ```text
//!   snapshot      0 … 27        28                 a question about all: computes 0 to 28, keeps them under 28
//!   kept under                  28: parts of 0 … 28
//!
//!   snapshot      0 … 27        28   29            29 was added: parts of 0 to 28 are found, 29 is computed and kept
//!   kept under                  28   29: part of 29
//! ```
//!
//! A column holds a *part* for each of several snapshots, and is kept under the last of them. A part depends on its own
//! snapshot and on earlier ones, never on later ones, so it stays valid when a recording grows. The parts of a question
//! are collected from the columns of all snapshots.
//!
//! Kept bytes may be damaged or hostile: they are checked when they are read, and computed again if they are not valid.

pub(crate) mod answers;
pub(crate) mod parts;
pub(crate) mod runs;

use std::sync::Arc;

use barrow_format::{KindId, SnapshotId};

use crate::columns::index_file::{ColumnId, ColumnValues, Form, IndexFile, IndexPlace};
use crate::columns::memory::Memory;
use crate::error::{AnalyzerError, Result};
use crate::file::recording::Recording;
use crate::heap::{Heap, LineRules};
use crate::progress::Progress;
use crate::questions::expression::Expression;

use self::parts::{SnapshotPart, SnapshotParts};

/// Serials of objects, found by matching.
pub(crate) const SERIALS: ColumnId = ColumnId::new::<u8>(50, Form::Planes);
/// Retained sizes and largest objects of paths of types. Number 51 was this without the objects.
pub(crate) const PATHS: ColumnId = ColumnId::new::<u8>(54, Form::Planes);
/// Births and deaths by type.
pub(crate) const LIVES: ColumnId = ColumnId::new::<u8>(52, Form::Planes);
/// Answers about the objects that match an expression.
pub(crate) const ANSWERS: ColumnId = ColumnId::new::<u8>(53, Form::Planes);

/// The resources for questions over several snapshots.
#[derive(Debug, Clone)]
pub struct SeriesOptions {
    /// The place of index files.
    pub place: IndexPlace,
    /// The memory for columns and graphs.
    pub memory: Memory,
    /// Rules for the lines of objects.
    pub lines: Option<Arc<LineRules>>,
}

impl SeriesOptions {
    /// A snapshot, of which only the index file is read.
    pub(crate) fn heap(&self, recording: &Arc<Recording>, snapshot: SnapshotId) -> Result<Heap> {
        let heap = Heap::new(Arc::clone(recording), snapshot, &self.place, self.memory.clone())?;
        let heap = heap.only_reading_the_index();
        match &self.lines {
            Some(rules) => heap.with_lines(Arc::clone(rules)),
            None => Ok(heap),
        }
    }

    /// The text under which an answer about an expression is kept. It has the rules for lines if these may matter.
    pub(crate) fn asked(&self, question: &str, kinds: &[KindId], expression: &Expression) -> Option<String> {
        let text = expression.text(kinds)?;
        Some(match self.lines.as_ref().filter(|_| !expression.field_terms().is_empty()) {
            Some(rules) => format!("{question} {text} lines {}", rules.text()),
            None => format!("{question} {text}"),
        })
    }
}

impl Default for SeriesOptions {
    /// No index file, and no limit of memory.
    fn default() -> Self {
        SeriesOptions { place: IndexPlace::Nowhere, memory: Memory::unlimited(), lines: None }
    }
}

/// The columns of a recording that hold parts.
#[derive(Debug)]
pub(crate) struct KeptParts<'r> {
    recording: &'r Recording,
    index: Option<IndexFile>,
}

impl<'r> KeptParts<'r> {
    /// Looks for the index file. Without one, nothing is found and nothing is kept.
    pub(crate) fn find(recording: &'r Recording, options: &SeriesOptions) -> Self {
        KeptParts { recording, index: IndexFile::find(recording, &options.place, &options.memory) }
    }

    /// All parts of a column, whatever snapshot they are kept under.
    pub(crate) fn parts(&self, column: ColumnId) -> SnapshotParts {
        let mut parts = SnapshotParts::default();
        let Some(index) = &self.index else { return parts };
        for under in self.recording.snapshot_ids() {
            if let Some(kept) = index.column::<u8>(under, column, |_, _| true) {
                parts.add_column(kept, under);
            }
        }
        parts
    }

    /// All parts of a column, those of later snapshots first. A snapshot may have several parts.
    pub(crate) fn all_parts(&self, column: ColumnId) -> Vec<(SnapshotId, SnapshotPart)> {
        let mut all = Vec::new();
        let Some(index) = &self.index else { return all };
        let under: Vec<SnapshotId> = self.recording.snapshot_ids().collect();
        for &under in under.iter().rev() {
            if let Some(kept) = index.column::<u8>(under, column, |_, _| true) {
                let mut parts = SnapshotParts::default();
                parts.add_column(kept, under);
                all.extend(parts.into_iter());
            }
        }
        all
    }

    /// Keeps parts under the last snapshot that they cover, besides the parts that are kept under it. If the index file
    /// cannot be written, the parts are computed again next time.
    ///
    /// # Errors
    /// [`AnalyzerError::Cancelled`].
    pub(crate) fn keep(
        &self,
        under: SnapshotId,
        column: ColumnId,
        parts: &[(SnapshotId, SnapshotPart)],
        progress: &dyn Progress,
    ) -> Result<()> {
        let Some(index) = self.index.as_ref().filter(|_| !parts.is_empty()) else { return Ok(()) };
        let mut all = SnapshotParts::default();
        parts.iter().for_each(|(snapshot, part)| all.add(*snapshot, part.clone()));
        if let Some(kept) = index.column::<u8>(under, column, |_, _| true) {
            all.add_column(kept, under);
        }
        let bytes = all.to_column();
        match index.keep(self.recording, under, &[(column, ColumnValues::InMemory(&bytes))], progress) {
            Err(AnalyzerError::Io { .. }) => Ok(()),
            kept => kept,
        }
    }
}
