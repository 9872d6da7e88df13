//! Values of trials in groups that share a memory layout.

use crate::ranks::{midranks, tie_term};
use crate::tails;

/// A group effect is found if chance gives one as strong less often than this.
const GROUP_EFFECT: f64 = 0.01;

/// Values of trials. Those of one group share something, mostly the layout of one run; groups are independent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    groups: Vec<Vec<f64>>,
}

impl Sample {
    /// The sample of these groups. What is not finite is left out, and so are empty groups.
    #[must_use]
    pub fn new(groups: Vec<Vec<f64>>) -> Self {
        let finite = |group: Vec<f64>| group.into_iter().filter(|value| value.is_finite()).collect::<Vec<f64>>();
        Sample { groups: groups.into_iter().map(finite).filter(|group| !group.is_empty()).collect() }
    }

    /// The groups, none of which is empty.
    #[must_use]
    pub fn groups(&self) -> &[Vec<f64>] {
        &self.groups
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// All values, ascending.
    #[must_use]
    pub fn sorted(&self) -> Vec<f64> {
        sorted(self.groups.iter().flatten().copied().collect())
    }

    /// The median of each group, in the order of the groups.
    #[must_use]
    pub fn medians(&self) -> Vec<f64> {
        self.groups.iter().map(|group| median(&sorted(group.clone()))).collect()
    }

    /// Whether groups differ by more than chance: the test of Kruskal and Wallis (1952) with the chi-squared
    /// approximation, over the groups of several values.
    #[must_use]
    pub fn has_group_effect(&self) -> bool {
        kruskal_wallis(&self.groups).is_some_and(|p_value| p_value < GROUP_EFFECT)
    }
}

/// The p-value of the test of Kruskal and Wallis; `None` unless two groups have several values that differ.
pub(crate) fn kruskal_wallis(groups: &[Vec<f64>]) -> Option<f64> {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| group.len() > 1).collect();
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
        assert_eq!(sample.groups(), [vec![2.0], vec![1.0, 3.0]]);
        assert_eq!((sample.len(), sample.sorted(), sample.medians()), (3, vec![1.0, 2.0, 3.0], vec![2.0, 2.0]));
        assert!(!sample.has_group_effect() && !Sample::default().has_group_effect());
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
