//! A browser page for questions about recordings: an HTTP server on the local machine.
//!
//! ```text
//!   browser ──▶ server ──▶ guard: token, host, origin ──┬─▶ assets     the page
//!                                                       ├─▶ files      what is served, how it grows
//!                                                       └─▶ ask, csv, import ──▶ sessions of `query`
//!                            events: progress, answer ◀─────────────────┘  a thread for each question
//! ```
//!
//! No request reaches the file system: files are numbers in the list made from the operands of `barrow serve`. A
//! request can only ask questions that read a recording.

#![forbid(unsafe_code)]

mod address;
mod assets;
mod body;
mod comments;
mod connection;
mod connections;
mod encoder;
mod error;
mod files;
mod guard;
mod places;
mod question;
mod reporter;
mod requests;
mod server;
mod templates;
mod verbs;

pub use address::fragment;
pub use error::WebError;
pub use server::{Options, Server};
