//! The reply of a command: its answer, and changes of the session, which are made only after the command has succeeded.

use std::sync::Arc;

use barrow_analyzer::{ObjectId, ObjectSet, SnapshotId};
use barrow_processes::ImageSet;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::error::QueryError;
use crate::flags::{Format, SnapshotName};
use crate::removal::Removal;
use crate::session::listed::Listed;
use crate::session::sets::{LAST, Named};

/// Makes the next page of an answer, as often as it is asked.
pub(crate) type More = Arc<dyn Fn(&Ask) -> Result<Reply, QueryError> + Send + Sync>;

/// The answer of a command, and the changes that it makes to its session.
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    pub(crate) rows: Rows,
    /// Makes the rest of the answer.
    pub(crate) more: Option<More>,
    /// Sets that get a name.
    pub(crate) sets: Vec<(String, Named)>,
    pub(crate) change: Option<Change>,
    /// The rows before the requested window are not in the answer.
    pub(crate) has_skipped: bool,
}

/// The rows that `%` names after a question.
pub(crate) enum Rows {
    /// Those of the last table stay, and so do its further pages.
    Kept,
    /// Those of this table.
    Of(Listed),
    /// This page follows those of the pages before.
    Further(Listed),
}

/// A change of the session.
pub(crate) enum Change {
    /// Questions are about this snapshot.
    Selected(SnapshotName),
    /// The format of answers.
    Format(Format),
    /// Rows of a page.
    Rows(usize),
    /// All that is excluded from now on.
    Away(Vec<Arc<Removal>>),
    /// The session ends.
    Ended,
}

impl From<Answer> for Reply {
    /// No row of the answer is an object or a process.
    fn from(answer: Answer) -> Self {
        let rows = Rows::Of(Listed::default());
        Reply { answer, rows, more: None, sets: Vec::new(), change: None, has_skipped: false }
    }
}

impl Reply {
    /// An answer that leaves the rows of the last table, and its further pages, as they are.
    pub(crate) fn aside(answer: Answer) -> Self {
        Reply { rows: Rows::Kept, ..Reply::from(answer) }
    }

    /// The rows of its table are these objects or processes.
    pub(crate) fn listing(self, rows: Listed) -> Self {
        Reply { rows: Rows::Of(rows), ..self }
    }

    /// The same for objects of one snapshot.
    pub(crate) fn listing_objects(self, snapshot: SnapshotId, objects: impl IntoIterator<Item = ObjectId>) -> Self {
        self.listing(objects.into_iter().map(|object| (snapshot, object)).collect())
    }

    /// The same for a page: its rows follow those of the pages before.
    pub(crate) fn listing_page(self, ask: &Ask, page: Listed) -> Self {
        let rows = if ask.view.is_next_page { Rows::Further(page) } else { Rows::Of(page) };
        Reply { rows, ..self }
    }

    /// The answer goes on: this makes its next page.
    pub(crate) fn with_more(self, more: impl Fn(&Ask) -> Result<Reply, QueryError> + Send + Sync + 'static) -> Self {
        Reply { more: Some(Arc::new(more)), ..self }
    }

    /// A set gets a name.
    pub(crate) fn naming(mut self, name: &str, set: Named) -> Self {
        self.sets.push((name.to_owned(), set));
        self
    }

    /// These objects are the last result, `$_`.
    pub(crate) fn with_last(self, set: Arc<ObjectSet>) -> Self {
        self.naming(LAST, Named::Objects(set))
    }

    /// The same for processes.
    pub(crate) fn with_last_images(self, set: Arc<ImageSet>) -> Self {
        self.naming(LAST, Named::Images(set))
    }

    /// Changes something in the session.
    pub(crate) fn changing(self, change: Change) -> Self {
        Reply { change: Some(change), ..self }
    }

    /// The rows before the window that was asked for were passed over.
    pub(crate) fn skipping(self, has_skipped: bool) -> Self {
        Reply { has_skipped, ..self }
    }

    /// The same with another answer.
    ///
    /// # Errors
    /// Those of `change`.
    pub(crate) fn try_map(self, change: impl FnOnce(Answer) -> Result<Answer, QueryError>) -> Result<Self, QueryError> {
        Ok(Reply { answer: change(self.answer)?, ..self })
    }

    /// The same with another answer.
    pub(crate) fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self {
        Reply { answer: change(self.answer), ..self }
    }
}
