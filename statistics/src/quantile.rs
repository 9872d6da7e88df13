//! Quantiles: the estimate of Harrell and Davis (1982), a weighted mean of all values.

use crate::sample::{Sample, midpoint};
use crate::tails::beta_up_to;

/// Where values lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Location {
    /// The median.
    pub median: f64,
    /// A quarter of the values is below.
    pub quartile_low: f64,
    /// A quarter of the values is above.
    pub quartile_high: f64,
    /// The smallest value.
    pub minimum: f64,
    /// The largest value.
    pub maximum: f64,
}

impl Location {
    /// The location of a sample; `None` if it is empty. Quantiles of equal values are exactly that value.
    #[must_use]
    pub fn of(sample: &Sample) -> Option<Self> {
        let sorted = sample.sorted();
        let (&minimum, &maximum) = (sorted.first()?, sorted.last()?);
        let at = |share| harrell_davis(&sorted, share);
        Some(Location { median: at(0.5), quartile_low: at(0.25), quartile_high: at(0.75), minimum, maximum })
    }
}

/// The quantile of ascending values, at least one, below which this share of them is expected.
pub(crate) fn harrell_davis(sorted: &[f64], share: f64) -> f64 {
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    if first == last {
        return first;
    }
    let n = sorted.len() as f64;
    let (a, b) = ((n + 1.0) * share, (n + 1.0) * (1.0 - share));
    // Differences to a middle value: sums of large numbers would lose digits, or overflow.
    let middle = midpoint(first, last);
    let mut sum = 0.0;
    // Ten standard deviations of the beta distribution away, and a little more for its skewness, weights are below 1e-15.
    let far = 10.0 * (share * (1.0 - share) / (n + 2.0)).sqrt() + 20.0 / n;
    let start = ((share - far) * n).floor().max(0.0) as usize;
    let end = (((share + far) * n).ceil() as usize).min(sorted.len());
    let mut below = beta_up_to(start as f64 / n, a, b);
    for (at, value) in sorted.iter().enumerate().take(end).skip(start) {
        let up_to = beta_up_to((at + 1) as f64 / n, a, b);
        sum += (up_to - below) * (value / 2.0 - middle / 2.0);
        below = up_to;
    }
    (middle + 2.0 * sum).clamp(first, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_exactly_their_quantiles() {
        let location = Location::of(&Sample::new(vec![vec![0.1; 7]])).unwrap();
        assert_eq!([location.median, location.quartile_low, location.maximum], [0.1; 3]);
        assert_eq!(Location::of(&Sample::default()), None);
    }

    #[test]
    fn extreme_values_have_finite_quantiles() {
        let location =
            Location::of(&Sample::new(vec![vec![f64::MAX, -f64::MAX, 0.0, f64::MIN_POSITIVE / 8.0]])).unwrap();
        assert!(location.median.is_finite() && location.quartile_low <= location.quartile_high, "{location:?}");
    }
}
