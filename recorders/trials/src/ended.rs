//! The ends of runs.

use std::fmt;

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ended {
    /// Its exit status, unless a signal ended it.
    pub exit_status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// It was killed because it took longer than permitted.
    pub timed_out: bool,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.timed_out, self.exit_status, self.signal) {
            (true, ..) => f.write_str("took longer than permitted"),
            (_, Some(status), _) => write!(f, "ended with status {status}"),
            (_, None, Some(signal)) => write!(f, "was killed by signal {signal}"),
            (_, None, None) => f.write_str("ended"),
        }
    }
}

/// A run that failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Its number.
    pub run: u32,
    /// The name of the variant.
    pub variant: String,
    /// The end of the run.
    pub ended: Ended,
    /// The reason for the failure, as a clause: `ended with status 3`.
    pub why: String,
    /// The first and last part of its output, as the end of a sentence: `; it printed: …`, or nothing.
    pub said: String,
}
