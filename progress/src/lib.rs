//! `barrow-progress` is how long work reports its progress, and how it is cancelled.
//!
//! A question to a recording and an import may take minutes. Each gets a [`Progress`] from its caller, reports to it and
//! asks it whether to go on:
//!
//! ```text
//!   caller ──&dyn Progress──▶ question or import
//!     ▲                          │ begin("decoding references", 69_000_000, "references")     once a phase
//!     └──────────────────────────┤ advance(4096) … advance(4096)                              once a block
//!                                └ cancelled() → true: ends with its error for that           once a block
//! ```
//!
//! An implementation draws a line on a terminal, feeds a web page, or stops the work after some time. [`Silent`] does
//! nothing. The trait is a crate of its own so that one implementation serves the analyzer and the importers, which do
//! not depend on each other.
//!
//! ```
//! use barrow_progress::Progress;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! /// Stops the work after a number of steps.
//! struct AtMost {
//!     steps: u64,
//!     done: AtomicU64,
//! }
//!
//! impl Progress for AtMost {
//!     fn begin(&self, _phase: &str, _total: u64, _unit: &'static str) {}
//!     fn advance(&self, steps: u64) {
//!         self.done.fetch_add(steps, Ordering::Relaxed);
//!     }
//!     fn cancelled(&self) -> bool {
//!         self.done.load(Ordering::Relaxed) >= self.steps
//!     }
//! }
//!
//! fn sum(numbers: &[u64], progress: &dyn Progress) -> Option<u64> {
//!     progress.begin("adding", numbers.len() as u64, "numbers");
//!     let mut sum = 0;
//!     for block in numbers.chunks(2) {
//!         if progress.cancelled() {
//!             return None;
//!         }
//!         sum += block.iter().sum::<u64>();
//!         progress.advance(block.len() as u64);
//!     }
//!     Some(sum)
//! }
//!
//! assert_eq!(sum(&[1, 2, 3, 4], &barrow_progress::Silent), Some(10));
//! assert_eq!(sum(&[1, 2, 3, 4], &AtMost { steps: 2, done: AtomicU64::new(0) }), None);
//! ```

#![forbid(unsafe_code)]

/// Receives the progress of work that may take over a second, and can cancel it.
///
/// Many threads may call it at once, once per block of work (some thousand steps), so its methods should return within
/// microseconds.
pub trait Progress: Sync {
    /// A phase begins. It consists of `total` steps, counted in `unit` (`"objects"`, `"bytes"`); a `total` of 0 means that the
    /// number is unknown. The count of steps starts at 0 again.
    fn begin(&self, phase: &str, total: u64, unit: &'static str);
    /// `steps` more steps of the current phase are done.
    fn advance(&self, steps: u64);
    /// Whether the work should end. It is called once per block, so the work ends within milliseconds, with its error
    /// for cancelled work. Once true it should stay true.
    fn cancelled(&self) -> bool;
}

/// Ignores all reports and never cancels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _phase: &str, _total: u64, _unit: &'static str) {}

    fn advance(&self, _steps: u64) {}

    fn cancelled(&self) -> bool {
        false
    }
}

/// The README, whose example is compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
