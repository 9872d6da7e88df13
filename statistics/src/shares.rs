//! The share of the spread of a sample that each knob of the layout explains.

use crate::random::Random;
use crate::ranks::midranks;
use crate::sample::Sample;

/// Maximum number of classes of a knob's values, and the minimum number of members of a class, which may reduce it:
/// with classes of one or two, chance explains most of the spread.
const MOST_CLASSES: usize = 8;
const LEAST_MEMBERS: usize = 6;
/// Divisors of sizes and addresses: vectors, cache lines and pages.
const MODULI: [u64; 5] = [16, 32, 64, 128, 4096];
/// Maximum number of permutations for the p-value, and the number of those with a share as large that ends the search:
/// the p-value is then known to be large (Besag and Clifford 1991).
const PERMUTATIONS: usize = 999;
const ENOUGH: usize = 20;
/// Number of groups in a block of time; ranks are detrended and permuted within blocks.
const BLOCK: usize = 10;
/// Maximum number of groups; more are thinned.
const MOST_GROUPS: usize = 2_000;

/// The values of a knob, one for each group of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnobValues {
    /// Numbers, such as sizes; their remainders are tried as well.
    Numbers(Vec<u64>),
    /// Numbers that represent names.
    Names(Vec<u64>),
}

/// The share of the spread that a knob explains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The position of the knob.
    pub knob: usize,
    /// The share of the variance of ranks between its classes, corrected for chance: ε² of Kelley (1935), from 0 to 1.
    pub share: f64,
    /// The probability that chance gives as large a share: by permutation, over all remainders that were tried. A drift
    /// in time counts for no knob, because the order of groups explains it as well: ranks are detrended and permuted
    /// within blocks of time.
    pub p_value: f64,
    /// The divisor of its values with the largest share; `None` if they were used as they are.
    pub modulus: Option<u64>,
}

/// The share of each knob that differs between groups, which are in order of time. The median of each group counts.
#[must_use]
pub fn knob_shares(sample: &Sample, knobs: &[KnobValues]) -> Vec<Share> {
    let medians = sample.medians();
    let step = medians.len().div_ceil(MOST_GROUPS).max(1);
    let kept: Vec<usize> = (0..medians.len()).step_by(step).collect();
    let ranks = midranks(&kept.iter().map(|&group| medians[group]).collect::<Vec<f64>>());
    let knobs = knobs.iter().enumerate();
    knobs.filter_map(|(knob, values)| share(knob, values, medians.len(), &kept, &ranks)).collect()
}

/// A division of groups into classes.
struct Classification {
    modulus: Option<u64>,
    class: Vec<usize>,
    sizes: Vec<f64>,
}

fn share(knob: usize, values: &KnobValues, groups: usize, kept: &[usize], ranks: &[f64]) -> Option<Share> {
    let (values, moduli) = match values {
        KnobValues::Numbers(values) => (values, &MODULI[..]),
        KnobValues::Names(values) => (values, &[][..]),
    };
    if values.len() != groups {
        return None;
    }
    let values: Vec<u64> = kept.iter().map(|&group| values[group]).collect();
    // Neighbouring numbers form a class; names that occur only once do not.
    if moduli.is_empty() && distinct(&values).len() * 2 > values.len() {
        return None;
    }
    let classings: Vec<Classification> = std::iter::once(None)
        .chain(moduli.iter().copied().map(Some))
        .filter_map(|modulus| classing(&values, modulus))
        .collect();
    let (found, modulus) = best(&classings, ranks)?;
    let mut random = Random::new(values.len() as u64);
    let mut shuffled = without_order(ranks);
    let (beside_order, _) = best(&classings, &shuffled)?;
    let mut as_large = 0;
    let mut made = 0;
    while made < PERMUTATIONS && as_large < ENOUGH {
        for block in blocks(ranks.len()) {
            random.shuffle(&mut shuffled[block]);
        }
        as_large += usize::from(best(&classings, &shuffled).is_some_and(|(share, _)| share >= beside_order));
        made += 1;
    }
    let p_value = match as_large {
        ENOUGH => ENOUGH as f64 / made as f64,
        few => (few + 1) as f64 / (PERMUTATIONS + 1) as f64,
    };
    Some(Share { knob, share: found.clamp(0.0, 1.0), p_value, modulus })
}

/// The largest share, and its modulus. Of equal shares the first one counts, which is the simplest.
fn best(classings: &[Classification], ranks: &[f64]) -> Option<(f64, Option<u64>)> {
    let shares = classings.iter().map(|classing| (explained(classing, ranks), classing.modulus));
    shares.reduce(|best, next| if best.0 >= next.0 { best } else { next })
}

/// Blocks of about equal numbers of groups.
fn blocks(groups: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let count = (groups / BLOCK).max(1);
    (0..count).map(move |at| at * groups / count..(at + 1) * groups / count)
}

/// Ranks minus the lines through them in each block, which the order explains.
fn without_order(ranks: &[f64]) -> Vec<f64> {
    let mut rest = ranks.to_vec();
    for block in blocks(ranks.len()) {
        let block = &mut rest[block];
        let n = block.len() as f64;
        let (mean, middle) = (block.iter().sum::<f64>() / n, (n - 1.0) / 2.0);
        let by_place = block.iter().enumerate().map(|(at, rank)| (at as f64 - middle) * (rank - mean)).sum::<f64>();
        let squares = n * (n * n - 1.0) / 12.0;
        let slope = if squares > 0.0 { by_place / squares } else { 0.0 };
        block.iter_mut().enumerate().for_each(|(at, rank)| *rank -= mean + slope * (at as f64 - middle));
    }
    rest
}

/// Classes of equal values, or of neighbouring ones if there are many; `None` if there is one class, or nearly as many
/// classes as values.
fn classing(values: &[u64], modulus: Option<u64>) -> Option<Classification> {
    let values: Vec<u64> = values.iter().map(|value| modulus.map_or(*value, |modulus| value % modulus)).collect();
    let mut ordered = values.clone();
    ordered.sort_unstable();
    let distinct = distinct(&values);
    let most = (values.len() / LEAST_MEMBERS).clamp(2, MOST_CLASSES);
    let class: Vec<usize> = match distinct.len() <= most {
        true => values.iter().map(|value| distinct.partition_point(|known| known < value)).collect(),
        // By quantile: equal values are in one class.
        false => {
            values.iter().map(|value| ordered.partition_point(|known| known < value) * most / ordered.len()).collect()
        }
    };
    let mut sizes = vec![0.0; MOST_CLASSES];
    class.iter().for_each(|&class| sizes[class] += 1.0);
    let count = sizes.iter().filter(|size| **size > 0.0).count();
    (count > 1 && values.len() > count + 1).then_some(Classification { modulus, class, sizes })
}

/// Each value once, in order.
fn distinct(values: &[u64]) -> Vec<u64> {
    let mut distinct = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// The share of the variance of ranks between the classes, corrected for chance.
fn explained(classing: &Classification, ranks: &[f64]) -> f64 {
    let n = ranks.len() as f64;
    let mean = ranks.iter().sum::<f64>() / n;
    let mut sums = vec![0.0; classing.sizes.len()];
    let mut total = 0.0;
    for (&class, rank) in classing.class.iter().zip(ranks) {
        sums[class] += rank - mean;
        total += (rank - mean) * (rank - mean);
    }
    if total == 0.0 {
        return 0.0;
    }
    let sizes = classing.sizes.iter();
    let between: f64 =
        sums.iter().zip(sizes.clone()).filter(|(_, size)| **size > 0.0).map(|(sum, size)| sum * sum / size).sum();
    let classes = sizes.filter(|size| **size > 0.0).count() as f64;
    let within = (total - between) / (n - classes);
    ((between - (classes - 1.0) * within) / total).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.iter().map(|&value| vec![value]).collect())
    }

    #[test]
    fn the_knob_that_decides_is_named_with_its_modulus() {
        let mut random = Random::new(3);
        let addresses: Vec<u64> = (0..100).map(|_| random.below(1 << 40) * 16).collect();
        let others: Vec<u64> = (0..100).map(|_| random.below(1 << 40)).collect();
        let noise: Vec<f64> = (0..100).map(|_| random.below(100) as f64 / 100.0).collect();
        let slow = |address: &u64| if address.is_multiple_of(64) { 30.0 } else { 20.0 };
        let values: Vec<f64> = addresses.iter().zip(&noise).map(|(address, noise)| slow(address) + noise).collect();
        let knobs = [KnobValues::Numbers(others), KnobValues::Numbers(addresses)];
        let shares = knob_shares(&sample(&values), &knobs);
        assert_eq!((shares[1].knob, shares[1].modulus), (1, Some(64)));
        assert!(shares[1].share > 0.4 && shares[1].p_value < 0.005, "{shares:?}");
        assert!(shares[0].share < 0.2 && shares[0].p_value > 0.01, "{shares:?}");
    }

    #[test]
    fn chance_is_rarely_found() {
        let mut random = Random::new(4);
        let found = (0..100).filter(|_| {
            let values: Vec<f64> = (0..40).map(|_| random.below(1000) as f64).collect();
            let knob: Vec<u64> = (0..40).map(|_| random.below(1 << 20)).collect();
            knob_shares(&sample(&values), &[KnobValues::Numbers(knob)])[0].p_value <= 0.05
        });
        assert!(found.count() <= 12);
    }

    #[test]
    fn a_knob_that_grows_with_time_explains_no_drift() {
        let mut random = Random::new(6);
        let mut noise = || random.below(1000) as f64 / 1000.0;
        let sizes: Vec<u64> = (0..60).map(|at| 4096 * at).collect();
        let mut found = 0;
        for steepness in [0.0, 0.02, 0.1, 1.0] {
            for _ in 0..25 {
                let drift: Vec<f64> = (0..60).map(|at| steepness * f64::from(at) + noise()).collect();
                let share = knob_shares(&sample(&drift), &[KnobValues::Numbers(sizes.clone())])[0];
                found += usize::from(share.p_value <= 0.01);
            }
        }
        assert!(found <= 3, "{found}");
        // A knob that explains values beside a drift is found.
        let sides: Vec<u64> = (0..60).map(|at| at * 7 % 5 % 2).collect();
        let values: Vec<f64> =
            (0..60).zip(&sides).map(|(at, side)| f64::from(at) / 20.0 + *side as f64 + noise()).collect();
        let share = knob_shares(&sample(&values), &[KnobValues::Names(sides)])[0];
        assert!(share.p_value <= 0.01 && share.share > 0.1, "{share:?}");
    }

    #[test]
    fn knobs_that_say_nothing_have_no_share() {
        let values = sample(&[1.0, 2.0, 3.0, 4.0]);
        let knobs = [KnobValues::Names(vec![5; 4]), KnobValues::Names(vec![1, 2]), KnobValues::Names(vec![1, 2, 3, 4])];
        assert_eq!(knob_shares(&values, &knobs), []);
        let equal = knob_shares(&sample(&[1.0; 8]), &[KnobValues::Names(vec![0, 1, 0, 1, 0, 1, 0, 1])]);
        assert_eq!((equal[0].share, equal[0].p_value), (0.0, 1.0));
        assert_eq!(knob_shares(&Sample::default(), &[KnobValues::Names(Vec::new())]), []);
    }
}
