//! Runs programs many times under fixed or random memory layouts, and records every value.
//!
//! ```text
//!   Plan ──▶ trial ── round: which layout ──▶ run ──▶ the program, with the shim ──▶ counters, output, resources
//!              │                                                                          │
//!              └──────────── ledger ◀── values, knobs, how it ended ◀─────────────────────┘
//!                               └──▶ barrow_writer::Writer
//! ```
//!
//! Reading order: `plan` (what to run), `layout` and `round` (knobs, and their values for one run), `program` (what kind
//! of file it is), `shim` with `heap`, `running` and `folder` (the library that counts and moves blocks), `run` with
//! `environment`, `input`, `starter`, `order`, `child`, `ended`, `events`, `signals` and `system` (one run), `output` with
//! `ends` and `finder` (what it prints), `pattern`, `reported` and `files` (values that a program tells), `ledger` with
//! `destination` and `metrics` (what is written), `surroundings` (what else is known), `trial` with `measure`, `enough`,
//! `observer`, `uncounted` and `counts` (all runs), `replay` (one of them again), `disturbances` (what makes times
//! worthless).

#![cfg(target_os = "linux")]

mod child;
mod counts;
mod destination;
mod disturbances;
mod ended;
mod ends;
mod enough;
mod environment;
mod error;
mod events;
mod files;
mod finder;
mod folder;
mod heap;
mod how;
mod input;
mod layout;
mod ledger;
mod measure;
mod metrics;
mod observer;
mod order;
mod output;
mod pattern;
mod plan;
mod program;
mod replay;
mod reported;
mod round;
mod run;
mod running;
mod shim;
mod signals;
mod starter;
mod surroundings;
mod system;
mod trial;
mod uncounted;

pub use destination::Destination;
pub use disturbances::disturbances;
pub use ended::{Ended, Failure};
pub use error::TrialError;
pub use layout::{Knobs, Layout, LayoutKind};
pub use metrics::is_measured;
pub use observer::{Observer, Progress};
pub use pattern::ValuePattern;
pub use plan::{Command, IgnoreFailure, OutputTo, Plan, ReadValues, Shell, Stop, VariantPlan, filled};
pub use program::is_program;
pub use replay::{Replay, replay};
pub use reported::Reported;
pub use system::hear_termination;
pub use trial::{Outcome, record};

/// The README, whose example is compiled with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
