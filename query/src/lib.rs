//! Turns a line into a question about a recording, and its answer into data.
//!
//! ```text
//!   a line ──▶ Question ──▶ Session ── Ask ──▶ command ── Reply ──▶ Answer: facts, tables with units, notes
//!   a file ──▶ sources ───▶   │
//!                             └── Workspace: heaps, memory ceiling and threads, shared by sessions
//! ```
//!
//! A program asks like this; `examples/ask.rs` is the same with progress and a stop:
//!
//! ```
//! use barrow_query::{Question, Session, Settings, Touches, Workspace};
//!
//! let settings = Settings { no_index: true, ..Settings::default() };
//! let mut session = Session::new(Workspace::new(None, None)?, settings);
//! session.allow(Touches::READ_ONLY);
//! session.open(&barrow_testdata::path("orders.barrow").display().to_string())?;
//! let question = Question::of_line("summary all")?.expect("not a comment");
//! let answer = session.ask(&question)?;
//! println!("{}", serde_json::to_string(&answer)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In reading order: `question` and `answer`; `session` and `ask`; `workspace`; `commands`, one file per verb; `language` reads
//! words, `sources` opens files, `tables` holds what several commands show.

#![forbid(unsafe_code)]

pub mod commands;
pub mod completion;
pub mod document;
pub mod error;
pub mod flags;

mod answering;
mod arguments;
mod ask;
mod assertion;
mod attributes;
mod ceiling;
mod command;
mod context;
mod exports;
mod forecast;
mod guard;
mod language;
mod pieces;
mod progress;
mod question;
mod removal;
mod session;
mod sources;
mod tables;
mod touches;
mod unmanaged;
mod workspace;

pub use arguments::Arguments;
pub use attributes::vocabulary;
pub use barrow_answer as answer;
pub use barrow_answer::Answer;
pub use context::Settings;
pub use error::QueryError;
pub use flags::{Flags, Format, SnapshotName};
pub use guard::Guard;
pub use language::line::{Line, Sink};
pub use pieces::Pieces;
pub use progress::{Stop, Unwatched, Watcher};
pub use question::Question;
pub use session::Session;
pub use sources::destination::{NewFile, replace_file, write_file};
pub use sources::dump_series::{SeriesPattern, series_pattern};
pub use sources::opening::OpenFile;
pub use sources::recognition::{Recognised, is_readable, recognise};
pub use sources::spool::STDIN;
pub use touches::Touches;
pub use workspace::Workspace;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
