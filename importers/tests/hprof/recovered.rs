//! Damaged dumps by the thousand: what is recovered was there. `BARROW_DAMAGED=N` makes it N dumps.

#[expect(unreachable_pub, reason = "the fuzz target is public")]
#[path = "../../../fuzz/src/damaged_hprof.rs"]
mod damaged_hprof;

/// Threads that import at the same time.
const THREADS: u64 = 2;

#[test]
fn whatever_is_recovered_was_there_and_only_once() {
    let count = std::env::var("BARROW_DAMAGED").ok().and_then(|count| count.parse().ok()).unwrap_or(5_000_u64);
    std::thread::scope(|scope| {
        for first in 0..THREADS {
            let seeds = (first..count).step_by(THREADS as usize);
            scope.spawn(|| seeds.for_each(|seed| damaged_hprof::damaged_hprof(&seed.to_le_bytes())));
        }
    });
}
