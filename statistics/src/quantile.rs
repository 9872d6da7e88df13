//! Quantiles of the values.

use crate::sample::Sample;

/// The location of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Location {
    /// The median: the middle value, or the mean of both middle values.
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
        let [quartile_low, median, quartile_high] = [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share));
        Some(Location { median, quartile_low, quartile_high, minimum, maximum })
    }
}

/// The quantile of ascending values, of which there is at least one: at its place among them, or interpolated between
/// its neighbours (type 7 of Hyndman and Fan 1996).
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, rest) = (place.floor() as usize, place.fract());
    let (low, high) = (sorted[below], sorted[(below + 1).min(sorted.len() - 1)]);
    if low == high { low } else { low * (1.0 - rest) + high * rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_value_or_between_two() {
        // Wall times in which a clock of 10 ms shows mostly nothing: a weighted mean of all would lie where no value does.
        let of =
            |values: &[f64]| Location::of(&Sample::new(values.iter().map(|&value| vec![value]).collect())).unwrap();
        assert_eq!(of(&[0.0, 0.0, 0.0, 10.0]).median, 0.0);
        assert_eq!(of(&[49.0, 52.0, 50.0]).median, 50.0);
        assert_eq!(of(&[49.0, 50.0]).median, 49.5);
    }

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
