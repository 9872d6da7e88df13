//! A thread that samples the memory of all processes and writes pending rows.
//!
//! Between samples it waits a hundred times as long as its work took, so that it uses at most 1 % of a processor.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use barrow_writer::{ProcessId, Word};

use crate::files;
use crate::ledger::{Ledger, Living};
use crate::system::{self, Pid};

/// Ratio of waiting to work: a little more than 100, since waiting itself takes some time.
const PATIENCE: u64 = 105;
/// Interval between writes: with waiting and writing, each row is in the file within 100 ms. Each write costs about 80 bytes,
/// 3 MB an hour.
const FLUSH: Duration = Duration::from_millis(85);
/// The shortest wait, and the usual one for the first sample.
pub(crate) const SHORTEST_WAIT: Duration = Duration::from_millis(5);

/// The sampling thread; dropping this ends it.
pub(crate) struct Sampler {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Starts the thread, which waits for the time `first` before its first sample, and calls `look_around` before each one to
    /// find unknown processes.
    pub(crate) fn start(
        ledger: &Arc<Ledger>,
        first: Duration,
        look_around: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let ledger = Arc::clone(ledger);
        let builder = std::thread::Builder::new().name("sampler".into());
        let thread = builder.spawn(move || run(&ledger, first, &look_around, &stopped))?;
        Ok(Sampler { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(ledger: &Ledger, first: Duration, look_around: &dyn Fn(), stopped: &Receiver<()>) {
    let mut told = Told::default();
    let mut accounted = system::own_processor_ns();
    let mut flushes = Flushes { last: Instant::now() };
    let mut wait = first;
    let mut sample_at = Instant::now() + wait;
    while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        if Instant::now() >= sample_at {
            look_around();
            if ledger.options().memory {
                let time_ns = ledger.now();
                let sample = sample(ledger, &mut told, &mut flushes);
                if !sample.is_empty() {
                    ledger.memory(time_ns, &sample);
                }
            }
            // Includes the writes since the last sample.
            let all = system::own_processor_ns();
            let cost = Duration::from_nanos((all - accounted) * PATIENCE);
            accounted = all;
            sample_at = Instant::now() + cost.max(ledger.options().interval);
        }
        flushes.flush_if_due(ledger);
        let until_flush = FLUSH.saturating_sub(flushes.last.elapsed());
        let until_sample = sample_at.saturating_duration_since(Instant::now());
        wait = until_flush.min(until_sample).max(SHORTEST_WAIT);
    }
}

/// The state of the attributes that samples write.
#[derive(Default)]
struct Told {
    /// Processes marked as sampled by resident size.
    resident: HashSet<ProcessId>,
    /// The last recorded memory of files of each process, in bytes.
    of_files: HashMap<ProcessId, u64>,
}

impl Told {
    /// Returns true if the memory of files of a process exceeds the recorded one by more than an eighth, and remembers it then.
    fn is_much_more(&mut self, process: ProcessId, bytes: u64) -> bool {
        let said = self.of_files.entry(process).or_default();
        let is_more = bytes > *said + *said / 8;
        *said = if is_more { bytes } else { *said };
        is_more
    }
}

/// The time of the last write.
struct Flushes {
    last: Instant,
}

impl Flushes {
    fn flush_if_due(&mut self, ledger: &Ledger) {
        if self.last.elapsed() >= FLUSH {
            ledger.flush();
            self.last = Instant::now();
        }
    }
}

/// Returns true while a process shares the memory of its parent.
fn uses_memory_of_parent(pid: Pid, living: &Living) -> bool {
    living.is_borrowing
        || living.is_copy && living.parent.is_some_and(|parent| system::share_memory(pid, parent) == Some(true))
}

/// The memory of each process that can be measured now. Where the system hides how pages are shared, as for programs with
/// other rights, it is the resident size, and an attribute says so.
fn sample(ledger: &Ledger, told: &mut Told, flushes: &mut Flushes) -> Vec<(ProcessId, u64)> {
    let mut sample = Vec::new();
    for (pid, living) in ledger.living() {
        let process = living.process;
        if uses_memory_of_parent(pid, &living) {
            continue;
        }
        // A sample of many processes takes longer than rows may stay pending.
        flushes.flush_if_due(ledger);
        if let Some(memory) = files::memory(pid) {
            sample.push((process, memory.proportional));
            ledger.seen(pid, memory.resident, system::processor_ns(pid));
            if let Some(bytes) = memory.of_files.filter(|&bytes| told.is_much_more(process, bytes)) {
                ledger.attribute(process, Word::of_settings("file memory"), &bytes.to_string());
            }
        } else if let Some(bytes) = files::resident_bytes(pid) {
            if told.resident.insert(process) {
                ledger.attribute(process, Word::of_settings("memory"), "resident");
            }
            sample.push((process, bytes));
        }
    }
    sample.sort_unstable_by_key(|&(process, _)| process.0);
    sample
}
