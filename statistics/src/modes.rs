//! Modes: the clusters that values of trials form.
//!
//! ```text
//!   values ──▶ scaled     to the range 0 to 1, without what is too small to matter
//!                 │
//!                 ▼
//!              segments   cut where several skewed clusters are more likely than one (cluster, valley, groups)
//!                 │
//!                 ├─────▶ mixture     modes of one shape that overlap, if they are more likely still
//!                 ├─────▶ widths      below which no cluster is, for a second look
//!                 │
//!                 └─────▶ intervals   of locations and weights
//! ```
//!
//! Values of a group may differ less than those of different groups, because they share a layout. `groups` estimates
//! how many independent values they are worth: a run whose values lie close together is not a mode. But clusters that
//! appear within groups are real, however much groups differ.

mod cluster;
mod groups;
mod intervals;
mod mixture;
mod scaled;
mod segments;
mod valley;
mod widths;

use crate::sample::{Sample, median};
pub(crate) use intervals::wilson;
use intervals::{Interval, intervals};
pub(crate) use scaled::Gap;
use scaled::Grouped;

/// Minimum number of values for a statement about modes.
pub const LEAST_VALUES: usize = 12;

/// The modes of a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Modes {
    /// The verdict.
    pub verdict: ModesVerdict,
    /// The modes, the smallest location first; none if there are too few values.
    pub modes: Vec<Mode>,
}

/// The verdict on the modes of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModesVerdict {
    /// There are too few values, or too few groups where groups differ.
    TooFew,
    /// All values are equal: one mode.
    AllEqual,
    /// These modes were found.
    Found,
}

/// A mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// The median of its values.
    pub location: f64,
    /// Its smallest value.
    pub low: f64,
    /// Its largest value.
    pub high: f64,
    /// The lower end of the 95 % confidence interval of the location; not a number where there is none, as in fewer than
    /// six groups of several values.
    pub location_low: f64,
    /// Its upper end.
    pub location_high: f64,
    /// The share of the values that are in it; each group has the same weight.
    pub weight: f64,
    /// The lower end of the 95 % confidence interval of the weight.
    pub weight_low: f64,
    /// Its upper end.
    pub weight_high: f64,
    /// Number of values in it.
    pub count: usize,
}

impl Modes {
    /// Finds the modes of a sample.
    #[must_use]
    pub fn of(sample: &Sample) -> Self {
        let (verdict, gaps) = cuts(sample);
        match verdict {
            ModesVerdict::TooFew => Modes { verdict, modes: Vec::new() },
            _ => Modes { verdict, modes: modes(sample, &gaps) },
        }
    }

    /// The mode that a value of the sample is in.
    #[must_use]
    pub fn mode_of(&self, value: f64) -> Option<usize> {
        self.modes.iter().position(|mode| (mode.low..=mode.high).contains(&value))
    }
}

/// The verdict on the modes of a sample, and the gaps between them.
pub(crate) fn cuts(sample: &Sample) -> (ModesVerdict, Vec<Gap>) {
    let grouped = grouped(sample);
    if grouped.len() < LEAST_VALUES {
        return (ModesVerdict::TooFew, Vec::new());
    }
    match segments::gaps(&grouped, sample.group_count(), LEAST_VALUES) {
        None => (ModesVerdict::TooFew, Vec::new()),
        Some(_) if grouped[0].0 == grouped[grouped.len() - 1].0 => (ModesVerdict::AllEqual, Vec::new()),
        Some(gaps) => (ModesVerdict::Found, gaps),
    }
}

/// All values, ascending, with the numbers of their groups.
fn grouped(sample: &Sample) -> Vec<Grouped> {
    let groups = sample.groups().enumerate();
    let mut grouped: Vec<Grouped> =
        groups.flat_map(|(at, group)| group.iter().map(move |&value| (value, at))).collect();
    grouped.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    grouped
}

/// The mode of a value between these bounds: values up to and including a bound are below it.
pub(crate) fn place(bounds: &[f64], value: f64) -> usize {
    bounds.partition_point(|bound| *bound < value)
}

/// The modes between these gaps.
fn modes(sample: &Sample, gaps: &[Gap]) -> Vec<Mode> {
    let values = sample.sorted();
    let bounds: Vec<f64> = gaps.iter().map(|gap| gap.middle()).collect();
    let intervals = intervals(sample, bounds.len() + 1, |value| place(&bounds, value));
    let parts = values.chunk_by(|one, other| place(&bounds, *one) == place(&bounds, *other));
    parts.map(|part| mode(part, &intervals[place(&bounds, part[0])])).collect()
}

fn mode(values: &[f64], interval: &Interval) -> Mode {
    let location = median(values);
    Mode {
        location,
        low: values[0],
        high: values[values.len() - 1],
        location_low: below(interval.location.0, location),
        location_high: -below(-interval.location.1, -location),
        weight: interval.share,
        weight_low: below(interval.weight.0, interval.share),
        weight_high: -below(-interval.weight.1, -interval.share),
        count: values.len(),
    }
}

/// The lower end of an interval that holds a number; not a number if there is no interval.
fn below(low: f64, number: f64) -> f64 {
    if low.is_nan() { low } else { low.min(number) }
}

/// The precision of a sample, at 95 %: the widest half of an interval, relative to the location for locations of modes,
/// absolute for weights; with one mode, that of the median. Outliers of a mode that are too few for a mode of their own
/// may become one, so the weight that they would have counts, too. `None` if there are too few values for modes, or
/// fewer than six groups.
#[must_use]
pub fn precision(sample: &Sample) -> Option<f64> {
    const LEAST_GROUPS: usize = 6;
    if sample.group_count() < LEAST_GROUPS {
        return None;
    }
    let modes = Modes::of(sample).modes;
    let of_locations = modes.iter().map(|mode| {
        let half = mode.location_high / 2.0 - mode.location_low / 2.0;
        if half == 0.0 { 0.0 } else { half / mode.location.abs() }
    });
    let weights = if modes.len() > 1 { &modes[..] } else { &[] };
    let of_weights = weights.iter().map(|mode| (mode.weight_high - mode.weight_low) / 2.0);
    let known = of_locations.chain(of_weights).fold(0.0, f64::max);
    let widest = known.max(of_outliers(sample, &modes));
    (!modes.is_empty() && widest.is_finite()).then_some(widest)
}

/// Half of the interval of the weight of outliers of too few groups for a mode; 0 if there are none. The distance of
/// outliers from the rest of their mode exceeds the width of the rest.
fn of_outliers(sample: &Sample, modes: &[Mode]) -> f64 {
    let grouped = grouped(sample);
    let groups = sample.group_count() as f64;
    let mut first = 0;
    let mut widest = 0.0_f64;
    for mode in modes {
        let members = &grouped[first..first + mode.count];
        first += mode.count;
        let upwards: Vec<Grouped> = members.iter().rev().map(|&(value, group)| (-value, group)).collect();
        for count in [members, &upwards].into_iter().flat_map(outliers) {
            let (low, high) = wilson(count as f64 / grouped.len() as f64, groups);
            widest = widest.max((high - low) / 2.0);
        }
    }
    widest
}

/// All counts such that the gap after the first `count` of these ascending values exceeds the range of the others.
fn outliers(members: &[Grouped]) -> Vec<usize> {
    let most = members[members.len() - 1].0;
    let mut groups = Vec::new();
    let mut found = Vec::new();
    for count in 1..members.len() / 2 {
        let (outer, inner) = (members[count - 1], members[count].0);
        if !groups.contains(&outer.1) {
            groups.push(outer.1);
        }
        if groups.len() >= scaled::LEAST_MEMBERS {
            break;
        }
        if inner / 2.0 - outer.0 / 2.0 > most / 2.0 - inner / 2.0 {
            found.push(count);
        }
    }
    found
}
