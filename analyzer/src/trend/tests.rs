use barrow_testdata::Random;

use super::*;

/// Between 0 and 1.
fn unit(random: &mut Random) -> f64 {
    random.below(1 << 40) as f64 / (1u64 << 40) as f64
}

/// Between 95 % and 105 %.
fn noise(random: &mut Random) -> f64 {
    1.0 + 0.05 * (2.0 * unit(random) - 1.0)
}

fn series(points: usize, value: impl FnMut(f64) -> f64) -> Vec<f64> {
    (0..points).map(|at| at as f64).map(value).collect()
}

/// A leak of half a percent a snapshot under noise of five.
fn leak(random: &mut Random) -> Vec<f64> {
    series(20, |t| 1e6 * (1.0 + 0.005 * t) * noise(random))
}

/// A series without a leak, of this shape: noise, a warm-up that dies away, a sawtooth; a warm-up that
/// stops, a single step.
fn harmless(random: &mut Random, shape: u64) -> Vec<f64> {
    let (height, part) = (0.1 + 0.9 * unit(random), unit(random));
    let value = |t: f64| match shape {
        0 => 1.0,
        1 => 1.0 - height * (-t / (0.5 + 2.0 * part)).exp(),
        2 => 1.0 + height * ((t / (3.0 + 4.0 * part) + part) % 1.0),
        3 => 1.0 - height + height * (t / (1.0 + 8.0 * part)).min(1.0),
        _ => 1.0 + if t > 2.0 + 16.0 * part { height } else { 0.0 },
    };
    series(20, |t| 1e6 * value(t) * noise(random))
}

/// Of how many series of a thousand it is said that they grow.
fn said_to_grow(tests: usize, mut series: impl FnMut(&mut Random) -> Vec<f64>) -> usize {
    let random = &mut Random::new(1);
    (0..1000).filter(|_| Trend::of_values(&series(random)).is_growing(CONFIDENCE, tests)).count()
}

/// The order in which `growth` lists series: those first that grow for sure, then by their ranking slopes.
fn ranks(trends: &[Trend]) -> Vec<(bool, f64)> {
    let grow = Trend::which_grow(trends, CONFIDENCE);
    trends.iter().zip(grow).map(|(trend, grows)| (grows, trend.ranking_slope().unwrap())).collect()
}

/// With 20 points the slope of this leak is 4.3 standard errors above nothing. Who knew that nothing but noise lies
/// over the others, and ranked by the line of least squares, would have it first in 389 of 400.
#[test]
fn a_leak_stands_above_a_hundred_harmless_series() {
    let found = Ranked::of(3, 100);
    // Measured: 324, 234 and 389; 107 false alarms in 40,000 series, more than one in 13 runs.
    assert!(found.first >= 316 && found.sure >= 225 && found.oracle >= 380, "{found:?}");
    assert!(found.alarms <= 120 && found.several <= 16, "{found:?}");
}

/// Measured: first in 389 and 360 of 400, sure in 351 and 226.
#[test]
fn a_leak_stands_above_noise() {
    let (few, many) = (Ranked::of(1, 10), Ranked::of(1, 100));
    assert!(few.first >= 382 && few.sure >= 342, "{few:?}");
    assert!(many.first >= 350 && many.sure >= 216, "{many:?}");
}

/// In how many of 400 runs a leak among others is first, and sure; with how many false alarms.
#[derive(Debug, Default)]
struct Ranked {
    first: u64,
    sure: u64,
    /// Where the line of least squares has it first among as many series of nothing but noise.
    oracle: u64,
    alarms: u64,
    /// Runs with more than one false alarm.
    several: u64,
}

impl Ranked {
    /// A leak among `others` series of so many shapes.
    fn of(shapes: u64, others: u64) -> Self {
        let mut found = Ranked::default();
        for seed in 0..400 {
            let random = &mut Random::new(seed);
            let mut trends: Vec<Trend> =
                (0..others).map(|at| Trend::of_values(&harmless(random, at % shapes))).collect();
            let alarms = Trend::which_grow(&trends, CONFIDENCE).iter().filter(|grows| **grows).count() as u64;
            found.alarms += alarms;
            found.several += u64::from(alarms > 1);
            let values = leak(random);
            trends.push(Trend::of_values(&values));
            let mut ranks = ranks(&trends);
            let leak = ranks.pop().unwrap();
            found.first += u64::from(ranks.iter().all(|other| *other < leak));
            found.sure += u64::from(leak.0);
            let slope = slope_of_least_squares(&values);
            let is_below = |_| slope_of_least_squares(&harmless(random, 0)) < slope;
            found.oracle += u64::from((0..others).all(is_below));
        }
        found
    }
}

fn slope_of_least_squares(values: &[f64]) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let places = || (0..values.len()).map(|at| at as f64 - middle);
    places().zip(values).map(|(x, y)| x * y).sum::<f64>() / places().map(|x| x * x).sum::<f64>()
}

#[test]
fn few_harmless_series_raise_an_alarm() {
    let rates = |tests| [0, 1, 2, 3, 4].map(|shape| said_to_grow(tests, |random| harmless(random, shape)));
    // Measured: 49, 25, 3, 10, 8 and, of the second, 9 of a thousand.
    assert!(rates(1).into_iter().all(|alarms| alarms <= 50), "{:?}", rates(1));
    assert!(rates(100).into_iter().all(|alarms| alarms <= 10), "{:?}", rates(100));
    // Measured: 956.
    assert!(said_to_grow(1, leak) >= 940);
}

#[test]
fn growth_is_found_whatever_lies_over_it() {
    let saw = |random: &mut Random| series(20, |t| 1e6 * (1.0 + 0.02 * t + 0.08 * (t % 4.0)) * noise(random));
    let warm = |random: &mut Random| series(20, |t| 1e6 * (1.5 + 0.03 * t - 0.5 * (-t / 2.0).exp()) * noise(random));
    let steep = |random: &mut Random| series(20, |t| 1e6 * (1.0 + 0.002 * t * t) * noise(random));
    let outlier = |random: &mut Random| {
        let mut values = series(20, |t| 1e6 * (1.0 + 0.02 * t) * noise(random));
        values[random.below(20) as usize] *= 3.0;
        values
    };
    let found = [said_to_grow(100, saw), said_to_grow(100, warm), said_to_grow(100, steep), said_to_grow(100, outlier)];
    assert!(found.into_iter().all(|found| found >= 900), "{found:?}");
}

#[test]
fn slope_and_interval_are_those_of_the_definition() {
    let random = &mut Random::new(2);
    for points in 2..30 {
        let values: Vec<f64> = (0..points).map(|_| unit(random)).collect();
        let trend = Trend::of_values(&values);
        let mut slopes = Vec::new();
        for at in 0..points {
            slopes.extend((at + 1..points).map(|other| (values[other] - values[at]) / (other - at) as f64));
        }
        slopes.sort_by(f64::total_cmp);
        assert_eq!(trend.slope, f64::midpoint(slopes[(slopes.len() - 1) / 2], slopes[slopes.len() / 2]));
        let Some((low, high)) = trend.interval else { continue };
        assert!(low <= trend.slope && trend.slope <= high && points >= LEAST_POINTS);
    }
}

#[test]
fn intervals_hold_what_they_promise() {
    for points in [5, 8, 20, 70] {
        let random = &mut Random::new(points as u64);
        let held = (0..1000).filter(|_| {
            let values = series(points, |t| 100.0 + 0.3 * t + 10.0 * noise(random));
            let (low, high) = Trend::of_values(&values).interval.unwrap();
            low <= 0.3 && 0.3 <= high
        });
        let held = held.count();
        assert!(held >= 930, "{points}: {held}");
    }
}

#[test]
fn few_points_bound_nothing() {
    for points in 0..LEAST_POINTS {
        let trend = Trend::of_values(&series(points, |t| 1.0 + t));
        assert_eq!((trend.interval, trend.points), (None, points));
        assert_eq!(trend.slope, if points < 2 { 0.0 } else { 1.0 });
        assert!(!trend.is_growing(0.5, 1));
    }
    let trend = Trend::of_values(&series(5, |t| 1.0 + t));
    assert!(trend.interval.is_some() && trend.is_growing(CONFIDENCE, 10_000));
    assert!(!Trend::of_values(&[7.0; 20]).is_growing(CONFIDENCE, 1));
    assert!(!Trend::of_values(&series(20, |t| 40.0 - t)).is_growing(CONFIDENCE, 1));
}

#[test]
fn many_points_are_as_good_as_all() {
    let trend = Trend::of_values(&series(20_500, |t| 7.0 + 3.0 * t));
    assert!((trend.slope - 3.0).abs() < 1e-9 && (900..=1000).contains(&trend.points));
    assert!(trend.is_growing(CONFIDENCE, 1_000_000));
    let random = &mut Random::new(8);
    let noisy = Trend::of_values(&series(3000, |_| noise(random)));
    assert!(!noisy.is_growing(CONFIDENCE, 1));
}

#[test]
fn the_axis_is_time_where_all_snapshots_have_one() {
    let second = 1_000_000_000;
    let axis = Axis::of(&[Some(5 * second), Some(7 * second), Some(8 * second)]);
    assert_eq!((&axis.places[..], axis.unit), (&[0.0, 2.0, 3.0][..], AxisUnit::Second));
    assert_eq!(axis.trend([1.0, 5.0, 7.0]).slope, 2.0);
    for times in [[Some(1), None, Some(3)], [Some(1), Some(1), Some(2)], [Some(3), Some(2), Some(1)]] {
        assert_eq!(Axis::of(&times), Axis { places: vec![0.0, 1.0, 2.0], unit: AxisUnit::Snapshot });
    }
}
