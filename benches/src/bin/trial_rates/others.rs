//! Tests that people use, on pooled values: p-values of two-sided tests.

use barrow_statistics::Sample;
use statrs::function::{beta, erf};

/// The level of all of them.
const LEVEL: f64 = 0.01;

/// Whether Mood's median test, Welch's t-test and the test of Kolmogorov and Smirnov find a difference.
pub(crate) fn found(a: &Sample, b: &Sample) -> [bool; 3] {
    let (a, b) = (a.sorted(), b.sorted());
    [mood(&a, &b), welch(&a, &b), kolmogorov_smirnov(&a, &b)].map(|p_value| p_value <= LEVEL)
}

/// Mood (1950): values above the common median, with the chi-squared test corrected for continuity.
fn mood(a: &[f64], b: &[f64]) -> f64 {
    let mut all = [a, b].concat();
    all.sort_by(f64::total_cmp);
    let median = (all[(all.len() - 1) / 2] + all[all.len() / 2]) / 2.0;
    let above = [a, b].map(|values| values.iter().filter(|value| **value > median).count() as f64);
    let sizes = [a.len() as f64, b.len() as f64];
    let (total, hits) = (sizes[0] + sizes[1], above[0] + above[1]);
    let spread = hits * (total - hits) * sizes[0] * sizes[1];
    if spread == 0.0 {
        return 1.0;
    }
    let cross = (above[0] * (sizes[1] - above[1]) - above[1] * (sizes[0] - above[0])).abs();
    let chi_squared = total * (cross - total / 2.0).max(0.0).powi(2) / spread;
    erf::erfc((chi_squared / 2.0).sqrt())
}

/// Welch (1947): means, with variances that may differ.
pub(crate) fn welch(a: &[f64], b: &[f64]) -> f64 {
    let moments = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n, n)
    };
    let ((mean_a, error_a, n_a), (mean_b, error_b, n_b)) = (moments(a), moments(b));
    let error = error_a + error_b;
    if error == 0.0 {
        return if mean_a == mean_b { 1.0 } else { 0.0 };
    }
    let t_squared = (mean_a - mean_b).powi(2) / error;
    let degrees = error * error / (error_a * error_a / (n_a - 1.0) + error_b * error_b / (n_b - 1.0));
    beta::beta_reg(degrees / 2.0, 0.5, degrees / (degrees + t_squared))
}

/// Kolmogorov (1933) and Smirnov (1939): the largest distance of both distributions, with the limiting distribution and
/// Stephens' correction (1970).
fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> f64 {
    let up_to =
        |values: &[f64], value: f64| values.partition_point(|other| *other <= value) as f64 / values.len() as f64;
    let distance = a.iter().chain(b).map(|&value| (up_to(a, value) - up_to(b, value)).abs()).fold(0.0, f64::max);
    let root = ((a.len() * b.len()) as f64 / (a.len() + b.len()) as f64).sqrt();
    let lambda = (root + 0.12 + 0.11 / root) * distance;
    if lambda < 0.2 {
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * lambda * lambda).exp()
    };
    (1..=100).map(term).sum::<f64>().clamp(0.0, 1.0)
}
