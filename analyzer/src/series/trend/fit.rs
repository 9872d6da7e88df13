//! Lines of least squares, and how alike what they leave of neighbouring points is.

/// By how much the fit makes neighbouring residuals of n points less alike, times n.
const BIAS: f64 = 2.0;
/// Residuals must be so much more alike than chance makes them, in standard errors, to be doubted.
const DOUBT: f64 = 1.5;

/// A line through points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    slope: f64,
    /// The standard error of the slope.
    error: f64,
}

impl Fit {
    /// The line of least squares.
    pub(super) fn line(points: &[(f64, f64)]) -> Self {
        let (xs, ys) = centred(points);
        let (xx, xy, yy) = (dot(&xs, &xs), dot(&xs, &ys), dot(&ys, &ys));
        let slope = if xx > 0.0 { xy / xx } else { 0.0 };
        let left = (yy - slope * xy).max(rounding(points));
        let freedom = points.len().saturating_sub(2).max(1) as f64;
        Fit { slope, error: (left / freedom / xx).sqrt() }
    }

    /// The slope in standard errors.
    pub(super) fn t(&self) -> f64 {
        if self.error > 0.0 && self.error.is_finite() { self.slope / self.error } else { 0.0 }
    }
}

/// By how much the variance of a slope is larger than it seems because residuals resemble the ones before
/// them, as those of a sawtooth do; 1 if they do not.
pub(super) fn neighbourly(points: &[(f64, f64)]) -> f64 {
    if points.len() < 6 {
        return 1.0;
    }
    let (xs, ys) = centred(points);
    let mut bend: Vec<f64> = xs.iter().map(|x| x * x).collect();
    centre(&mut bend);
    // What neither a line nor a bend explains: growth that speeds up is no reason to doubt it.
    let across = dot(&xs, &bend) / dot(&xs, &xs);
    bend.iter_mut().zip(&xs).for_each(|(bend, x)| *bend -= across * x);
    let (slope, curve) = (dot(&xs, &ys) / dot(&xs, &xs), dot(&bend, &ys) / dot(&bend, &bend));
    let rest: Vec<f64> = ys.iter().zip(&xs).zip(&bend).map(|((y, x), bend)| y - slope * x - curve * bend).collect();
    let square = dot(&rest, &rest);
    if square <= rounding(points) {
        return 1.0;
    }
    let count = points.len() as f64;
    let alike = rest.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / square;
    // The fit itself makes neighbours differ.
    let alike = (alike + BIAS / count).min(0.9);
    if alike * count.sqrt() < DOUBT { 1.0 } else { (1.0 + alike) / (1.0 - alike) }
}

/// What is left of points that lie on a line but for rounding.
fn rounding(points: &[(f64, f64)]) -> f64 {
    let largest = points.iter().map(|(_, y)| y.abs()).fold(0.0, f64::max);
    points.len() as f64 * (largest * 1e-13).powi(2)
}

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
