//! The dip of Hartigan and Hartigan (1985): how far values are from any distribution with one mode.
//!
//! ```text
//!   1 ┤            ,─●   least concave majorant of the distribution's right part
//!     │         ,●─╯
//!     │      ╭●─          in between a straight line, where the mode is
//!     │  __╭●
//!   0 ┤●─╯               greatest convex minorant of the left part
//! ```
//!
//! The dip is half of the largest distance that such a curve must have. Its p-value is that of uniform values, which
//! asymptotically have the largest dips of all distributions with one mode. It is a second opinion: it tells whether
//! there are several modes, not how many, and it misses a mode with few values.

mod table;

use crate::sample::Sample;

/// The dip of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dip {
    /// The distance to the nearest distribution with one mode, at most 1/4.
    pub statistic: f64,
    /// The probability that uniform values have as large a dip, from a table of simulated ones: between 0.001 and 1.
    pub p_value: f64,
}

/// The dip of a sample with one value per group, the median, if groups differ, and of all values otherwise. `None` for
/// fewer than four values. Takes O(n log n) time for n values.
#[must_use]
pub fn dip(sample: &Sample) -> Option<Dip> {
    let values = match sample.has_group_effect() {
        true => crate::sample::sorted(sample.medians()),
        false => sample.sorted(),
    };
    let statistic = statistic(&values)?;
    Some(Dip { statistic, p_value: table::p_value(statistic, values.len()) })
}

/// The dip of ascending values. `None` for fewer than four, for which it is meaningless.
pub(crate) fn statistic(sorted: &[f64]) -> Option<f64> {
    const LEAST: usize = 4;
    let n = sorted.len();
    if n < LEAST {
        return None;
    }
    // Halves, because differences may overflow. Heights are numbers of values: before a value, and up to it.
    let values: Vec<f64> = sorted.iter().map(|value| value / 2.0).collect();
    let (mut low, mut high) = (0, n - 1);
    let mut dip = 1.0_f64;
    while values[low] < values[high] {
        let minorant = Hull::of(&values, low, high, -1.0, 0.0);
        let majorant = Hull::of(&values, low, high, 1.0, 1.0);
        let (distance, interval) = widest(&values, &minorant, &majorant);
        if distance <= dip {
            break;
        }
        let left = (low..=interval.0).map(|at| at as f64 + 1.0 - minorant.height(&values, values[at]));
        let right = (interval.1..=high).map(|at| majorant.height(&values, values[at]) - at as f64);
        dip = left.chain(right).fold(dip, f64::max);
        if interval == (low, high) {
            break;
        }
        (low, high) = interval;
    }
    Some(dip / (2.0 * n as f64))
}

/// The corners of a convex curve below the points of a distribution, or of a concave one above them.
struct Hull {
    corners: Vec<usize>,
    /// Added to the place of a value: 0 for the number of values before it, 1 for those up to it.
    raised: f64,
}

impl Hull {
    /// The hull of the values from `low` to `high`: below for `side` -1, above for 1.
    fn of(values: &[f64], low: usize, high: usize, side: f64, raised: f64) -> Self {
        let mut corners: Vec<usize> = Vec::new();
        for at in low..=high {
            // Of equal values the first is the lowest, and the last is the highest.
            let is_inner = match side < 0.0 {
                true => at != low && values[at - 1] >= values[at],
                false => at != high && values[at] >= values[at + 1],
            };
            if is_inner {
                continue;
            }
            while let [.., before, last] = corners[..] {
                let (run, rise) = (values[last] - values[before], (last - before) as f64);
                let (next_run, next_rise) = (values[at] - values[last], (at - last) as f64);
                if side * (next_rise * run - rise * next_run) < 0.0 {
                    break;
                }
                corners.pop();
            }
            corners.push(at);
        }
        Hull { corners, raised }
    }

    /// Its height at a value between its ends.
    fn height(&self, values: &[f64], value: f64) -> f64 {
        let after = self.corners.partition_point(|&corner| values[corner] < value).min(self.corners.len() - 1);
        let to = self.corners[after];
        if after == 0 || values[to] <= value {
            return to as f64 + self.raised;
        }
        let from = self.corners[after - 1];
        let part = (value - values[from]) / (values[to] - values[from]);
        from as f64 + self.raised + part * (to - from) as f64
    }
}

/// The largest distance between both hulls, and the corners around it: of the minorant on the left, of the majorant on
/// the right.
fn widest(values: &[f64], minorant: &Hull, majorant: &Hull) -> (f64, (usize, usize)) {
    let of_minorant = minorant.corners.iter().map(|&corner| {
        let right = majorant.corners.partition_point(|&other| values[other] < values[corner]);
        let right = majorant.corners[right.min(majorant.corners.len() - 1)];
        (majorant.height(values, values[corner]) - corner as f64, (corner, right))
    });
    let of_majorant = majorant.corners.iter().map(|&corner| {
        let left = minorant.corners.partition_point(|&other| values[other] <= values[corner]);
        let left = minorant.corners[left.saturating_sub(1)];
        (corner as f64 + 1.0 - minorant.height(values, values[corner]), (left, corner))
    });
    of_minorant.chain(of_majorant).fold((f64::MIN, (0, 0)), |best, next| if next.0 > best.0 { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_far_clusters_have_a_large_dip_and_one_has_a_small_one() {
        let sample = |value: &dyn Fn(u32) -> f64| Sample::new((0..60).map(|at| vec![value(at)]).collect());
        let two = dip(&sample(&|at| f64::from(at % 2) * 100.0 + f64::from(at))).unwrap();
        assert!(two.statistic > 0.1 && two.p_value < 0.01, "{two:?}");
        let one = dip(&sample(&f64::from)).unwrap();
        assert!(one.statistic < 0.01 && one.p_value > 0.9, "{one:?}");
        assert_eq!(dip(&Sample::new(vec![vec![1.0, 2.0, 3.0]])), None);
        assert_eq!(dip(&sample(&|_| 7.0)).unwrap().statistic, 1.0 / 120.0);
    }

    #[test]
    fn extreme_values_have_a_dip() {
        let values = [-f64::MAX, -1.0, 0.0, f64::MIN_POSITIVE / 8.0, 1.0, f64::MAX, f64::MAX];
        assert!(statistic(&values).unwrap() <= 0.25);
    }
}
