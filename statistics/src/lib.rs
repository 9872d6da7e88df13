//! Says how a short series of numbers goes, and how sure that is.
//!
//! ```text
//!   values, one per snapshot or run
//!     │
//!     ├─▶ Trend         slope with its interval, p-value            Theil-Sen, Kendall, Student
//!     │     │
//!     └─────┴─▶ Judgement   grows, rises each time, does not (and why), too few
//!                 │
//!                 └─▶ judge_paths   a tree of series: which node explains the growth of those above it
//! ```
//!
//! ```
//! use barrow_statistics::{Judgement, Verdict};
//!
//! let leak = [10.0, 13.0, 15.0, 18.0, 20.0, 22.0, 26.0, 27.0];
//! let judgement = Judgement::of(&leak);
//! assert_eq!(judgement.verdict, Verdict::Grows);
//! assert!((2.4..2.5).contains(&judgement.trend.slope), "{judgement:?}");
//!
//! let cache = [10.0, 19.0, 22.0, 23.0, 23.5, 23.7, 23.8, 23.8];
//! assert_ne!(Judgement::of(&cache).verdict, Verdict::Grows);
//! ```
//!
//! The crate knows numbers only: no heaps, no files, no clock, no threads. Every result depends on the values and
//! their order alone, so the same series gets the same answer everywhere.
//!
//! Reading order:
//!
//! | module | what is in it |
//! |---|---|
//! | `student` | the upper tail of Student's t distribution |
//! | `kendall` | Kendall's S, with its exact distribution for few points |
//! | `least_squares` | the least-squares line, and the autocorrelation of its residuals |
//! | `trend` | [`Trend`]: slope, interval and p-value of a series |
//! | `judgement` | [`Judgement`]: whether a series grows; in `shape` steps and flattening, in `tree` [`judge_paths`] |

#![forbid(unsafe_code)]

mod judgement;
mod kendall;
mod least_squares;
#[cfg(test)]
mod random;
mod student;
mod trend;

pub use judgement::{FALSE_ALARMS, Judgement, LEAST_POINTS, PathJudgement, Reason, SURE_POINTS, Verdict, judge_paths};
pub use trend::{CONFIDENCE, Trend};

/// The README, whose example is compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
