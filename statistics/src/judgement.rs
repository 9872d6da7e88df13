//! Decides whether a series of numbers grows.
//!
//! ```text
//!   values in order
//!     ├─ fewer than 5 ─────────────────────────────────────▶ too few
//!     ├─ 5 to 7 ── each above the previous one? ───────────▶ rises each time, too few to be sure
//!     └─ 8 and more
//!          ├─ trend beyond chance? (p-value ≤ 1 % / 200) ──▶ else: does not
//!          ├─ floor and ceiling rise in each third? ───────▶ else: does not, a sawtooth or steps
//!          ├─ closer to a line than to three levels? ──────▶ else: does not, steps
//!          └─ as steep at the end as in the mean? ─────────▶ else: does not, it flattens; if so, grows
//! ```
//!
//! A verdict depends on the values and their order alone. Times are not used: they may be those of a copied file, and a
//! program leaks by what it does rather than by the clock. Other series do not matter either: the threshold always
//! allows for 200 disjoint series (Bonferroni).
//!
//! Sources: those of [`Trend`]; the tests of shape (steps, thirds, flattening) are this crate's own, with thresholds
//! measured by the example `growth_rates`. Assumption: noise is independent of the level, or its correlation is seen by
//! [`Trend`]. Time: O(n²) for n values; longer series than [`MOST_POINTS`] are averaged first.

mod shape;
mod tree;

use self::shape::Shape;
use crate::trend::Trend;
pub use tree::{PathJudgement, judge_parts, judge_paths, own_parts};

/// Minimum number of values for a statement about growth. Four values in random order rise each time in 1 of 24 series,
/// five in 1 of 120.
pub const LEAST_POINTS: usize = 5;
/// Minimum number of values that can show growth for sure: eight values in random order rise each time in 1 of 40,320
/// series, less often than [`FALSE_ALARMS`] divided by `FAMILY`; seven in 1 of 5,040.
pub const SURE_POINTS: usize = 8;
/// The probability of a false alarm over all series that are judged together.
pub const FALSE_ALARMS: f64 = 0.01;
/// The number of disjoint series that the threshold allows for: at most 200 hold 0.5 % of the total each.
const FAMILY: f64 = 200.0;
/// Maximum number of values that are judged one by one; longer series are averaged, because the tests compare all pairs
/// of values: 44,850.
const MOST_POINTS: usize = 300;
/// A p-value of at most this makes a rise suspicious even though it is not sure: it adds to the rise of
/// the nodes above.
const LIKELY: f64 = 1e-3;
/// A score is a slope minus this number of standard errors.
const RANKED_ERRORS: f64 = 2.0;
/// Two fractions of the mean slope. The slope at the end must be above the first with the confidence of
/// [`FLAT_CHANCE`], and its estimate must reach the second; otherwise growth flattens.
const FLAT: (f64, f64) = (0.5, 0.75);
/// As [`FLAT`], where a start is skipped: a flattening curve looks straighter after its start.
const FLAT_LATER: (f64, f64) = (0.9, 0.9);
/// The probability that flattening growth passes for a straight line.
const FLAT_CHANCE: f64 = 0.01;
/// As [`FLAT_CHANCE`], where a start is skipped: several starts are tried.
const FLAT_LATER_CHANCE: f64 = 1e-4;
/// A rise is even if each step is between these fractions of the mean step.
const EVEN: (f64, f64) = (0.5, 1.6);
/// As [`FLAT`] and [`FLAT_CHANCE`], where only the first value is skipped: programs often load much before the second
/// one.
const FLAT_SECOND: ((f64, f64), f64) = ((0.75, 0.9), 0.002);
/// The fraction of a third's mean growth by which floor and ceiling must rise in each third.
const THIRD: f64 = 0.25;

/// Whether a series grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It grows for sure.
    Grows,
    /// Each value is above the previous one, but there are too few to be sure.
    RisesEachTime,
    /// It does not grow, or its growth cannot be distinguished from harmless behaviour.
    DoesNot(Reason),
    /// There are fewer than [`LEAST_POINTS`] values.
    TooFew,
}

/// The reason why the verdict on a series is not growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Nothing looks like growth.
    Chance,
    /// It looks like growth, but chance may explain it.
    NotSure,
    /// It rises more and more slowly, as a warm-up does.
    Flattens,
    /// It rises in one or two steps.
    Steps,
    /// It rises and falls back.
    Sawtooth,
    /// Only the sum of several parts looks like growth; each of them is a warm-up, a step or chance.
    Parts,
}

/// The trend of a series and the verdict on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// Slope, interval and p-value, per value.
    pub trend: Trend,
    /// Whether it grows.
    pub verdict: Verdict,
    /// For a series that grows, its slope. Otherwise the slope at the end of the series, at most that of the whole.
    pub late_slope: f64,
    /// The key to sort by within a verdict. For a series that grows, or rises unevenly each time, it is the lower end
    /// of the interval, otherwise `late_slope` less two standard errors.
    pub score: f64,
    /// Whether it rises more than chance explains, and in a way that is not known to end. With fewer than
    /// [`SURE_POINTS`] values: whether it rises each time by about the same amount.
    pub is_suspicious: bool,
}

impl Judgement {
    /// Judges a series of values in their order.
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
            LEAST_POINTS..SURE_POINTS => Verdict::DoesNot(reason_of_short_series(&trend)),
            _ => verdict_of_long_series(&trend, &shape, values),
        };
        let late_slope = shape.line_slope.min(shape.end_slope) / stride as f64;
        let least = late_slope - RANKED_ERRORS * shape.line_error / stride as f64;
        // A skipped start bends the parabola but not the median of slopes.
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

    /// Whether it grows; `None` if there are too few values to decide.
    #[must_use]
    pub fn grows(&self) -> Option<bool> {
        match self.verdict {
            Verdict::Grows => Some(true),
            Verdict::DoesNot(_) => Some(false),
            Verdict::RisesEachTime | Verdict::TooFew => None,
        }
    }

    /// The key to sort a list by: the verdict, whether the rise is even, then [`Judgement::score`]. Of too few values for
    /// a verdict it is the slope.
    #[must_use]
    pub fn rank(&self) -> (u8, f64) {
        let class = match self.verdict {
            Verdict::TooFew => return (0, self.trend.slope),
            Verdict::Grows => 4,
            Verdict::RisesEachTime if self.is_suspicious => 3,
            Verdict::RisesEachTime => 2,
            _ => u8::from(self.is_suspicious),
        };
        (class, self.score)
    }
}

/// The values, or means of neighbours if there are more than [`MOST_POINTS`]; and the number of values that each mean
/// covers.
fn thinned(values: &[f64]) -> (Vec<f64>, usize) {
    let stride = values.len().div_ceil(MOST_POINTS).max(1);
    let means = values.chunks_exact(stride).map(|part| part.iter().sum::<f64>() / part.len() as f64);
    (means.collect(), stride)
}

/// The verdict on a series that is long enough to be sure.
fn verdict_of_long_series(trend: &Trend, shape: &Shape, values: &[f64]) -> Verdict {
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

/// Whether a series rises without steps, without sawteeth, and without flattening below the fractions `flat` of its
/// mean slope.
fn grows_evenly(shape: &Shape, values: &[f64], flat: (f64, f64), chance: f64) -> bool {
    shape.stays_above(flat, chance) && !shape.is_steps(values) && rises_in_thirds(shape, values)
}

/// Whether the rest of a series grows evenly once its first value, or a start of up to a third, is skipped.
fn grows_after_a_start(values: &[f64]) -> bool {
    (1..=values.len() / 3).filter(|skipped| values.len() - skipped + 1 >= SURE_POINTS).any(|skipped| {
        let left = &values[skipped..];
        let (flat, chance) = if skipped == 1 { FLAT_SECOND } else { (FLAT_LATER, FLAT_LATER_CHANCE) };
        grows_evenly(&Shape::of(left), left, flat, chance)
    })
}

/// Whether floor and ceiling rise enough in each third.
fn rises_in_thirds(shape: &Shape, values: &[f64]) -> bool {
    let (floor, ceiling) = shape::least_third(values);
    let least = THIRD / 3.0 * shape.line_slope * (values.len() - 1) as f64;
    floor >= least && ceiling >= least
}

/// Whether a single step falls by more than a third of the total growth.
fn falls(shape: &Shape, values: &[f64]) -> bool {
    let growth = shape.line_slope * (values.len() - 1) as f64;
    values.windows(2).any(|pair| pair[0] - pair[1] > growth / 3.0)
}

/// Whether a series rises each time by about the same amount. Noise, steps and most warm-ups do not.
fn is_even(values: &[f64]) -> bool {
    let Some(steps) = values.len().checked_sub(1).filter(|&steps| steps > 0) else { return false };
    let mean = (values[steps] - values[0]) / steps as f64;
    let (least, most) = EVEN;
    values.windows(2).all(|pair| (least * mean..=most * mean).contains(&(pair[1] - pair[0])))
}

/// The reason why a short series that does not rise each time does not count as growth.
fn reason_of_short_series(trend: &Trend) -> Reason {
    if trend.interval.is_some_and(|(low, _)| low > 0.0) { Reason::NotSure } else { Reason::Chance }
}

#[cfg(test)]
mod tests;
