//! How much more of the values are in a mode.

use super::HALF_WIDTH;
use crate::counts_test::fisher;
use crate::rank_test::Chances;
use crate::sample::sorted;

/// The change of the weight of a mode.
pub(super) struct Weight {
    pub(super) change: f64,
    /// The interval that holds the true change in 95 of 100 cases.
    pub(super) low: f64,
    /// Its upper end.
    pub(super) high: f64,
    /// The chance of a change as large, up or down, if weights are equal.
    pub(super) p_value: f64,
}

impl Weight {
    /// The change between the parts that groups have in a mode. Where each group has all or nothing, groups are counted
    /// (Fisher), otherwise the parts are ranked (Mann and Whitney).
    pub(super) fn of([a, b]: [Vec<f64>; 2]) -> Self {
        let (a, b) = (sorted(a), sorted(b));
        let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        let variance = |shares: &[f64]| {
            let mean = mean(shares);
            let squares: f64 = shares.iter().map(|share| (share - mean) * (share - mean)).sum();
            let n = shares.len() as f64;
            // Of a mode that has none or all of the values, one more would have been possible (Agresti and Caffo 2000).
            (squares + 0.5) / (n + 1.0) / n.max(1.0)
        };
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
        let change = mean(&b) - mean(&a);
        let half = HALF_WIDTH * (variance(&a) + variance(&b)).sqrt();
        Weight { change, low: (change - half).max(-1.0), high: (change + half).min(1.0), p_value }
    }
}
