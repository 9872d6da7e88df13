use super::*;
use crate::random::Random;

/// Between -1 and 1.
fn unit(random: &mut Random) -> f64 {
    random.below(1 << 40) as f64 / (1u64 << 39) as f64 - 1.0
}

/// Values at 0, 1, 2 and so on, each changed by up to the fraction `noise` either way.
fn series(random: &mut Random, count: usize, noise: f64, level: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..count).map(|at| 1e6 * level(at as f64) * (1.0 + noise * unit(random))).collect()
}

/// How many of a thousand series are judged to grow.
fn told(count: usize, noise: f64, level: impl Fn(f64) -> f64) -> usize {
    let random = &mut Random::new(7);
    let grows = |_: &usize| Judgement::of(&series(random, count, noise, &level)).verdict == Verdict::Grows;
    (0..1000).filter(grows).count()
}

fn line(count: u32) -> Vec<f64> {
    (0..count).map(|at| 4.5e6 + 2_080_000.0 * f64::from(at)).collect()
}

#[test]
fn the_verdict_on_a_clean_line_depends_on_its_length() {
    let verdicts = [2, 4, 5, 6, 7, 8, 30].map(|count| Judgement::of(&line(count)).verdict);
    let expected = [
        Verdict::TooFew,
        Verdict::TooFew,
        Verdict::RisesEachTime,
        Verdict::RisesEachTime,
        Verdict::RisesEachTime,
        Verdict::Grows,
        Verdict::Grows,
    ];
    assert_eq!(verdicts, expected);
    let six = Judgement::of(&line(6));
    assert_eq!((six.trend.slope, six.grows()), (2_080_000.0, None));
    // The unit does not matter, and a long series gets the same verdict.
    assert_eq!(Judgement::of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).verdict, Verdict::Grows);
    let long = Judgement::of(&line(5000));
    assert_eq!(long.verdict, Verdict::Grows);
    assert!((long.score / 2_080_000.0 - 1.0).abs() < 1e-6, "{long:?}");
}

#[test]
fn a_late_start_of_a_line_does_not_hide_it() {
    let mut values = line(9);
    values[0] -= 9e6;
    assert_eq!(Judgement::of(&values).verdict, Verdict::Grows);
    let after = [0.0, 1000.0, 1050.0, 1090.0, 1140.0, 1190.0, 1230.0, 1280.0, 1330.0, 1375.0];
    assert_eq!(Judgement::of(&after).verdict, Verdict::Grows);
    assert_eq!(Judgement::of(&[10.0, 13.0, 15.0, 18.0, 20.0, 22.0, 26.0, 27.0]).verdict, Verdict::Grows);
}

/// V8 objects that take 8 bytes more from number 10,000 on: the residuals of the line are autocorrelated but tiny.
#[test]
fn a_line_with_a_knee_grows() {
    let knee = |at: i32| f64::from(1_456_000 * at.min(4) + 1_616_000 * (at - 4).max(0) + 1_456_328);
    assert_eq!(Judgement::of(&(0..15).map(knee).collect::<Vec<_>>()).verdict, Verdict::Grows);
}

#[test]
fn a_rise_in_every_snapshot_is_never_denied_without_a_reason() {
    let random = &mut Random::new(9);
    for round in 0..5000 {
        let mut value = 0.0;
        let exponent = 1 + round % 9;
        let rise = |_| {
            value += (0.5 * (unit(random) + 1.0)).powi(exponent) + 1e-9;
            value
        };
        let values: Vec<f64> = (0..5 + round as usize % 20).map(rise).collect();
        let verdict = Judgement::of(&values).verdict;
        assert!(verdict != Verdict::DoesNot(Reason::Chance), "{values:?}");
        assert_eq!(verdict == Verdict::RisesEachTime, values.len() < SURE_POINTS, "{values:?}");
    }
}

#[test]
fn nothing_and_decline_do_not_grow() {
    assert_eq!(Judgement::of(&[7.0; 20]).verdict, Verdict::DoesNot(Reason::Chance));
    assert_eq!(Judgement::of(&[7.0; 6]).verdict, Verdict::DoesNot(Reason::Chance));
    let falling: Vec<f64> = line(20).into_iter().rev().collect();
    assert_eq!(Judgement::of(&falling).verdict, Verdict::DoesNot(Reason::Chance));
    assert_eq!(Judgement::of(&[]).verdict, Verdict::TooFew);
}

#[test]
fn shapes_that_end_have_their_reason() {
    let reason =
        |level: &dyn Fn(f64) -> f64| Judgement::of(&(0..24).map(|at| level(f64::from(at))).collect::<Vec<_>>());
    let flattens = [
        reason(&|t| 1e6 * t.sqrt()).verdict,
        reason(&|t| 1e6 * (1.0 + t).ln()).verdict,
        reason(&|t| 1e6 * (1.0 - (-t / 8.0).exp())).verdict,
    ];
    assert_eq!(flattens, [Verdict::DoesNot(Reason::Flattens); 3]);
    let steps = reason(&|t| 1e6 + if t > 7.0 { 5e5 } else { 0.0 } + if t > 15.0 { 5e5 } else { 0.0 } + 10.0 * t);
    assert_eq!(steps.verdict, Verdict::DoesNot(Reason::Steps));
    for period in 2..=10 {
        let saw = reason(&|t| 1e6 * (t % f64::from(period)));
        assert!(matches!(saw.verdict, Verdict::DoesNot(_)), "{period}: {saw:?}");
    }
}

#[test]
fn a_verdict_never_contradicts_its_interval() {
    let random = &mut Random::new(3);
    for round in 0..3000 {
        let count = 5 + (round % 26) as usize;
        let (slope, noise) = (0.01 * unit(random), 0.05 * unit(random));
        let judgement = Judgement::of(&series(random, count, noise, |t| 1.0 + slope * t));
        let is_above = judgement.trend.interval.is_some_and(|(low, _)| low > 0.0);
        match judgement.verdict {
            Verdict::Grows => assert!(is_above && count >= SURE_POINTS, "{judgement:?}"),
            Verdict::DoesNot(Reason::Chance) => assert!(!is_above, "{judgement:?}"),
            _ => {}
        }
    }
}

/// The limits are measured figures.
#[test]
fn few_harmless_series_are_said_to_grow_and_most_leaks_are() {
    for count in [8, 12, 20, 30] {
        let end = count as f64;
        let harmless = [
            told(count, 0.05, |_| 1.0),
            told(count, 0.05, |t| 1.0 + 2.0 * (t / end).sqrt()),
            told(count, 0.01, |t| 1.0 + (1.0 + t).ln()),
            told(count, 0.01, |t| 2.0 - (-3.0 * t / end).exp()),
            told(count, 0.05, |t| if t < end / 2.0 { 1.0 } else { 2.0 }),
            told(count, 0.05, |t| 1.0 + (t % 4.0) / 4.0),
        ];
        assert_eq!(harmless, [0; 6], "{count}");
    }
    // A leak of 5 % of the first value each time, under noise of 0.5 %.
    let found = [8, 12, 20, 30].map(|count| told(count, 0.005, |t| 1.0 + 0.05 * t));
    assert!(found.iter().all(|found| *found >= 950), "{found:?}");
}

#[test]
fn the_deepest_path_that_explains_growth_is_reported() {
    let random = &mut Random::new(1);
    // roots ─┬─ cache ── entry (leaks)
    //        ├─ warm-up
    //        └─ noise
    let entry = line(10);
    let warm: Vec<f64> = (0..10).map(|at| 6e7 * (1.0 - (-f64::from(at) / 2.0).exp())).collect();
    let noise = series(random, 10, 0.05, |_| 40.0);
    let cache: Vec<f64> = entry.iter().map(|value| value + 1e6).collect();
    let roots: Vec<f64> = (0..10).map(|at| cache[at] + warm[at] + noise[at]).collect();
    let parents = [None, Some(0), Some(1), Some(0), Some(0)];
    let judged = judge_paths(&parents, &[roots, cache, entry, warm, noise]);
    let told: Vec<_> = judged.iter().map(|path| (path.judgement.grows(), path.is_carried)).collect();
    assert_eq!((told[2], told[3].0, told[4].0), ((Some(true), false), Some(false), Some(false)));
    assert!(told[0].1 && told[1].1, "{told:?}");
}

#[test]
fn of_few_values_the_slope_is_that_of_all_of_them() {
    // A pile that rises evenly below one that does not, as in four dumps.
    let below = vec![1.0, 2.0, 3.0, 4.0];
    let whole = vec![1.0, 72.0, 101.0, 129.0];
    let judged = judge_paths(&[None, Some(0)], &[whole, below]);
    // The median of 71, 50, 42.67, 29, 28.5 and 28.
    assert_eq!(judged[0].judgement.verdict, Verdict::TooFew);
    assert!((judged[0].judgement.trend.slope - (29.0 + 128.0 / 3.0) / 2.0).abs() < 1e-9);
    assert!(judged[0].judgement.rank() > judged[1].judgement.rank());
}

#[test]
fn many_siblings_that_grow_are_reported_by_their_parent() {
    let kinds: Vec<Vec<f64>> =
        (1..=5).map(|kind| line(9).iter().map(|value| value * f64::from(kind)).collect()).collect();
    let sum = |at: usize| kinds.iter().map(|kind| kind[at]).sum::<f64>();
    let maps: Vec<f64> = (0..9).map(sum).collect();
    let mut values = vec![maps.clone(), maps];
    values.extend(kinds);
    let parents = [None, Some(0), Some(1), Some(1), Some(1), Some(1), Some(1)];
    let judged = judge_paths(&parents, &values);
    assert!(judged[0].is_carried && !judged[1].is_carried);
    let rank = |node: usize| judged[node].judgement.rank();
    assert!((2..7).all(|node| rank(node) < rank(1)));
    // Two of them are reported each.
    let two: Vec<f64> = (0..9).map(|at| values[2][at] + values[3][at]).collect();
    let judged = judge_paths(&parents[..4], &[two.clone(), two, values[2].clone(), values[3].clone()]);
    assert_eq!([0, 1, 2, 3].map(|node| judged[node].is_carried), [true, true, false, false]);
}

#[test]
fn steps_of_many_paths_are_no_growth_of_the_heap() {
    let step = |at: usize| (0..20).map(|t| if t > at { 3e6 } else { 1e6 }).collect::<Vec<f64>>();
    let steps: Vec<Vec<f64>> = (1..19).map(step).collect();
    let heap: Vec<f64> = (0..20).map(|t| steps.iter().map(|step| step[t]).sum()).collect();
    assert_eq!(Judgement::of(&heap).verdict, Verdict::Grows);
    let mut parents = vec![None];
    parents.resize(steps.len() + 1, Some(0));
    let mut values = vec![heap];
    values.extend(steps);
    let judged = judge_paths(&parents, &values);
    assert!(judged.iter().all(|path| path.judgement.grows() == Some(false)));
    assert_eq!(judged[0].judgement.verdict, Verdict::DoesNot(Reason::Parts));
}

/// As a map does whose chains become trees while it fills.
#[test]
fn parts_that_take_over_from_each_other_grow_as_one() {
    for turn in 2..7 {
        let all: Vec<f64> = (0..9).map(|at| 1e5 + 8e4 * f64::from(at)).collect();
        let chains: Vec<f64> = (0..9).map(|at| if at < turn { all[at] } else { 5e3 }).collect();
        let trees: Vec<f64> = (0..9).map(|at| all[at] - chains[at]).collect();
        let heap: Vec<f64> = all.iter().map(|value| value + 2e6).collect();
        let judged = judge_paths(&[None, Some(0), Some(1), Some(1)], &[heap, all, chains, trees]);
        let told: Vec<_> = judged.iter().map(|path| (path.judgement.grows(), path.is_carried)).collect();
        // The heap grows because the map does; it may be that the trees alone are found to grow.
        assert!(told[0].1 && (told[1] == (Some(true), false) || told[3].0 == Some(true)), "{turn}: {told:?}");
    }
    // One that gives back what it took makes the whole fall with it.
    let step = |at: i32| (0..20).map(|t| if t > at { 3e6 } else { 1e6 }).collect::<Vec<f64>>();
    let mut values: Vec<Vec<f64>> = (1..19).map(step).collect();
    values.push((0..20).map(|t| if t % 7 == 6 { 0.0 } else { 1e7 }).collect());
    values.insert(0, (0..20).map(|t| values.iter().map(|value| value[t]).sum()).collect());
    let mut parents = vec![Some(0); values.len()];
    parents[0] = None;
    assert!(judge_paths(&parents, &values).iter().all(|path| path.judgement.grows() == Some(false)));
}
