//! The ceiling of memory, as a question meets it: it ends when the process holds more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use barrow_analyzer::{AnalyzerError, Memory};
use parking_lot::Mutex;

use crate::error::QueryError;
use crate::forecast::Forecast;

/// The longest time that a question waits until the memory of the one before is given back: people notice little more,
/// and a question without room fails with a reason anyway.
const SETTLING: Duration = Duration::from_millis(200);

/// Ends the current question of a session for want of memory. Once the ceiling is reached, all threads of the question
/// see it as reached, even if there is room again meanwhile.
pub(crate) struct Ceiling {
    memory: Memory,
    /// Questions of all sessions that run.
    running: Arc<AtomicUsize>,
    is_reached: AtomicBool,
    /// Why, in the first thread that was told so.
    why: Mutex<Option<AnalyzerError>>,
    /// Other questions have to end before this one.
    goes_first: AtomicBool,
    forecast: Forecast,
}

impl Ceiling {
    /// For the questions of a session. `running` is the number of questions of all sessions that run.
    pub(crate) fn new(memory: Memory, running: Arc<AtomicUsize>) -> Self {
        let (is_reached, goes_first) = (AtomicBool::new(false), AtomicBool::new(false));
        Ceiling { memory, running, is_reached, why: Mutex::default(), goes_first, forecast: Forecast::default() }
    }

    /// A question begins.
    pub(crate) fn begin(&self, goes_first: bool) {
        // Relaxed, here and below: the flags order no other memory.
        self.is_reached.store(false, Ordering::Relaxed);
        self.goes_first.store(goes_first, Ordering::Relaxed);
        *self.why.lock() = None;
        if self.running.load(Ordering::Relaxed) == 0 {
            self.memory.begin_question();
            // The memory of the question before is given back, so that this one does not end for it.
            let _ = self.memory.settles(SETTLING);
        }
    }

    /// A phase of the question begins. It has so many steps; 0 if their number is unknown.
    pub(crate) fn begin_phase(&self, steps: u64) {
        self.forecast.begin(if self.memory.limit_bytes().is_some() { steps } else { 0 });
    }

    /// Steps of the phase are done.
    pub(crate) fn advance(&self, steps: u64) {
        self.forecast.advance(steps);
    }

    /// The phase ends.
    pub(crate) fn end_phase(&self) {
        self.forecast.end();
    }

    /// Returns whether the question has to end.
    pub(crate) fn is_reached(&self) -> bool {
        if self.is_reached.load(Ordering::Relaxed) {
            return true;
        }
        let Some(why) = self.memory.excess() else { return false };
        if self.goes_first.load(Ordering::Relaxed) && self.running.load(Ordering::Relaxed) > 1 {
            return false;
        }
        if !self.is_reached.swap(true, Ordering::Relaxed) {
            let why = match why {
                AnalyzerError::MemoryExceeded { held_bytes, limit_bytes, .. } => {
                    let needed_bytes = self.forecast.needed_bytes(held_bytes);
                    AnalyzerError::MemoryExceeded { held_bytes, needed_bytes, limit_bytes }
                }
                other => other,
            };
            *self.why.lock() = Some(why);
        }
        true
    }

    /// Takes the reason why the question had to end, if it had to.
    pub(crate) fn take_error(&self) -> Option<QueryError> {
        self.why.lock().take().map(QueryError::Analyzer)
    }
}
