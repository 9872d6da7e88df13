//! The gate that bounds the memory of blocks between the announcing threads and the encoders.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::lock::lock;

/// Counts the bytes of blocks that wait or are being encoded, and makes announcing threads wait
/// when they reach the budget.
#[derive(Debug)]
pub(crate) struct Gate {
    budget_bytes: usize,
    taken_bytes: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn new(budget_bytes: usize) -> Self {
        Gate { budget_bytes, taken_bytes: Mutex::new(0), changed: Condvar::new() }
    }

    /// Waits until there is room. A block larger than the budget goes through alone.
    pub(crate) fn enter(self: &Arc<Self>, bytes: usize) -> Pass {
        let mut taken = lock(&self.taken_bytes);
        while *taken > 0 && *taken + bytes > self.budget_bytes {
            taken = self.changed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken += bytes;
        Pass { gate: Arc::clone(self), bytes }
    }

    /// Waits until nothing is queued or being encoded.
    pub(crate) fn wait_until_empty(&self) {
        let mut taken = lock(&self.taken_bytes);
        while *taken > 0 {
            taken = self.changed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The room that one block takes, given back when it is dropped, even by a panic.
#[derive(Debug)]
pub(crate) struct Pass {
    gate: Arc<Gate>,
    bytes: usize,
}

impl Drop for Pass {
    fn drop(&mut self) {
        *lock(&self.gate.taken_bytes) -= self.bytes;
        self.gate.changed.notify_all();
    }
}
