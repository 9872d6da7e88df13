//! Values of trials in groups that share a memory layout.

use crate::ranks::{midranks, tie_term};
use crate::tails;

/// The significance level of a group effect.
const GROUP_EFFECT: f64 = 0.01;

/// Values of trials. Those of one group share something, usually the layout of one run; groups are independent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// The values of the first group, then those of the second, and so on.
    values: Vec<f64>,
    /// The end of each group.
    ends: Vec<usize>,
}

impl Sample {
    /// The sample of these groups. Non-finite values and empty groups are left out.
    #[must_use]
    pub fn new(groups: Vec<Vec<f64>>) -> Self {
        let numbered = (0..).zip(groups).flat_map(|(at, group)| group.into_iter().map(move |value| (at, value)));
        Sample::of_groups(numbered.collect())
    }

    /// The same from pairs of group number and value, in any order; the values of a group keep their order.
    #[must_use]
    pub fn of_groups(mut numbered: Vec<(usize, f64)>) -> Self {
        numbered.retain(|(_, value)| value.is_finite());
        numbered.sort_by_key(|(group, _)| *group);
        let mut ends = Vec::new();
        let mut end = 0;
        for group in numbered.chunk_by(|one, other| one.0 == other.0) {
            end += group.len();
            ends.push(end);
        }
        Sample { values: numbered.into_iter().map(|(_, value)| value).collect(), ends }
    }

    /// The groups of both.
    pub(crate) fn with(&self, other: &Sample) -> Self {
        let mut both = self.clone();
        both.values.extend(&other.values);
        both.ends.extend(other.ends.iter().map(|end| end + self.values.len()));
        both
    }

    /// The groups, none of which is empty.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone {
        (0..self.ends.len())
            .map(|at| &self.values[at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]])
    }

    /// The number of groups.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.ends.len()
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All values, ascending.
    #[must_use]
    pub fn sorted(&self) -> Vec<f64> {
        sorted(self.values.clone())
    }

    /// The median of each group, in the order of the groups.
    #[must_use]
    pub fn medians(&self) -> Vec<f64> {
        self.groups().map(|group| median(&sorted(group.to_vec()))).collect()
    }

    /// Whether groups differ by more than chance: the test of Kruskal and Wallis (1952) with the chi-squared
    /// approximation, over the groups of several values.
    #[must_use]
    pub fn has_group_effect(&self) -> bool {
        kruskal_wallis(self.groups()).is_some_and(|p_value| p_value < GROUP_EFFECT)
    }
}

/// The p-value of the test of Kruskal and Wallis; `None` unless two groups have several values that differ.
pub(crate) fn kruskal_wallis<'a>(groups: impl Iterator<Item = &'a [f64]>) -> Option<f64> {
    let groups: Vec<&[f64]> = groups.filter(|group| group.len() > 1).collect();
    if groups.len() < 2 {
        return None;
    }
    let values: Vec<f64> = groups.iter().flat_map(|group| group.iter().copied()).collect();
    let ranks = midranks(&values);
    let n = values.len() as f64;
    let mut at = 0;
    let sums = groups.iter().map(|group| {
        let sum: f64 = ranks[at..at + group.len()].iter().sum();
        at += group.len();
        sum * sum / group.len() as f64
    });
    let h = 12.0 / (n * (n + 1.0)) * sums.sum::<f64>() - 3.0 * (n + 1.0);
    let correction = 1.0 - tie_term(&values) / (n * n * n - n);
    (correction > 0.0).then(|| tails::chi_squared(h / correction, (groups.len() - 1) as f64))
}

/// Values in ascending order.
pub(crate) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The median of ascending values, of which there is at least one.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { midpoint(sorted[middle - 1], sorted[middle]) } else { sorted[middle] }
}

/// The middle of two numbers, also of large ones; of equal ones exactly their value.
pub(crate) fn midpoint(low: f64, high: f64) -> f64 {
    if low == high { low } else { low / 2.0 + high / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_left_out() {
        let sample = Sample::new(vec![vec![2.0, f64::NAN], vec![], vec![f64::INFINITY], vec![1.0, 3.0]]);
        assert_eq!(sample.groups().collect::<Vec<_>>(), [&[2.0][..], &[1.0, 3.0]]);
        assert_eq!((sample.len(), sample.sorted(), sample.medians()), (3, vec![1.0, 2.0, 3.0], vec![2.0, 2.0]));
        assert!(!sample.has_group_effect() && !Sample::default().has_group_effect());
    }

    #[test]
    fn two_samples_are_one_of_all_groups() {
        let (one, other) = (vec![vec![2.0], vec![1.0, 3.0]], vec![vec![5.0, 4.0], vec![6.0]]);
        let both = Sample::new([one.clone(), other.clone()].concat());
        assert_eq!(Sample::new(one).with(&Sample::new(other)), both);
    }

    #[test]
    fn a_group_effect_is_found() {
        let group = |offset: f64| (0..10).map(|value| offset + f64::from(value)).collect::<Vec<f64>>();
        assert!(Sample::new(vec![group(0.0), group(20.0), group(40.0)]).has_group_effect());
        assert!(!Sample::new(vec![group(0.0), group(0.5), group(0.2)]).has_group_effect());
        assert!(!Sample::new(vec![vec![1.0; 5], vec![1.0; 5]]).has_group_effect());
    }

    #[test]
    fn the_middle_of_large_numbers_is_finite() {
        assert_eq!(median(&[f64::MAX, f64::MAX]), f64::MAX);
        assert!(midpoint(f64::MAX, f64::MAX * 0.9).is_finite());
    }
}
