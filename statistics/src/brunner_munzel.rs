//! Whether values of one sample tend to be larger than those of another, where their spreads may differ: the test of
//! Brunner and Munzel (2000), with their approximation by Student's distribution.
//!
//! Mann and Whitney's test asks whether two distributions are the same. If one sample is small and wide and the other
//! is large and narrow, it finds that they are not, although neither tends to be larger. This test estimates the
//! variance of the share of wins from the ranks of each sample's values among those of the other.

use crate::rank_test::Chances;
use crate::tails;

/// The probability that values of the second sample are larger, with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tendency {
    /// The share of all pairs in which the second is larger; ties count half.
    pub(crate) share: f64,
    /// The variance of this estimate.
    pub(crate) variance: f64,
    /// Its degrees of freedom.
    pub(crate) freedom: f64,
}

impl Tendency {
    /// The tendency of `b` relative to `a` with `by` added to each value; both are ascending. `None` if a side has
    /// fewer than two values. Linear time.
    pub(crate) fn of(a: &[f64], by: f64, b: &[f64]) -> Option<Self> {
        if a.len() < 2 || b.len() < 2 {
            return None;
        }
        let moved: Vec<f64> = a.iter().map(|value| value + by).collect();
        let (of_a, of_b) = (placements(&moved, b), placements(b, &moved));
        let [(_, one), (share, other)] = [&of_a, &of_b].map(|placements| mean_and_error(placements));
        let variance = one + other;
        let freedom = match variance > 0.0 {
            true => variance * variance / (one * one / (a.len() - 1) as f64 + other * other / (b.len() - 1) as f64),
            false => (a.len().min(b.len()) - 1) as f64,
        };
        Some(Tendency { share, variance, freedom })
    }

    /// The probability of a share at least as large, and at most as large, if neither side tends to be larger.
    pub(crate) fn chances(self) -> Chances {
        let distance = self.share - 0.5;
        let t = if distance == 0.0 { 0.0 } else { distance / self.variance.sqrt() };
        Chances { larger: tails::student(t, self.freedom), smaller: tails::student(-t, self.freedom) }
    }
}

/// For each value, the share of the others that are smaller; ties count half. Both are ascending.
fn placements(values: &[f64], among: &[f64]) -> Vec<f64> {
    let (mut below, mut up_to) = (0, 0);
    let mut placements = Vec::with_capacity(values.len());
    for value in values {
        while below < among.len() && among[below] < *value {
            below += 1;
        }
        up_to = up_to.max(below);
        while up_to < among.len() && among[up_to] <= *value {
            up_to += 1;
        }
        placements.push((below + up_to) as f64 / (2 * among.len()) as f64);
    }
    placements
}

/// The mean of numbers, and the variance of the mean.
pub(crate) fn mean_and_error(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let squares: f64 = numbers.iter().map(|number| (number - mean) * (number - mean)).sum();
    (mean, squares / (n - 1.0) / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_are_apart_have_no_variance() {
        let apart = Tendency::of(&[1.0, 2.0, 3.0], 0.0, &[4.0, 5.0]).unwrap();
        assert_eq!((apart.share, apart.variance, apart.freedom), (1.0, 0.0, 1.0));
        assert_eq!(apart.chances(), Chances { larger: 0.0, smaller: 1.0 });
        let equal = Tendency::of(&[1.0; 4], 0.0, &[1.0; 4]).unwrap();
        assert_eq!(equal.chances(), Chances { larger: 0.5, smaller: 0.5 });
        assert_eq!(Tendency::of(&[1.0], 0.0, &[2.0, 3.0]), None);
    }
}
