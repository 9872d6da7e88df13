//! Measures how often the judgement of growth is right, on synthetic series.
//!
//! ```text
//! cargo run --release -p barrow-statistics --example growth_rates [SERIES]
//! ```
//!
//! A series is a tree of 20 to 100 paths, up to 5 deep, with a number of bytes for each snapshot. Paths carry noise of
//! up to 5 %. Their class adds warm-ups, steps, sawteeth or the jitter of a collector. In the second table one path
//! leaks. All numbers come from seeds, so every run prints the same.

use barrow_statistics::{Judgement, PathJudgement, Verdict, judge_paths};

/// Marsaglia's xorshift64*, good enough for noise.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }

    /// About normal, with variance 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// How the paths of a series without a leak behave.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Class {
    Noise,
    Steps,
    WarmUps,
    Sawteeth,
    Jitter,
    Mixed,
    /// A random walk: it has no trend but does not return to its level either.
    Walks,
}

/// All classes, in the order of the columns.
const CLASSES: [Class; 7] =
    [Class::Noise, Class::Steps, Class::WarmUps, Class::Sawteeth, Class::Jitter, Class::Mixed, Class::Walks];

/// The paths of one program over its snapshots.
struct Series {
    parents: Vec<Option<usize>>,
    values: Vec<Vec<f64>>,
    /// The path that leaks.
    leak: Option<usize>,
}

impl Series {
    /// A random tree. With `leak`, one path grows by this fraction of the heap in each snapshot.
    fn new(random: &mut Random, class: Class, snapshots: usize, leak: Option<f64>) -> Self {
        let count = 20 + random.below(81);
        let mut parents: Vec<Option<usize>> = vec![None];
        let mut depths = vec![0];
        while parents.len() < count {
            let parent = random.below(parents.len());
            if depths[parent] < 4 {
                parents.push(Some(parent));
                depths.push(depths[parent] + 1);
            }
        }
        let sizes: Vec<f64> = (0..count).map(|_| (1.2 * random.normal()).exp()).collect();
        let heap: f64 = sizes.iter().sum();
        let mut values: Vec<Vec<f64>> =
            sizes.iter().map(|size| part(random, class, 1e8 * size / heap, snapshots)).collect();
        let leaking = leak.map(|share| {
            let node = 1 + random.below(count - 1);
            let start = 1e8 * random.between(0.0, 0.05);
            let jitter = random.between(0.0, 0.5) * 1e8 * share;
            values[node] = (0..snapshots).map(|at| start + 1e8 * share * at as f64 + jitter * random.unit()).collect();
            node
        });
        for node in (1..count).rev() {
            let below = values[node].clone();
            let parent = parents[node].unwrap_or(0);
            values[parent].iter_mut().zip(below).for_each(|(sum, value)| *sum += value);
        }
        values.iter_mut().flatten().for_each(|value| *value = value.max(0.0).round());
        Series { parents, values, leak: leaking }
    }

    fn judge(&self) -> Vec<PathJudgement> {
        judge_paths(&self.parents, &self.values)
    }
}

/// The own part of one path, without the paths below it.
fn part(random: &mut Random, class: Class, size: f64, snapshots: usize) -> Vec<f64> {
    let kind = match class {
        Class::Mixed => [Class::Noise, Class::Steps, Class::WarmUps, Class::Sawteeth, Class::Jitter][random.below(5)],
        // Only half of the paths follow the class.
        other if random.unit() < 0.5 => other,
        _ => Class::Noise,
    };
    let span = snapshots as f64;
    let height = random.between(0.2, 3.0);
    let noise = if random.unit() < 0.5 { 0.05 } else { random.between(0.0, 0.05) };
    let (at_one, at_two) = (1 + random.below(snapshots - 1), 1 + random.below(snapshots - 1));
    let tau = random.between(0.05, 0.4) * span;
    let (shape, period, phase) = (random.below(3), 2 + random.below(9), random.below(10));
    let mut walk = 0.0;
    let value = |at: usize, random: &mut Random| {
        let t = at as f64;
        match kind {
            Class::Steps => {
                1.0 + height * (f64::from(u8::from(at >= at_one)) + 0.5 * f64::from(u8::from(at >= at_two)))
            }
            Class::WarmUps => {
                1.0 + height
                    * match shape {
                        0 => 1.0 - (-t / tau).exp(),
                        1 => (t / span).sqrt(),
                        _ => (1.0 + t).ln() / span.ln(),
                    }
            }
            // A tooth longer than the series would be a plain rise.
            Class::Sawteeth => {
                let period = period.min(snapshots / 2).max(2);
                1.0 + height * ((at + phase) % period) as f64 / period as f64
            }
            Class::Jitter => 1.0 + if random.unit() < 0.3 { height * random.unit() } else { 0.0 },
            Class::Walks => {
                walk += 0.1 * random.normal();
                1.0 + walk
            }
            _ => 1.0,
        }
    };
    let mut value = value;
    (0..snapshots).map(|at| size * value(at, random) * (1.0 + noise * random.between(-1.0, 1.0))).collect()
}

/// The number of series in which some path is judged to grow.
fn alarms(class: Class, snapshots: usize, count: usize) -> usize {
    let random = &mut Random(0x9E37_79B9_7F4A_7C15 ^ (snapshots as u64) << 8 ^ class as u64);
    let is_alarm = |judged: &PathJudgement| judged.judgement.verdict == Verdict::Grows;
    (0..count).filter(|_| Series::new(random, class, snapshots, None).judge().iter().any(is_alarm)).count()
}

/// The numbers of series in which the leaking path is listed first, in which it is judged to grow or to rise each time,
/// and in which another path is judged to grow.
fn detected(share: f64, snapshots: usize, count: usize) -> [usize; 3] {
    let random = &mut Random(0x2545_F491 ^ (snapshots as u64) << 8 ^ (share * 1e4) as u64);
    let mut found = [0; 3];
    for _ in 0..count {
        let series = Series::new(random, Class::Mixed, snapshots, Some(share));
        let judged = series.judge();
        let leak = series.leak.unwrap_or(0);
        let mut listed: Vec<usize> = (0..judged.len()).filter(|&node| !judged[node].is_carried).collect();
        let rank = |node: usize| judged[node].judgement.rank();
        listed.sort_by(|&one, &other| {
            let (one, other) = (rank(one), rank(other));
            other.0.cmp(&one.0).then(other.1.total_cmp(&one.1))
        });
        let is_told = |judgement: &Judgement| matches!(judgement.verdict, Verdict::Grows | Verdict::RisesEachTime);
        found[0] += usize::from(listed.first() == Some(&leak));
        found[1] += usize::from(is_told(&judged[leak].judgement));
        let other = listed.iter().any(|&node| node != leak && judged[node].judgement.verdict == Verdict::Grows);
        found[2] += usize::from(other);
    }
    found
}

fn main() {
    let count = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1000);
    let percent = |found: usize| 100.0 * found as f64 / count as f64;
    println!("series without a leak in which any path is said to grow, of {count}");
    println!("{:>9} {:>9}", "snapshots", CLASSES.map(|class| format!("{:>9}", format!("{class:?}"))).join(" "));
    for snapshots in [8, 10, 15, 20, 30] {
        let cells = CLASSES.map(|class| format!("{:>7.1} %", percent(alarms(class, snapshots, count))));
        println!("{snapshots:>9} {}", cells.join(" "));
    }
    println!("\nseries of mixed paths in which one leaks, of {count}: it comes first; it is said to grow (from 8");
    println!("snapshots on) or to rise each time; another path is said to grow");
    println!("{:>9} {:>28} {:>28} {:>28}", "snapshots", "0.5 % of the heap a step", "1 %", "5 %");
    for snapshots in [5, 6, 7, 8, 10, 15, 20, 30] {
        let cells = [0.005, 0.01, 0.05].map(|share| {
            let cells = detected(share, snapshots, count).map(|found| format!("{:>6.1} %", percent(found)));
            format!("{:>28}", cells.join(" "))
        });
        println!("{snapshots:>9} {}", cells.join(" "));
    }
}
