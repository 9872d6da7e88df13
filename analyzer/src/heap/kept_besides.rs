//! Small columns of a heap with an exclusion.
//!
//! The index file has no columns for such a heap. It keeps the small ones, which answer the most common questions, as
//! an answer: see [`super::kept_answers`].
//!
//! ```text
//!   column number · length in bytes · its values · next column …        8 bytes each
//! ```

use std::collections::BTreeMap;

use super::{Heap, QuestionKind};
use crate::columns::index_file::{ColumnId, ColumnValues};
use crate::error::Result;
use crate::progress::Progress;

/// Columns of numbers, by their numbers.
pub(super) type SmallColumns = BTreeMap<u32, Vec<u64>>;

impl Heap {
    /// A small column, if the index file has it as an answer.
    pub(super) fn kept_besides(&self, column: ColumnId) -> Option<Vec<u64>> {
        let all = self
            .besides
            .get_or_find(|| to_columns(&self.kept_answer_numbers(&self.asked(QuestionKind::Columns, &[]))?));
        if let Some(values) = all.and_then(|columns| columns.get(&column.number())) {
            return Some(values.clone());
        }
        self.kept_answer_numbers(&self.asked(QuestionKind::Column, &column.number().to_le_bytes()))
    }

    /// Keeps small columns as one answer. They must be in memory.
    pub(super) fn keep_besides(&self, columns: &[(ColumnId, ColumnValues<'_>)], progress: &dyn Progress) -> Result<()> {
        let mut answer = Vec::new();
        for (column, values) in columns {
            let ColumnValues::InMemory(values) = values else { continue };
            answer.extend(u64::from(column.number()).to_le_bytes());
            answer.extend((values.len() as u64).to_le_bytes());
            answer.extend_from_slice(values);
        }
        self.keep_answer(&self.asked(QuestionKind::Columns, &[]), &answer, progress)
    }

    /// Keeps a small column: as such, or as an answer if the heap has an exclusion.
    pub(super) fn keep_numbers(&self, column: ColumnId, values: &[u64], progress: &dyn Progress) -> Result<()> {
        match &self.index {
            Some(_) => self.keep(&[(column, ColumnValues::of(values))], progress),
            None => {
                let question = self.asked(QuestionKind::Column, &column.number().to_le_bytes());
                self.keep_answer(&question, bytemuck::cast_slice(values), progress)
            }
        }
    }
}

/// Separates the columns of an answer. `None` if it is damaged.
fn to_columns(mut numbers: &[u64]) -> Option<SmallColumns> {
    let mut columns = SmallColumns::new();
    while let [column, bytes, rest @ ..] = numbers {
        let length = usize::try_from(*bytes).ok().filter(|bytes| bytes.is_multiple_of(size_of::<u64>()))?;
        let (values, others) = rest.split_at_checked(length / size_of::<u64>())?;
        columns.insert(u32::try_from(*column).ok()?, values.to_vec());
        numbers = others;
    }
    numbers.is_empty().then_some(columns)
}
