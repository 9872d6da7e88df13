//! A distribution-free interval for a median: by the sign test, interpolated between ordered values (Hettmansperger and
//! Sheather 1986).
//!
//! Between two of the values only few confidence levels are possible: of ten, the second and the ninth enclose the
//! median in 97.9 % of the cases, the next ones in 89.1 %. So the ends of the interval lie between both, where the
//! level is near to 95 % for distributions of all shapes. If values are equal, there is nothing to interpolate, and the
//! wider interval is taken.

use crate::sample::{Sample, sorted};
use crate::tails::at_most_half;

/// The probability that the true median is below the interval, and that it is above: its confidence is 95 %.
const OUTSIDE: f64 = 0.025;

/// The 95 % confidence interval of the median of groups; each group counts once, with its median. `None` for fewer than
/// six groups, for which there is no such interval.
#[must_use]
pub fn median_interval(sample: &Sample) -> Option<(f64, f64)> {
    interval(&sorted(sample.medians()))
}

/// The interval of the median of ascending values; `None` for fewer than six.
pub(crate) fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len();
    let outside = outside(n)?;
    let wide = (values[outside], values[n - 1 - outside]);
    if outside + 1 >= n / 2 || values.windows(2).any(|pair| pair[0] == pair[1]) {
        return Some(wide);
    }
    let narrow = (values[outside + 1], values[n - 2 - outside]);
    let [of_wide, of_narrow] = [outside, outside + 1].map(|outside| at_most_half(outside, n));
    let share = (OUTSIDE - of_wide) / (of_narrow - of_wide);
    // Their λ: between two places the probability does not fall linearly.
    let place = (outside + 1) as f64;
    let part = (n as f64 - place) * share / (place + (n as f64 - 2.0 * place) * share);
    let [low, high] = [(wide.0, narrow.0), (wide.1, narrow.1)].map(|(from, to)| from * (1.0 - part) + to * part);
    Some((low, high))
}

/// The number of `count` ordered values that may be left out on each side: the largest such that the probability of at
/// most this many values beyond the median is at most [`OUTSIDE`].
fn outside(count: usize) -> Option<usize> {
    if count == 0 || at_most_half(0, count) > OUTSIDE {
        return None;
    }
    let (mut low, mut high) = (0, count / 2);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if at_most_half(middle, count) <= OUTSIDE { low = middle } else { high = middle - 1 }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn ranks_are_those_of_tables() {
        // Conover, Practical Nonparametric Statistics: 95 % intervals of the median.
        for (count, expected) in [(6, 0), (9, 1), (10, 1), (20, 5), (50, 17), (100, 39)] {
            assert_eq!(outside(count), Some(expected), "{count}");
        }
        assert!((0..6).all(|count| outside(count).is_none()));
        assert!(outside(100_000).is_some_and(|outside| (49_600..49_700).contains(&outside)));
    }

    #[test]
    fn ends_lie_between_two_values() {
        // Of ten: 2 and 9 hold the median in 97.85 %, 3 and 8 in 89.06 % (Conover, table A3).
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let (low, high) = interval(&ten).unwrap();
        let share = (0.9785 - 0.95) / (0.9785 - 0.8906);
        let part = 8.0 * share / (2.0 + 6.0 * share);
        assert!((low - (2.0 + part)).abs() < 1e-3 && (high - (9.0 - part)).abs() < 1e-3, "{low} {high}");
        assert_eq!(interval(&[1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]), Some((2.0, 8.0)));
        assert_eq!((interval(&ten[..5]), interval(&[])), (None, None));
    }

    #[test]
    fn the_true_median_is_mostly_inside() {
        let mut random = Random::new(11);
        let covered = (0..2000).filter(|_| {
            let groups = (0..25).map(|_| vec![random.below(1_000_001) as f64]).collect();
            let (low, high) = median_interval(&Sample::new(groups)).unwrap();
            (low..=high).contains(&500_000.0)
        });
        assert!((1870..=1930).contains(&covered.count()));
    }
}
