//! Measures the dominators of one snapshot, phase by phase: wall time, CPU time and memory.
//!
//! `BARROW_BENCH` names the recording, `BARROW_THREADS` sets the number of threads, and `BARROW_MEMORY` sets a memory
//! ceiling in MiB.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use barrow_analyzer::{Heap, IndexPlace, Memory, Progress, Recording};
use barrow_benches::{recording_path, warm_memory, with_threads};

/// An upper bound of the memory needed for each object, in bytes.
const WARM_BYTES: usize = 64;

/// The resource use of the process so far: CPU seconds, and peak memory in bytes.
fn used() -> (f64, u64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let peak: u64 = peak.trim().trim_end_matches("kB").trim().parse().unwrap_or(0);
    ((ticks(11) + ticks(12)) / 100.0, peak << 10)
}

struct Phases(Mutex<(String, Instant, f64)>);

impl Phases {
    fn next(&self, phase: &str) {
        let mut last = self.0.lock().expect("no thread panics");
        let (cpu, peak) = used();
        println!(
            "  {:28} {:7.3} s {:7.2} s CPU, peak {:6} MiB",
            last.0,
            last.1.elapsed().as_secs_f64(),
            cpu - last.2,
            peak >> 20
        );
        *last = (phase.to_owned(), Instant::now(), cpu);
    }
}

impl Progress for Phases {
    fn begin(&self, phase: &str, _total: u64, _unit: &'static str) {
        self.next(phase);
    }
    fn advance(&self, _steps: u64) {}
    fn cancelled(&self) -> bool {
        false
    }
}

fn main() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let threads = number("BARROW_THREADS").unwrap_or(2) as usize;
    let memory = || number("BARROW_MEMORY").map_or(Memory::unlimited(), |mebibytes| Memory::limited(mebibytes << 20));
    let recording = Arc::new(Recording::open(&recording_path()).expect("BARROW_BENCH is a recording"));
    let last = recording.snapshot_ids().next_back().expect("the recording has a snapshot");
    let totals = recording.snapshot(last).expect("it is whole").totals;
    println!("{} objects, {} references, {threads} threads", totals.objects, totals.references);
    warm_memory(totals.objects as usize * WARM_BYTES);
    with_threads(threads, || {
        let (start, (cpu, _)) = (Instant::now(), used());
        let phases = Phases(Mutex::new(("opening".into(), Instant::now(), cpu)));
        let heap = Heap::new(Arc::clone(&recording), last, &IndexPlace::Nowhere, memory()).expect("it is whole");
        let dominators = heap.dominators(&phases).expect("it is whole");
        phases.next("");
        let (after, peak) = used();
        let objects = totals.objects as f64;
        println!(
            "{:.3} s, {:.3} µs of CPU an object, {:.1} bytes an object at the peak; {} reachable, {} bytes",
            start.elapsed().as_secs_f64(),
            (after - cpu) * 1e6 / objects,
            peak as f64 / objects,
            dominators.reachable_count(),
            dominators.reachable_bytes(),
        );
    });
}
