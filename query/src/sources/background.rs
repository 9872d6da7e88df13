//! An import that goes on while questions are answered.
//!
//! A thread of its own opens the dump. A question that needs the recording waits for it, and sees the progress of the
//! import meanwhile. A question that is stopped leaves the import alone. Dropping it ends the import, which leaves
//! nothing in the cache then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::context::Context;
use crate::error::QueryError;
use crate::progress::Watcher;
use crate::sources::opening::{self, OpenFile};

/// Time between two checks of a waiting question for whether it should stop: people notice no delay.
const LOOKS_EVERY: Duration = Duration::from_millis(20);

/// A dump that is being imported.
pub(crate) struct Background {
    relay: Arc<Relay>,
    thread: Option<JoinHandle<()>>,
}

/// State that the import and the session share.
#[derive(Default)]
struct Relay {
    is_stopped: AtomicBool,
    /// Steps of the phase that are done.
    done: AtomicU64,
    state: Mutex<State>,
    has_ended: Condvar,
}

#[derive(Default)]
struct State {
    phase: String,
    total: u64,
    unit: &'static str,
    /// The watcher of the question that waits for the import.
    listener: Option<Arc<dyn Watcher>>,
    /// Notes produced while no question waited.
    remarks: Vec<String>,
    result: Option<Result<OpenFile, QueryError>>,
}

impl Background {
    /// Begins to open the file of this name.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn begin(name: &str, context: &Context) -> Result<Self, QueryError> {
        let relay = Arc::new(Relay::default());
        let context = Context { watcher: Arc::clone(&relay) as _, ..context.clone() };
        let (name, of_thread) = (name.to_owned(), Arc::clone(&relay));
        let work = move || {
            // Importers start threads of their own, as many as the workspace allows.
            let result = opening::open(&name, &context);
            // Waiting questions see the end at once.
            of_thread.state.lock().result = Some(result);
            of_thread.has_ended.notify_all();
        };
        let thread = std::thread::Builder::new().name("import".into()).spawn(work);
        let thread = thread.map_err(|source| {
            QueryError::unreadable("the dump", format!("no thread can be started for the import: {source}"))
        })?;
        Ok(Background { relay, thread: Some(thread) })
    }

    /// Returns whether the import has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.relay.state.lock().result.is_some()
    }

    /// Waits for the end of the import. `watcher` follows it meanwhile.
    ///
    /// # Errors
    /// [`QueryError::Stopped`] if the watcher stops the question; the import goes on then.
    pub(crate) fn wait(&self, watcher: &Arc<dyn Watcher>) -> Result<(), QueryError> {
        let mut state = self.relay.state.lock();
        if state.result.is_none() {
            watcher.begin(&state.phase, state.total, state.unit);
            watcher.advance(self.relay.done.load(Ordering::Relaxed));
            state.listener = Some(Arc::clone(watcher));
        }
        while state.result.is_none() && !watcher.is_stopped() {
            self.relay.has_ended.wait_for(&mut state, LOOKS_EVERY);
        }
        let was_followed = state.listener.take().is_some();
        let (remarks, has_ended) = (std::mem::take(&mut state.remarks), state.result.is_some());
        drop(state);
        remarks.iter().for_each(|sentence| watcher.remark(sentence));
        if was_followed {
            watcher.end();
        }
        if has_ended { Ok(()) } else { Err(QueryError::Stopped) }
    }

    /// Waits for the end of the import, and returns its result.
    pub(crate) fn into_result(mut self) -> Result<OpenFile, QueryError> {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // Without a result the thread has panicked, and said so.
        self.relay.state.lock().result.take().unwrap_or(Err(QueryError::Stopped))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Relaxed: a flag of its own.
        self.relay.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Watcher for Relay {
    fn begin(&self, phase: &str, total: u64, unit: &'static str) {
        let mut state = self.state.lock();
        (state.phase, state.total, state.unit) = (phase.to_owned(), total, unit);
        self.done.store(0, Ordering::Relaxed);
        if let Some(listener) = state.listener.clone() {
            listener.begin(phase, total, unit);
        }
    }

    fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
        // A thread that does not get the lock leaves it at the sum.
        if let Some(state) = self.state.try_lock()
            && let Some(listener) = state.listener.clone()
        {
            drop(state);
            listener.advance(steps);
        }
    }

    fn remark(&self, sentence: &str) {
        let listener = {
            let mut state = self.state.lock();
            if state.listener.is_none() {
                state.remarks.push(sentence.to_owned());
            }
            state.listener.clone()
        };
        if let Some(listener) = listener {
            listener.remark(sentence);
        }
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}
