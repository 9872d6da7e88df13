use super::*;
use crate::LEAST_POINTS;
use crate::random::Random;

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
    }
    assert!(Trend::of_values(&series(5, |t| 1.0 + t)).interval.is_some());
}

#[test]
fn many_points_are_as_good_as_all() {
    let trend = Trend::of_values(&series(20_500, |t| 7.0 + 3.0 * t));
    assert!((trend.slope - 3.0).abs() < 1e-9 && (900..=1000).contains(&trend.points));
    assert!(trend.p_value < 1e-9);
}
