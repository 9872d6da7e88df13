//! Records a tree of processes, such as a build: what each executes, uses and ends with, and the memory of all over time.
//!
//! ```text
//!   command ◀── executes, forks, ends ──▶ trace (ptrace, events only) ──▶ ledger ──▶ barrow_writer::Writer
//!                                                                           ▲
//!                                                           sampler (PSS, flush)
//! ```
//!
//! Nothing is asked of the system while a process runs: it stops for a moment when it forks, executes or ends. Reading
//! order: `trace` (what happens), `ledger` (what is written of it), `accounts` (what a process used), `kills` (by the system), `stack` and `files`
//! (what a process and `/proc` say), `sampler` and `system` (calls of the system).

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
