//! Cuts ascending values into clusters.
//!
//! A cluster is two halves of a curve with separate scales that meet at the peak, so that a skewed cluster is one and
//! not two. The curve is that of a normal distribution, or has heavier tails, so that disturbances are not a cluster.
//! No cluster is narrower than a minimum: the fine structure of a sharp peak is ignored. Dynamic programming finds the
//! cuts of highest classification likelihood (Symons 1981) for each number of clusters; each cluster has a price that
//! grows as it gets small, and each further one has an additional price. A cluster has values of at least six groups,
//! so a run whose values lie close together is not a cluster. Then neighbours without a valley between their peaks are
//! merged. A mixture of modes of one shape may describe the values better. Where there are several, they are looked for
//! once more, with the minimum width that the first ones suggest.
//!
//! The prices were chosen by simulation: `trial_rates` in `benches/` prints how often one cluster is taken for several,
//! and several for fewer. The lowland detector of Akinshin (2020) was tried first: with 60 values it took one normal
//! cluster for several in more than 20 % of the cases.

use crate::modes::cluster::{Cluster, FLAT, TAILS, Values};
use crate::modes::groups::Groups;
use crate::modes::mixture::Search;
use crate::modes::scaled::{Gap, Grouped, LEAST_DISTANCE, LEAST_MEMBERS, Scaled};
use crate::modes::valley::{VALLEY, lowest};
use crate::modes::widths;

/// Minimum number of values of a cluster, as a share of all.
const LEAST_SHARE: f64 = 0.03;
/// Maximum number of clusters.
const MOST_CLUSTERS: usize = 8;
/// The price of the second cluster, in units of log-likelihood, and that of each further one: for up to 60 values, and
/// the addition for 200.
const SECOND: [f64; 2] = [4.0, 3.5];
const FURTHER: [f64; 2] = [1.5, 3.0];
/// Minimum number of values minus groups for evaluating values within groups.
const LEAST_FREE: f64 = 12.0;

/// The gaps between clusters of ascending values, themselves ascending; none if there is one cluster. Each is the last
/// value of a cluster and the first of the next. `None` if the values count as fewer than `least` independent ones.
pub(crate) fn gaps(sorted: &[Grouped], groups: usize, least: usize) -> Option<Vec<Gap>> {
    let Some(scaled) = Scaled::of(sorted) else { return (sorted.len() >= least).then(Vec::new) };
    let grouped = Groups::of(&scaled.groups, groups);
    let one = [0, scaled.values.len()];
    let independent = grouped.independent_part(&scaled.values, &one) * scaled.values.len() as f64;
    if independent < least as f64 {
        return None;
    }
    if let Some(gap) = between_two(sorted) {
        return Some(vec![gap]);
    }
    let bounds = scaled.bounds(sorted);
    let values = Values::of(&scaled.values, scaled.least_scales(sorted), &bounds);
    let mut cuts = found(&values, &grouped, &bounds);
    if cuts.len() > 2 {
        let least_scales = widths::raised(&values, &cuts);
        cuts = found(&values.with_least_scales(least_scales), &grouped, &bounds);
    }
    Some(cuts[1..cuts.len() - 1].iter().map(|cut| scaled.gap(sorted, *cut)).collect())
}

/// The starts of the most likely clusters or modes, and the end.
fn found(values: &Values, groups: &Groups, bounds: &[usize]) -> Vec<usize> {
    let partitions = partitions(values, groups, bounds);
    let clusters = merged(best(values, groups, &partitions), values);
    of_mixture(values, groups, &partitions, &clusters).unwrap_or_else(|| cuts(&clusters))
}

/// The gap between two whole numbers, if there are no other values, and each of them is in enough groups. They have no
/// valley between them if they are neighbours, but there is no noise either that could turn one into the other.
fn between_two(sorted: &[Grouped]) -> Option<Gap> {
    let (low, high) = (sorted.first()?.0, sorted.last()?.0);
    let mut parts = sorted.chunk_by(|one, other| one.0 == other.0);
    let (Some(below), Some(above), None) = (parts.next(), parts.next(), parts.next()) else { return None };
    let has_enough = [below, above].into_iter().all(|part| {
        // Equal values are in the order of their groups.
        part.chunk_by(|one, other| one.1 == other.1).count() >= LEAST_MEMBERS
            && part.len() as f64 >= LEAST_SHARE * sorted.len() as f64
    });
    let is_whole = low.fract() == 0.0 && high.fract() == 0.0;
    (is_whole && has_enough).then_some(Gap { low, high })
}

/// The clusters of the highest score. `partitions` has the best cuts for each number of clusters. One cluster is the
/// initial hypothesis; then the smallest larger number with a higher score, and so on. Values of a group that repeat
/// each other would raise the score of any number, so likelihoods are weighted by the independence of the values within
/// the clusters of the current hypothesis.
fn best(values: &Values, groups: &Groups, partitions: &[Vec<Cluster>]) -> Vec<Cluster> {
    let mut believed = 0;
    loop {
        let part = groups.independent_part(&values.scaled, &cuts(&partitions[believed]));
        let known = total(values, &partitions[believed], part);
        let known_inside = within_groups(values, groups, &cuts(&partitions[believed]));
        let better = (believed + 1..partitions.len()).find(|&number| {
            let clusters = &partitions[number];
            total(values, clusters, part) > known
                || known_inside
                    .zip(within_groups(values, groups, &cuts(clusters)))
                    .is_some_and(|(known, inside)| inside > known)
        });
        match better {
            Some(more) => believed = more,
            None => break,
        }
    }
    partitions[believed].clone()
}

/// The score of clusters, if this share of the values is independent.
fn total(values: &Values, clusters: &[Cluster], part: f64) -> f64 {
    clusters.iter().map(|cluster| cluster.score(values.len(), part)).sum::<f64>()
        - price(clusters.len() - 1, part * values.len() as f64)
}

/// The cuts of a mixture of overlapping modes, if its score is higher than that of these clusters and than that of a
/// single cluster, whose top may be flat.
fn of_mixture(
    values: &Values,
    groups: &Groups,
    partitions: &[Vec<Cluster>],
    clusters: &[Cluster],
) -> Option<Vec<usize>> {
    let n = values.len();
    let part = groups.independent_part(&values.scaled, &cuts(clusters));
    let least_scale = values.least_scales[n / 2];
    let search =
        Search { values: &values.scaled, groups, part, least_scale, least_distance: LEAST_DISTANCE * least_scale };
    let peaks: Vec<Vec<f64>> =
        partitions.iter().map(|clusters| clusters.iter().map(|cluster| cluster.peak).collect()).collect();
    // Clusters beyond the first have two scales of their own as well.
    let price = search.mode_price() * (2 * clusters.len() - 1) as f64;
    let densities = values.scaled.iter().map(|value| density(clusters, *value, n));
    let log_likelihood: f64 = densities.map(|density| density.max(f64::MIN_POSITIVE).ln()).sum();
    let heavy: f64 = clusters.iter().map(|cluster| cluster.tail.price).sum();
    let score = part * log_likelihood - heavy - price;
    let (score, cuts) = search.best(peaks.iter().map(Vec::as_slice), score)?;
    let is_higher = TAILS
        .iter()
        .chain(&FLAT)
        .all(|tail| score > part * tail.log_likelihood(&values.scaled) - tail.price - search.mode_price());
    is_higher.then_some(cuts)
}

/// The score of clusters with these cuts, without the effects of groups. Clusters that appear within groups are real,
/// however much groups differ. `None` if groups have too few values.
fn within_groups(values: &Values, groups: &Groups, cuts: &[usize]) -> Option<f64> {
    let n = values.len();
    let free = (n - groups.count) as f64;
    if free < LEAST_FREE {
        return None;
    }
    let rest = groups.without_effects(&values.scaled, cuts);
    let clusters = cuts.windows(2).map(|cut| {
        let members = crate::sample::sorted(rest[cut[0]..cut[1]].to_vec());
        let (count, least_scales) = (members.len(), values.least_scales[cut[0]..cut[1]].to_vec());
        Values::of(&members, least_scales, &[0, count]).cluster(0, count - 1).score(n, free / n as f64)
    });
    Some(clusters.sum::<f64>() - price(cuts.len() - 2, free))
}

/// The price of a number of clusters beyond the first, for this many independent values: more values have more places
/// for a cut, and the best one is chosen.
fn price(number: usize, independent: f64) -> f64 {
    let growth = ((independent / 60.0).ln() / (200.0_f64 / 60.0).ln()).max(0.0);
    let [second, further] = [SECOND, FURTHER].map(|[price, more]| price + more * growth);
    if number == 0 { 0.0 } else { second + further * (number - 1) as f64 }
}

/// The starts of the clusters, and the end.
fn cuts(clusters: &[Cluster]) -> Vec<usize> {
    let end = clusters.last().map_or(0, |cluster| cluster.last + 1);
    clusters.iter().map(|cluster| cluster.first).chain([end]).collect()
}

/// The best clusters between these bounds for each number of them, starting with one.
fn partitions(values: &Values, groups: &Groups, bounds: &[usize]) -> Vec<Vec<Cluster>> {
    let (n, width) = (values.len(), bounds.len());
    let least = LEAST_MEMBERS.max((n as f64 * LEAST_SHARE).ceil() as usize);
    // The first end at which the values from each place on are of enough groups.
    let ends = groups.ends(least);
    // Scores of the values from the bound of the column up to before that of the row; minus infinity if these are too few.
    let mut scores = vec![f64::NEG_INFINITY; width * width];
    for (row, &end) in bounds.iter().enumerate() {
        for (column, &first) in bounds[..row].iter().enumerate().take_while(|(_, first)| ends[**first] <= end) {
            scores[row * width + column] = values.cluster(first, end - 1).score(n, 1.0);
        }
    }
    let scores_of = |row: usize| &scores[row * width..][..row];
    // best_up_to[k][row]: the score of the values before this bound in k + 1 clusters.
    let mut best_up_to = vec![(0..width).map(|row| scores[row * width]).collect::<Vec<f64>>()];
    best_up_to[0][width - 1] = values.cluster(0, n - 1).score(n, 1.0);
    for number in 1..MOST_CLUSTERS.min(n / least) {
        let before = &best_up_to[number - 1];
        let all: Vec<f64> = (0..width).map(|row| highest(&before[..row], scores_of(row))).collect();
        if all[width - 1] == f64::NEG_INFINITY {
            break;
        }
        best_up_to.push(all);
    }
    let traced = (0..best_up_to.len()).map(|count| {
        let mut clusters = Vec::new();
        let mut row = width - 1;
        for number in (0..=count).rev() {
            let column = number.checked_sub(1).and_then(|before| {
                let mut sums = best_up_to[before][..row].iter().zip(scores_of(row));
                sums.rposition(|(before, last)| before + last == best_up_to[number][row])
            });
            let column = column.unwrap_or_default();
            clusters.push(values.cluster(bounds[column], bounds[row] - 1));
            row = column;
        }
        clusters.reverse();
        clusters
    });
    traced.collect()
}

/// The largest sum of neighbours in both.
fn highest(before: &[f64], last: &[f64]) -> f64 {
    // In several independent parts, which the processor computes in parallel.
    let mut best = [f64::NEG_INFINITY; 8];
    for (before, last) in before.chunks(best.len()).zip(last.chunks(best.len())) {
        for ((best, before), last) in best.iter_mut().zip(before).zip(last) {
            let sum = before + last;
            *best = if sum > *best { sum } else { *best };
        }
    }
    best.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// Joins neighbours without a valley between them, the shallowest first, and those that are too near to be
/// distinguished.
fn merged(mut clusters: Vec<Cluster>, values: &Values) -> Vec<Cluster> {
    loop {
        let depths = clusters.windows(2).enumerate().map(|(at, pair)| {
            let least = values.least_scales[pair[0].first] * LEAST_DISTANCE;
            let is_near = pair[1].peak - pair[0].peak < least;
            let depth = valley(&clusters, pair, values.len()).max(emptiness(pair, &values.scaled));
            (at, if is_near { f64::MAX } else { depth })
        });
        let shallowest = depths.max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((at, _)) = shallowest.filter(|(_, depth)| *depth > VALLEY) else { return clusters };
        let joined = values.cluster(clusters[at].first, clusters[at + 1].last);
        clusters.splice(at..=at + 1, [joined]);
    }
}

/// The density of values beside the cut of two clusters, relative to the middle half of the sparser one. The curves of
/// a sharp peak and of its tail may have a valley that the values do not have.
fn emptiness(pair: &[Cluster], values: &[f64]) -> f64 {
    let beside = (pair[0].len().min(pair[1].len()) / 4).max(LEAST_MEMBERS / 2);
    let cut = pair[1].first;
    let [left, right] = [&pair[0], &pair[1]]
        .map(|cluster| concentration(values, cluster.first + cluster.len() / 4, cluster.last - cluster.len() / 4));
    concentration(values, cut - beside, cut + beside - 1) / left.min(right)
}

/// Number of values per unit between two places.
fn concentration(values: &[f64], from: usize, to: usize) -> f64 {
    (to - from) as f64 / (values[to] - values[from]).max(f64::MIN_POSITIVE)
}

/// The density of all clusters at a place.
fn density(clusters: &[Cluster], at: f64, all: usize) -> f64 {
    clusters.iter().map(|cluster| cluster.density(at, all)).sum()
}

/// The lowest density between two peaks, relative to the lower peak.
fn valley(clusters: &[Cluster], pair: &[Cluster], all: usize) -> f64 {
    let (from, to) = (pair[0].peak, pair[1].peak);
    let lower = density(clusters, from, all).min(density(clusters, to, all));
    lowest(from, to, |at| density(clusters, at, all)).1 / lower.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::scaled::LEAST_SCALE;

    /// Values of which each is a group.
    fn singles(values: &[f64]) -> Vec<Grouped> {
        values.iter().copied().zip(0..).collect()
    }

    fn bounds(sorted: &[f64]) -> Vec<f64> {
        let gaps = gaps(&singles(sorted), sorted.len(), 12).unwrap_or_default();
        gaps.into_iter().map(Gap::middle).collect()
    }

    #[test]
    fn the_cuts_are_those_of_the_highest_score() {
        // By definition: all cuts into two clusters are tried.
        let values: Vec<f64> = (0..12).map(|at| f64::from(at * at) / 300.0 + if at > 6 { 0.3 } else { 0.0 }).collect();
        let n = values.len();
        let bounds: Vec<usize> = (0..=n).collect();
        let values = Values::of(&values, vec![LEAST_SCALE; n], &bounds);
        let score = |first, last| values.cluster(first, last).score(n, 1.0);
        let of_two =
            (6..=6).map(|cut| score(0, cut - 1) + score(cut, n - 1) - price(1, n as f64)).fold(f64::MIN, f64::max);
        let groups: Vec<usize> = (0..n).collect();
        let groups = Groups::of(&groups, n);
        let found = best(&values, &groups, &partitions(&values, &groups, &bounds));
        let found_score: f64 =
            found.iter().map(|one| one.score(n, 1.0)).sum::<f64>() - price(found.len() - 1, n as f64);
        assert!((found_score - of_two.max(score(0, n - 1))).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn far_groups_are_clusters_and_near_ones_are_not() {
        let two: Vec<f64> = (0..30).map(|at| f64::from(at % 10) + if at < 10 { 0.0 } else { 100.0 }).collect();
        let mut two = two;
        two.sort_by(f64::total_cmp);
        assert_eq!(bounds(&two), [54.5]);
        let one: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(bounds(&one), [0.0; 0]);
        assert_eq!(bounds(&[1.0; 50]), [0.0; 0]);
        assert_eq!(bounds(&[]), [0.0; 0]);
    }

    #[test]
    fn clusters_inside_of_groups_are_found_however_much_groups_differ() {
        // Ten groups of six values, each group up to 9 higher than the first. In eight of them one value is 25 higher.
        let value = |at: usize| {
            let (group, number) = (at / 6, at % 6);
            let slower = if number == group % 6 && group < 8 { 25.0 } else { 0.0 };
            (100.0 + slower + (group * 7 % 10) as f64 + number as f64 / 4.0, group)
        };
        let mut grouped: Vec<Grouped> = (0..60).map(value).collect();
        grouped.sort_by(|one, other| one.0.total_cmp(&other.0));
        let gaps = gaps(&grouped, 10, 5).unwrap_or_default();
        assert!(gaps.len() == 1 && (110.5..125.0).contains(&gaps[0].middle()), "{gaps:?}");
    }

    #[test]
    fn any_finite_values_have_bounds() {
        let mut extreme = vec![-f64::MAX; 10];
        extreme.extend([0.0; 10]);
        extreme.extend([f64::MIN_POSITIVE / 16.0; 10]);
        extreme.extend([f64::MAX; 10]);
        let bounds = bounds(&extreme);
        assert!(bounds.windows(2).all(|pair| pair[0] < pair[1]), "{bounds:?}");
    }
}
