//! Where the time and memory of a process tree go.
//!
//! A recording may hold the processes of a build, a test suite or a pipeline: what each executed, when, what it used,
//! and who started it. This crate reads them into a [`ProcessTree`] and answers questions about it.

#![deny(unsafe_code)]

mod classes;
mod error;
mod expression;
mod facts;
mod image_set;
mod names;
mod selection;
mod tree;

pub use barrow_analyzer::{ProcessId, Usage};
pub use classes::{Classes, LabelId, Rules, Schema};
pub use error::{ProcessError, Result};
pub use expression::{ATTRIBUTES, Amounts, Expression, ImageNames, Quantity, StrangeLabel};
pub use image_set::ImageSet;
pub use selection::{SampledPeak, Selection, Sum};
pub use tree::{BeforeExec, End, Image, ImageId, Process, ProcessTree, ProgramId, Sample};
