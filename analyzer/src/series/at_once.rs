//! Computations about different snapshots at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::columns::memory::Memory;
use crate::error::Result;

/// The most snapshots that are processed at the same time, however many threads there are: each takes the memory of a
/// graph.
const MOST: usize = 4;

/// How many computations of `bytes` bytes each may run at the same time: one for each thread, as far as memory allows.
pub(crate) fn most_at_once(memory: &Memory, bytes: u64) -> usize {
    let threads = rayon::current_num_threads().min(MOST) as u64;
    (2..=threads).rev().find(|&count| memory.has_room(count.saturating_mul(bytes))).unwrap_or(1) as usize
}

/// Calls `work` for each number below `count`, in order, at most `most` at the same time on the current pool. The results
/// are in order.
///
/// # Errors
/// The first error in order. Work that has not begun is then left out.
pub(crate) fn at_once<T: Send>(count: usize, most: usize, work: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    if most <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<T>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let numbered = |at: usize| Some((at, results.get(at)?));
    let run = || {
        // Relaxed: the number is all that threads share here.
        while let Some((at, slot)) = numbered(next.fetch_add(1, Ordering::Relaxed)) {
            let result = work(at);
            if result.is_err() {
                next.fetch_max(count, Ordering::Relaxed);
            }
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    // As many tasks as may run, each of which takes the next number: work that waits for other threads cannot begin a
    // second one meanwhile.
    rayon::scope(|scope| (0..most.min(count)).for_each(|_| scope.spawn(|_| run())));
    results.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}
