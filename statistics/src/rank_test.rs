//! Whether values of one sample are larger than those of another, and by how much.
//!
//! The test is that of Mann and Whitney (1947): exact for small samples without equal values, otherwise the normal
//! approximation with corrections for ties and continuity. The shift is the estimate of Hodges and Lehmann (1963): the
//! median of all differences, with the interval that the test gives.

use crate::ranks::{midranks, tie_term};
use crate::sample::{median, sorted};
use crate::tails;

/// Up to this many values on each side the distribution is exact.
const EXACT: usize = 20;
/// The standard normal number that 2.5 % are above.
const TWO_SIDED_95: f64 = 1.959_963_984_540_054;
/// More differences than this are thinned.
const MOST_DIFFERENCES: usize = 4_000_000;

/// The chance of values as large as `b`, relative to `a`, if both have the same distribution: a small one says that
/// values of `b` tend to be larger. 1 if a side is empty.
pub(crate) fn larger(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let ranks = midranks(&all);
    let (m, n) = (a.len() as f64, b.len() as f64);
    let u = ranks[a.len()..].iter().sum::<f64>() - n * (n + 1.0) / 2.0;
    let ties = tie_term(&all);
    if ties == 0.0 && a.len() <= EXACT && b.len() <= EXACT {
        return exact_tail(a.len(), b.len(), u as usize);
    }
    let total = m + n;
    let variance = m * n / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    tails::normal((u - m * n / 2.0 - 0.5) / variance.sqrt())
}

/// The chance that U is at least `u`, without ties.
fn exact_tail(m: usize, n: usize, u: usize) -> f64 {
    let counts = counts(m, n);
    let all: f64 = counts.iter().sum();
    counts.iter().skip(u).sum::<f64>() / all
}

/// How many orders of `m` and `n` values have each U: of the largest value, one is of the first or of the second side.
fn counts(m: usize, n: usize) -> Vec<f64> {
    // rows[i][u]: orders of i values of the first side and j of the second, where j grows.
    let most = m * n;
    let mut rows = vec![vec![0.0; most + 1]; m + 1];
    rows.iter_mut().for_each(|row| row[0] = 1.0);
    for _ in 1..=n {
        for i in 1..=m {
            // The largest is of the second side: it is above i values; or of the first side.
            let (before, rest) = rows.split_at_mut(i);
            let (with_fewer, row) = (&before[i - 1], &mut rest[0]);
            for u in (0..=most).rev() {
                let above = if u >= i { row[u - i] } else { 0.0 };
                row[u] = above + with_fewer[u];
            }
        }
    }
    rows.pop().unwrap_or_default()
}

/// How much larger values of `b` are than those of `a`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shift {
    /// The estimate.
    pub(crate) estimate: f64,
    /// The interval that holds the true shift in 95 of 100 cases.
    pub(crate) low: f64,
    /// Its upper end.
    pub(crate) high: f64,
}

impl Shift {
    /// The shift from `a` to `b`; `None` if a side is empty or a difference is not finite.
    pub(crate) fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        let (a, b) = (thinned(a), thinned(b));
        let differences = sorted(a.iter().flat_map(|a| b.iter().map(move |b| b - a)).collect());
        if differences.is_empty() || differences.iter().any(|difference| !difference.is_finite()) {
            return None;
        }
        let (m, n) = (a.len() as f64, b.len() as f64);
        let half = TWO_SIDED_95 * (m * n * (m + n + 1.0) / 12.0).sqrt();
        // Below the quantile of U there are as many differences as lie outside of the interval on one side.
        let outside = ((m * n / 2.0 - half).floor().max(0.0) as usize).min(differences.len() - 1);
        let (low, high) = (differences[outside], differences[differences.len() - 1 - outside]);
        Some(Shift { estimate: median(&differences), low: low.min(high), high: high.max(low) })
    }
}

/// Values at equal distances in order, where all differences would be too many.
fn thinned(values: &[f64]) -> Vec<f64> {
    let most = MOST_DIFFERENCES.isqrt();
    let values = sorted(values.to_vec());
    if values.len() <= most {
        return values;
    }
    (0..most).map(|at| values[(2 * at + 1) * values.len() / (2 * most)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The p-value by the definition: every choice of places for `b`.
    fn by_enumeration(a: &[f64], b: &[f64]) -> f64 {
        let all: Vec<f64> = a.iter().chain(b).copied().collect();
        let wins = |chosen: u32| {
            let is_b = |at: usize| chosen >> at & 1 == 1;
            let pairs = (0..all.len()).flat_map(|i| (0..all.len()).map(move |j| (i, j)));
            pairs.filter(|&(i, j)| is_b(i) && !is_b(j) && all[i] > all[j]).count()
        };
        let observed = wins(((1 << all.len()) - 1) ^ ((1 << a.len()) - 1));
        let choices = (0..1_u32 << all.len()).filter(|chosen| chosen.count_ones() as usize == b.len());
        let (mut as_large, mut total) = (0.0, 0.0);
        for chosen in choices {
            total += 1.0;
            as_large += f64::from(u8::from(wins(chosen) >= observed));
        }
        as_large / total
    }

    #[test]
    fn the_exact_distribution_equals_its_definition() {
        let mut random = Random::new(5);
        for _ in 0..60 {
            let (m, n) = (1 + random.place(6), 1 + random.place(6));
            let mut values: Vec<f64> = (0..m + n).map(|value| value as f64).collect();
            random.shuffle(&mut values);
            let (a, b) = values.split_at(m);
            let (found, expected) = (larger(a, b), by_enumeration(a, b));
            assert!((found - expected).abs() < 1e-12, "{a:?} {b:?}: {found} {expected}");
        }
    }

    #[test]
    fn the_shift_is_the_median_of_all_differences() {
        let shift = Shift::of(&[1.0, 2.0, 3.0], &[11.0, 13.0, 12.5]).unwrap();
        assert_eq!(shift.estimate, 10.0);
        assert!(shift.low <= 10.0 && shift.high >= 10.0);
        assert_eq!(Shift::of(&[5.0; 4], &[5.0; 4]), Some(Shift { estimate: 0.0, low: 0.0, high: 0.0 }));
        assert_eq!(Shift::of(&[], &[1.0]), None);
        assert_eq!(Shift::of(&[-f64::MAX], &[f64::MAX]), None);
    }

    #[test]
    fn nothing_is_larger_than_its_equal() {
        assert_eq!(larger(&[1.0; 5], &[1.0; 5]), 1.0);
        assert_eq!(larger(&[], &[1.0]), 1.0);
        assert!(larger(&[1.0; 30], &[2.0; 30]) < 1e-9 && larger(&[2.0; 30], &[1.0; 30]) > 0.999);
    }
}
