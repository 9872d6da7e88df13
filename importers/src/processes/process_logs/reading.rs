//! Reports the progress of reading a log.

use crate::context::Context;
use crate::error::ImportError;

/// Progress is reported, and memory released, after this number of bytes.
const STEP_BYTES: usize = 4 << 20;

/// Reports the progress of reading a log, and releases the memory of the part read.
pub(crate) struct LogProgress<'c, 'w> {
    context: &'c Context<'w>,
    reported: usize,
}

impl<'c, 'w> LogProgress<'c, 'w> {
    pub(crate) fn new(context: &'c Context<'w>) -> Result<Self, ImportError> {
        context.check_cancelled()?;
        Ok(LogProgress { context, reported: 0 })
    }

    /// Reports that everything before `at` was read.
    pub(crate) fn reached(&mut self, at: usize) -> Result<(), ImportError> {
        if at.saturating_sub(self.reported) < STEP_BYTES { Ok(()) } else { self.report(at) }
    }

    /// Reports that the log of `length` bytes was read to its end.
    pub(crate) fn ended(mut self, length: usize) -> Result<(), ImportError> {
        self.report(length)
    }

    fn report(&mut self, at: usize) -> Result<(), ImportError> {
        self.context.progress.advance((at - self.reported) as u64);
        self.context.release(self.reported..at);
        self.reported = at;
        self.context.check_cancelled()
    }
}
