//! The place of the recording, which is written from the first run on.

use barrow_writer::Writer;

use crate::error::TrialError;

/// The place of a recording that is not begun yet.
pub trait Destination {
    /// Begins the recording, once there is a run to record. What was there before is replaced now.
    ///
    /// # Errors
    /// The recording cannot be written.
    fn begin(self) -> Result<Writer, TrialError>;
}

/// A recording that has been begun.
impl Destination for Writer {
    fn begin(self) -> Result<Writer, TrialError> {
        Ok(self)
    }
}
