//! Tails of distributions, from `statrs`.

use statrs::function::{beta, erf, gamma};

/// The probability that a standard normal variable exceeds `z`.
pub(crate) fn normal(z: f64) -> f64 {
    erf::erfc(z / std::f64::consts::SQRT_2) / 2.0
}

/// The probability that a chi-squared variable with `degrees` degrees of freedom exceeds `x`.
pub(crate) fn chi_squared(x: f64, degrees: f64) -> f64 {
    if x <= 0.0 { 1.0 } else { gamma::gamma_ur(degrees / 2.0, x / 2.0) }
}

/// The probability that a beta-distributed variable is at most `x`.
pub(crate) fn beta_up_to(x: f64, a: f64, b: f64) -> f64 {
    match x {
        x if x <= 0.0 => 0.0,
        x if x >= 1.0 => 1.0,
        x => beta::beta_reg(a, b, x),
    }
}

/// The logarithm of the number of ways to choose `k` of `n`.
pub(crate) fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

fn ln_factorial(n: u64) -> f64 {
    gamma::ln_gamma(n as f64 + 1.0)
}

/// The probability of at most `k` heads in `n` throws of a coin.
pub(crate) fn at_most_half(k: usize, n: usize) -> f64 {
    if k >= n { 1.0 } else { beta_up_to(0.5, (n - k) as f64, k as f64 + 1.0) }
}

/// The upper tail of Student's t distribution at `t`; degrees of freedom need not be whole.
pub(crate) fn student(t: f64, freedom: f64) -> f64 {
    if t.is_nan() || freedom.is_nan() || freedom <= 0.0 {
        return 1.0;
    }
    let square = t * t;
    let part = if square.is_finite() { freedom / (freedom + square) } else { 0.0 };
    let tail = beta_up_to(part, freedom / 2.0, 0.5) / 2.0;
    if t < 0.0 { 1.0 - tail } else { tail }
}

/// The quantile of Student's t distribution with this upper tail, by bisection; at most 1,000.
pub(crate) fn student_quantile(above: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1000.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if student(middle, freedom) > above { low = middle } else { high = middle }
    }
    high
}
