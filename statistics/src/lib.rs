//! Judges trends of short series of numbers, describes the distribution of values of trials, and compares two programs,
//! with the uncertainty of each result.
//!
//! ```text
//!   values, one per snapshot or run
//!     │
//!     ├─▶ Trend         slope with its interval, p-value            Theil-Sen, Kendall, Student
//!     │     │
//!     └─────┴─▶ Judgement   grows, rises each time, does not (and why), too few
//!                 │
//!                 └─▶ judge_paths   a tree of series: which node explains the growth of those above it
//!
//!   Sample: values of trials, in groups that share a layout
//!     │
//!     ├─▶ Location, Modes, bins         median and quartiles, clusters, histogram
//!     ├─▶ dip                           a second opinion on whether there are several modes
//!     ├─▶ knob_shares                   which part of the layout explains the values
//!     ├─▶ dependence                    whether runs depend on the one before, or on time
//!     └─▶ compare ──▶ Comparison        equal, better, worse, moved or worse weight, unknown; mode by mode
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
//! A program that became slower in a mode that one fifth of its runs are in, where the median shows nothing:
//!
//! ```
//! use barrow_statistics::{ComparisonVerdict, Direction, Sample, Threshold, compare};
//!
//! let runs = |rare: f64| {
//!     let value = |run: u32| if run % 5 == 0 { rare } else { 100.0 } + f64::from(run % 7) / 7.0;
//!     Sample::new((0..60).map(|run| vec![value(run)]).collect())
//! };
//! let threshold = Threshold { relative: 0.05, floor: 1.0, weight: 0.1 };
//! let found = compare(&runs(120.0), &runs(156.0), threshold, Direction::Lower);
//! assert_eq!(found.verdict, ComparisonVerdict::Worse);
//! assert_eq!(found.modes[0].verdict, ComparisonVerdict::Equal);
//! ```
//!
//! The crate knows numbers only: no heaps, no files, no clock, no threads. Every result depends on the values and
//! their order alone, so the same series gets the same answer everywhere.
//!
//! Reading order:
//!
//! | module | contents |
//! |---|---|
//! | `student` | the upper tail of Student's t distribution |
//! | `kendall` | Kendall's S, with its exact distribution for few points |
//! | `least_squares` | the least-squares line, and the autocorrelation of its residuals |
//! | `trend` | [`Trend`]: slope, interval and p-value of a series |
//! | `judgement` | [`Judgement`]: whether a series grows; in `shape` steps and flattening, in `tree` [`judge_paths`] |
//! | `sample` | [`Sample`]: values of trials in groups, and whether groups differ |
//! | `ranks`, `tails`, `random` | ranks, tails of distributions, numbers for resampling |
//! | `quantile` | [`Location`]: quantiles of the values |
//! | `median_interval` | [`median_interval()`]: where the true median is |
//! | `rank_test`, `brunner_munzel`, `counts_test`, `kolmogorov` | the tests of Mann and Whitney, of Brunner and Munzel, of Fisher, and of Kolmogorov and Smirnov |
//! | `shift` | the shift of Hodges and Lehmann, with its interval |
//! | `dependence` | [`dependence()`]: whether runs depend on their order |
//! | `modes` | [`Modes`]: in `segments` the cuts, in `cluster` what lies between them, in `mixture` modes that overlap, in `groups` how independent values are, in `intervals` what is known |
//! | `dip` | [`dip()`]: Hartigan and Hartigan's test, with its `table` |
//! | `bins` | [`bins()`]: a histogram |
//! | `comparison` | [`compare`]: in `sides` the cuts, in `matching` the pairs of modes, in `weight` their weights |
//! | `shares` | [`knob_shares`]: which knob explains the values |

#![forbid(unsafe_code)]

mod bins;
mod brunner_munzel;
mod comparison;
mod counts_test;
mod dependence;
mod dip;
mod judgement;
mod kendall;
mod kolmogorov;
mod least_squares;
mod median_interval;
mod modes;
mod quantile;
mod random;
mod rank_test;
mod ranks;
mod sample;
mod shares;
mod shift;
mod student;
mod tails;
mod trend;

#[cfg(test)]
mod reference;

pub use bins::{Bin, bins, mvalue};
pub use comparison::{
    Comparison, ComparisonVerdict, Direction, Doubt, LEAST_GROUPS, ModePair, Threshold, WEIGHT_LIMIT, compare,
};
pub use dependence::{Dependence, dependence};
pub use dip::{Dip, dip};
pub use judgement::{
    FALSE_ALARMS, Judgement, LEAST_POINTS, PathJudgement, Reason, SURE_POINTS, Verdict, judge_parts, judge_paths,
    own_parts,
};
pub use median_interval::median_interval;
pub use modes::{LEAST_VALUES, Mode, Modes, ModesVerdict, precision};
pub use quantile::Location;
pub use random::Random;
pub use sample::Sample;
pub use shares::{KnobValues, Share, knob_shares};
pub use trend::{CONFIDENCE, Trend};

/// The README, whose example is compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
