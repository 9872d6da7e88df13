//! The rate at which a series of numbers rises, and its uncertainty. [`crate::Judgement`] decides what to say about it.
//!
//! ```text
//!   points ─┬─ slopes of all pairs ──▶ median: slope; order statistics: interval   Theil, Sen
//!           ├─ signs of all pairs ───▶ Kendall's S ─┐
//!           └─ least-squares line ───▶ Student's t ─┴▶ p-value, larger where residuals are
//!                                                      autocorrelated (sawtooth)
//! ```
//!
//! Sources: Theil 1950 and Sen 1968 (slope and interval), Mann 1945 and Kendall 1975 (test, with the exact
//! distribution of S), Hamed and Rao 1998 (a variance that grows with autocorrelation, here of first order).
//!
//! Assumptions: the trend is monotonic, and errors are independent or correlated with their direct neighbours. The
//! slope and the test by signs need no particular distribution; Student's test needs errors that are about normal.
//!
//! Time and memory: O(n²) for n points; more than [`MOST_POINTS`] are averaged first.

use crate::least_squares::{Fit, variance_inflation};
use crate::{kendall, student};

/// The confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;
/// Maximum number of points whose pairs are compared, 499,500; longer series are averaged.
const MOST_POINTS: usize = 1000;
/// The share of the false-alarm probability that Kendall's test gets, which resists outliers. Student's test gets the
/// rest; it detects a clean trend sooner.
const SIGNS: f64 = 0.5;

/// Slope, interval and p-value of a series of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// The number of points. A series of more than 1,000 is first reduced to means of neighbours, at most 1,000.
    pub points: usize,
    /// The median of the slopes between all pairs of points, in units of y per unit of x. Up to 29 % of the points may
    /// be wrong by any amount without moving it far. 0 with fewer than two points.
    pub slope: f64,
    /// The value at x = 0 of the line with this slope that has half of the points on either side.
    pub intercept: f64,
    /// An interval that holds the true slope with a confidence of at least [`CONFIDENCE`]; `None` with too few points
    /// to bound it.
    pub interval: Option<(f64, f64)>,
    /// The probability that a series without a trend seems to grow as clearly as this one.
    pub p_value: f64,
}

impl Trend {
    /// The trend of points `(x, y)` in ascending order of x. Points with a coordinate that is not finite are ignored.
    #[must_use]
    pub fn of(points: &[(f64, f64)]) -> Self {
        let points: Vec<(f64, f64)> = points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        let points = thinned(points);
        let slopes = pair_slopes(&points);
        if slopes.is_empty() {
            return Trend::unknown(&points);
        }
        let slope = median(&slopes);
        let mut levels: Vec<f64> = points.iter().map(|&(x, y)| y - slope * x).collect();
        levels.sort_unstable_by(f64::total_cmp);
        let spread = variance_inflation(&points).sqrt();
        let by_signs: f64 = kendall::tail(kendall::statistic(&points) as f64 / spread, points.len());
        let by_line = student::tail(Fit::line(&points).t() / spread, points.len().saturating_sub(2));
        Trend {
            points: points.len(),
            slope,
            intercept: median(&levels),
            interval: interval(&slopes, slope, points.len(), spread),
            // The better of two tests raises false alarms more often than either, so each gets a share of the
            // probability.
            p_value: (by_signs / SIGNS).min(by_line / (1.0 - SIGNS)).min(1.0),
        }
    }

    /// The trend of a series of values at 0, 1, 2 and so on.
    #[must_use]
    pub fn of_values(values: &[f64]) -> Self {
        let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(at, &value)| (at as f64, value)).collect();
        Trend::of(&points)
    }

    fn unknown(points: &[(f64, f64)]) -> Self {
        let intercept = points.first().map_or(0.0, |&(_, y)| y);
        Trend { points: points.len(), slope: 0.0, intercept, interval: None, p_value: 1.0 }
    }
}

/// The points, or means of neighbouring points if there are more than [`MOST_POINTS`].
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let means = points.chunks_exact(points.len().div_ceil(MOST_POINTS)).map(|part| {
        let count = part.len() as f64;
        (part.iter().map(|point| point.0).sum::<f64>() / count, part.iter().map(|point| point.1).sum::<f64>() / count)
    });
    means.collect()
}

/// The slopes between all pairs of points that differ in x, ascending.
fn pair_slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (at, &(x, y)) in points.iter().enumerate() {
        let later = points[at + 1..].iter().filter(|other| other.0 > x);
        slopes.extend(later.map(|&(other_x, other_y)| (other_y - y) / (other_x - x)));
    }
    slopes.sort_unstable_by(f64::total_cmp);
    slopes
}

/// The median of sorted values; there must be at least one.
fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// Sen's interval: at both ends it excludes as many slopes as chance would put beyond the true slope. `spread` widens
/// it where residuals are autocorrelated.
fn interval(slopes: &[f64], slope: f64, points: usize, spread: f64) -> Option<(f64, f64)> {
    let pairs = slopes.len();
    let critical = kendall::critical((1.0 - CONFIDENCE) / 2.0, points)?;
    // A pair that changes sign changes S by two.
    let beyond = ((pairs as f64 - critical) / 2.0).floor();
    if beyond < 0.0 {
        return None;
    }
    let beyond = (beyond as usize).min(pairs - 1);
    let (low, high) = (slopes[beyond], slopes[pairs - 1 - beyond]);
    Some((slope - (slope - low) * spread, slope + (high - slope) * spread))
}

#[cfg(test)]
mod tests;
