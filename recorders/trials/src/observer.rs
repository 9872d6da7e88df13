//! Who hears how a trial goes on.

use std::time::Duration;

/// Hears how a trial goes on, and may stop it.
pub trait Observer {
    /// A run ended.
    fn run_ended(&self, progress: &Progress<'_>);
    /// Something is to be known, a sentence.
    fn note(&self, text: &str);
    /// Whether to stop.
    fn is_cancelled(&self) -> bool;
}

/// How far a trial is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'p> {
    /// What ran.
    pub variant: &'p str,
    /// Runs that ended, of all programs, without warm-ups.
    pub done: u64,
    /// How many there will be, if that is known.
    pub planned: Option<u64>,
    /// How many of them failed.
    pub failed: u64,
    /// How long this one took, in nanoseconds.
    pub wall_ns: u64,
    /// How precisely values are known by now, if that decides when to stop.
    pub precision: Option<f64>,
    /// Since the trial began.
    pub elapsed: Duration,
    /// It was a warm-up.
    pub warmup: bool,
}
