//! Records a tree of processes, such as a build: what each executes, uses and ends with, and the memory of all over time.
//!
//! ```text
//!   command ──▶ executes, ends ──▶ notify (calls wait until they were seen) ─┬─▶ ledger ──▶ barrow_writer::Writer
//!           ──▶ forks, executes, ends ──▶ trace (ptrace, events only) ────────┘     ▲
//!                                                               sampler (PSS, flush)
//! ```
//!
//! Nothing is asked of the system while a process runs: it waits for a moment when it executes or ends. Reading order: `record`
//! (which way), `forked` (the command before it begins), `notify` and `trace` (what happens), `ledger` (what is written of it),
//! `accounts` (what a traced process used), `kills` (by the system), `stack` and `files` (what a process and `/proc` say),
//! `tracers` (what cannot be traced), `signals`, `sampler` and `system` (calls of the system).

#![cfg(target_os = "linux")]

mod accounts;
mod error;
mod files;
mod forked;
mod heaps;
mod kills;
mod ledger;
mod notify;
mod options;
mod outcome;
mod record;
mod sampler;
mod signals;
mod stack;
mod standard_files;
mod system;
mod trace;
mod tracers;

pub use error::RecorderError;
pub use options::{Options, Via};
pub use outcome::{Ended, Outcome};
pub use record::record;

/// Ends this process as a signal ended the command; no second dump of memory is written.
pub fn die_of(signal: u64) -> ! {
    signals::die_of(i32::try_from(signal).unwrap_or(libc::SIGKILL))
}
