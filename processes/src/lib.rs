//! Analysis of the time and memory used by process trees.
//!
//! A recording may hold the processes of a build, a test suite or a pipeline: the programs each executed, their times,
//! their resource use and their starters. This crate reads them into a [`ProcessTree`] and answers questions about it.

#![deny(unsafe_code)]

mod attributes;
mod class_totals;
mod classes;
mod comparison;
mod critical;
mod error;
mod expression;
mod facts;
mod image_set;
mod knowledge;
mod lanes;
mod memory;
mod names;
mod replay;
mod selection;
mod timeline;
mod totals;
mod tracks;
mod tree;
mod window;

pub use attributes::{ATTRIBUTES, Aggregate, Amounts, Attribute, AttributeValue, Quantity, Values};
pub use barrow_analyzer::{ProcessId, Usage};
pub use class_totals::{
    ClassTotals, Figures, Measure, Spread, WholeSpan, class_totals, class_values, running_shares, running_shares_of_all,
};
pub use classes::{Classes, Evaluation, LabelId, Labeller, Rules, Schema};
pub use comparison::{SideUse, UseChange, changes_by_class, changes_by_command, whole_wall_ns};
pub use critical::{Step, critical_path, idle_ns};
pub use error::{ProcessError, Result};
pub use expression::{Expression, ImageNames, StrangeLabel};
pub use image_set::ImageSet;
pub use knowledge::{Knowledge, Unseen, started_ns};
pub use lanes::{Block, Blocks, ClassUse, Lanes, Limits, Span};
pub use memory::{
    Memory, Peak, PeakKind, class_memory_curve, class_peaks, class_peaks_within, memory_curve, memory_within, peak,
};
pub use replay::{MemoryRange, Outcome, Plan, most_jobs};
pub use selection::{SampledPeak, Selection};
pub use timeline::{Bar, Event, Happening, TimeRange, Timeline};
pub use totals::{Inclusive, Sum, Totals, cpu_ns};
pub use tracks::Tracks;
pub use tree::{BeforeExec, End, Image, ImageId, Process, ProcessTree, ProgramId, Sample};
pub use window::Window;

/// The README, whose example is compiled with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
