//! The collectables of a snapshot, handed to threads in runs.
//!
//! ```text
//!   collectables   0 … 65,535 │ 65,536 … 131,071 │ 131,072 …        runs
//!                      │               │              │
//!                  thread 1        thread 2       thread 1          whichever is free takes the next
//! ```

use crate::error::Stop;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// How many collectables a run has; the last run of a snapshot may have fewer. That is a block of the recording at most.
pub(crate) const RUN_COLLECTABLES: usize = 1 << 16;

/// Something on MoarVM's heap, or a group of roots, as the dump has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collectable {
    /// Its offset in the dump, or that of its columns.
    pub(crate) offset: u64,
    /// MoarVM's number of its kind.
    pub(crate) kind: u64,
    /// Its row in the types or, for a frame, in the frames.
    pub(crate) type_index: u64,
    /// Bytes on the heap.
    pub(crate) size: u64,
    /// Bytes elsewhere that it owns.
    pub(crate) unmanaged: u64,
    /// Its first reference; means nothing without references.
    pub(crate) first_reference: u64,
    /// How many references it has.
    pub(crate) reference_count: u64,
}

/// The collectables of one snapshot, wherever they are.
pub(crate) trait Collectables: Send + Sync {
    /// Collectables that follow each other.
    type Run: Run;

    /// All of them, in runs of [`RUN_COLLECTABLES`].
    fn runs(&self) -> Result<impl Iterator<Item = Result<Self::Run, Stop>> + Send, Stop>;
}

/// Collectables that follow each other.
pub(crate) trait Run: Send {
    /// Hands them over one by one.
    fn for_each(&self, visit: impl FnMut(&Collectable) -> Result<(), Stop>) -> Result<(), Stop>;
}

impl Run for Vec<Collectable> {
    fn for_each(&self, visit: impl FnMut(&Collectable) -> Result<(), Stop>) -> Result<(), Stop> {
        self.iter().try_for_each(visit)
    }
}

/// Hands out runs, each with the number of its first collectable. Threads share it.
pub(crate) struct Runs<I> {
    next: Mutex<(u64, I)>,
}

impl<R, I: Iterator<Item = Result<R, Stop>>> Runs<I> {
    pub(crate) fn new(runs: I) -> Self {
        Runs { next: Mutex::new((0, runs)) }
    }

    /// The next run; `None` at the end.
    pub(crate) fn next(&self) -> Result<Option<(u64, R)>, Stop> {
        // A panic while a run was made leaves an iterator that can be asked again.
        let (number, runs) = &mut *self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(run) = runs.next().transpose()? else { return Ok(None) };
        let first = *number;
        *number += RUN_COLLECTABLES as u64;
        Ok(Some((first, run)))
    }
}

/// Does `work` once on each thread of the current pool.
pub(crate) fn on_all_threads<T: Send>(work: impl Fn() -> Result<T, Stop> + Sync) -> Result<Vec<T>, Stop> {
    (0..rayon::current_num_threads()).into_par_iter().with_max_len(1).map(|_| work()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_numbered_by_their_first_collectable() {
        let runs = Runs::new([Ok("a"), Ok("b")].into_iter());
        assert!(matches!(runs.next(), Ok(Some((0, "a")))));
        assert!(matches!(runs.next(), Ok(Some((65_536, "b")))));
        assert!(matches!(runs.next(), Ok(None)));
    }
}
