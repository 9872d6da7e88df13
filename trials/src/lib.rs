//! Reads trials: programs that ran many times, their layouts, and every value measured in them.
//!
//! ```text
//!   Recording ──▶ Trials: metrics, variants, runs, values
//!                    │
//!                    └─▶ Series: one metric of one variant ──▶ barrow_statistics::Sample ──▶ modes, comparisons
//!                           └─▶ knob_columns: the layouts beside the values
//! ```
//!
//! Values of failed runs and of warm-ups are not part of a series. Reading order: `model` ([`Trials`]), `series`
//! ([`Series`]), `knobs` (columns of layouts).

#![forbid(unsafe_code)]

mod error;
mod knobs;
mod model;
mod series;
mod values;

pub use barrow_analyzer::{Better, MetricId, RunId, VariantId};
pub use error::{Result, TrialsError};
pub use knobs::{KnobColumn, knob_columns};
pub use model::{Knob, Metric, Run, RunEnd, Trials, Variant};
pub use series::Series;
pub use values::{Value, Values};

/// The README, whose example is compiled with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
