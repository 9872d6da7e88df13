//! Signals as they were when this program started: programs that it measures have the same ones ignored.

use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals whose actions change in this program: the standard library ignores SIGPIPE, [`keep_children`] does not ignore
/// SIGCHLD, and barrow listens for SIGINT.
const CHANGED: [i32; 3] = [libc::SIGPIPE, libc::SIGCHLD, libc::SIGINT];

/// Whether each was ignored when this program started. Relaxed: written before `main`, read by the same thread.
static WERE_IGNORED: [AtomicBool; CHANGED.len()] = [const { AtomicBool::new(false) }; CHANGED.len()];

/// Runs before the standard library starts to ignore SIGPIPE.
#[used]
// SAFETY: the system's loader calls the functions of this section once, before other threads exist.
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = remember_ignored;

extern "C" fn remember_ignored() {
    for (signal, was_ignored) in CHANGED.into_iter().zip(&WERE_IGNORED) {
        was_ignored.store(is_ignored(signal), Ordering::Relaxed);
    }
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: the system fills in the action.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut action);
        action.sa_sigaction == libc::SIG_IGN
    }
}

/// From now on this process can wait for its children: while SIGCHLD is ignored, the system reaps them itself.
pub(crate) fn keep_children() {
    if is_ignored(libc::SIGCHLD) {
        // SAFETY: the action runs no code of this program.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

/// Ignores these signals only if they were ignored when this program started. Called in a forked process that is about to
/// execute a program.
pub(crate) fn restore_ignored() {
    for (signal, was_ignored) in CHANGED.into_iter().zip(&WERE_IGNORED) {
        let action = if was_ignored.load(Ordering::Relaxed) { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: neither action runs code of this program.
        unsafe { libc::signal(signal, action) };
    }
}
