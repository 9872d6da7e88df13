//! The collectables of a snapshot, handed to threads in runs.
//!
//! ```text
//!   collectables   0 … 65,535 │ 65,536 … 131,071 │ 131,072 … 175,000 │ …     runs, at the end shorter ones
//!                      │               │                  │
//!                  thread 1        thread 2           thread 1              whichever is free takes the next
//! ```

use crate::error::Stop;
use parking_lot::Mutex;
use rayon::prelude::*;

/// Maximum number of collectables of a run, as in a block of the recording.
const MOST_COLLECTABLES: usize = 1 << 16;
/// Minimum number, except for the last run. Smaller blocks compress less well.
const FEWEST_COLLECTABLES: usize = 1 << 15;

/// The lengths of the runs of a snapshot. The last ones are shorter, so that threads end at about the same time.
#[derive(Debug, Clone)]
pub(crate) struct RunLengths {
    left: usize,
    threads: usize,
}

impl RunLengths {
    /// The lengths for `count` collectables and the threads of the current pool.
    pub(crate) fn of(count: usize) -> Self {
        RunLengths { left: count, threads: rayon::current_num_threads() }
    }
}

impl Iterator for RunLengths {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let share = if self.threads == 1 { self.left } else { self.left / (2 * self.threads) };
        let length = share.clamp(FEWEST_COLLECTABLES, MOST_COLLECTABLES).min(self.left);
        self.left -= length;
        (length > 0).then_some(length)
    }
}

/// An object on MoarVM's heap, or a group of roots, as dumped.
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
    /// The index of its first reference; meaningless without references.
    pub(crate) first_reference: u64,
    /// Number of its references.
    pub(crate) reference_count: u64,
}

/// The collectables of one snapshot.
pub(crate) trait Collectables: Send + Sync {
    /// Consecutive collectables.
    type Run: Run;

    /// Bytes of the dump that they take and that were not reported as read yet.
    fn unreported_bytes(&self) -> u64;

    /// All of them, in runs of [`RunLengths`].
    fn runs(&self) -> Result<impl Iterator<Item = Result<Self::Run, Stop>> + Send, Stop>;
}

/// Consecutive collectables.
pub(crate) trait Run: Send {
    /// Number of collectables.
    fn len(&self) -> usize;

    /// Visits them in order.
    fn for_each(&self, visit: impl FnMut(&Collectable) -> Result<(), Stop>) -> Result<(), Stop>;
}

impl Run for Vec<Collectable> {
    fn len(&self) -> usize {
        self.len()
    }

    fn for_each(&self, visit: impl FnMut(&Collectable) -> Result<(), Stop>) -> Result<(), Stop> {
        self.iter().try_for_each(visit)
    }
}

/// Distributes runs among threads, each with the number of its first collectable.
pub(crate) struct Runs<I> {
    next: Mutex<(u64, I)>,
}

impl<R: Run, I: Iterator<Item = Result<R, Stop>>> Runs<I> {
    pub(crate) fn new(runs: I) -> Self {
        Runs { next: Mutex::new((0, runs)) }
    }

    /// The next run; `None` at the end.
    pub(crate) fn next(&self) -> Result<Option<(u64, R)>, Stop> {
        // A panic while a run was made leaves a usable iterator.
        let (number, runs) = &mut *self.next.lock();
        let Some(run) = runs.next().transpose()? else { return Ok(None) };
        let first = *number;
        *number += run.len() as u64;
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
        let collectable = Collectable {
            offset: 0,
            kind: 1,
            type_index: 0,
            size: 0,
            unmanaged: 0,
            first_reference: 0,
            reference_count: 0,
        };
        let runs = Runs::new([3, 2].map(|length| Ok(vec![collectable; length])).into_iter());
        assert!(matches!(runs.next(), Ok(Some((0, run))) if run.len() == 3));
        assert!(matches!(runs.next(), Ok(Some((3, run))) if run.len() == 2));
        assert!(matches!(runs.next(), Ok(None)));
    }

    #[test]
    fn the_last_runs_are_shorter() {
        let lengths = |count, threads| RunLengths { left: count, threads }.collect::<Vec<_>>();
        assert_eq!(lengths(150_000, 1), [65_536, 65_536, 18_928]);
        assert_eq!(lengths(400_000, 2), [65_536, 65_536, 65_536, 50_848, 38_136, 32_768, 32_768, 32_768, 16_104]);
        for (count, threads) in [(0, 2), (1, 2), (16_385, 3), (1_000_000, 8)] {
            assert_eq!(lengths(count, threads).iter().sum::<usize>(), count);
        }
    }
}
