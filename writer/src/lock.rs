//! Locks whose values survive a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A thread that panicked while it held a lock leaves a consistent value: every critical section
/// of this crate ends with its value consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
