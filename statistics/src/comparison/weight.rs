//! The change of the share of the values in a mode.

use super::HALF_WIDTH;
use crate::counts_test::fisher;
use crate::rank_test::Chances;
use crate::sample::sorted;

/// The standard normal quantile that 5 % exceed.
pub(super) const ONE_SIDED: f64 = 1.644_854;
/// The one that 10 % exceed: a number of groups decides in eight of ten cases.
pub(super) const TEN_ABOVE: f64 = 1.281_552;

/// The change of the weight of a mode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight {
    pub(super) change: f64,
    /// The lower end of the 95 % confidence interval of the change.
    pub(super) low: f64,
    /// Its upper end.
    pub(super) high: f64,
    /// The probability of a change as large, up or down, if weights are equal.
    pub(super) p_value: f64,
    /// The standard error of the change.
    error: f64,
    /// The mean of both weights.
    mean: f64,
}

impl Weight {
    /// The change between the shares that groups have in a mode. If each group has all or nothing, groups are counted
    /// (Fisher), otherwise the shares are ranked (Mann and Whitney).
    pub(super) fn of([a, b]: [Vec<f64>; 2]) -> Self {
        let (a, b) = (sorted(a), sorted(b));
        let is_whole = a.iter().chain(&b).all(|share| *share == 0.0 || *share == 1.0);
        let p_value = match is_whole {
            true => {
                let hits = [&a, &b].map(|shares| shares.iter().filter(|share| **share > 0.5).count());
                fisher(hits, [a.len(), b.len()])
            }
            false => {
                let chances = Chances::of(&a, 0.0, &b);
                (2.0 * chances.larger.min(chances.smaller)).min(1.0)
            }
        };
        let (mean_a, mean_b) = (mean(&a), mean(&b));
        let change = mean_b - mean_a;
        let error = (variance(&a) + variance(&b)).sqrt();
        let half = HALF_WIDTH * error;
        let (low, high) = ((change - half).max(-1.0), (change + half).min(1.0));
        Weight { change, low, high, p_value, error, mean: mean_a / 2.0 + mean_b / 2.0 }
    }

    /// The upper end of the one-sided 95 % confidence interval of the change of a share, given how many of the groups of
    /// each sample count.
    pub(super) fn most_of_counts(counts: [usize; 2], sizes: [usize; 2]) -> f64 {
        let shares = [0, 1].map(|side| counts[side] as f64 / sizes[side].max(1) as f64);
        let variances = [0, 1].map(|side| {
            let n = sizes[side] as f64;
            variance_of(n * shares[side] * (1.0 - shares[side]), n)
        });
        shares[1] - shares[0] + ONE_SIDED * (variances[0] + variances[1]).sqrt()
    }

    /// The lower end of the one-sided 95 % confidence interval of the change.
    pub(super) fn at_least(&self) -> f64 {
        self.change - ONE_SIDED * self.error
    }

    /// The upper end of the one-sided 95 % confidence interval of the change.
    pub(super) fn at_most(&self) -> f64 {
        self.change + ONE_SIDED * self.error
    }

    /// Whether the true change is less than a limit, up and down: two one-sided tests at 5 %. It is not if there is a
    /// significant change at all.
    pub(super) fn is_within(&self, limit: f64) -> bool {
        let holds_nothing = self.low <= 0.0 && self.high >= 0.0;
        holds_nothing && self.at_most() <= limit && self.at_least() >= -limit
    }

    /// The number of groups of each sample that show in eight of ten cases that a weight like this changed by less than
    /// a limit. If there are as many already, the number follows from the distance of the change from the limit.
    pub(super) fn deciding_groups(&self, limit: f64, groups: f64) -> f64 {
        let z = ONE_SIDED + TEN_ABOVE;
        let unchanged = 2.0 * self.mean * (1.0 - self.mean) * (z / limit) * (z / limit);
        if unchanged > groups { unchanged } else { self.groups_by_distance(limit, groups) }
    }

    /// The number of groups of each sample that show in eight of ten cases on which side of a limit a change like this is.
    pub(super) fn groups_by_distance(&self, limit: f64, groups: f64) -> f64 {
        let distance = (limit - self.change.abs()).abs();
        groups * ((ONE_SIDED + TEN_ABOVE) * self.error / distance).powi(2).max(1.0) + 1.0
    }
}

fn mean(shares: &[f64]) -> f64 {
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}

fn variance(shares: &[f64]) -> f64 {
    let mean = mean(shares);
    variance_of(shares.iter().map(|share| (share - mean) * (share - mean)).sum(), shares.len() as f64)
}

/// The variance of the mean of `n` shares with this sum of squares. If a mode has none or all of the values, one more was
/// possible (Agresti and Caffo 2000).
fn variance_of(squares: f64, n: f64) -> f64 {
    (squares + 0.5) / (n + 1.0) / n.max(1.0)
}
