//! Whether two samples have the same distribution: the test of Kolmogorov and Smirnov, with the approximation of its tail
//! by Stephens (1970).

/// The probability that distribution functions are at least as far apart as those of these ascending values, with each
/// value of the first multiplied by `times` and `by` added.
pub(crate) fn chance(a: &[f64], times: f64, by: f64, b: &[f64]) -> f64 {
    let (m, n) = (a.len() as f64, b.len() as f64);
    let moved: Vec<f64> = a.iter().map(|value| value * times + by).collect();
    let distance = moved.iter().chain(b).fold(0.0, |most: f64, value| {
        let [one, other] =
            [&moved, b].map(|values| values.partition_point(|other| other <= value) as f64 / values.len() as f64);
        most.max((one - other).abs())
    });
    let root = (m * n / (m + n)).sqrt();
    tail((root + 0.12 + 0.11 / root) * distance)
}

/// The upper tail of Kolmogorov's distribution.
fn tail(distance: f64) -> f64 {
    const TERMS: i32 = 100;
    if distance < 0.2 {
        return 1.0;
    }
    let terms = (1..=TERMS).map(|k| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * distance * distance).exp()
    });
    terms.sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_that_of_printed_tables() {
        // Smirnov (1948): the distances that 10, 5 and 1 % are above.
        for (distance, above) in [(1.224, 0.10), (1.358, 0.05), (1.628, 0.01)] {
            assert!((tail(distance) / above - 1.0).abs() < 5e-3, "{distance}: {}", tail(distance));
        }
        assert!(tail(0.0) == 1.0 && tail(9.0) < 1e-60);
    }

    #[test]
    fn moved_and_stretched_samples_are_alike() {
        let a: Vec<f64> = (0..50).map(|value| f64::from(value * value)).collect();
        let b: Vec<f64> = a.iter().map(|value| value * 1.5 + 20.0).collect();
        assert_eq!(chance(&a, 1.5, 20.0, &b), 1.0);
        assert!(chance(&a, 1.0, 0.0, &b) > chance(&a, 1.0, 5000.0, &b));
        assert_eq!(chance(&a, 1.0, 5000.0, &b), tail((5.0 + 0.12 + 0.022) * 1.0));
    }
}
