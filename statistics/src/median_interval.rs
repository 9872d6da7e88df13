//! An interval for a median that assumes nothing of the distribution: between two of the ordered values, by the sign test.

use crate::sample::{Sample, sorted};

/// The chance that the true median is below the interval, and that it is above.
const OUTSIDE: f64 = 0.025;

/// The interval that holds the median of groups in at least 95 of 100 cases; each group counts once, with its median. `None`
/// for fewer than six groups, of which no two values make such an interval.
#[must_use]
pub fn median_interval(sample: &Sample) -> Option<(f64, f64)> {
    let values = sorted(sample.medians());
    let outside = values_outside(values.len())?;
    Some((values[outside], values[values.len() - 1 - outside]))
}

/// How many of `count` ordered values may be left out on each side: the number of successes of a binomial distribution with
/// chance 1/2 that is exceeded but for [`OUTSIDE`].
fn values_outside(count: usize) -> Option<usize> {
    let n = count as f64;
    // Logarithms: powers of 1/2 vanish for more than a thousand values.
    let mut ln_chance = -n * std::f64::consts::LN_2;
    let mut below = 0.0;
    for successes in 0..count {
        below += ln_chance.exp();
        if below > OUTSIDE {
            return successes.checked_sub(1);
        }
        ln_chance += ((n - successes as f64) / (successes as f64 + 1.0)).ln();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn ranks_are_those_of_tables() {
        // Conover, Practical Nonparametric Statistics: 95 % intervals of the median.
        for (count, outside) in [(6, 0), (9, 1), (10, 1), (20, 5), (50, 17), (100, 39)] {
            assert_eq!(values_outside(count), Some(outside), "{count}");
        }
        assert!((0..6).all(|count| values_outside(count).is_none()));
        assert!(values_outside(100_000).is_some_and(|outside| (49_600..49_700).contains(&outside)));
    }

    #[test]
    fn the_true_median_is_mostly_inside() {
        let mut random = Random::new(11);
        let covered = (0..2000).filter(|_| {
            let groups = (0..25).map(|_| vec![random.below(1_000_001) as f64]).collect();
            let (low, high) = median_interval(&Sample::new(groups)).unwrap();
            (low..=high).contains(&500_000.0)
        });
        assert!((1890..=1980).contains(&covered.count()));
    }
}
