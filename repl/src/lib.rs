//! Asks a barrow recording questions and prints the answers: at a prompt, or from a shell.
//!
//! ```text
//!  words ──▶ args ──▶ invocation ──┬──▶ asking ──▶ commands ──▶ Answer ──▶ output: table, JSON, CSV
//!                        prompt ───┘                  │
//!                     (line, completion)          session ──▶ analyzer
//! ```
//!
//! The library is there for the binary `barrow` and for its tests:
//!
//! ```
//! assert!(barrow_repl::document().contains("barrow summary FILE all"));
//! ```

mod args;
mod completion;
mod console;
mod invocation;
mod prompt;

mod asking;
mod cache;
mod counting;
mod destination;
mod dump_order;
mod importing;
mod line;
mod opening;
mod resolving;
mod series;
mod session;
mod sets;
mod spool;
mod watching;

mod assertion;
mod commands;
mod comparison;
mod document;
mod found;
mod ranking;
mod references;
mod request;
mod tree_walk;
mod type_path;

mod chain;
mod kinds;
mod label;
mod leak_series;
mod lifelines;
mod names;
mod object_change;
mod object_name;
mod operand;
mod path_change;
mod pipe;
mod selection;
mod suspects;
mod type_counts;
mod units;
mod visible;
mod without;

mod answer;
mod error;
mod interrupt;
mod output;
mod progress;
mod version;

pub use console::{Console, Printed};
pub use document::document;

use std::process::ExitCode;

/// Does what the words of the command line say. Whatever goes wrong is told on stderr.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(invocation::run(std::env::args_os().skip(1)))
}
