use super::*;
use crate::random::Random;

const USUAL: Threshold = Threshold { relative: 0.05, floor: 0.0 };

/// About normal values: sums of twelve.
fn normal(random: &mut Random, mean: f64, sigma: f64) -> f64 {
    let sum: f64 = (0..12).map(|_| random.below(1 << 32) as f64 / (1_u64 << 32) as f64).sum();
    mean + sigma * (sum - 6.0)
}

/// Values of which `rare` of 60 are in a second mode.
fn sample(seed: u64, first: f64, second: f64, rare: usize) -> Sample {
    let mut random = Random::new(seed);
    let mut value = |at: usize| normal(&mut random, if at < rare { second } else { first }, 1.0);
    Sample::new((0..60).map(|at| vec![value(at)]).collect())
}

fn verdict(a: &Sample, b: &Sample) -> ComparisonVerdict {
    compare(a, b, USUAL, Direction::Lower).verdict
}

#[test]
fn a_rare_mode_that_is_slower_is_found() {
    let (a, b) = (sample(1, 100.0, 120.0, 12), sample(2, 100.0, 156.0, 12));
    let comparison = compare(&a, &b, USUAL, Direction::Lower);
    assert_eq!(comparison.verdict, ComparisonVerdict::Worse);
    let verdicts: Vec<ComparisonVerdict> = comparison.modes.iter().map(|pair| pair.verdict).collect();
    assert_eq!(verdicts, [ComparisonVerdict::Equal, ComparisonVerdict::Worse]);
    let change = comparison.modes[1].location_change.unwrap();
    assert!((34.0..38.0).contains(&change), "{comparison:?}");
    assert_eq!(compare(&a, &b, USUAL, Direction::Higher).verdict, ComparisonVerdict::Better);
    assert_eq!(verdict(&b, &a), ComparisonVerdict::Better);
}

#[test]
fn moved_weight_is_neither_faster_nor_slower() {
    let (a, b) = (sample(1, 100.0, 120.0, 12), sample(2, 100.0, 120.0, 36));
    assert_eq!((verdict(&a, &b), verdict(&b, &a)), (ComparisonVerdict::MovedWeight, ComparisonVerdict::MovedWeight));
    let comparison = compare(&a, &b, USUAL, Direction::Lower);
    assert!((comparison.modes[1].weight_change - 0.4).abs() < 0.01);
    assert!(comparison.modes[1].weight_low > 0.2 && comparison.modes[1].weight_high < 0.6);
}

#[test]
fn a_slower_mode_that_is_new_is_worse() {
    let (a, b) = (sample(1, 100.0, 100.0, 0), sample(2, 100.0, 150.0, 15));
    assert_eq!(verdict(&a, &b), ComparisonVerdict::Worse);
    assert_eq!(verdict(&b, &a), ComparisonVerdict::MovedWeight);
}

#[test]
fn equal_samples_are_equal_and_shifted_ones_are_not() {
    assert_eq!(verdict(&sample(1, 100.0, 100.0, 0), &sample(2, 100.0, 100.0, 0)), ComparisonVerdict::Equal);
    assert_eq!(verdict(&sample(1, 100.0, 100.0, 0), &sample(2, 110.0, 110.0, 0)), ComparisonVerdict::Worse);
    assert_eq!(verdict(&sample(1, 100.0, 100.0, 0), &sample(2, 90.0, 90.0, 0)), ComparisonVerdict::Better);
    let floor = Threshold { relative: 0.05, floor: 20.0 };
    let (a, b) = (sample(1, 100.0, 100.0, 0), sample(2, 110.0, 110.0, 0));
    assert_eq!(compare(&a, &b, floor, Direction::Lower).verdict, ComparisonVerdict::Equal);
}

#[test]
fn numbers_that_never_vary_are_compared_exactly() {
    let constant = |value: f64, runs: usize| Sample::new(vec![vec![value]; runs]);
    let exact = Threshold { relative: 0.0, floor: 0.0 };
    let of = |a, b| compare(&constant(a, 3), &constant(b, 3), exact, Direction::Lower).verdict;
    assert_eq!(of(8_875_584.0, 8_875_584.0), ComparisonVerdict::Equal);
    assert_eq!(of(8_875_584.0, 8_875_585.0), ComparisonVerdict::Worse);
    assert_eq!(of(8_875_584.0, 8_875_583.0), ComparisonVerdict::Better);
    let few = compare(&constant(1.0, 2), &constant(2.0, 2), exact, Direction::Lower);
    assert_eq!((few.verdict, few.modes.len()), (ComparisonVerdict::Unknown, 1));
}

#[test]
fn too_few_values_support_no_verdict() {
    let few = |from: f64| Sample::new((0..5).map(|at| vec![from + f64::from(at)]).collect());
    let comparison = compare(&few(0.0), &few(1000.0), USUAL, Direction::Lower);
    assert_eq!((comparison.verdict, comparison.smallest_detectable), (ComparisonVerdict::Unknown, None));
    let empty = compare(&Sample::default(), &few(0.0), USUAL, Direction::Lower);
    assert_eq!((empty.verdict, empty.shift), (ComparisonVerdict::Unknown, None));
}

#[test]
fn one_noisy_run_is_no_evidence() {
    // Ten runs of thirty values with an effect per run: values of a run say the same thing thirty times.
    let mut alarms = 0;
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut side = || {
            let groups = (0..10).map(|_| {
                let level = normal(&mut random, 100.0, 10.0);
                (0..30).map(|_| normal(&mut random, level, 1.0)).collect()
            });
            Sample::new(groups.collect())
        };
        let (a, b) = (side(), side());
        let verdict = compare(&a, &b, Threshold { relative: 0.0, floor: 0.0 }, Direction::Lower).verdict;
        alarms += usize::from(!matches!(verdict, ComparisonVerdict::Equal | ComparisonVerdict::Unknown));
    }
    assert!(alarms <= 4, "{alarms}");
}

#[test]
fn extreme_values_have_a_verdict() {
    let values = [0.0, -0.0, f64::MAX, -f64::MAX, f64::MIN_POSITIVE / 8.0, 1e308, 1.0];
    let extreme = |step: usize| Sample::new((0..40).map(|at| vec![values[at * step % values.len()]]).collect());
    let comparison = compare(&extreme(1), &extreme(3), USUAL, Direction::Lower);
    let numbers = comparison.modes.iter().flat_map(|pair| [pair.weight_change, pair.weight_low, pair.weight_high]);
    assert!(numbers.into_iter().all(f64::is_finite), "{comparison:?}");
}

#[test]
fn a_mode_of_few_groups_gets_the_chance_that_it_needs() {
    // Of 462 orders of five and six groups, one has all groups of one sample below.
    let limits = location_limits(&[[10, 10], [5, 6]]);
    assert_eq!(limits[1], 2.0 / 462.0);
    assert!((limits.iter().sum::<f64>() - SIGNIFICANT / 2.0).abs() < 1e-15, "{limits:?}");
    // Enough groups, too few for any part, and modes of one sample.
    for groups in
        [vec![[10, 10], [9, 9]], vec![[10, 10], [4, 4]], vec![[10, 10], [0, 6]], vec![[5, 5]], vec![[3, 3]], vec![]]
    {
        let equal = limit(groups.len());
        assert_eq!(location_limits(&groups), vec![equal; groups.len()], "{groups:?}");
    }
}
