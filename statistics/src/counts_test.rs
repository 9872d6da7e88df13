//! Whether two counts differ by more than chance: Fisher's exact test (1922).

use crate::tails::ln_choose;

/// The two-sided p-value of `hits` of `totals` on both sides: the probability of all tables that are at most as likely
/// as this one.
pub(crate) fn fisher(hits: [usize; 2], totals: [usize; 2]) -> f64 {
    let [a, b] = hits.map(|hits| hits as u64);
    let [n_a, n_b] = totals.map(|total| total as u64);
    let chosen = a + b;
    let all = ln_choose(n_a + n_b, chosen);
    let chance = |a: u64| (ln_choose(n_a, a) + ln_choose(n_b, chosen - a) - all).exp();
    let observed = chance(a);
    // Tables farther than 40 standard deviations from the mean have a probability that underflows.
    let (total, of_a) = ((n_a + n_b).max(2) as f64, n_a as f64);
    let mean = chosen as f64 * of_a / total;
    let variance = mean * (1.0 - of_a / total) * (total - chosen as f64) / (total - 1.0);
    let far = 40.0 * variance.max(0.0).sqrt() + 50.0;
    let least = chosen.saturating_sub(n_b).max((mean - far).max(0.0) as u64);
    let possible = least..=chosen.min(n_a).min((mean + far) as u64);
    // The tolerance is that of R: equal probabilities may differ in their last digits.
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
