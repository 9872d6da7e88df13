//! Kendall's S: the number of pairs of points that rise, minus the number of pairs that fall.
//!
//! Without a trend every order of the values is equally likely, and S follows from the number of inversions of a random
//! permutation. Up to [`COUNTED`] points that distribution is counted exactly; for more points S is nearly normal.
//!
//! Sources: Mann 1945 (test for trend); Kendall, Rank Correlation Methods, 1975 (distribution). Assumptions: values are
//! independent, and no two are equal; with equal values the true probability is smaller. No assumption about the
//! distribution of values. Time: O(n²) for S; O(n³) once for the exact distribution of n points, which is then kept.

use std::sync::OnceLock;

use crate::student;

/// The largest number of points whose distribution is counted exactly.
const COUNTED: usize = 64;

/// S: the number of pairs that rise, minus the number that fall.
pub(crate) fn statistic(points: &[(f64, f64)]) -> i64 {
    let mut sum = 0;
    for (at, &(x, y)) in points.iter().enumerate() {
        for &(other_x, other_y) in &points[at + 1..] {
            if other_x > x {
                sum += i64::from(other_y > y) - i64::from(other_y < y);
            }
        }
    }
    sum
}

/// The probability that S is at least `least` for `points` different values in random order; an upper bound where
/// values are equal.
pub(crate) fn tail(least: f64, points: usize) -> f64 {
    if points < 2 {
        return 1.0;
    }
    if points > COUNTED {
        let count = points as f64;
        let variance = count * (count - 1.0) * (2.0 * count + 5.0) / 18.0;
        // Student's t has a slightly wider tail than the normal distribution, so this errs towards no alarm.
        return student::tail((least - 1.0) / variance.sqrt(), points - 2);
    }
    // Every inversion lowers S by two. The small term keeps rounding from losing an inversion.
    let inversions = (pairs(points) as f64 - least) / 2.0 + 1e-9;
    let counted = at_most(points);
    counted[(inversions.max(0.0) as usize).min(counted.len() - 1)]
}

/// The least S whose tail probability is at most `probability`; `None` if there is none.
pub(crate) fn critical(probability: f64, points: usize) -> Option<f64> {
    let pairs = pairs(points);
    if points < 2 || tail(pairs as f64, points) > probability {
        return None;
    }
    // Numbers of inversions: the largest known to be rare, and the smallest known to be common.
    let (mut rare, mut common) = (0, pairs / 2 + 1);
    while common - rare > 1 {
        let half = rare.midpoint(common);
        let is_rare = tail((pairs - 2 * half) as f64, points) <= probability;
        if is_rare { rare = half } else { common = half }
    }
    Some((pairs - 2 * rare) as f64)
}

fn pairs(points: usize) -> usize {
    points * points.saturating_sub(1) / 2
}

/// By number of inversions, the probability that a random permutation has at most that number.
fn at_most(points: usize) -> &'static [f64] {
    static KNOWN: [OnceLock<Vec<f64>>; COUNTED + 1] = [const { OnceLock::new() }; COUNTED + 1];
    KNOWN[points].get_or_init(|| {
        let mut chances = vec![1.0];
        for size in 2..=points {
            // The next element adds 0 to `size - 1` inversions, each number equally likely.
            let mut next = vec![0.0; chances.len() + size - 1];
            for (inversions, chance) in chances.iter().enumerate() {
                next[inversions..inversions + size].iter_mut().for_each(|sum| *sum += chance / size as f64);
            }
            chances = next;
        }
        let mut sum = 0.0;
        chances
            .iter()
            .map(|chance| {
                sum += chance;
                sum
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects S of every permutation of `left` appended to `before`.
    fn count(before: &mut Vec<usize>, left: &mut Vec<usize>, found: &mut Vec<i64>) {
        if left.is_empty() {
            found.push(statistic(&before.iter().enumerate().map(|(x, &y)| (x as f64, y as f64)).collect::<Vec<_>>()));
        }
        for at in 0..left.len() {
            before.push(left.remove(at));
            count(before, left, found);
            left.insert(at, before.pop().unwrap());
        }
    }

    #[test]
    fn the_distribution_is_that_of_all_orders() {
        for points in 2..=7 {
            let mut found = Vec::new();
            count(&mut Vec::new(), &mut (0..points).collect(), &mut found);
            let most = pairs(points) as i64;
            for least in -most..=most {
                let share = found.iter().filter(|&&s| s >= least).count() as f64 / found.len() as f64;
                assert!((tail(least as f64, points) - share).abs() < 1e-12, "{points} {least}");
            }
            for probability in [0.5, 0.1, 0.025, 0.001] {
                let share = |least: i64| found.iter().filter(|&&s| s >= least).count() as f64 / found.len() as f64;
                let least = (0..=most).rev().step_by(2).filter(|&least| share(least) <= probability).last();
                assert_eq!(critical(probability, points), least.map(|least| least as f64), "{points} {probability}");
            }
        }
    }

    #[test]
    fn counted_and_normal_meet() {
        // One more point makes the same S more likely, and Student's tail is wider than the normal one.
        for least in [200.0, 400.0, 600.0] {
            let (counted, normal) = (tail(least, COUNTED), tail(least, COUNTED + 1));
            assert!(counted < normal && normal < 0.004 + 1.25 * counted, "{least}: {counted} {normal}");
        }
    }
}
