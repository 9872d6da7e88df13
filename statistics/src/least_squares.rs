//! The least-squares line through points, and the autocorrelation of its residuals.
//!
//! Sources: ordinary least squares; Hamed and Rao 1998 for a variance that grows with autocorrelation, here of first
//! order. Assumptions: errors of equal variance, about normal, and after the correction correlated at most with their
//! direct neighbours. Time and memory: O(n) for n points.

/// A fitted curve lowers the autocorrelation of n residuals by about this number divided by n.
const BIAS: f64 = 2.0;
/// Autocorrelation below this number of standard errors is taken for chance.
const DOUBT: f64 = 1.5;

/// A least-squares line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    slope: f64,
    /// The standard error of the slope.
    error: f64,
}

impl Fit {
    /// The least-squares line through `points`.
    pub(crate) fn line(points: &[(f64, f64)]) -> Self {
        let (xs, ys) = centred(points);
        let (xx, xy, yy) = (dot(&xs, &xs), dot(&xs, &ys), dot(&ys, &ys));
        let slope = if xx > 0.0 { xy / xx } else { 0.0 };
        let left = (yy - slope * xy).max(rounding(points));
        let freedom = points.len().saturating_sub(2).max(1) as f64;
        Fit { slope, error: (left / freedom / xx).sqrt() }
    }

    /// The slope in standard errors: Student's t.
    pub(crate) fn t(&self) -> f64 {
        if self.error > 0.0 && self.error.is_finite() { self.slope / self.error } else { 0.0 }
    }
}

/// The factor by which autocorrelated residuals, such as those of a sawtooth, raise the variance of a slope above its
/// usual estimate; 1 without autocorrelation.
pub(crate) fn variance_inflation(points: &[(f64, f64)]) -> f64 {
    if points.len() < 6 {
        return 1.0;
    }
    let (xs, ys) = centred(points);
    let mut bend: Vec<f64> = xs.iter().map(|x| x * x).collect();
    centre(&mut bend);
    // Residuals are those of a parabola, so that growth that speeds up does not count as autocorrelation.
    let across = dot(&xs, &bend) / dot(&xs, &xs);
    bend.iter_mut().zip(&xs).for_each(|(bend, x)| *bend -= across * x);
    let (slope, curve) = (dot(&xs, &ys) / dot(&xs, &xs), dot(&bend, &ys) / dot(&bend, &bend));
    let rest: Vec<f64> = ys.iter().zip(&xs).zip(&bend).map(|((y, x), bend)| y - slope * x - curve * bend).collect();
    let square = dot(&rest, &rest);
    if square <= rounding(points) {
        return 1.0;
    }
    let count = points.len() as f64;
    let correlation = rest.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / square;
    // The fit itself lowers the correlation of neighbours.
    let correlation = (correlation + BIAS / count).min(0.9);
    if correlation * count.sqrt() < DOUBT { 1.0 } else { (1.0 + correlation) / (1.0 - correlation) }
}

/// The sum of squared residuals that rounding alone leaves of points on a line.
fn rounding(points: &[(f64, f64)]) -> f64 {
    let largest = points.iter().map(|(_, y)| y.abs()).fold(0.0, f64::max);
    points.len() as f64 * (largest * 1e-13).powi(2)
}

/// The coordinates minus their means.
fn centred(points: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let (mut xs, mut ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    centre(&mut xs);
    centre(&mut ys);
    (xs, ys)
}

fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter_mut().for_each(|value| *value -= mean);
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
