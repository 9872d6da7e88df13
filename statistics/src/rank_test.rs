//! Whether values of one sample are larger than those of another, and by how much.
//!
//! The test is that of Mann and Whitney (1947): exact for small samples without equal values, otherwise the normal
//! approximation with corrections for ties and continuity. The shift is the estimate of Hodges and Lehmann (1963): the
//! median of all differences, with the interval that the test gives.

use std::borrow::Cow;

use crate::sample::midpoint;
use crate::tails;

/// More values are thinned for the shift.
const MOST_VALUES: usize = 4000;
/// Up to this many values on each side the distribution is exact.
const EXACT: usize = 20;
/// The standard normal number that 2.5 % are above.
const TWO_SIDED_95: f64 = 1.959_963_984_540_054;

/// The chances of values as large, and as small, as those of one sample relative to those of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chances {
    /// A small one says that the values tend to be larger.
    pub(crate) larger: f64,
    /// A small one says that the values tend to be smaller.
    pub(crate) smaller: f64,
}

impl Chances {
    /// Of `b`, relative to `a` with `by` added to each value, if both have the same distribution. Both are ascending. 1 if
    /// a side is empty. Linear time.
    pub(crate) fn of(a: &[f64], by: f64, b: &[f64]) -> Self {
        if a.is_empty() || b.is_empty() {
            return Chances { larger: 1.0, smaller: 1.0 };
        }
        let (m, n) = (a.len() as f64, b.len() as f64);
        let (u, ties) = wins(a, by, b);
        if ties == 0.0 && a.len() <= EXACT && b.len() <= EXACT {
            let counts = counts(a.len(), b.len());
            let tail = |u: f64| exact_tail(&counts, u as usize);
            return Chances { larger: tail(u), smaller: tail(m * n - u) };
        }
        let total = m + n;
        let variance = m * n / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
        if variance <= 0.0 {
            return Chances { larger: 1.0, smaller: 1.0 };
        }
        let tail = |u: f64| tails::normal((u - m * n / 2.0 - 0.5) / variance.sqrt());
        Chances { larger: tail(u), smaller: tail(m * n - u) }
    }
}

/// The smallest chance that there is for this many values: that of all orders, the values of one side are all larger. 0 where
/// chances are not exact.
pub(crate) fn least_chance(m: usize, n: usize) -> f64 {
    if m.max(n) > EXACT {
        return 0.0;
    }
    1.0 / (1..=n).fold(1.0, |orders, at| orders * (m + at) as f64 / at as f64)
}

/// U: how many pairs there are in which `b` is larger than `a` plus `by`, equal ones being half; and Σ t³ − t over the
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
            // Values so large that their sum is not a number that can be compared.
            break;
        }
        u += equal_b as f64 * (i as f64 + equal_a as f64 / 2.0);
        let t = (equal_a + equal_b) as f64;
        ties += t * t * t - t;
        (i, j) = (i + equal_a, j + equal_b);
    }
    (u, ties)
}

/// The chance that U is at least `u`, without ties.
fn exact_tail(counts: &[f64], u: usize) -> f64 {
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
    /// The shift from `a` to `b`, both ascending; `None` if a side is empty or a difference is not finite. Time grows with
    /// m + n, not with the number of differences.
    pub(crate) fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        let (least, most) = (b.first()? - a.last()?, b.last()? - a.first()?);
        if !least.is_finite() || !most.is_finite() {
            return None;
        }
        let (m, n) = (a.len() as f64, b.len() as f64);
        let half = TWO_SIDED_95 * (m * n * (m + n + 1.0) / 12.0).sqrt();
        let (few_a, few_b) = (thinned(a), thinned(b));
        let differences = Differences { a: &few_a, b: &few_b };
        let count = few_a.len() * few_b.len();
        // Below the quantile of U there are as many differences as lie outside of the interval on one side: this part of all.
        let outside = (m * n / 2.0 - half).max(0.0) * (count as f64 / (m * n));
        let last = count - 1;
        let outside = (outside.floor() as usize).min(last);
        let at = |place: usize| differences.at(place);
        let (low, high) = (at(outside), at(last - outside));
        let estimate = midpoint(at(last / 2), at(last.div_ceil(2)));
        Some(Shift { estimate, low: low.min(high), high: high.max(low) })
    }
}

/// Values at equal distances in order, where there are very many.
fn thinned(ascending: &[f64]) -> Cow<'_, [f64]> {
    if ascending.len() <= MOST_VALUES {
        return Cow::Borrowed(ascending);
    }
    (0..MOST_VALUES).map(|at| ascending[(2 * at + 1) * ascending.len() / (2 * MOST_VALUES)]).collect()
}

/// All differences of values, in ascending order, without a list of them.
struct Differences<'v> {
    a: &'v [f64],
    b: &'v [f64],
}

impl Differences<'_> {
    /// How many are at most `limit`: for larger values of `b`, the first value of `a` that is close enough is larger.
    fn up_to(&self, limit: f64) -> usize {
        let mut first = 0;
        let close = |new: &f64| {
            while first < self.a.len() && new - self.a[first] > limit {
                first += 1;
            }
            self.a.len() - first
        };
        self.b.iter().map(close).sum()
    }

    /// The one at a place from 0, by halving the numbers that it may be: a 64-bit number takes 64 steps.
    fn at(&self, place: usize) -> f64 {
        let (mut low, mut high) = (ordered(-f64::MAX), ordered(f64::MAX));
        while low < high {
            let middle = ((i128::from(low) + i128::from(high)).div_euclid(2)) as i64;
            if self.up_to(of_ordered(middle)) > place { high = middle } else { low = middle + 1 }
        }
        of_ordered(low)
    }
}

/// A whole number that is larger if and only if the number is: negative numbers have their bits below the sign inverted.
fn ordered(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// The number of an ordered whole number.
fn of_ordered(ordered: i64) -> f64 {
    f64::from_bits((ordered ^ ((ordered >> 63).cast_unsigned() >> 1).cast_signed()).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::sample::{median, sorted};

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
            let (m, n) = (1 + random.place(6), 1 + random.place(6));
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
    fn the_shift_is_the_median_of_all_differences() {
        let shift = Shift::of(&[1.0, 2.0, 3.0], &[11.0, 12.5, 13.0]).unwrap();
        assert_eq!(shift.estimate, 10.0);
        assert!(shift.low <= 10.0 && shift.high >= 10.0);
        assert_eq!(Shift::of(&[5.0; 4], &[5.0; 4]), Some(Shift { estimate: 0.0, low: 0.0, high: 0.0 }));
        assert_eq!(Shift::of(&[], &[1.0]), None);
        assert_eq!(Shift::of(&[-f64::MAX], &[f64::MAX]), None);
    }

    #[test]
    fn differences_are_found_without_a_list() {
        let mut random = Random::new(6);
        for _ in 0..50 {
            let mut values = |count: usize| sorted((0..count).map(|_| random.below(40) as f64 / 7.0 - 2.0).collect());
            let (a, b) = (values(9), values(12));
            let all = sorted(a.iter().flat_map(|a| b.iter().map(move |b| b - a)).collect());
            let differences = Differences { a: &a, b: &b };
            assert!((0..all.len()).all(|place| differences.at(place) == all[place]));
            assert_eq!(Shift::of(&a, &b).unwrap().estimate, median(&all));
        }
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
