//! Records every process of a command: what each executed, when, what it used, and the memory of the tree over time.
//!
//! ```text
//!   barrow record -- make -j8
//!      │
//!      ├─ traces make and all that it starts: fork, exec, exit; nothing in between
//!      ├─ measures their memory now and then
//!      └─ appends rows to a recording, which is complete up to now at any moment
//! ```
//!
//! It needs no privileges and no change to the command, which runs as it would alone: with its terminal, its signals and
//! its exit status. In reading order: `recording` (runs the command), `tracer` (follows processes), `proc` (what the system
//! says of one), `sampler` (memory), `log` (the rows), `heaps` (recordings that processes write), `system` (system calls).
#![cfg(target_os = "linux")]

mod heaps;
mod log;
mod proc;
mod recording;
mod sampler;
mod system;
mod tracer;

pub use regex::Regex;

pub use recording::{Options, RecordError, Recorded, record};
pub use system::{Ended, die_of};
