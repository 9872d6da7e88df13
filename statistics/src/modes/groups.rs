//! The degree of independence of the values of groups.

/// Minimum number of groups of a cluster, if the values are of as many.
const LEAST_GROUPS: usize = 6;

/// Number of times that effects of groups and means of clusters are computed in turn.
const ROUNDS: usize = 4;

/// The group of each value, in the order of values.
pub(crate) struct Groups {
    group: Vec<usize>,
    /// Number of groups that have values.
    pub(crate) count: usize,
    /// Upper bound of the numbers of groups, exclusive.
    end: usize,
}

impl Groups {
    /// Groups whose numbers are below `end`.
    pub(crate) fn of(group: &[usize], end: usize) -> Self {
        let mut has_values = vec![false; end];
        group.iter().for_each(|&group| has_values[group] = true);
        Groups { group: group.to_vec(), count: has_values.into_iter().filter(|has| *has).count(), end }
    }

    /// For each first value, the smallest end such that there are at least `least` values in between, of enough groups.
    /// Beyond the last value if there is none.
    pub(crate) fn ends(&self, least: usize) -> Vec<usize> {
        let n = self.group.len();
        let wanted = LEAST_GROUPS.min(self.count);
        let mut counts = vec![0_usize; self.end];
        let (mut end, mut distinct) = (0, 0);
        let mut ends = Vec::with_capacity(n);
        for first in 0..n {
            while end < n && distinct < wanted {
                counts[self.group[end]] += 1;
                distinct += usize::from(counts[self.group[end]] == 1);
                end += 1;
            }
            let found = if distinct < wanted { n + 1 } else { end.max(first + least) };
            counts[self.group[first]] -= 1;
            distinct -= usize::from(counts[self.group[first]] == 0);
            ends.push(found.min(n + 1));
        }
        ends
    }

    /// Number of groups of the values at these places.
    pub(crate) fn count_in(&self, places: std::ops::Range<usize>) -> usize {
        let mut groups = self.group[places].to_vec();
        groups.sort_unstable();
        groups.dedup();
        groups.len()
    }

    /// The values minus the effect of their group, with clusters between these cuts: its mean distance to the means of
    /// the clusters.
    pub(crate) fn without_effects(&self, values: &[f64], cuts: &[usize]) -> Vec<f64> {
        let mut effects = vec![0.0; self.end];
        let mut means = vec![0.0; cuts.len() - 1];
        for _ in 0..ROUNDS {
            for (mean, cut) in means.iter_mut().zip(cuts.windows(2)) {
                let rest = (cut[0]..cut[1]).map(|at| values[at] - effects[self.group[at]]);
                *mean = rest.sum::<f64>() / (cut[1] - cut[0]) as f64;
            }
            let mut sums = vec![(0.0_f64, 0.0_f64); self.end];
            for (mean, cut) in means.iter().zip(cuts.windows(2)) {
                for at in cut[0]..cut[1] {
                    let sum = &mut sums[self.group[at]];
                    (sum.0, sum.1) = (sum.0 + values[at] - mean, sum.1 + 1.0);
                }
            }
            effects = sums.into_iter().map(|(sum, count)| sum / f64::max(count, 1.0)).collect();
        }
        values.iter().zip(&self.group).map(|(value, group)| value - effects[*group]).collect()
    }

    /// The share of the values that count as independent, with clusters between these cuts: by the design effect of
    /// Kish (1965), 1 + (m − 1) ρ, with m values of a group in a cluster and the intraclass correlation ρ of their
    /// ranks in it, from an analysis of variance.
    pub(crate) fn independent_part(&self, values: &[f64], cuts: &[usize]) -> f64 {
        let n = self.group.len() as f64;
        let mut sums = vec![(0.0_f64, 0.0_f64); self.end];
        let (mut between, mut within, mut degrees_between, mut degrees_within) = (0.0, 0.0, 0.0, 0.0);
        let (mut squared_sizes, mut outer_sizes) = (0.0, 0.0);
        for cut in cuts.windows(2) {
            let members = cut[0]..cut[1];
            let ranks = crate::ranks::midranks(&values[members.clone()]);
            let size = ranks.len() as f64;
            let mean = (size + 1.0) / 2.0;
            // Clusters of all sizes have the same scale.
            let deviations: Vec<f64> = ranks.iter().map(|rank| (rank - mean) / size).collect();
            for (at, deviation) in members.clone().zip(&deviations) {
                let sum = &mut sums[self.group[at]];
                (sum.0, sum.1) = (sum.0 + deviation, sum.1 + 1.0);
            }
            let total: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
            let (mut of_groups, mut groups, mut squares) = (0.0, 0.0, 0.0);
            for at in members {
                let (sum, count) = std::mem::take(&mut sums[self.group[at]]);
                if count > 0.0 {
                    (of_groups, groups, squares) =
                        (of_groups + sum * sum / count, groups + 1.0, squares + count * count);
                }
            }
            between += of_groups;
            within += total - of_groups;
            degrees_between += groups - 1.0;
            degrees_within += size - groups;
            squared_sizes += squares;
            outer_sizes += squares / size;
        }
        if degrees_between <= 0.0 || degrees_within <= 0.0 {
            // Each value is a group, or all are one group.
            return 1.0;
        }
        let usual_size = (n - outer_sizes) / degrees_between;
        let noise = (within / degrees_within).max(0.0);
        let of_group = ((between / degrees_between - noise) / usual_size).max(0.0);
        let correlation = if of_group + noise > 0.0 { of_group / (of_group + noise) } else { 0.0 };
        1.0 / (1.0 + (squared_sizes / n - 1.0) * correlation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_group_count_as_one_if_they_are_equal() {
        let groups = Groups::of(&[0, 0, 1, 1, 2, 2], 3);
        assert_eq!(groups.independent_part(&[1.0, 1.0, 2.0, 2.0, 3.0, 3.0], &[0, 6]), 0.5);
        let mixed = Groups::of(&[0, 1, 2, 2, 1, 0], 3);
        assert_eq!(mixed.independent_part(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[0, 6]), 1.0);
        let single = Groups::of(&[0, 1, 2], 3);
        assert_eq!(single.independent_part(&[1.0, 2.0, 3.0], &[0, 3]), 1.0);
    }

    #[test]
    fn what_groups_add_is_taken_from_their_values() {
        // Three groups that add 0, 1 and 2 to values around 10 and 20.
        let values = [10.0, 11.0, 12.0, 20.0, 21.0, 22.0];
        let groups = Groups::of(&[0, 1, 2, 0, 1, 2], 3);
        assert_eq!(groups.without_effects(&values, &[0, 3, 6]), [11.0, 11.0, 11.0, 21.0, 21.0, 21.0]);
        assert_eq!((groups.count_in(0..3), groups.count_in(2..4), groups.count_in(0..1)), (3, 2, 1));
    }

    #[test]
    fn a_cluster_ends_where_it_has_enough_groups() {
        let groups = Groups::of(&[0, 0, 0, 1, 2, 3, 4, 5, 5, 0], 6);
        assert_eq!(groups.count, 6);
        assert_eq!(groups.ends(6), [8, 8, 8, 10, 11, 11, 11, 11, 11, 11]);
        assert_eq!(Groups::of(&[0, 0, 0, 0], 1).ends(2), [2, 3, 4, 5]);
    }
}
