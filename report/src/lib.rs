//! A recording's answers to the usual questions, as one HTML file that needs no server, no network and no script.
//!
//! ```text
//!   Session of `query` ──▶ questions ──▶ Answers ──▶ sections ──▶ html ──▶ one file
//!                                                       └─ as much detail as fits
//! ```
//!
//! In reading order: `report` asks and puts sections together; `section` is one of them; `table`, `suspects`, `tree`, `map`
//! and `chart` draw answers; `html` is the only place that writes markup.

#![forbid(unsafe_code)]

mod assertions;
mod chart;
mod colour;
mod detail;
mod html;
mod map;
mod overview;
mod report;
mod rows;
mod section;
mod squarify;
mod suspects;
mod table;
mod tree;

pub use report::{Made, Options, make};
