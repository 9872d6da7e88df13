//! The same questions where the precision of the values decides when the runs end, as with `barrow trial --until 5%`.

use barrow_benches::Random;
use barrow_statistics::{ComparisonVerdict, Direction, Sample, compare, dependence, precision};

use crate::draw::{By, Mode, Plan, Shape};
use crate::rare::{USUAL, is_named, two};
use crate::{heading, rates, row};

const PRECISION: f64 = 0.05;
const AT_LEAST: usize = 20;
/// `barrow trial` goes on to 1000.
const AT_MOST: usize = 300;

/// Both programs, run by run, until both are known; and the number of runs.
fn grown(plan: Plan, a: &[Mode], b: &[Mode], shape: Shape, random: &mut Random) -> [Sample; 2] {
    let mut groups = [Vec::new(), Vec::new()];
    let mut next_look = AT_LEAST;
    for block in 0..AT_MOST {
        let is_known = |groups: &Vec<Vec<f64>>| {
            let sample = Sample::new(groups.clone());
            dependence(&[&sample]).is_none() && precision(&sample).is_some_and(|known| known <= PRECISION)
        };
        if block >= next_look {
            next_look = block + (block / 10).max(1);
            if groups.iter().all(is_known) {
                break;
            }
        }
        groups[0].push(plan.run(block, a, shape, random));
        groups[1].push(plan.run(block, b, shape, random));
    }
    groups.map(Sample::new)
}

/// False alarms, and what is found, with a median number of runs.
pub(crate) fn table(trials: u64) {
    let columns = [
        "values of a run, distribution",
        "A against A: alarms",
        "runs, mean",
        "120 to 156: found and named",
        "120 to 156: equal",
        "20 % to 50 %: moved weight",
    ];
    heading("Stopped at a precision of 5 % (20 to 300 runs), %", &columns);
    let wide = |sigma: f64| vec![Mode { location: 100.0, sigma, weight: 1.0 }];
    let rows = [
        ("one mode 2 % wide", Plan::SINGLE, wide(2.0)),
        ("one mode 20 % wide", Plan::SINGLE, wide(20.0)),
        ("two modes", Plan::SINGLE, two(120.0, 0.2).to_vec()),
        ("two modes", Plan::of(20, 5, 1.0, By::Value), two(120.0, 0.2).to_vec()),
        ("two modes", Plan::of(20, 5, 1.0, By::Run), two(120.0, 0.2).to_vec()),
    ];
    for (name, plan, modes) in rows {
        let runs = std::sync::atomic::AtomicUsize::new(0);
        let found = rates(trials, 101, |seed| {
            let mut random = Random::new(seed);
            let [a, b] = grown(plan, &modes, &modes, Shape::Normal, &mut random);
            // Only a sum: the order does not matter.
            runs.fetch_add(a.group_count(), std::sync::atomic::Ordering::Relaxed);
            let verdict = compare(&a, &b, USUAL, Direction::Lower).verdict;
            let is_alarm = !matches!(verdict, ComparisonVerdict::Equal | ComparisonVerdict::Unknown);
            if modes.len() < 2 {
                return [is_alarm, false, false, false];
            }
            let [a, b] = grown(plan, &modes, &two(156.0, 0.2), Shape::Normal, &mut random);
            let comparison = compare(&a, &b, USUAL, Direction::Lower);
            let is_named = is_named(&comparison, &b, 156.0, ComparisonVerdict::Worse);
            let is_equal = comparison.verdict == ComparisonVerdict::Equal;
            let [a, b] = grown(plan, &modes, &two(120.0, 0.5), Shape::Normal, &mut random);
            let verdict = compare(&a, &b, USUAL, Direction::Lower).verdict;
            let is_moved = matches!(verdict, ComparisonVerdict::MovedWeight | ComparisonVerdict::WorseWeight);
            [is_alarm, is_named, is_equal, is_moved]
        });
        let mean = runs.into_inner() as f64 / trials.max(1) as f64;
        let by = match (plan.iterations, plan.by) {
            (1, _) => "1",
            (_, By::Value) => "5, run effect 1 sigma, mode by value",
            (_, By::Run) => "5, run effect 1 sigma, mode by run",
        };
        let name = format!("{by}, {name}");
        match modes.len() {
            1 => println!("| {name} | {:.1} | {mean:.1} | | | |", found[0]),
            _ => row(&name, &[found[0], mean, found[1], found[2], found[3]]),
        }
    }
}
