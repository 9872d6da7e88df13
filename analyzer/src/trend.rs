//! Whether a series of numbers grows, how fast, and how sure that is.
//!
//! ```text
//!   points ─┬─ slopes of all pairs ──▶ median: slope; order statistics: interval   Theil, Sen
//!           ├─ signs of all pairs ───▶ Kendall's S ─┐
//!           ├─ line of least squares ▶ Student's t ─┴▶ p-value, wider where residuals
//!           │                                          resemble their neighbours (sawtooth)
//!           └─ line and one warm-up ─▶ does it still grow once a warm-up is granted?
//! ```
//!
//! Sources: Theil 1950 and Sen 1968 (slope and interval), Mann 1945 and Kendall 1975 (test, with the exact
//! distribution of S), Hamed and Rao 1998 (a variance that grows with autocorrelation, here of first
//! order). Time: O(n²) for n points.

mod fit;
mod kendall;
mod student;

use self::fit::{Fit, Warmth};

/// The confidence of intervals, and of what is said to grow unless told.
pub const CONFIDENCE: f64 = 0.95;
/// Fewer points never show that something grows: whatever they do may be a warm-up.
pub const LEAST_POINTS: usize = 5;
/// Growth lasts if this part of it is left when a warm-up is granted.
const LASTING_SHARE: f64 = 0.5;
/// Growth that is left beside a warm-up must be this many standard errors above nothing.
const LASTING_ERRORS: f64 = 3.0;
/// What is ranked is a slope less so many standard errors.
const RANKED_ERRORS: f64 = 2.0;
/// Pairs of more points would take too long.
const MOST_POINTS: usize = 1000;
/// The part of the chance of a false alarm that is given to the test of signs, which no outlier misleads. The
/// rest is for Student's, which sees a leak sooner.
const SIGNS: f64 = 0.1;

/// How a series of numbers behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// How many points it has; of more than 1,000 as many means of neighbours stand for them.
    pub points: usize,
    /// The median of the slopes between all pairs of points, in units of y per unit of x: half of the
    /// points may be wrong by any amount within bounds of 29 %. 0 with less than two points.
    pub slope: f64,
    /// Where a line of this slope through the middle of the points is at x = 0.
    pub intercept: f64,
    /// Where the slope is with a confidence of at least [`CONFIDENCE`]; `None` where the points are too few,
    /// or resemble their neighbours too much, to bound it.
    pub interval: Option<(f64, f64)>,
    /// The slope that is left if a warm-up is granted: a single step up, or growth that flattens, where
    /// that explains the points better than a line. Else the slope.
    pub lasting_slope: f64,
    /// The standard error of the slope beside a warm-up; 0 where none is granted.
    pub lasting_error: f64,
    /// The slope less two of its standard errors, a warm-up granted as far as it is likely.
    ranked: f64,
    /// Whether growth goes on to the end, rather than having been a warm-up.
    pub lasts: bool,
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
        let fit = Fit::line(&points);
        let by_signs: f64 = kendall::tail(kendall::statistic(&points) as f64 / spread, points.len());
        let by_line = student::tail(fit.t() / spread, points.len().saturating_sub(2));
        let (lasting_slope, lasting_error, lasts) = lasting(&points, &fit, slope);
        let (ranked, error) = fit::averaged(&points, &fit);
        Trend {
            points: points.len(),
            slope,
            intercept: middle(&levels),
            interval: interval(&slopes, points.len(), spread),
            lasting_slope,
            lasting_error,
            ranked: ranked - RANKED_ERRORS * error * spread,
            lasts,
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
        let points = points.len();
        Trend {
            points,
            slope: 0.0,
            intercept,
            interval: None,
            lasting_slope: 0.0,
            lasting_error: 0.0,
            ranked: 0.0,
            lasts: false,
            p_value: 1.0,
        }
    }

    /// Whether it grows, and goes on growing: if so many series without a trend are tested, the chance
    /// that any of them is said to grow is at most `1 - confidence` (Bonferroni).
    #[must_use]
    pub fn is_growing(&self, confidence: f64, tests: usize) -> bool {
        self.may_grow() && self.p_value * tests.max(1) as f64 <= 1.0 - confidence
    }

    /// Which of many series grow, each tested once: of those that are said to, the part that does not is
    /// at most `1 - confidence` in the mean; and if none grows, so is the chance that any is said to
    /// (Benjamini and Hochberg 1995).
    #[must_use]
    pub fn which_grow(trends: &[Trend], confidence: f64) -> Vec<bool> {
        // What has stopped growing is no discovery, and must not make others look better.
        let value = |trend: &Trend| if trend.may_grow() { trend.p_value } else { 1.0 };
        let mut values: Vec<f64> = trends.iter().map(value).collect();
        values.sort_unstable_by(f64::total_cmp);
        let share = (1.0 - confidence) / trends.len().max(1) as f64;
        let limit = values.iter().enumerate().rev().find(|&(at, value)| *value <= (at + 1) as f64 * share);
        let limit = limit.map_or(-1.0, |(_, value)| *value);
        trends.iter().map(|trend| trend.may_grow() && trend.p_value <= limit).collect()
    }

    /// By how much it grows at least, in units of y per unit of x: its interval's
    /// lower end, a warm-up granted. Not known with too few points.
    #[must_use]
    pub fn least_slope(&self) -> Option<f64> {
        let (low, _) = self.interval?;
        Some(if self.lasts { low.min(self.lasting_slope - 2.0 * self.lasting_error) } else { low.min(0.0) })
    }

    /// What to rank by, in units of y per unit of x: the slope less two of its standard errors, since a steep slope
    /// that may be chance comes behind a gentle one that is not, and less what a warm-up may have of it. Not known with
    /// too few points.
    #[must_use]
    pub fn ranking_slope(&self) -> Option<f64> {
        self.interval.map(|_| self.ranked)
    }

    fn may_grow(&self) -> bool {
        self.points >= LEAST_POINTS && self.lasts && self.lasting_slope > 0.0
    }
}

/// Where the points of a series over snapshots stand.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The place of each snapshot.
    pub places: Vec<f64>,
    /// What they count.
    pub unit: AxisUnit,
}

/// What a slope over snapshots is per.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisUnit {
    /// Per second.
    Second,
    /// Per snapshot.
    Snapshot,
}

impl Axis {
    /// Seconds since the first snapshot if all have a time, in nanoseconds, each a later one; else their
    /// numbers, from 0.
    #[must_use]
    pub fn of(times_ns: &[Option<u64>]) -> Self {
        let known: Option<Vec<u64>> = times_ns.iter().copied().collect();
        match known {
            Some(times) if times.len() > 1 && times.is_sorted_by(|time, next| time < next) => Axis {
                places: times.iter().map(|time| (time - times[0]) as f64 / 1e9).collect(),
                unit: AxisUnit::Second,
            },
            _ => Axis { places: (0..times_ns.len()).map(|at| at as f64).collect(), unit: AxisUnit::Snapshot },
        }
    }

    /// The trend of values at these places.
    #[must_use]
    pub fn trend(&self, values: impl IntoIterator<Item = f64>) -> Trend {
        Trend::of(&self.places.iter().copied().zip(values).collect::<Vec<_>>())
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

/// Sen's interval: as many slopes are left out at both ends as chance would put beyond the true one.
fn interval(slopes: &[f64], points: usize, spread: f64) -> Option<(f64, f64)> {
    let pairs = slopes.len();
    let critical = kendall::critical((1.0 - CONFIDENCE) / 2.0, points)? * spread;
    // Of the values that S can have, every other one is possible.
    let beyond = ((pairs as f64 - critical) / 2.0).floor();
    if beyond < 0.0 {
        return None;
    }
    let beyond = beyond as usize;
    Some((slopes[beyond.min(pairs - 1)], slopes[pairs - 1 - beyond.min(pairs - 1)]))
}

/// The slope that is left when the warm-up that explains most is granted, its standard error, and whether that is growth.
fn lasting(points: &[(f64, f64)], line: &Fit, slope: f64) -> (f64, f64, bool) {
    match Warmth::best(points, line) {
        None => (slope, 0.0, true),
        Some(Warmth { slope: left, error }) => {
            (left.min(slope), error, left >= LASTING_SHARE * slope && left > LASTING_ERRORS * error)
        }
    }
}

#[cfg(test)]
mod tests;
