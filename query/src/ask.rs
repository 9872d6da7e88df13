//! The arguments of a command's function. They do not change, so several questions can be answered at once.

pub(crate) mod reply;

use std::ops::Deref;
use std::sync::Arc;

use barrow_analyzer::{ObjectId, ObjectSet, SnapshotId};

use crate::answer::Value;
use crate::arguments::Arguments;
use crate::ask::reply::More;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::session::state::State;

/// Rows that are in memory at once where an answer has every row: about 10 MB, at 600 bytes a row.
pub(crate) const PIECE_ROWS: usize = 1 << 14;
/// Rows that `%` can name where an answer has every row. Each takes memory until the next table, and nobody types a
/// greater number.
pub(crate) const MOST_LISTED: usize = 1 << 20;

/// The arguments of a command's function: words and flags, the wanted rows, and, as [`State`], the recording and sets.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) state: State,
    pub(crate) arguments: Arguments,
    pub(crate) view: View,
    /// Makes the next page of the last answer.
    pub(crate) more: Option<More>,
}

/// Which rows of an answer are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// Answers come in pages, which `more` turns.
    pub(crate) is_paged: bool,
    /// Answers have every row unless the question says how many.
    pub(crate) is_whole: bool,
    /// The pieces after the first one will be requested.
    pub(crate) in_pieces: bool,
    /// Rows that are made at a time where answers have every row.
    pub(crate) piece: usize,
    /// Rows before the window that is wanted. A command that need not make them says so in its reply.
    pub(crate) skip: Option<u64>,
    /// The rows of this page follow those that are listed.
    pub(crate) is_next_page: bool,
}

impl Default for View {
    fn default() -> Self {
        View { is_paged: false, is_whole: false, in_pieces: false, piece: PIECE_ROWS, skip: None, is_next_page: false }
    }
}

impl Deref for Ask {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl Ask {
    /// Rows of the first page of a full table: all of them where `more` cannot be typed or everything is wanted.
    pub(crate) fn page_rows(&self) -> usize {
        if self.view.is_paged && self.context.settings.is_abridged { self.context.settings.rows } else { usize::MAX }
    }

    /// The same where the rows are made page by page: [`Answer::goes_on`](crate::answer::Answer) then.
    pub(crate) fn piece_rows(&self) -> usize {
        if self.view.is_whole { self.view.piece } else { self.page_rows() }
    }

    /// The rows of a ranking: the given number, else a page, or all where the answer goes to a command or a file.
    pub(crate) fn ranking_rows(&self, told: Option<usize>) -> usize {
        let usual = if self.view.is_whole { usize::MAX } else { self.context.settings.rows };
        told.unwrap_or(usual).max(1)
    }

    /// Number of objects or processes on the pages before.
    pub(crate) fn listed_before(&self) -> usize {
        if self.view.is_next_page { self.listed.len().max(self.listed.images().len()) } else { 0 }
    }

    /// The number of a row, as far as `%` names rows.
    pub(crate) fn row_number(&self, number: usize) -> Value {
        if number <= MOST_LISTED || !self.view.is_whole { number.into() } else { Value::None }
    }

    /// The objects in the rows of this page and of those before, all of one snapshot and in the order of their numbers.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn set_of_pages(&self, snapshot: SnapshotId, page: &Listed) -> Result<Arc<ObjectSet>, QueryError> {
        let objects = self.recording()?.snapshot(snapshot)?.totals.objects;
        let before = self.listed.iter().take(self.listed_before());
        let all = before.chain(page.iter()).filter(|(of, _)| *of == snapshot).map(|(_, id)| *id);
        Ok(Arc::new(ObjectSet::from_sorted(snapshot, objects, all)))
    }

    /// A set of objects of a snapshot.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn set_of(
        &self,
        snapshot: SnapshotId,
        objects: impl IntoIterator<Item = ObjectId>,
    ) -> Result<Arc<ObjectSet>, QueryError> {
        let mut set = ObjectSet::new(snapshot, self.recording()?.snapshot(snapshot)?.totals.objects);
        objects.into_iter().for_each(|object| {
            set.insert(object);
        });
        Ok(Arc::new(set))
    }
}
