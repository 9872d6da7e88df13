//! Where the time and memory of a process tree go.
//!
//! A recording may hold the processes of a build, a test suite or a pipeline: what each executed, when, what it used,
//! and who started it. This crate reads them into a [`ProcessTree`] and answers questions about it.

#![deny(unsafe_code)]

mod class_totals;
mod classes;
mod comparison;
mod error;
mod expression;
mod facts;
mod image_set;
mod memory;
mod names;
mod nested_lanes;
mod selection;
mod timeline;
mod totals;
mod tree;

pub use barrow_analyzer::{ProcessId, Usage};
pub use class_totals::{ClassTotals, Figures, Measure, Spread, class_totals, class_values, running_shares};
pub use classes::{Classes, Evaluation, LabelId, Labeller, Rules, Schema};
pub use comparison::{SideUse, UseChange, changes_by_class, changes_by_command, whole_wall_ns};
pub use error::{ProcessError, Result};
pub use expression::{ATTRIBUTES, Amounts, Expression, ImageNames, Quantity, StrangeLabel};
pub use image_set::ImageSet;
pub use memory::{Peak, PeakKind, class_memory_curve, class_peaks, memory_curve, peak};
pub use nested_lanes::NestedLanes;
pub use selection::{SampledPeak, Selection};
pub use timeline::{Block, Event, Happening, Timeline, Window};
pub use totals::{Inclusive, Sum, Totals, cpu_ns};
pub use tree::{BeforeExec, End, Image, ImageId, Process, ProcessTree, ProgramId, Sample};

/// The README, whose example is compiled with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
