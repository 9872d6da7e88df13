//! The context of a long computation: memory for its columns, and progress to report to.

use crate::columns::memory::Memory;
use crate::progress::Progress;

/// Memory and progress of one computation.
#[derive(Clone, Copy)]
pub(crate) struct Run<'r> {
    pub(crate) memory: &'r Memory,
    pub(crate) progress: &'r dyn Progress,
}
