//! Progress and cancellation of questions: each question reports to the [`Watcher`] of its session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::ceiling::Ceiling;

/// Follows a question, and may stop it. Threads that work on the question call it at the same time.
pub trait Watcher: Send + Sync {
    /// A phase begins: `total` steps of `unit`, or 0 if the number of steps is unknown.
    fn begin(&self, _phase: &str, _total: u64, _unit: &'static str) {}

    /// Steps of the current phase are done.
    fn advance(&self, _steps: u64) {}

    /// A bound of the answer is known: `≥ 12 MiB`. `phase` says what is computed next.
    fn bound(&self, _bound: &str, _phase: &str) {}

    /// Returns whether bounds are shown. If not, none are computed.
    fn shows_bounds(&self) -> bool {
        false
    }

    /// Something to know before the answer: one sentence.
    fn remark(&self, _sentence: &str) {}

    /// The reported work is done. Further work may follow.
    fn end(&self) {}

    /// Returns whether the question should stop. It then ends with [`QueryError::Stopped`](crate::QueryError::Stopped).
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Shows nothing and never stops a question.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {}

/// Stops one question from another thread, and shows nothing.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A question that was not stopped yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the question: usually within milliseconds.
    pub fn stop(&self) {
        // Relaxed: a flag of its own, which orders no other memory.
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Watcher for Stop {
    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The clock of one piece of work. It reports to a watcher until it is dropped.
pub(crate) struct Meter {
    begun: Instant,
    watcher: Arc<dyn Watcher>,
    ceiling: Arc<Ceiling>,
    /// The answer shortens long paths.
    pub(crate) short_paths: bool,
}

impl Meter {
    /// Starts the clock.
    pub(crate) fn new(watcher: Arc<dyn Watcher>, ceiling: Arc<Ceiling>, short_paths: bool) -> Self {
        Meter { begun: Instant::now(), watcher, ceiling, short_paths }
    }

    /// The time since the clock started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Where it reports to.
    pub(crate) fn watcher(&self) -> &dyn Watcher {
        &*self.watcher
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.ceiling.end_phase();
        self.watcher.end();
    }
}

impl barrow_analyzer::Progress for Meter {
    fn begin(&self, phase: &str, total: u64, unit: &'static str) {
        self.ceiling.begin_phase(total);
        self.watcher.begin(phase, total, unit);
    }

    fn advance(&self, steps: u64) {
        self.ceiling.advance(steps);
        self.watcher.advance(steps);
    }

    fn cancelled(&self) -> bool {
        self.watcher.is_stopped() || self.ceiling.is_reached()
    }
}
