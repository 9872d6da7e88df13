//! The observer of a trial.

use std::time::Duration;

/// Observes the progress of a trial, and may stop it.
pub trait Observer {
    /// Called when a run has ended.
    fn run_ended(&self, progress: &Progress<'_>);
    /// Called with a note, a sentence.
    fn note(&self, text: &str);
    /// Whether the trial should stop.
    fn is_cancelled(&self) -> bool;
}

/// The progress of a trial.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'p> {
    /// The variant that ran.
    pub variant: &'p str,
    /// Number of runs that ended, of all variants, without warm-ups.
    pub done: u64,
    /// Number of runs that there will be, if known.
    pub planned: Option<u64>,
    /// Number of runs that failed.
    pub failed: u64,
    /// Duration of this run in nanoseconds.
    pub wall_ns: u64,
    /// Precision of the values so far, if it decides when to stop.
    pub precision: Option<f64>,
    /// Time since the trial began.
    pub elapsed: Duration,
    /// The run was a warm-up.
    pub warmup: bool,
}
