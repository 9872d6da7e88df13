//! Kendall's S: of all pairs of points, how many more rise than fall. Its distribution if nothing grows
//! is that of inversions of a random order, which is counted exactly for few points.

use std::sync::OnceLock;

use super::student;

/// Up to so many points the distribution is counted; beyond, S is close to normal.
const COUNTED: usize = 64;

/// Pairs that rise less pairs that fall.
pub(super) fn statistic(points: &[(f64, f64)]) -> i64 {
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

/// The chance that S is `least` or more for so many points in random order, all different. Where values
/// are equal the true chance is less.
pub(super) fn tail(least: f64, points: usize) -> f64 {
    if points < 2 {
        return 1.0;
    }
    if points > COUNTED {
        let count = points as f64;
        let variance = count * (count - 1.0) * (2.0 * count + 5.0) / 18.0;
        // That of Student's is a little wider, and needs no other function.
        return student::tail((least - 1.0) / variance.sqrt(), points - 2);
    }
    // S is the number of pairs less two for every inversion; rounding must not lose one.
    let inversions = (pairs(points) as f64 - least) / 2.0 + 1e-9;
    let counted = at_most(points);
    counted[(inversions.max(0.0) as usize).min(counted.len() - 1)]
}

/// The least S that chance reaches with at most this probability; `None` if none is so rare.
pub(super) fn critical(probability: f64, points: usize) -> Option<f64> {
    let pairs = pairs(points);
    let is_rare = |inversions: usize| tail((pairs - 2 * inversions) as f64, points) <= probability;
    if points < 2 || !is_rare(0) {
        return None;
    }
    let (mut rare, mut common) = (0, pairs / 2 + 1);
    while common - rare > 1 {
        let half = rare.midpoint(common);
        if is_rare(half) { rare = half } else { common = half }
    }
    Some((pairs - 2 * rare) as f64)
}

fn pairs(points: usize) -> usize {
    points * points.saturating_sub(1) / 2
}

/// For each number of inversions the chance that a random order has as many or fewer.
fn at_most(points: usize) -> &'static [f64] {
    static KNOWN: [OnceLock<Vec<f64>>; COUNTED + 1] = [const { OnceLock::new() }; COUNTED + 1];
    KNOWN[points].get_or_init(|| {
        let mut chances = vec![1.0];
        for size in 2..=points {
            // The next one stands before any number of those there are, each as likely.
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

    /// All orders of `left` behind `before`, by their S.
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
        // One point more makes the chance of the same S larger; and Student's tail is the wider one.
        for least in [200.0, 400.0, 600.0] {
            let (counted, normal) = (tail(least, COUNTED), tail(least, COUNTED + 1));
            assert!(counted < normal && normal < 0.004 + 1.25 * counted, "{least}: {counted} {normal}");
        }
    }
}
