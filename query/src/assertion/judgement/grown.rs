//! Growth of a number over snapshots, beside a limit.

use barrow_analyzer::{Judgement as Growth, Reason, SURE_POINTS, Verdict as Said};

use super::Verdict;
use crate::assertion::Comparison;
use crate::tables::series;

/// A number in each of several snapshots.
pub(in crate::assertion) struct Grown {
    /// Snapshots with the number in each.
    pub(in crate::assertion) points: Vec<(f64, f64)>,
    /// The judgement of `growth` and `trend`, by the order of snapshots.
    pub(in crate::assertion) growth: Growth,
}

impl Grown {
    pub(in crate::assertion) fn of(points: Vec<(f64, f64)>) -> Self {
        let growth = Growth::of(&points.iter().map(|&(_, found)| found).collect::<Vec<_>>());
        Grown { points, growth }
    }

    /// The interval of the slope.
    pub(in crate::assertion) fn interval(growth: &Growth) -> (f64, f64) {
        growth.trend.interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY))
    }

    /// The judgement in words, unless the numbers seem not to grow at all.
    pub(in crate::assertion) fn said(&self) -> Option<&'static str> {
        (self.growth.verdict != Said::DoesNot(Reason::Chance)).then(|| series::words(self.growth.verdict))
    }

    /// Growth breaks a limit only if it is judged to grow and its whole interval lies beyond. It is undecided if the
    /// interval lies beyond and nothing is judged to grow, or if too few snapshots rise each time to be sure.
    pub(in crate::assertion) fn verdict(&self, comparison: Comparison, limit: f64) -> Verdict {
        let said = series::words(self.growth.verdict);
        if !lies_beyond(&self.growth, comparison, limit) {
            return Verdict::Holds;
        }
        if !breaks(&self.growth, comparison, limit) {
            return Verdict::Undecided(format!("its interval lies beyond the limit, but it {said}"));
        }
        if self.growth.verdict == Said::RisesEachTime {
            let count = self.points.len();
            let why = format!("it {said}: {SURE_POINTS} snapshots are needed, and there are {count}");
            return Verdict::Undecided(why);
        }
        Verdict::Fails
    }
}

/// Returns whether growth breaks a limit. Only objects that grow, or rise each time, can be too many.
fn breaks(growth: &Growth, comparison: Comparison, limit: f64) -> bool {
    let grows = matches!(growth.verdict, Said::Grows | Said::RisesEachTime);
    (grows || !matches!(comparison, Comparison::Less | Comparison::AtMost)) && lies_beyond(growth, comparison, limit)
}

/// Returns whether the whole interval of the slope breaks a limit.
fn lies_beyond(growth: &Growth, comparison: Comparison, limit: f64) -> bool {
    let (low, high) = Grown::interval(growth);
    !comparison.may_hold(low, high, limit)
}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    /// The number of series, of 1000 with 20 snapshots and noise of 2 % either way, for which `growth <= 0` is false.
    fn alarms(level: impl Fn(usize) -> f64) -> usize {
        let mut random = Random::new(5);
        let mut noise = || 0.98 + random.below(1001) as f64 / 25_000.0;
        let series = (0..1000).map(|_| (0..20).map(|at| level(at) * noise()).collect::<Vec<_>>());
        series.filter(|values| breaks(&Growth::of(values), Comparison::AtMost, 0.0)).count()
    }

    #[test]
    fn a_leak_is_told_from_noise_and_from_warm_ups() {
        let leak = alarms(|at| 1e6 * (1.0 + 0.02 * at as f64));
        let none = alarms(|_| 1e6);
        let warm_up = alarms(|at| 1e6 * (1.0 - 0.5 * 0.3f64.powi(at as i32)));
        let sawtooth = alarms(|at| 1e6 * (1.0 + 0.1 * (at % 5) as f64));
        let found = format!("leak {leak}, none {none}, warm-up {warm_up}, sawtooth {sawtooth}");
        assert!(leak >= 900 && none == 0 && warm_up == 0 && sawtooth == 0, "{found}");
    }
}
