//! A page in the browser for questions about recordings: an HTTP server on the own machine.
//!
//! ```text
//!   browser ──▶ server ──▶ guard: token, host, origin ──┬─▶ assets     the page
//!                                                       ├─▶ files      what is served, how it grows
//!                                                       └─▶ ask, csv, import ──▶ sessions of `query`
//!                            events: progress, answer ◀─────────────────┘  a thread for each question
//! ```
//!
//! Nothing that a request says reaches the file system: files are numbers in the list that was made from the operands of
//! `barrow serve`. A request can ask questions that read a recording, and nothing else.

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
