//! Computations about different snapshots at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::columns::memory::Memory;
use crate::error::Result;

/// The maximum number of snapshots that are processed at the same time, for any number of threads, because each takes
/// the memory of a graph. This is a judgement.
const MOST: usize = 4;

/// The number of computations of `bytes` bytes each that may run at the same time: one for each thread if memory allows.
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
    // One task for each computation that may run. A task takes the next number in turn, so work that waits for other
    // threads cannot begin a second computation meanwhile.
    rayon::scope(|scope| {
        for _ in 0..most.min(count) {
            scope.spawn(|_| {
                loop {
                    // Relaxed: the number is all that threads share here.
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(slot) = results.get(at) else { break };
                    let result = work(at);
                    if result.is_err() {
                        next.fetch_max(count, Ordering::Relaxed);
                    }
                    *slot.lock() = Some(result);
                }
            });
        }
    });
    results.into_iter().filter_map(|slot| slot.into_inner()).collect()
}
