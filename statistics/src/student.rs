//! The upper tail of Student's t distribution.
//!
//! Source: the finite sums of Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4. They
//! are exact for whole degrees of freedom. Assumption of its users: errors are independent and about normal. Time: O(n)
//! for n degrees of freedom.

/// The probability that t is at least `least` with `freedom` degrees of freedom; 1 if `freedom` is 0.
pub(crate) fn tail(least: f64, freedom: usize) -> f64 {
    if freedom == 0 || least.is_nan() {
        return 1.0;
    }
    if least == f64::INFINITY {
        return 0.0;
    }
    // This holds for negative infinity, too.
    let angle = (least / (freedom as f64).sqrt()).atan();
    let (sine, square) = (angle.sin(), angle.cos().powi(2));
    let is_odd = freedom % 2 == 1;
    let (mut sum, mut term) = (0.0, if is_odd { angle.cos() } else { 1.0 });
    let mut step = if is_odd { 1 } else { 0 };
    while step + 2 <= freedom {
        sum += term;
        step += 2;
        term *= square * (step - 1) as f64 / step as f64;
    }
    let within = if is_odd { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum };
    (0.5 * (1.0 - within)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::tail;

    #[test]
    fn values_are_those_of_printed_tables() {
        for (t, freedom, chance) in [
            (6.314, 1, 0.05),
            (2.920, 2, 0.05),
            (2.353, 3, 0.05),
            (3.747, 4, 0.01),
            (2.552, 18, 0.01),
            (3.922, 18, 0.0005),
            (2.457, 30, 0.01),
            (1.980, 120, 0.025),
        ] {
            assert!((tail(t, freedom) / chance - 1.0).abs() < 2e-3, "{t} {freedom}: {}", tail(t, freedom));
            assert!((tail(-t, freedom) + tail(t, freedom) - 1.0).abs() < 1e-12);
        }
        assert_eq!((tail(0.0, 5), tail(3.0, 0), tail(f64::INFINITY, 3)), (0.5, 1.0, 0.0));
    }
}
