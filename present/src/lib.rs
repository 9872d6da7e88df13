//! Draws answers for people: facts as aligned lines, tables that fit a terminal, curves, then notes.
//!
//! An answer too long for memory is drawn in pieces: the widths of columns are those of the first piece, and further
//! rows are drawn by the same code.

#![forbid(unsafe_code)]

mod curve;
mod fit;
mod picture;
mod table;
mod timeline;

pub use picture::picture;
pub use table::{Drawing, Style};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
