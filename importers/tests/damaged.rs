//! Damaged dumps and logs by the thousand: what is recovered was there. `BARROW_DAMAGED=N` makes it N of each kind.

#[expect(unreachable_pub, reason = "the fuzz targets are public")]
#[path = "../../fuzz/src/damaged/mod.rs"]
mod damaged;

/// Threads that import at the same time.
const THREADS: u64 = 2;

fn assert_parts(target: fn(&[u8])) {
    let count = std::env::var("BARROW_DAMAGED").ok().and_then(|count| count.parse().ok()).unwrap_or(2_000_u64);
    std::thread::scope(|scope| {
        for first in 0..THREADS {
            let seeds = (first..count).step_by(THREADS as usize);
            scope.spawn(move || seeds.for_each(|seed| target(&seed.to_le_bytes())));
        }
    });
}

#[test]
fn dumps_of_the_jvm() {
    assert_parts(damaged::damaged_hprof);
}

#[test]
fn dumps_of_ruby() {
    assert_parts(damaged::damaged_ruby);
}

#[test]
fn snapshots_of_v8() {
    assert_parts(damaged::damaged_v8);
}

#[test]
fn logs_of_builds() {
    assert_parts(damaged::damaged_logs);
}
