//! Memory layouts per iteration and reported values, inside a benchmark that `barrow trial` runs.
//!
//! ```text
//!   Trial::iteration ─┬─ blocks on the heap, held ─┬─ a block on the stack ─┬─ set up, measure, drop ─┐
//!                     │                            │                        │                         ▼
//!    layout ──────────┴────────────────────────────┴────────────────────────┘       one line for each value
//! ```
//!
//! A benchmark that allocates its data once measures one memory layout. Another run has another layout, and perhaps other
//! times. With this crate each iteration has a layout of its own, which follows from a recorded seed, and each value is
//! recorded with it. Outside of `barrow trial` the crate does nothing.
//!
//! ```
//! use barrow_trial::{Metric, Trial};
//!
//! let trial = Trial::from_environment();
//! for _ in 0..60 {
//!     trial.iteration(|iteration| {
//!         let input: Vec<f32> = (0..1024_u16).map(f32::from).collect();
//!         iteration.note_address("input", input.as_ptr());
//!         iteration.time(Metric::time("sum"), 1000, || input.iter().sum::<f32>());
//!     });
//! }
//! ```
//!
//! Reading order: `trial` ([`Trial`], [`Iteration`]), `layout` ([`Layout`]), `blocks` and `stack` (what makes a layout),
//! `metric` ([`Metric`]) and `report` (lines), `settings` (the environment).

#![forbid(unsafe_code)]

mod blocks;
mod layout;
mod metric;
mod report;
mod settings;
mod stack;
mod trial;

pub use layout::Layout;
pub use metric::{Better, Metric};
pub use trial::{Iteration, Trial};

/// The README, whose example is compiled with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
