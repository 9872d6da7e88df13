//! Compares two samples: as a whole, and mode by mode.
//!
//! ```text
//!   modes of A ─┐
//!               ├─▶ matching ──▶ pair: location (two one-sided rank tests), weight (Fisher) ──▶ verdict of the pair
//!   modes of B ─┘        └─────▶ a mode without partner: is it new?                         ──▶ verdict
//! ```
//!
//! Values of a group share a layout, so each group counts once in each mode, with the median of its values there. A
//! median or a mean of all values does not see that a mode of one fifth of the values became slower; its own test does.
//!
//! False alarms are rare because each test must reach 0.5 % divided by the number of pairs, and because a difference
//! must be larger than the threshold, not than 0. `trial_rates` in `benches/` prints the rates.

mod matching;

use crate::counts_test::fisher;
use crate::modes::Modes;
use crate::rank_test::{Shift, larger};
use crate::sample::{Sample, median, sorted};
use matching::matched;

/// The chance of a false alarm of all tests of one kind together.
const SIGNIFICANT: f64 = 0.005;
/// The chance that each of two tests is wrong that say that samples are equal.
const EQUIVALENT: f64 = 0.05;
/// Fewer groups that vary say nothing.
pub const LEAST_GROUPS: usize = 6;
/// Fewer groups that do not vary say nothing.
const LEAST_CONSTANT: usize = 3;
/// Standard normal numbers: that 0.5 % are above, and 10 %; and the half width of an interval of 95 %.
const FOUND_IN_NINE_OF_TEN: f64 = 2.575_829 + 1.281_552;
const HALF_WIDTH: f64 = 1.959_964;

/// Which values are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The smaller ones.
    Lower,
    /// The larger ones.
    Higher,
}

/// The difference that matters: the larger of both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Relative to the location of the first sample.
    pub relative: f64,
    /// In the unit of the values.
    pub floor: f64,
}

impl Threshold {
    fn at(self, location: f64) -> f64 {
        (self.relative * location.abs()).max(self.floor)
    }
}

/// How the second sample differs from the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// By no more than matters.
    Equal,
    /// It is better by more than matters.
    Better,
    /// It is worse by more than matters.
    Worse,
    /// Modes are where they were, and have more or fewer of the values.
    MovedWeight,
    /// The values support no statement.
    Unknown,
}

/// A mode of each sample, or of one that has no partner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModePair {
    /// The mode of the first sample.
    pub a: Option<usize>,
    /// The mode of the second sample.
    pub b: Option<usize>,
    /// How far it is from `a` to `b`; `None` if one has no partner.
    pub location_change: Option<f64>,
    /// The interval that holds the true change in 95 of 100 cases.
    pub location_low: Option<f64>,
    /// Its upper end.
    pub location_high: Option<f64>,
    /// How much more of the values are in `b` than in `a`.
    pub weight_change: f64,
    /// The interval that holds the true change in 95 of 100 cases.
    pub weight_low: f64,
    /// Its upper end.
    pub weight_high: f64,
    /// The verdict on this mode.
    pub verdict: ComparisonVerdict,
}

/// How two samples differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The verdict: that of the worst mode whose difference is significant.
    pub verdict: ComparisonVerdict,
    /// How much larger the second sample is: the estimate of Hodges and Lehmann over the medians of groups.
    pub shift: Option<f64>,
    /// The interval that holds the true shift in 95 of 100 cases.
    pub shift_low: Option<f64>,
    /// Its upper end.
    pub shift_high: Option<f64>,
    /// The modes; one pair if neither sample has several, none if a sample is empty.
    pub modes: Vec<ModePair>,
    /// The smallest shift, relative to the median of the first sample, that samples like these show in nine of ten cases.
    /// `None` if there are too few values.
    pub smallest_detectable: Option<f64>,
}

/// Compares two samples.
#[must_use]
pub fn compare(a: &Sample, b: &Sample, threshold: Threshold, direction: Direction) -> Comparison {
    let (levels_a, levels_b) = (a.medians(), b.medians());
    let shift = Shift::of(&levels_a, &levels_b);
    let sides = [Side::of(a), Side::of(b)];
    let test = Test { threshold, direction };
    let mut modes = test.pairs(&sides);
    let verdict = match test.of_constants(&levels_a, &levels_b) {
        Some(verdict) => {
            modes.iter_mut().for_each(|pair| pair.verdict = verdict);
            verdict
        }
        None if levels_a.len() < LEAST_GROUPS || levels_b.len() < LEAST_GROUPS => {
            modes.iter_mut().for_each(|pair| pair.verdict = ComparisonVerdict::Unknown);
            ComparisonVerdict::Unknown
        }
        None => test.verdict(&modes, &levels_a, &levels_b),
    };
    Comparison {
        verdict,
        shift: shift.map(|shift| shift.estimate),
        shift_low: shift.map(|shift| shift.low),
        shift_high: shift.map(|shift| shift.high),
        modes,
        smallest_detectable: shift.and_then(|shift| detectable(&levels_a, &levels_b, shift, threshold)),
    }
}

/// The smallest relative shift that is found in nine of ten cases.
fn detectable(a: &[f64], b: &[f64], shift: Shift, threshold: Threshold) -> Option<f64> {
    let location = median(&sorted(a.to_vec()));
    let error = (shift.high / 2.0 - shift.low / 2.0) / HALF_WIDTH;
    let smallest = (threshold.at(location) + FOUND_IN_NINE_OF_TEN * error) / location.abs();
    let has_enough = a.len() >= LEAST_GROUPS && b.len() >= LEAST_GROUPS
        || error == 0.0 && a.len() >= LEAST_CONSTANT && b.len() >= LEAST_CONSTANT;
    (has_enough && smallest.is_finite()).then_some(smallest)
}

/// A sample with its modes.
struct Side {
    modes: Modes,
    /// For each group and mode: the median of its values there, and the part of its values that are there.
    parts: Vec<Vec<Part>>,
    /// All groups have one value.
    is_single: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Part {
    level: Option<f64>,
    share: f64,
}

impl Side {
    fn of(sample: &Sample) -> Self {
        let modes = Modes::of(sample);
        let count = modes.modes.len().max(1);
        let part = |group: &Vec<f64>, mode: usize| {
            let is_in = |value: f64| modes.modes.is_empty() || modes.mode_of(value) == Some(mode);
            let values = sorted(group.iter().copied().filter(|&value| is_in(value)).collect());
            let level = (!values.is_empty()).then(|| median(&values));
            Part { level, share: values.len() as f64 / group.len() as f64 }
        };
        let parts = sample.groups().iter().map(|group| (0..count).map(|mode| part(group, mode)).collect());
        let is_single = sample.groups().iter().all(|group| group.len() == 1);
        Side { parts: parts.collect(), modes, is_single }
    }

    /// Modes; one if nothing is known of them.
    fn count(&self) -> usize {
        if self.parts.is_empty() { 0 } else { self.modes.modes.len().max(1) }
    }

    /// What each group has in a mode, for the groups that have values there.
    fn levels(&self, mode: usize) -> Vec<f64> {
        self.parts.iter().filter_map(|parts| parts.get(mode)?.level).collect()
    }

    /// The part of each group's values in a mode; 0 for no mode.
    fn shares(&self, mode: Option<usize>) -> Vec<f64> {
        self.parts.iter().map(|parts| mode.and_then(|mode| parts.get(mode)).map_or(0.0, |part| part.share)).collect()
    }

    /// Where a mode lies.
    fn location(&self, mode: usize) -> f64 {
        median(&sorted(self.levels(mode)))
    }

    /// How many groups have values in a range.
    fn groups_within(&self, low: f64, high: f64) -> usize {
        let is_within = |part: &Part| part.level.is_some_and(|level| (low..=high).contains(&level));
        self.parts.iter().filter(|parts| parts.iter().any(is_within)).count()
    }
}

/// What is tested.
#[derive(Debug, Clone, Copy)]
struct Test {
    threshold: Threshold,
    direction: Direction,
}

impl Test {
    /// The verdict on samples that do not vary.
    fn of_constants(self, a: &[f64], b: &[f64]) -> Option<ComparisonVerdict> {
        let is_constant =
            |values: &[f64]| values.len() >= LEAST_CONSTANT && values.iter().all(|value| *value == values[0]);
        if !is_constant(a) || !is_constant(b) {
            return None;
        }
        let margin = self.threshold.at(a[0]);
        Some(if (b[0] - a[0]).abs() <= margin { ComparisonVerdict::Equal } else { self.better_or_worse(b[0] > a[0]) })
    }

    fn better_or_worse(self, is_larger: bool) -> ComparisonVerdict {
        match is_larger == (self.direction == Direction::Higher) {
            true => ComparisonVerdict::Better,
            false => ComparisonVerdict::Worse,
        }
    }

    /// Whether `b` lies elsewhere than `a`, where `tests` such questions are asked together.
    fn location(self, a: &[f64], b: &[f64], margin: f64, tests: usize) -> ComparisonVerdict {
        let moved = |values: &[f64], by: f64| values.iter().map(|value| value + by).collect::<Vec<f64>>();
        let limit = SIGNIFICANT / tests as f64;
        if larger(&moved(a, margin), b) <= limit {
            return self.better_or_worse(true);
        }
        if larger(b, &moved(a, -margin)) <= limit {
            return self.better_or_worse(false);
        }
        let is_equivalent = larger(&moved(a, -margin), b) <= EQUIVALENT && larger(b, &moved(a, margin)) <= EQUIVALENT;
        if is_equivalent { ComparisonVerdict::Equal } else { ComparisonVerdict::Unknown }
    }

    /// The pairs of modes with their verdicts.
    fn pairs(self, sides: &[Side; 2]) -> Vec<ModePair> {
        let [a, b] = sides;
        let locations =
            sides.each_ref().map(|side| (0..side.count()).map(|mode| side.location(mode)).collect::<Vec<f64>>());
        let pairs = matched(&locations[0], &locations[1]);
        let tests = pairs.len().max(1);
        let made = pairs.iter().map(|&(of_a, of_b)| {
            let weight = Weight::of([a.shares(of_a), b.shares(of_b)], a.is_single && b.is_single);
            let is_moved = weight.p_value <= SIGNIFICANT / tests as f64;
            let mut pair = ModePair {
                a: of_a,
                b: of_b,
                location_change: None,
                location_low: None,
                location_high: None,
                weight_change: weight.change,
                weight_low: weight.low,
                weight_high: weight.high,
                verdict: ComparisonVerdict::Unknown,
            };
            match (of_a, of_b) {
                (Some(of_a), Some(of_b)) => {
                    let (old, new) = (a.levels(of_a), b.levels(of_b));
                    if let Some(shift) = Shift::of(&old, &new) {
                        pair.location_change = Some(shift.estimate);
                        (pair.location_low, pair.location_high) = (Some(shift.low), Some(shift.high));
                    }
                    let location = self.location(&old, &new, self.threshold.at(a.location(of_a)), tests);
                    pair.verdict = match location {
                        ComparisonVerdict::Equal | ComparisonVerdict::Unknown if is_moved => {
                            ComparisonVerdict::MovedWeight
                        }
                        location => location,
                    };
                }
                (None, Some(mode)) => pair.verdict = self.of_new(sides, mode, &locations, tests),
                (Some(mode), None) => pair.verdict = self.of_gone(sides, mode, tests),
                (None, None) => {}
            }
            pair
        });
        made.collect()
    }

    /// The verdict on a mode of the second sample that has no partner.
    fn of_new(self, [a, b]: &[Side; 2], mode: usize, locations: &[Vec<f64>; 2], tests: usize) -> ComparisonVerdict {
        let Some(found) = b.modes.modes.get(mode) else { return ComparisonVerdict::Unknown };
        let counts = [a, b].map(|side| side.groups_within(found.low, found.high));
        if fisher(counts, [a.parts.len(), b.parts.len()]) > SIGNIFICANT / tests as f64 {
            return ComparisonVerdict::Unknown;
        }
        let margin = |location: f64| self.threshold.at(location);
        let is_beyond = |location: &f64| match self.direction {
            Direction::Lower => found.location > location + margin(*location),
            Direction::Higher => found.location < location - margin(*location),
        };
        // It is worse only if nothing of the first sample was as bad.
        let is_worse = counts[0] == 0 && locations[0].iter().all(is_beyond);
        if is_worse { ComparisonVerdict::Worse } else { ComparisonVerdict::MovedWeight }
    }

    /// The verdict on a mode of the first sample that has no partner.
    fn of_gone(self, [a, b]: &[Side; 2], mode: usize, tests: usize) -> ComparisonVerdict {
        let Some(found) = a.modes.modes.get(mode) else { return ComparisonVerdict::Unknown };
        let counts = [a, b].map(|side| side.groups_within(found.low, found.high));
        match fisher(counts, [a.parts.len(), b.parts.len()]) <= SIGNIFICANT / tests as f64 {
            true => ComparisonVerdict::MovedWeight,
            false => ComparisonVerdict::Unknown,
        }
    }

    /// The verdict on all modes together.
    fn verdict(self, pairs: &[ModePair], levels_a: &[f64], levels_b: &[f64]) -> ComparisonVerdict {
        use ComparisonVerdict::{Better, Equal, MovedWeight, Unknown, Worse};
        for verdict in [Worse, MovedWeight, Better] {
            if pairs.iter().any(|pair| pair.verdict == verdict) {
                return verdict;
            }
        }
        let has_partners = pairs.iter().all(|pair| pair.a.is_some() && pair.b.is_some());
        if has_partners && pairs.iter().all(|pair| pair.verdict == Equal) {
            return Equal;
        }
        // Where modes were found differently, all values together may still show a difference.
        let margin = self.threshold.at(median(&sorted(levels_a.to_vec())));
        match self.location(levels_a, levels_b, margin, 1) {
            Equal => Unknown,
            verdict => verdict,
        }
    }
}

/// How much more of the values are in a mode.
struct Weight {
    change: f64,
    low: f64,
    high: f64,
    p_value: f64,
}

impl Weight {
    fn of([a, b]: [Vec<f64>; 2], is_single: bool) -> Self {
        let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        let variance = |shares: &[f64]| {
            let mean = mean(shares);
            let squares: f64 = shares.iter().map(|share| (share - mean) * (share - mean)).sum();
            let n = shares.len() as f64;
            // Of a mode that has none or all of the values, one more would have been possible (Agresti and Caffo 2000).
            (squares + 0.5) / (n + 1.0) / n.max(1.0)
        };
        let p_value = match is_single {
            true => {
                let hits = [&a, &b].map(|shares| shares.iter().filter(|share| **share > 0.5).count());
                fisher(hits, [a.len(), b.len()])
            }
            false => (2.0 * larger(&a, &b).min(larger(&b, &a))).min(1.0),
        };
        let change = mean(&b) - mean(&a);
        let half = HALF_WIDTH * (variance(&a) + variance(&b)).sqrt();
        Weight { change, low: (change - half).max(-1.0), high: (change + half).min(1.0), p_value }
    }
}

#[cfg(test)]
mod tests;
