//! A recording's answers to the usual questions, as one HTML file that needs no server, no network and no script.
//!
//! ```text
//!   Session of `query` ──▶ questions ──▶ Answers ──▶ sections ──▶ html ──▶ one file
//!                                                       └─ as much detail as fits
//! ```
//!
//! ```
//! use barrow_query::{Session, Settings, Workspace};
//! use barrow_report::{Options, make};
//!
//! let settings = Settings { no_index: true, ..Settings::default() };
//! let mut session = Session::new(Workspace::new(None, None)?, settings);
//! session.open(&barrow_testdata::path("orders.barrow").display().to_string())?;
//! let made = make(&mut session, &Options::default())?;
//! assert!(made.html.starts_with(b"<!doctype html>"));
//! # Ok::<(), barrow_query::QueryError>(())
//! ```
//!
//! In reading order: `report` asks and puts sections together; `verdict` is before them; `section` is one of them; `table`, `suspects`, `tree`, `map`
//! and `chart` draw answers; `html` is the only place that writes markup.

#![forbid(unsafe_code)]

mod assertions;
mod chart;
mod colour;
mod detail;
mod html;
mod map;
mod options;
mod overview;
mod report;
mod rows;
mod section;
mod squarify;
mod suspects;
mod table;
mod tree;
mod verdict;

pub use options::Options;
pub use report::{Report, make};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
