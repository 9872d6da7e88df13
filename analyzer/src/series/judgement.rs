//! The one judgement of whether a series of numbers grows. Every command that speaks of growth asks here.
//!
//! ```text
//!   values in the order of snapshots
//!     ├─ fewer than 5 ─────────────────────────────────────▶ too few
//!     ├─ 5 to 7 ── each above the one before? ─────────────▶ rises each time, too few to be sure
//!     └─ 8 and more
//!          ├─ trend beyond chance? (p-value ≤ 1 % / 200) ──▶ else: does not
//!          ├─ floor and ceiling rise in each third? ───────▶ else: does not, a sawtooth or steps
//!          ├─ closer to a line than to three levels? ──────▶ else: does not, steps
//!          └─ as steep at the end as in the mean? ─────────▶ else: does not, it flattens; if so, grows
//! ```
//!
//! A verdict depends on the values and their order alone. The time between snapshots is reported and not judged: it
//! may be that of a copied file, and a program leaks by what it does rather than by the clock. The verdict does not depend on
//! which other series are looked at either: 200 disjoint series are always allowed for.

mod shape;
mod tree;

use self::shape::Shape;
use crate::series::trend::Trend;
pub use tree::{PathJudgement, judge_paths};

/// Fewer values say nothing about growth.
pub const LEAST_POINTS: usize = 5;
/// Fewer values than these never say for sure that something grows.
pub const SURE_POINTS: usize = 8;
/// The chance of a false alarm over all paths of one series of snapshots.
pub const FALSE_ALARMS: f64 = 0.01;
/// Paths that are tested at once: at most 200 disjoint ones hold 0.5 % of the heap each.
const FAMILY: f64 = 200.0;
/// More values are seen by the means of neighbours.
const MOST_POINTS: usize = 300;
/// A rise that chance has less often than this is told apart from noise where it is not sure.
const LIKELY: f64 = 1e-3;
/// What is ranked is a slope less this many standard errors.
const RANKED_ERRORS: f64 = 2.0;
/// Where growth flattens, the slope at the end is below this part of the mean slope: that it is above the first must be
/// sure, that it is above the second must be likely.
const FLAT: (f64, f64) = (0.5, 0.75);
/// The same for what follows a start that is left out: a flattening curve looks straighter there.
const FLAT_LATER: (f64, f64) = (0.9, 0.9);
/// The chance that growth that flattens is taken for a straight line.
const FLAT_CHANCE: f64 = 0.01;
/// The same for what follows a start that is left out: there are several starts.
const FLAT_LATER_CHANCE: f64 = 1e-4;
/// The parts of its mean by which a rise is about even.
const EVEN: (f64, f64) = (0.5, 1.6);
/// The same for all but the first value, with the chance: programs often load much before the second snapshot.
const FLAT_SECOND: ((f64, f64), f64) = ((0.75, 0.9), 0.002);
/// The part of its mean growth by which floor and ceiling must rise in each third of a series.
const THIRD: f64 = 0.25;

/// What is said of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It grows, for sure.
    Grows,
    /// Each value is above the one before, but there are too few to be sure.
    RisesEachTime,
    /// It does not grow, or not so that it could be told from what is no leak.
    DoesNot(Reason),
    /// There are fewer than [`LEAST_POINTS`] values.
    TooFew,
}

/// Why a series is not said to grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Nothing looks like growth.
    Chance,
    /// It looks like growth, but chance could have made it.
    NotSure,
    /// It rises ever more slowly, as a warm-up does.
    Flattens,
    /// It rises in one or two steps.
    Steps,
    /// It rises and falls back.
    Sawtooth,
    /// Only the sum of several parts looks like growth; each of them is a warm-up, a step or chance.
    Parts,
}

/// A series with its trend and what is said of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// Slope, interval and p-value, per value.
    pub trend: Trend,
    /// What is said.
    pub verdict: Verdict,
    /// The slope that is left at the end of the series, at most that of all of it; for what grows the slope.
    pub late_slope: f64,
    /// What to rank by within a verdict: for what grows, or rises unevenly each time, the lower end of the interval, else `late_slope` less two
    /// standard errors.
    pub score: f64,
    /// Whether it rises more than chance explains, and not in a way that is known to end. Of fewer than
    /// [`SURE_POINTS`] values: whether it rises each time, and about as much.
    pub is_suspicious: bool,
}

impl Judgement {
    /// Judges a series of values in the order of snapshots.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let trend = Trend::of_values(values);
        let (values, stride) = thinned(values);
        let values = &values[..];
        let shape = Shape::of(values);
        let rises = values.windows(2).all(|pair| pair[0] < pair[1]);
        let verdict = match values.len() {
            0..LEAST_POINTS => Verdict::TooFew,
            LEAST_POINTS..SURE_POINTS if rises => Verdict::RisesEachTime,
            LEAST_POINTS..SURE_POINTS => Verdict::DoesNot(doubt(&trend)),
            _ => sure(&trend, &shape, values),
        };
        let late_slope = shape.line_slope.min(shape.end_slope) / stride as f64;
        let least = late_slope - RANKED_ERRORS * shape.line_error / stride as f64;
        // A start that is left out bends the parabola, and not the median of slopes.
        let (late_slope, score) = match (verdict, trend.interval) {
            (Verdict::Grows, Some((low, _))) => (trend.slope, low),
            (Verdict::RisesEachTime, Some((low, _))) if !is_even(values) => (late_slope, low),
            _ => (late_slope, least),
        };
        let is_likely = trend.p_value <= LIKELY && score > 0.0;
        let is_suspicious = match verdict {
            Verdict::Grows => true,
            Verdict::DoesNot(Reason::NotSure) => is_likely && values.len() >= SURE_POINTS,
            Verdict::RisesEachTime | Verdict::TooFew => rises && is_even(values),
            Verdict::DoesNot(_) => false,
        };
        Judgement { trend, verdict, late_slope, score, is_suspicious }
    }

    /// Whether it grows; not known where there are too few values for what they show.
    #[must_use]
    pub fn grows(&self) -> Option<bool> {
        match self.verdict {
            Verdict::Grows => Some(true),
            Verdict::DoesNot(_) => Some(false),
            Verdict::RisesEachTime | Verdict::TooFew => None,
        }
    }

    /// The order of a list: by verdict, by whether the rise is even, by [`Judgement::score`].
    #[must_use]
    pub fn rank(&self) -> (u8, f64) {
        let class = match self.verdict {
            Verdict::Grows => 4,
            Verdict::RisesEachTime if self.is_suspicious => 3,
            Verdict::RisesEachTime => 2,
            _ => u8::from(self.is_suspicious),
        };
        (class, self.score)
    }
}

/// The values, or means of neighbours if they are too many, and of how many each is.
fn thinned(values: &[f64]) -> (Vec<f64>, usize) {
    let stride = values.len().div_ceil(MOST_POINTS).max(1);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    (values.chunks_exact(stride).map(mean).collect(), stride)
}

/// What is said of a series that is long enough to be sure.
fn sure(trend: &Trend, shape: &Shape, values: &[f64]) -> Verdict {
    let is_above = trend.interval.is_some_and(|(low, _)| low > 0.0);
    let is_sure = trend.p_value * FAMILY <= FALSE_ALARMS && is_above;
    let rises = values.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_above && !rises {
        return Verdict::DoesNot(Reason::Chance);
    }
    let is_even = grows_evenly(shape, values, FLAT, FLAT_CHANCE) || grows_after_a_start(values);
    if is_sure && is_even {
        return Verdict::Grows;
    }
    let flattens = !is_even && shape.flattens();
    let reason = if shape.is_steps(values) && !(rises && flattens) {
        Reason::Steps
    } else if flattens {
        Reason::Flattens
    } else if !rises_in_thirds(shape, values) {
        if falls(shape, values) { Reason::Sawtooth } else { Reason::Steps }
    } else {
        Reason::NotSure
    };
    Verdict::DoesNot(reason)
}

/// Whether a series rises neither in steps, nor like a sawtooth, nor flattens below these parts of its mean slope.
fn grows_evenly(shape: &Shape, values: &[f64], flat: (f64, f64), chance: f64) -> bool {
    shape.stays_above(flat, chance) && !shape.is_steps(values) && rises_in_thirds(shape, values)
}

/// The same without the first value, or without a start of up to a third where what is left lies close to a line.
fn grows_after_a_start(values: &[f64]) -> bool {
    let later = |skipped: usize| {
        let left = &values[skipped..];
        let (flat, chance) = if skipped == 1 { FLAT_SECOND } else { (FLAT_LATER, FLAT_LATER_CHANCE) };
        grows_evenly(&Shape::of(left), left, flat, chance)
    };
    (1..=values.len() / 3).filter(|skipped| values.len() - skipped + 1 >= SURE_POINTS).any(later)
}

/// Whether floor and ceiling rise in each third.
fn rises_in_thirds(shape: &Shape, values: &[f64]) -> bool {
    let (floor, ceiling) = shape::least_third(values);
    let least = THIRD / 3.0 * shape.line_slope * (values.len() - 1) as f64;
    floor >= least && ceiling >= least
}

/// Whether a series falls once by a third of what it grows.
fn falls(shape: &Shape, values: &[f64]) -> bool {
    let growth = shape.line_slope * (values.len() - 1) as f64;
    values.windows(2).any(|pair| pair[0] - pair[1] > growth / 3.0)
}

/// Whether a series rises each time by about as much: neither noise nor steps nor most warm-ups do.
fn is_even(values: &[f64]) -> bool {
    let Some(steps) = values.len().checked_sub(1).filter(|&steps| steps > 0) else { return false };
    let mean = (values[steps] - values[0]) / steps as f64;
    let (least, most) = EVEN;
    values.windows(2).all(|pair| (least * mean..=most * mean).contains(&(pair[1] - pair[0])))
}

/// Why fewer values that do not rise each time are no growth.
fn doubt(trend: &Trend) -> Reason {
    if trend.interval.is_some_and(|(low, _)| low > 0.0) { Reason::NotSure } else { Reason::Chance }
}

#[cfg(test)]
mod tests;
