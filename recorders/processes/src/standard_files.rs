//! Standard files that were closed when this program started. The standard library opens `/dev/null` in their place before
//! `main`; for the command they are closed again.

use std::sync::atomic::{AtomicBool, Ordering};

/// Which of the three were closed. Relaxed: written before `main`, read by the same thread.
static WERE_CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

/// Runs before the standard library opens the closed ones.
#[used]
// SAFETY: the system's loader calls the functions of this section once, before other threads exist.
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = remember;

extern "C" fn remember() {
    for (number, was_closed) in (0..).zip(&WERE_CLOSED) {
        // SAFETY: the call reads and writes no memory.
        was_closed.store(unsafe { libc::fcntl(number, libc::F_GETFD) } < 0, Ordering::Relaxed);
    }
}

/// Closes the files that were closed. Called in a forked process.
pub(crate) fn close_again() {
    for (number, was_closed) in (0..).zip(&WERE_CLOSED) {
        if was_closed.load(Ordering::Relaxed) {
            // SAFETY: the standard library opened it, and this process needs it no longer.
            unsafe { libc::close(number) };
        }
    }
}
