//! Whether values of one sample are larger than those of another: the test of Mann and Whitney (1947), exact for small
//! samples without equal values, otherwise the normal approximation with corrections for ties and continuity.

use crate::tails;

/// Maximum number of values on each side for the exact distribution.
const EXACT: usize = 20;

/// The probabilities of values at least as large, and at most as large, as those of one sample relative to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chances {
    /// If small, the values tend to be larger.
    pub(crate) larger: f64,
    /// If small, the values tend to be smaller.
    pub(crate) smaller: f64,
}

impl Chances {
    /// The probabilities for `b`, relative to `a` with `by` added to each value, if both have the same distribution.
    /// Both are ascending. 1 if a side is empty. Linear time.
    pub(crate) fn of(a: &[f64], by: f64, b: &[f64]) -> Self {
        if a.is_empty() || b.is_empty() {
            return Chances { larger: 1.0, smaller: 1.0 };
        }
        let (m, n) = (a.len() as f64, b.len() as f64);
        let (u, ties) = wins(a, by, b);
        if ties == 0.0 && a.len() <= EXACT && b.len() <= EXACT {
            let counts = counts(a.len(), b.len());
            let [larger, smaller] = [u, m * n - u].map(|u| exact_tail(&counts, u as usize));
            return Chances { larger, smaller };
        }
        let total = m + n;
        let variance = m * n / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
        if variance <= 0.0 {
            return Chances { larger: 1.0, smaller: 1.0 };
        }
        let [larger, smaller] = [u, m * n - u].map(|u| tails::normal((u - m * n / 2.0 - 0.5) / variance.sqrt()));
        Chances { larger, smaller }
    }
}

/// The smallest possible probability for this many values: that all values of one side are larger. 0 where the
/// distribution is not exact.
pub(crate) fn least_chance(m: usize, n: usize) -> f64 {
    if m.max(n) > EXACT {
        return 0.0;
    }
    1.0 / (1..=n).fold(1.0, |orders, at| orders * (m + at) as f64 / at as f64)
}

/// U: the number of pairs in which `b` is larger than `a` plus `by`, with ties counting half; and Σ t³ − t over the
/// numbers t of equal values.
fn wins(a: &[f64], by: f64, b: &[f64]) -> (f64, f64) {
    let (mut u, mut ties) = (0.0, 0.0);
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let old = a.get(i).map_or(f64::INFINITY, |value| value + by);
        let new = b.get(j).copied().unwrap_or(f64::INFINITY);
        let value = old.min(new);
        let equal_a = a[i..].iter().take_while(|one| **one + by <= value).count();
        let equal_b = b[j..].iter().take_while(|one| **one <= value).count();
        if equal_a + equal_b == 0 {
            // The sum of these large values is not comparable.
            break;
        }
        u += equal_b as f64 * (i as f64 + equal_a as f64 / 2.0);
        let t = (equal_a + equal_b) as f64;
        ties += t * t * t - t;
        (i, j) = (i + equal_a, j + equal_b);
    }
    (u, ties)
}

/// The probability that U is at least `u`, without ties.
fn exact_tail(counts: &[f64], u: usize) -> f64 {
    let all: f64 = counts.iter().sum();
    counts.iter().skip(u).sum::<f64>() / all
}

/// The number of orders of `m` and `n` values for each U; the largest value is of the first or of the second side.
fn counts(m: usize, n: usize) -> Vec<f64> {
    // rows[i][u]: orders of i values of the first side and j of the second, where j grows.
    let most = m * n;
    let mut rows = vec![vec![0.0; most + 1]; m + 1];
    rows.iter_mut().for_each(|row| row[0] = 1.0);
    for _ in 1..=n {
        for i in 1..=m {
            // The largest is of the second side, above i values, or of the first side.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::sample::sorted;

    fn larger(a: &[f64], b: &[f64]) -> f64 {
        Chances::of(&sorted(a.to_vec()), 0.0, &sorted(b.to_vec())).larger
    }

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
            let (m, n) = (1 + random.position(6), 1 + random.position(6));
            let mut values: Vec<f64> = (0..m + n).map(|value| value as f64).collect();
            random.shuffle(&mut values);
            let (a, b) = values.split_at(m);
            let (found, expected) = (larger(a, b), by_enumeration(a, b));
            assert!((found - expected).abs() < 1e-12, "{a:?} {b:?}: {found} {expected}");
        }
    }

    #[test]
    fn the_least_chance_is_that_of_samples_that_are_apart() {
        for (m, n) in [(1, 1), (5, 6), (6, 5), (7, 5), (20, 20), (3, 0), (0, 3)] {
            let values =
                |from: usize, count: usize| (from..from + count).map(|value| value as f64).collect::<Vec<f64>>();
            assert_eq!(least_chance(m, n), Chances::of(&values(0, m), 0.0, &values(m, n)).larger, "{m} {n}");
        }
        assert_eq!(least_chance(21, 3), 0.0);
    }

    #[test]
    fn a_margin_is_added_to_the_first_sample() {
        let (a, b) = ([1.0, 2.0, 4.0, 4.0], [3.0, 3.0, 5.0, 9.0]);
        let moved = a.map(|value| value + 2.0);
        assert_eq!(Chances::of(&a, 2.0, &b), Chances::of(&moved, 0.0, &b));
        let turned = Chances::of(&b, 0.0, &moved);
        assert_eq!(Chances::of(&a, 2.0, &b), Chances { larger: turned.smaller, smaller: turned.larger });
    }

    #[test]
    fn nothing_is_larger_than_its_equal() {
        assert_eq!(larger(&[1.0; 5], &[1.0; 5]), 1.0);
        assert_eq!(larger(&[], &[1.0]), 1.0);
        assert!(larger(&[1.0; 30], &[2.0; 30]) < 1e-9 && larger(&[2.0; 30], &[1.0; 30]) > 0.999);
    }
}
