//! What reads a dump: the tables so far, and each snapshot once it is checked.

use super::census::Census;
use super::collectables::Collectables;
use super::references::References;
use super::tables::Tables;
use crate::context::{Context, check_cancelled};
use crate::error::{ImportError, Stop};
use barrow_progress::Progress;
use barrow_writer::SnapshotInfo;

/// After how many records [`Progress::cancelled`] is asked.
pub(crate) const RECORDS_PER_QUESTION: u64 = 1 << 16;

/// What is known of a dump while its snapshots are read.
pub(crate) struct Reading<'a> {
    pub(crate) progress: &'a dyn Progress,
    pub(crate) tables: Tables<'a>,
}

/// The snapshots of a dump, in its order.
pub(crate) trait Snapshots<'a>: Send {
    type Collectables: Collectables;
    type References: References;

    /// Reads and checks the next snapshot, and the tables before it; `None` after the last one.
    fn next(&mut self, reading: &mut Reading<'a>) -> Next<Self::Collectables, Self::References>;
}

/// The next snapshot, if there is one.
pub(crate) type Next<C, R> = Result<Option<Checked<C, R>>, Stop>;

/// A snapshot in which everything that is referred to exists.
pub(crate) struct Checked<C, R> {
    /// Its number in the dump.
    pub(crate) number: u64,
    pub(crate) info: SnapshotInfo,
    pub(crate) collectables: C,
    pub(crate) references: R,
    pub(crate) census: Census,
    /// Sentences for the user.
    pub(crate) notes: Vec<String>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(context: &Context<'a>) -> Self {
        Reading { progress: context.progress, tables: Tables::default() }
    }

    /// Ends the import if the user cancelled it.
    pub(crate) fn check_cancelled(&self) -> Result<(), ImportError> {
        check_cancelled(self.progress)
    }
}

impl<C: Collectables, R: References> Checked<C, R> {
    /// Checks a snapshot. Contradictions without harm become notes.
    pub(crate) fn new(number: u64, collectables: C, references: R, reading: &Reading<'_>) -> Result<Self, Stop> {
        let census = Census::of(&collectables, references.len(), &reading.tables, reading.progress);
        let census = census.map_err(|stop| stop.in_snapshot(number))?;
        let notes = census.notes(number, references.len());
        Ok(Checked { number, info: SnapshotInfo::default(), collectables, references, census, notes })
    }
}
