//! The first question of the process: it begins what the environment asks for.

use crate::{environment, state};

/// Whether allocations are recorded.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    match state::known() {
        Some(is_on) => is_on,
        None => first(),
    }
}

#[cold]
fn first() -> bool {
    if state::begin_to_know() {
        environment::start();
    }
    state::known() == Some(true)
}
