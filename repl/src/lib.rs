//! The terminal: asks questions at a prompt or from a shell, and prints the answers.
//!
//! ```text
//!  words ──▶ invocation ──┬──▶ asking ──▶ Session of `query` ──▶ Answer ──▶ output: table, JSON, CSV
//!               prompt ───┘                      │
//!            (completion)                        └─▶ progress on stderr, Ctrl-C
//! ```
//!
//! The library is there for the binary `barrow`, and for programs that want what the terminal prints:
//!
//! ```
//! use barrow_repl::Console;
//! let recording = std::fs::read(barrow_testdata::path("orders.barrow"))?;
//! let mut console = Console::of_recording(recording)?;
//! assert!(console.ask("summary").text.contains("objects"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod completion;
mod console;
mod invocation;
mod lines;
mod manual;
#[cfg(target_os = "linux")]
mod measuring;
mod prompt;
#[cfg(target_os = "linux")]
mod recording;
mod reporting;
#[cfg(feature = "serve")]
mod serving;
mod watching;

mod asking;
mod complaint;
#[cfg(target_os = "linux")]
mod destination;
mod error;
mod interrupt;
mod output;
mod pipe;
mod progress;
mod version;

pub use barrow_query::document::document;
pub use console::{Console, LineOutput};

use std::process::ExitCode;

/// Does what the words of the command line say, and reports errors on stderr.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(invocation::run(std::env::args_os().skip(1)))
}
