use super::*;
use crate::random::Random;

const USUAL: Threshold = Threshold { relative: 0.05, floor: 0.0, weight: 0.1 };

/// About normal values: sums of twelve.
fn normal(random: &mut Random, mean: f64, sigma: f64) -> f64 {
    let sum: f64 = (0..12).map(|_| random.below(1 << 32) as f64 / (1_u64 << 32) as f64).sum();
    mean + sigma * (sum - 6.0)
}

/// Values of which `rare` of 60 are in a second mode.
fn sample(seed: u64, first: f64, second: f64, rare: usize) -> Sample {
    sample_of(60, seed, first, second, rare)
}

/// The same of this many, in any order.
fn sample_of(count: usize, seed: u64, first: f64, second: f64, rare: usize) -> Sample {
    let mut random = Random::new(seed);
    let mut values: Vec<f64> =
        (0..count).map(|at| normal(&mut random, if at < rare { second } else { first }, 1.0)).collect();
    random.shuffle(&mut values);
    Sample::new(values.into_iter().map(|value| vec![value]).collect())
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
fn weight_that_moves_to_a_slower_mode_is_worse() {
    use ComparisonVerdict::{MovedWeight, WorseWeight};
    let (a, b) = (sample(1, 100.0, 120.0, 12), sample(2, 100.0, 120.0, 36));
    assert_eq!((verdict(&a, &b), verdict(&b, &a)), (WorseWeight, MovedWeight));
    assert_eq!(compare(&a, &b, USUAL, Direction::Higher).verdict, MovedWeight);
    let comparison = compare(&a, &b, USUAL, Direction::Lower);
    assert_eq!((comparison.about, comparison.is_not_worse), (Some(1), false));
    assert!(compare(&b, &a, USUAL, Direction::Lower).is_not_worse);
    assert!((comparison.modes[1].weight_change - 0.4).abs() < 0.01);
    assert!(comparison.modes[1].weight_low > Some(0.2) && comparison.modes[1].weight_high < Some(0.6));
    // Its limit is another.
    let patient = Threshold { weight: 0.5, ..USUAL };
    assert_eq!(compare(&a, &b, patient, Direction::Lower).verdict, MovedWeight);
}

#[test]
fn a_single_slow_value_in_the_first_sample_disarms_nothing() {
    use ComparisonVerdict::{Worse, WorseWeight};
    for slow in [0, 1, 2, 5] {
        let (a, b) = (sample(3, 100.0, 150.0, slow), sample(4, 100.0, 150.0, 24));
        assert_eq!(verdict(&a, &b), if slow == 0 { Worse } else { WorseWeight }, "{slow}");
    }
}

#[test]
fn a_mode_that_doubled_is_never_equal() {
    // At 60 runs a weight of 20 % is known to ±15 points only.
    let (a, b) = (sample(5, 100.0, 120.0, 12), sample(6, 100.0, 120.0, 12));
    let found = compare(&a, &b, USUAL, Direction::Lower);
    assert_eq!((found.verdict, found.about), (ComparisonVerdict::Unknown, None));
    let Some(Doubt::Weight { low, high, groups, .. }) = found.doubt else { panic!("{found:?}") };
    assert!((0.26..0.32).contains(&(high - low)), "{found:?}");
    // Two one-sided tests of 5 %, both right in 80 % of the cases: 2 · 0.2 · 0.8 · (1.645 + 1.282)² / 0.1².
    assert_eq!(groups, Some(280));
    for slow in 13..=30 {
        assert_ne!(verdict(&a, &sample(7, 100.0, 120.0, slow)), ComparisonVerdict::Equal, "{slow}");
    }
}

#[test]
fn enough_runs_show_that_weights_are_equal() {
    let many = |seed, slow| sample_of(300, seed, 100.0, 120.0, slow);
    assert_eq!(verdict(&many(1, 60), &many(2, 63)), ComparisonVerdict::Equal);
    assert_eq!(verdict(&many(1, 60), &many(2, 80)), ComparisonVerdict::Unknown);
    assert_eq!(verdict(&many(1, 60), &many(2, 130)), ComparisonVerdict::WorseWeight);
}

#[test]
fn runs_that_depend_on_their_order_have_no_verdict_and_no_intervals() {
    let drift = |seed, from: f64| {
        let mut random = Random::new(seed);
        Sample::new((0..40).map(|at| vec![normal(&mut random, from + f64::from(at) / 4.0, 1.0)]).collect())
    };
    let found = compare(&drift(1, 100.0), &drift(2, 150.0), USUAL, Direction::Lower);
    assert_eq!(
        (found.verdict, found.doubt, found.is_not_worse),
        (ComparisonVerdict::Unknown, Some(Doubt::Order), false)
    );
    assert!(found.dependence.is_some_and(|dependence| dependence.trend > 0.9), "{found:?}");
    let pair = found.modes[0];
    let intervals = [found.shift_low, found.shift_high, pair.location_low, pair.weight_low, pair.weight_high];
    assert_eq!((intervals, found.shift.is_some()), ([None; 5], true));
}

#[test]
fn a_small_wide_sample_is_not_beyond_a_narrow_one() {
    let mut alarms = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut side =
            |count, sigma| Sample::new((0..count).map(|_| vec![normal(&mut random, 1000.0, sigma)]).collect());
        let verdict = verdict(&side(60, 20.0), &side(10, 300.0));
        alarms += usize::from(!matches!(verdict, ComparisonVerdict::Equal | ComparisonVerdict::Unknown));
    }
    assert!(alarms <= 6, "{alarms}");
}

/// Verdicts of pairs of evenly distributed values with this median and these half widths that say there is a difference.
fn alarms(pairs: u64, half_widths: [f64; 2]) -> usize {
    let alarm = |seed: &u64| {
        let mut random = Random::new(*seed);
        let mut side = |half_width: f64| {
            let unit = |random: &mut Random| random.below(1 << 32) as f64 / (1_u64 << 31) as f64 - 1.0;
            Sample::new((0..60).map(|_| vec![1000.0 + half_width * unit(&mut random)]).collect())
        };
        let found = verdict(&side(half_widths[0]), &side(half_widths[1]));
        !matches!(found, ComparisonVerdict::Equal | ComparisonVerdict::Unknown)
    };
    (0..pairs).filter(alarm).count()
}

#[test]
fn wider_samples_that_chance_cut_have_no_other_modes() {
    // Even values of one mode are cut in one of eight samples.
    for half_widths in [[350.0, 1040.0], [35.0, 520.0], [1040.0, 350.0]] {
        let alarms = alarms(200, half_widths);
        assert!(alarms <= 5, "{half_widths:?}: {alarms}");
    }
}

#[test]
fn modes_that_all_moved_are_no_moved_weight() {
    // The slow mode of the first sample lies where the fast one of the second is.
    let mut random = Random::new(11);
    for pair in 0..150 {
        let [a, b] = [1.0, 1.2].map(|by| {
            let value = |_| {
                let mode = if random.below(10) < 3 { 1200.0 } else { 1000.0 };
                vec![by * normal(&mut random, mode, 0.02 * mode)]
            };
            Sample::new((0..20).map(value).collect())
        });
        let found = verdict(&a, &b);
        assert!(!matches!(found, ComparisonVerdict::MovedWeight | ComparisonVerdict::WorseWeight), "{pair}: {found:?}");
    }
}

#[test]
fn a_slow_mode_that_is_gone_is_moved_weight() {
    // Runs of 60 values, of which so many are at 152 and the others at 117; the slow ones are the median of half of the
    // runs, and of four of ten.
    for slow in [[58, 2, 55, 20, 34, 40, 10, 35, 31, 4], [58, 2, 55, 20, 34, 10, 25, 35, 29, 4]] {
        let mut random = Random::new(5);
        let mut run = |slow: usize, fast: f64| -> Vec<f64> {
            (0..60).map(|at| normal(&mut random, if at < slow { 152.4 } else { fast }, 0.02)).collect()
        };
        let a = Sample::new(slow.map(|slow| run(slow, 117.4)).into());
        let b = Sample::new((0..10).map(|_| run(0, 117.2)).collect());
        let found = compare(&a, &b, USUAL, Direction::Lower);
        assert!(found.shift_high < Some(0.0), "{found:?}");
        assert_eq!(found.verdict, ComparisonVerdict::MovedWeight, "{found:?}");
    }
}

#[test]
fn modes_that_moved_apart_are_not_one_wider_mode() {
    // The spread of all values is half as large again, and each mode is as wide as before.
    let (a, b) = (sample_of(60, 1, 100.0, 120.0, 30), sample_of(60, 2, 100.0, 135.0, 30));
    let found = compare(&a, &b, USUAL, Direction::Lower);
    assert_eq!((found.verdict, found.about), (ComparisonVerdict::Worse, Some(1)));
    let found =
        compare(&sample_of(60, 3, 100.0, 100.0, 0), &sample_of(60, 4, 100.0, 150.0, 28), USUAL, Direction::Lower);
    assert_eq!(found.verdict, ComparisonVerdict::Worse);
}

#[test]
fn two_far_values_are_a_doubt_only_if_they_are_far_beside_the_spread() {
    // Blom's places of 20 normal values, and the same with two others in the place of the largest.
    const HALF: [f64; 10] = [0.06, 0.19, 0.31, 0.45, 0.59, 0.74, 0.92, 1.13, 1.40, 1.87];
    let pair = |sigma: f64| {
        let mut values: Vec<f64> = HALF.iter().flat_map(|z| [1000.0 - sigma * z, 1000.0 + sigma * z]).collect();
        let a = Sample::new(values.iter().map(|value| vec![*value]).collect());
        values.truncate(16);
        values.extend([1000.0 - sigma * 1.40, 1000.0 - sigma * 1.87, 1160.0, 1165.0]);
        [a, Sample::new(values.into_iter().map(|value| vec![value]).collect())]
    };
    let [a, b] = pair(50.0);
    let found = compare(&a, &b, USUAL, Direction::Lower);
    assert_eq!((found.verdict, found.doubt), (ComparisonVerdict::Equal, None), "{found:?}");
    let [a, b] = pair(15.0);
    assert_eq!(verdict(&a, &b), ComparisonVerdict::Unknown);
}

#[test]
fn equal_samples_are_equal_and_shifted_ones_are_not() {
    assert_eq!(verdict(&sample(1, 100.0, 100.0, 0), &sample(2, 100.0, 100.0, 0)), ComparisonVerdict::Equal);
    assert_eq!(verdict(&sample(1, 100.0, 100.0, 0), &sample(2, 110.0, 110.0, 0)), ComparisonVerdict::Worse);
    assert_eq!(verdict(&sample(1, 100.0, 100.0, 0), &sample(2, 90.0, 90.0, 0)), ComparisonVerdict::Better);
    let floor = Threshold { relative: 0.05, floor: 20.0, weight: 0.1 };
    let (a, b) = (sample(1, 100.0, 100.0, 0), sample(2, 110.0, 110.0, 0));
    assert_eq!(compare(&a, &b, floor, Direction::Lower).verdict, ComparisonVerdict::Equal);
}

#[test]
fn numbers_that_never_vary_are_compared_exactly() {
    let constant = |value: f64, runs: usize| Sample::new(vec![vec![value]; runs]);
    let exact = Threshold { relative: 0.0, floor: 0.0, weight: 0.1 };
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
        let verdict = compare(&a, &b, Threshold { relative: 0.0, floor: 0.0, weight: 0.1 }, Direction::Lower).verdict;
        alarms += usize::from(!matches!(verdict, ComparisonVerdict::Equal | ComparisonVerdict::Unknown));
    }
    assert!(alarms <= 4, "{alarms}");
}

#[test]
fn extreme_values_have_a_verdict() {
    let values = [0.0, -0.0, f64::MAX, -f64::MAX, f64::MIN_POSITIVE / 8.0, 1e308, 1.0];
    let extreme = |step: usize| Sample::new((0..40).map(|at| vec![values[at * step % values.len()]]).collect());
    let comparison = compare(&extreme(1), &extreme(3), USUAL, Direction::Lower);
    let numbers =
        comparison.modes.iter().flat_map(|pair| [Some(pair.weight_change), pair.weight_low, pair.weight_high]);
    assert!(numbers.flatten().all(f64::is_finite), "{comparison:?}");
}

#[test]
fn what_is_unknown_is_not_said_to_be_not_worse() {
    use ComparisonVerdict::Unknown;
    // Three of twenty values in a new slow mode are 15 %, known to ±18 points.
    for slow in [1, 3] {
        let found =
            compare(&sample_of(20, 1, 100.0, 150.0, 0), &sample_of(20, 2, 100.0, 150.0, slow), USUAL, Direction::Lower);
        assert_eq!((found.verdict, found.is_not_worse), (Unknown, false), "{slow}");
    }
    // Three fast values of twenty are gone.
    let (fast, none) = (sample_of(20, 1, 100.0, 80.0, 3), sample_of(20, 2, 100.0, 80.0, 0));
    assert!(!compare(&fast, &none, USUAL, Direction::Lower).is_not_worse);
    assert!(compare(&none, &fast, USUAL, Direction::Lower).is_not_worse);
    // One of sixty is at most 5.5 %.
    let found = compare(&sample(1, 100.0, 150.0, 0), &sample(2, 100.0, 150.0, 1), USUAL, Direction::Lower);
    assert!(found.is_not_worse, "{found:?}");
}

#[test]
fn equal_samples_never_have_weights_that_changed() {
    let mut random = Random::new(77);
    for number in 0..300 {
        let mut side = |location: f64| Sample::new((0..20).map(|_| vec![normal(&mut random, location, 5.0)]).collect());
        let found = compare(&side(100.0), &side(100.0), USUAL, Direction::Lower);
        let changed = found.modes.iter().any(|pair| pair.weight_low > Some(0.0) || pair.weight_high < Some(0.0));
        assert!(!changed || found.verdict != ComparisonVerdict::Equal, "{number}: {found:?}");
    }
}

#[test]
fn three_runs_have_no_interval_and_numbers_of_runs_exceed_those_made() {
    let found = compare(&sample_of(3, 1, 100.0, 0.0, 0), &sample_of(60, 2, 100.0, 0.0, 0), USUAL, Direction::Lower);
    assert_eq!((found.shift_low, found.modes[0].location_low, found.smallest_detectable), (None, None, None));
    assert!(found.shift.is_some());
    for slow in 1..=6 {
        let found = compare(&sample(3, 100.0, 150.0, 0), &sample(4, 100.0, 150.0, slow), USUAL, Direction::Lower);
        let runs = found.doubt.and_then(Doubt::groups);
        assert!(runs.is_none_or(|runs| runs > 60), "{slow}: {found:?}");
    }
}

#[test]
fn a_mode_that_chance_cut_is_not_slower_where_all_are_faster() {
    // Drawn from modes at 1000 and 1200, 80:20 and 1.5 % wide, and from the same, 10 % lower. The first are cut in three.
    let a = [
        1008.1, 991.6, 1034.2, 1213.8, 1045.4, 979.6, 990.7, 999.1, 985.4, 991.3, 991.9, 1006.7, 1193.5, 1184.5,
        1192.6, 1195.9, 992.5, 988.5, 990.4, 1013.4, 1015.0, 1022.4, 1007.7, 1019.3, 1007.5, 1015.7, 984.7, 1009.7,
        1020.6, 1004.4,
    ];
    let b = [
        1084.6, 882.4, 1068.0, 889.3, 898.0, 888.2, 1070.3, 896.3, 868.4, 902.1, 904.0, 904.0, 880.9, 915.3, 1111.9,
        887.3, 1079.7, 915.7, 898.1, 900.2, 913.8, 1076.2, 895.2, 883.2, 878.5, 900.0, 905.5, 884.1, 909.1, 873.4,
    ];
    let [a, b] = [a, b].map(|values| Sample::new(values.into_iter().map(|value| vec![value]).collect()));
    assert_eq!(verdict(&a, &b), ComparisonVerdict::Better);
}
