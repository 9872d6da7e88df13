//! Timing for the benchmarks: several runs, the best and the median, as throughput; and large
//! recordings to measure with, see [`shapes`].
//!
//! The benchmarks are programs without a framework, `cargo bench -p barrow-benches`. They print
//! things per second; nothing is asserted, since machines differ.

mod loaded;
mod random;
pub mod shapes;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use loaded::Loaded;

/// Runs of which the best and the median are taken.
const RUNS: usize = 7;

/// What was counted in one run.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    /// How many.
    pub count: u64,
    /// Of what.
    pub unit: &'static str,
}

/// Runs `work` several times after one warm-up and prints a line: throughput of the best and of the
/// median run, for every amount.
pub fn measure(name: &str, amounts: &[Amount], mut work: impl FnMut()) {
    work();
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let (best, median) = (times[0], times[RUNS / 2]);
    print!("{name:<44} {:>9.3} ms", median.as_secs_f64() * 1e3);
    for Amount { count, unit } in amounts {
        let rate = |time: Duration| *count as f64 / time.as_secs_f64() / 1e6;
        print!("  {:>8.1} M {unit}/s (best {:.1})", rate(median), rate(best));
    }
    println!();
}

/// The recording to measure with: `BARROW_BENCH`, or the bundled one.
#[must_use]
pub fn recording_path() -> PathBuf {
    std::env::var_os("BARROW_BENCH").map_or_else(bundled_recording, PathBuf::from)
}

/// The recording that the repository holds.
#[must_use]
pub fn bundled_recording() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/raku.barrow")
}

/// Touches so much memory and gives it back, and forgets that peak.
///
/// A virtual machine gets pages from its host when they are first touched: 2.7 s for a gigabyte were seen, and 0.08 s for
/// pages that were in use shortly before. Without this a measurement is one of what ran before it.
///
/// # Panics
/// If there is not so much.
pub fn warm_memory(bytes: usize) {
    let mut map = memmap2::MmapMut::map_anon(bytes).expect("there is so much memory");
    // Of the same size as those of columns.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    map.fill(1);
    drop(map);
    // Elsewhere than on Linux there is no such file, and no such peak.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Runs `work` with this many threads.
///
/// # Panics
/// If the system has no more threads.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    pool.install(work)
}
