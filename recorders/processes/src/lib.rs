//! Records a tree of processes, such as a build: what each executes, uses and ends with, and the memory of all over time.
//!
//! ```text
//!   command ──▶ executes, ends ──▶ notify (calls wait until they were seen) ─┬─▶ ledger ──▶ barrow_writer::Writer
//!           ──▶ forks, executes, ends ──▶ trace (ptrace, events only) ────────┘     ▲
//!                                                               sampler (PSS, flush)
//! ```
//!
//! Except for samples of memory, a process is queried only while it waits as it executes a program or ends. Reading order:
//! `record` (chooses notify or ptrace), `forked` (the command before it starts), `notify` and `trace` (events), `ledger` (the
//! recording), `accounts` (usage of a traced process), `kills` (by the system), `stack` and `files` (facts from the stack and
//! `/proc`), `tracers` (programs that run untraced), `signals`, `sampler` and `system` (system calls).

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

/// Ends this process by the signal that ended the command, without a second core dump.
pub fn die_of(signal: u64) -> ! {
    signals::die_of(i32::try_from(signal).unwrap_or(libc::SIGKILL))
}
