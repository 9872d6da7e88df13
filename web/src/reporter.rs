//! The progress of a question: reports of the thread that answers it, and their form for the page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use barrow_query::Watcher;
use parking_lot::Mutex;
use serde::Serialize;

/// Follows a question, and can stop it. Clones follow the same one.
#[derive(Clone)]
pub(crate) struct Reporter(Arc<State>);

struct State {
    begun: Instant,
    stopped: AtomicBool,
    phase: Mutex<Option<Phase>>,
    /// Completed steps of the phase.
    done: AtomicU64,
    remarks: Mutex<Vec<String>>,
}

struct Phase {
    name: String,
    total: u64,
    unit: &'static str,
    begun: Instant,
}

/// The progress of a question as the page shows it.
#[derive(Debug, Serialize)]
pub(crate) struct Progress {
    phase: String,
    done: u64,
    total: Option<u64>,
    unit: &'static str,
    elapsed_ms: u64,
    /// Steps per second.
    rate: Option<f64>,
    left_ms: Option<u64>,
}

impl Reporter {
    pub(crate) fn new() -> Self {
        Reporter(Arc::new(State {
            begun: Instant::now(),
            stopped: AtomicBool::new(false),
            phase: Mutex::default(),
            done: AtomicU64::new(0),
            remarks: Mutex::default(),
        }))
    }

    pub(crate) fn stop(&self) {
        // Relaxed: the flag orders no other memory.
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        self.0.begun.elapsed().as_millis() as u64
    }

    /// Notes to show before the answer.
    pub(crate) fn take_remarks(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.remarks.lock())
    }

    /// The progress; `None` before the first phase.
    pub(crate) fn progress(&self) -> Option<Progress> {
        let phase = self.0.phase.lock();
        let phase = phase.as_ref()?;
        let done = self.0.done.load(Ordering::Relaxed);
        // A total that was passed was wrong: progress without one is shown.
        let total = (phase.total > 0 && done <= phase.total).then_some(phase.total);
        let seconds = phase.begun.elapsed().as_secs_f64();
        let rate = (done > 0 && seconds > 0.0).then(|| done as f64 / seconds);
        let left = rate.zip(total).map(|(rate, total)| total.saturating_sub(done) as f64 / rate * 1000.0);
        Some(Progress {
            phase: phase.name.clone(),
            done,
            total,
            unit: phase.unit,
            elapsed_ms: self.elapsed_ms(),
            rate,
            left_ms: left.map(|left| left as u64),
        })
    }
}

impl Watcher for Reporter {
    fn begin(&self, name: &str, total: u64, unit: &'static str) {
        let phase = Phase { name: name.to_owned(), total, unit, begun: Instant::now() };
        *self.0.phase.lock() = Some(phase);
        self.0.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) {
        self.0.done.fetch_add(steps, Ordering::Relaxed);
    }

    fn remark(&self, sentence: &str) {
        self.0.remarks.lock().push(sentence.to_owned());
    }

    fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }
}

/// Stops a question when it is dropped: the browser has disconnected.
pub(crate) struct StopOnDrop(pub(crate) Reporter);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
