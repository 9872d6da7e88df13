//! The pairs of modes of two samples, with verdicts on their locations.

use super::location::{Limits, Test, limits};
use super::matching::matched;
use super::sides::Sides;
use super::weight::Weight;
use super::{ComparisonVerdict, ModePair};
use crate::sample::median;
use crate::shift::Shift;

/// The pairs of modes with the verdicts on their locations: better, worse, equal or unknown. Weights are not judged
/// yet.
pub(super) fn pairs(test: Test, sides: &Sides) -> Vec<ModePair> {
    let [a, b] = &sides.own;
    let locations = [a, b].map(|side| (0..side.count()).map(|mode| side.location(mode)).collect::<Vec<f64>>());
    let pairs = matched(&locations[0], &locations[1]);
    let groups: Vec<[usize; 2]> = pairs
        .iter()
        .map(|&(of_a, of_b)| [(a, of_a), (b, of_b)].map(|(side, mode)| mode.map_or(0, |mode| side.levels(mode).len())))
        .collect();
    pairs
        .iter()
        .zip(limits(&groups))
        .map(|(&(of_a, of_b), limits)| {
            let weight = Weight::of([a.shares(of_a), b.shares(of_b)]);
            let partners = of_a.zip(of_b);
            let shift = partners.and_then(|(of_a, of_b)| Shift::of(a.levels(of_a), b.levels(of_b)));
            let verdict = match partners.zip(shift) {
                Some((partners, shift)) => of_partners(test, sides, partners, shift, limits),
                None => ComparisonVerdict::Unknown,
            };
            pair([of_a, of_b], shift, &weight, verdict)
        })
        .collect()
}

/// The single pair of two equal samples without common bounds: chance cut one of them into modes.
pub(super) fn whole(test: Test, levels: &[Vec<f64>; 2]) -> Vec<ModePair> {
    let shift = Shift::of(&levels[0], &levels[1]);
    let weight = Weight::of(levels.each_ref().map(|levels| vec![1.0; levels.len()]));
    let is_within = shift.is_some_and(|shift| Test::is_within(shift, test.threshold.at(median(&levels[0]))));
    let verdict = if is_within { ComparisonVerdict::Equal } else { ComparisonVerdict::Unknown };
    vec![pair([Some(0); 2], shift, &weight, verdict)]
}

fn pair([a, b]: [Option<usize>; 2], shift: Option<Shift>, weight: &Weight, verdict: ComparisonVerdict) -> ModePair {
    ModePair {
        a,
        b,
        location_change: shift.map(|shift| shift.estimate),
        location_low: shift.and_then(Shift::known_low),
        location_high: shift.and_then(Shift::known_high),
        weight_change: weight.change,
        weight_low: Some(weight.low),
        weight_high: Some(weight.high),
        verdict,
    }
}

/// The verdict on two paired modes. Modes are found in each sample separately, so they may differ only because the
/// samples were cut at different places. A difference must also appear if both are cut like the first, and like the
/// second.
fn of_partners(test: Test, sides: &Sides, modes: (usize, usize), shift: Shift, limits: Limits) -> ComparisonVerdict {
    let [a, b] = &sides.own;
    let margin = test.threshold.at(a.location(modes.0));
    let location = test.location(a.levels(modes.0), b.levels(modes.1), margin, limits);
    if location == ComparisonVerdict::Unknown {
        return if Test::is_within(shift, margin) { ComparisonVerdict::Equal } else { location };
    }
    // If a mode moved across a cut, the share of the values there differs, and levels do not tell.
    let alike = [(&sides.cut_as_a, modes.0), (&sides.cut_as_b, modes.1)];
    let is_confirmed = alike.into_iter().all(|([a, b], mode)| {
        Weight::of([a.shares(Some(mode)), b.shares(Some(mode))]).p_value <= limits.exists
            || test.location(a.levels(mode), b.levels(mode), margin, limits) == location
    });
    if is_confirmed { location } else { ComparisonVerdict::Unknown }
}
