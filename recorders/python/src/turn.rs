//! Which thread uses the recording, and what a fork makes of it.
//!
//! ```text
//!   take ─▶ Held: the recording ── announce (global lock held) ─▶ commit (global lock released) ─▶ dropped ─▶ next thread
//!             other threads wait in a queue                          a fork can happen here
//! ```
//!
//! The state is read and changed only by a thread that has the global lock, and no thread waits while it has the mutex. A
//! thread that forks has the global lock, so the child finds the mutex unlocked, and no fork waits for a snapshot. The
//! child cannot use a recording of its parent: it leaks what a thread of the parent has in hand, and begins a recording of its own.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread, ThreadId};
use std::time::Instant;

use pyo3::ffi;
use pyo3::prelude::*;

use crate::recorder::{Recording, Wishes};

struct State {
    /// The process that all of this is for.
    process: u32,
    /// The recording, unless a thread uses it.
    recording: Option<Recording>,
    /// The settings of the recording, also while a thread uses it. A child begins with them.
    wishes: Option<Wishes>,
    /// The thread that uses the recording.
    user: Option<ThreadId>,
    /// The threads that use it next, in this order.
    waiting: VecDeque<Thread>,
}

static STATE: Mutex<State> =
    Mutex::new(State { process: 0, recording: None, wishes: None, user: None, waiting: VecDeque::new() });

/// The recording, taken out of its place. It goes back there when this is dropped, and the next thread has its turn.
pub(crate) struct Held<'py> {
    pub(crate) recording: Option<Recording>,
    process: u32,
    py: Python<'py>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let recording = self.recording.take();
        let mut state = lock(self.py);
        if state.process != self.process {
            // This is a child, and the recording is the parent's: freeing it could write to the parent's file.
            return std::mem::forget(recording);
        }
        state.wishes = recording.as_ref().map(|recording| recording.wishes().clone());
        state.recording = recording;
        let next = state.waiting.pop_front();
        state.user = next.as_ref().map(Thread::id);
        if let Some(next) = next {
            next.unpark();
        }
    }
}

/// The thread that asks for the recording uses it already: code of the program runs while it does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reentered;

impl Reentered {
    pub(crate) const TEXT: &str = "a snapshot was skipped: it was requested while this thread takes another";
}

/// Takes the recording. Threads that ask while another has it get it in the order in which they asked; the program goes on
/// meanwhile.
///
/// # Errors
/// This thread has it: waiting would never end.
pub(crate) fn take(py: Python<'_>) -> Result<Held<'_>, Reentered> {
    let this = thread::current();
    let mut state = lock(py);
    match state.user {
        None => state.user = Some(this.id()),
        Some(user) if user == this.id() => return Err(Reentered),
        Some(_) => {
            state.waiting.push_back(this.clone());
            while state.user != Some(this.id()) {
                drop(state);
                // If its turn came meanwhile, this returns at once.
                py.detach(thread::park);
                state = lock(py);
            }
        }
    }
    Ok(Held { recording: state.recording.take(), process: state.process, py })
}

/// Waits until all threads that requested the recording earlier have had it. To be called when nothing is recorded: no thread is
/// left inside of this module when the interpreter ends, which would end the thread there.
pub(crate) fn drain(py: Python<'_>) {
    drop(take(py));
}

/// The settings of the recording, if it has objects of this interpreter.
pub(crate) fn own_wishes(py: Python<'_>) -> Option<Wishes> {
    let interpreter = interpreter_id(py);
    lock(py).wishes.clone().filter(|wishes| wishes.interpreter == interpreter)
}

/// Whether objects of this interpreter are recorded.
pub(crate) fn is_on(py: Python<'_>) -> bool {
    let interpreter = interpreter_id(py);
    lock(py).wishes.as_ref().is_some_and(|wishes| wishes.interpreter == interpreter)
}

/// The number of the interpreter that this thread runs in; no other ever has it.
pub(crate) fn interpreter_id(_py: Python<'_>) -> i64 {
    // SAFETY: the caller has the global lock, so there is a current interpreter.
    unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) }
}

/// Locks the state for a moment. Nothing that is done meanwhile waits or runs Python code. The first call in a child makes the
/// state the child's.
fn lock(_py: Python<'_>) -> MutexGuard<'static, State> {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if state.process != process {
        if state.process != 0 {
            state.leave_to_parent(process);
        }
        state.process = process;
    }
    state
}

impl State {
    /// Makes this the state of a child: its recording begins with its first snapshot.
    fn leave_to_parent(&mut self, process: u32) {
        if let Some(wishes) = &mut self.wishes {
            let (before, after) = &wishes.first;
            wishes.path = PathBuf::from(format!("{before}.{process}{after}"));
            wishes.process = process;
            wishes.began = Instant::now();
            wishes.is_begun = false;
        }
        // The encoder threads are not in this process, and what is not written yet is the parent's.
        std::mem::forget(std::mem::replace(&mut self.recording, self.wishes.clone().map(Recording::Waiting)));
        std::mem::forget(std::mem::take(&mut self.waiting));
        self.user = None;
    }
}
