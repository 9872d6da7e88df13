//! How fast a series of numbers rises, and how sure that is. What is *said* of it is the business of
//! [`super::judgement`].
//!
//! ```text
//!   points ─┬─ slopes of all pairs ──▶ median: slope; order statistics: interval   Theil, Sen
//!           ├─ signs of all pairs ───▶ Kendall's S ─┐
//!           └─ line of least squares ▶ Student's t ─┴▶ p-value, wider where residuals
//!                                                      resemble their neighbours (sawtooth)
//! ```
//!
//! Sources: Theil 1950 and Sen 1968 (slope and interval), Mann 1945 and Kendall 1975 (test, with the exact
//! distribution of S), Hamed and Rao 1998 (a variance that grows with autocorrelation, here of first
//! order). Time: O(n²) for n points.

mod fit;
mod kendall;
pub(crate) mod student;

use self::fit::Fit;

/// The confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;
/// Pairs of more points would take too long.
const MOST_POINTS: usize = 1000;
/// The part of the chance of a false alarm that is given to the test of signs, which no outlier misleads. The
/// rest is for Student's, which sees a leak sooner.
const SIGNS: f64 = 0.5;

/// How a series of numbers goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// How many points it has; of more than 1,000 as many means of neighbours stand for them.
    pub points: usize,
    /// The median of the slopes between all pairs of points, in units of y per unit of x: half of the
    /// points may be wrong by any amount within bounds of 29 %. 0 with less than two points.
    pub slope: f64,
    /// Where a line of this slope through the middle of the points is at x = 0.
    pub intercept: f64,
    /// Where the slope is with a confidence of at least [`CONFIDENCE`]; `None` where the points are too few to
    /// bound it.
    pub interval: Option<(f64, f64)>,
    /// How likely a series without a trend looks as if it grew as clearly as this one.
    pub p_value: f64,
}

impl Trend {
    /// The trend of points `(x, y)`, in the order of x. Points that are no numbers are left out.
    #[must_use]
    pub fn of(points: &[(f64, f64)]) -> Self {
        let points: Vec<(f64, f64)> = points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        let points = thinned(points);
        let slopes = pair_slopes(&points);
        if slopes.is_empty() {
            return Trend::unknown(&points);
        }
        let slope = middle(&slopes);
        let mut levels: Vec<f64> = points.iter().map(|&(x, y)| y - slope * x).collect();
        levels.sort_unstable_by(f64::total_cmp);
        let spread = fit::neighbourly(&points).sqrt();
        let by_signs: f64 = kendall::tail(kendall::statistic(&points) as f64 / spread, points.len());
        let by_line = student::tail(Fit::line(&points).t() / spread, points.len().saturating_sub(2));
        Trend {
            points: points.len(),
            slope,
            intercept: middle(&levels),
            interval: interval(&slopes, slope, points.len(), spread),
            // The better of two tests looks good more often, so each has a part of the chance.
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

/// Points, or means of neighbours if they are too many.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let mean = |part: &[(f64, f64)]| {
        let count = part.len() as f64;
        (part.iter().map(|point| point.0).sum::<f64>() / count, part.iter().map(|point| point.1).sum::<f64>() / count)
    };
    points.chunks_exact(points.len().div_ceil(MOST_POINTS)).map(mean).collect()
}

/// The slopes between all pairs of points of different x, ascending.
fn pair_slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (at, &(x, y)) in points.iter().enumerate() {
        let later = points[at + 1..].iter().filter(|other| other.0 > x);
        slopes.extend(later.map(|&(other_x, other_y)| (other_y - y) / (other_x - x)));
    }
    slopes.sort_unstable_by(f64::total_cmp);
    slopes
}

/// The median of sorted values, of which there is one at least.
fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// Sen's interval: as many slopes are left out at both ends as chance would put beyond the true one. Where points
/// resemble their neighbours it is wider by their spread.
fn interval(slopes: &[f64], slope: f64, points: usize, spread: f64) -> Option<(f64, f64)> {
    let pairs = slopes.len();
    let critical = kendall::critical((1.0 - CONFIDENCE) / 2.0, points)?;
    // Of the values that S can have, every other one is possible.
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
