//! The state of reading a dump: its tables so far, and each checked snapshot.

use super::census::Census;
use super::collectables::Collectables;
use super::references::References;
use super::tables::Tables;
use crate::context::{Context, check_cancelled};
use crate::error::{ImportError, Stop};
use barrow_progress::Progress;
use barrow_writer::SnapshotInfo;

/// Number of records between two checks for cancellation: a cancelled import ends within milliseconds.
pub(crate) const RECORDS_PER_QUESTION: u64 = 1 << 16;

/// The part of a dump that is known while its snapshots are read.
pub(crate) struct ReadContext<'a> {
    pub(crate) progress: &'a dyn Progress,
    pub(crate) tables: Tables<'a>,
}

/// The snapshots of a dump, in its order.
pub(crate) trait Snapshots<'a>: Send {
    type Collectables: Collectables;
    type References: References;

    /// Reads and checks the next snapshot, and the tables before it; `None` after the last one.
    fn next(&mut self, reading: &mut ReadContext<'a>) -> NextSnapshot<Self::Collectables, Self::References>;
}

/// The next snapshot; `None` after the last one.
pub(crate) type NextSnapshot<C, R> = Result<Option<CheckedSnapshot<C, R>>, Stop>;

/// A snapshot whose references and types all exist.
pub(crate) struct CheckedSnapshot<C, R> {
    /// Its number in the dump.
    pub(crate) number: u64,
    pub(crate) info: SnapshotInfo,
    pub(crate) collectables: C,
    pub(crate) references: R,
    pub(crate) census: Census,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
}

impl<'a> ReadContext<'a> {
    pub(crate) fn new(context: &Context<'a>) -> Self {
        ReadContext { progress: context.progress, tables: Tables::default() }
    }

    /// Ends the import if the user cancelled it.
    pub(crate) fn check_cancelled(&self) -> Result<(), ImportError> {
        check_cancelled(self.progress)
    }
}

impl<C: Collectables, R: References> CheckedSnapshot<C, R> {
    /// Checks a snapshot. Contradictions without harm become notes.
    pub(crate) fn new(number: u64, collectables: C, references: R, reading: &ReadContext<'_>) -> Result<Self, Stop> {
        let census = Census::of(&collectables, references.len(), &reading.tables, reading.progress);
        let census = census.map_err(|stop| stop.in_snapshot(number))?;
        let notes = census.notes(number, references.len());
        Ok(CheckedSnapshot { number, info: SnapshotInfo::default(), collectables, references, census, notes })
    }
}
