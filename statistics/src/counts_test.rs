//! Whether two counts differ by more than chance: Fisher's exact test (1922).

use crate::tails::ln_choose;

/// The two-sided p-value of `hits` of `total` on one side and on the other: the chance of all tables that are at most as
/// likely as this one.
pub(crate) fn fisher(hits: [usize; 2], totals: [usize; 2]) -> f64 {
    let [a, b] = hits.map(|hits| hits as u64);
    let [n_a, n_b] = totals.map(|total| total as u64);
    let chosen = a + b;
    let all = ln_choose(n_a + n_b, chosen);
    let chance = |a: u64| (ln_choose(n_a, a) + ln_choose(n_b, chosen - a) - all).exp();
    let observed = chance(a);
    let possible = chosen.saturating_sub(n_b)..=chosen.min(n_a);
    // The tolerance is that of R: equal chances may differ in their last digits.
    possible.map(chance).filter(|chance| *chance <= observed * (1.0 + 1e-7)).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_chance() {
        assert!((fisher([5, 5], [10, 10]) - 1.0).abs() < 1e-12);
        assert!((fisher([0, 0], [10, 10]) - 1.0).abs() < 1e-12);
        // 2 / C(20, 10): all hits on one side.
        assert!((fisher([10, 0], [10, 10]) - 2.0 / 184_756.0).abs() < 1e-15);
    }
}
