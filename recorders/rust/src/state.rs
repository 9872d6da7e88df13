//! The state that every allocation reads first: whether it is recorded, and how.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use crate::options::{Frames, Options};
use crate::stack::{self, MAX_DEPTH};

/// The environment was not looked at yet.
const UNKNOWN: u8 = 0;
/// Nothing is recorded.
const OFF: u8 = 1;
/// Allocations are recorded.
const ON: u8 = 2;
/// This is the child of a fork: it leaves its parent's recording alone.
const FORKED: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static DEPTH: AtomicUsize = AtomicUsize::new(0);
static FOLLOWS: AtomicBool = AtomicBool::new(false);

/// Whether allocations are recorded; `None` before the environment was read.
#[inline(always)]
pub(crate) fn known() -> Option<bool> {
    // Relaxed, here and below: an older state that a thread still sees is harmless.
    match STATE.load(Ordering::Relaxed) {
        UNKNOWN => None,
        state => Some(state == ON),
    }
}

/// The environment is being read. True for the one thread that has to do it.
pub(crate) fn begin_to_know() -> bool {
    STATE.compare_exchange(UNKNOWN, OFF, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

/// Whether this is the process that began to record.
pub(crate) fn is_own_process() -> bool {
    STATE.load(Ordering::Relaxed) != FORKED
}

/// Whether chains are to be found by frame pointers.
pub(crate) fn follows(options: &Options) -> bool {
    match options.frames {
        Frames::Pointers => true,
        Frames::Tables => false,
        Frames::Detect => stack::keeps_frame_pointers(),
    }
}

/// From now on allocations are recorded.
pub(crate) fn turn_on(options: &Options) {
    FOLLOWS.store(follows(options), Ordering::Relaxed);
    DEPTH.store(options.depth.clamp(1, MAX_DEPTH - 1), Ordering::Relaxed);
    extern "C" fn forked() {
        STATE.store(FORKED, Ordering::Relaxed);
    }
    static WATCHED: std::sync::Once = std::sync::Once::new();
    WATCHED.call_once(|| crate::system::in_children(forked));
    STATE.store(ON, Ordering::Relaxed);
}

/// From now on they are not; blocks that were recorded are still counted when they are freed.
pub(crate) fn turn_off() {
    let _ = STATE.compare_exchange(ON, OFF, Ordering::Relaxed, Ordering::Relaxed);
}

/// The number of frames to look at.
#[inline(always)]
pub(crate) fn depth() -> usize {
    DEPTH.load(Ordering::Relaxed)
}

/// Whether frame pointers are followed.
#[inline(always)]
pub(crate) fn follows_frame_pointers() -> bool {
    FOLLOWS.load(Ordering::Relaxed)
}
