//! Dominators that the index file does not have yet: they are written there after the answer that needed them first.

use std::sync::Arc;

use parking_lot::Mutex;

use super::Heap;
use super::kept_dominators::CheckTime;
use crate::error::{AnalyzerError, Result};
use crate::graph::dominators::Dominators;
use crate::progress::Progress;

/// When a heap writes columns to its index file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    /// It only reads them.
    Never,
    /// When they were computed.
    AtOnce,
    /// Dominators when [`Heap::keep_index`] is called, and other columns when they were computed.
    Later,
}

/// Bytes of memory per object that must be free for dominators to wait. Distances, types and incoming references, which
/// the same answer may compute beside them, take up to 40 when they are made.
const WAITING_BYTES: u64 = 64;

/// Dominators that are to be written.
#[derive(Debug, Default)]
pub(super) struct Owed {
    dominators: Mutex<Option<Arc<Dominators>>>,
    /// Held while they are written. Questions use them meanwhile.
    writing: Mutex<()>,
}

impl Heap {
    /// Returns whether dominators that were just computed can wait in memory until the answer is out.
    pub(super) fn can_keep_later(&self) -> bool {
        self.keeps == Keeps::Later && self.memory.has_room(self.objects.saturating_mul(WAITING_BYTES))
    }

    /// Notes that these are to be written to the index file.
    pub(super) fn owe_index(&self, dominators: &Arc<Dominators>) {
        *self.owed.dominators.lock() = Some(Arc::clone(dominators));
    }

    /// The dominators that are to be written, or are being written.
    pub(super) fn owed_dominators(&self) -> Option<Arc<Dominators>> {
        self.owed.dominators.lock().clone()
    }

    /// Returns whether there is something for [`Heap::keep_index`] to write.
    #[must_use]
    pub fn owes_index(&self) -> bool {
        self.owed.dominators.lock().is_some()
    }

    /// Writes to the index file what [`Heap::keeping_the_index_later`] has left for later. Dominators that no question
    /// holds are dropped then, which leaves their memory to the next question.
    ///
    /// # Errors
    /// As for [`Heap::dominators`]. After [`AnalyzerError::Cancelled`] the next call tries again.
    pub fn keep_index(&self, progress: &dyn Progress) -> Result<()> {
        let _writing = self.owed.writing.lock();
        let Some(dominators) = self.owed_dominators() else { return Ok(()) };
        let kept = self.keep_dominators(&dominators, progress);
        if matches!(kept, Err(AnalyzerError::Cancelled)) {
            return kept;
        }
        if kept.is_err() || self.kept_dominators(CheckTime::WhenRead)?.is_none() {
            self.dominators.store(dominators);
        }
        *self.owed.dominators.lock() = None;
        kept
    }
}
