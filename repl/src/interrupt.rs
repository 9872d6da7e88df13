//! Ctrl-C while a question runs: the first one asks it to stop, the second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::code;

/// Relaxed everywhere: a flag of its own, which orders nothing else.
static STOP: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C from now on. Where that is impossible, Ctrl-C simply ends the program.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(code::STOPPED.into());
        }
    });
}

/// Forgets an earlier Ctrl-C: a new question begins.
pub(crate) fn clear() {
    STOP.store(false, Ordering::Relaxed);
}

/// Whether the question should stop.
pub(crate) fn requested() -> bool {
    STOP.load(Ordering::Relaxed)
}
