//! The shape of a series: its slope at the end, whether three levels explain it better than a curve, and how its floor
//! and its ceiling rise.
//!
//! Source: ordinary least squares with orthogonal polynomials. Assumption: errors are independent, of equal variance
//! and about normal. Time: O(n) for n values, and O(n²) for [`Shape::is_steps`].

use crate::student;

/// The least-squares line and parabola through values at 0, 1, 2 and so on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    count: usize,
    /// The slope of the line.
    pub(super) line_slope: f64,
    /// Its standard error.
    pub(super) line_error: f64,
    /// The slope of the parabola at the end.
    pub(super) end_slope: f64,
    /// The slope of the parabola at the end minus that in the middle.
    change: f64,
    /// The standard error of that change.
    change_error: f64,
    /// The sum of squared residuals of the parabola.
    residual: f64,
}

impl Shape {
    pub(super) fn of(values: &[f64]) -> Self {
        let count = values.len();
        let n = count as f64;
        let middle = (n - 1.0) / 2.0;
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let lines: Vec<f64> = (0..count).map(|at| at as f64 - middle).collect();
        let square = dot(&lines, &lines);
        let bends: Vec<f64> = lines.iter().map(|x| x * x - square / n.max(1.0)).collect();
        let bend_square = dot(&bends, &bends);
        let line_slope = ratio(dot(&lines, &centred), square);
        let bend = if count > 2 { ratio(dot(&bends, &centred), bend_square) } else { 0.0 };
        let rounding = rounding(values);
        let [residual_of_line, residual] = [0.0, bend].map(|bend| {
            let rest = centred.iter().zip(&lines).zip(&bends).map(|((y, x), z)| y - line_slope * x - bend * z);
            rest.map(|rest| rest * rest).sum::<f64>().max(rounding)
        });
        let line_variance = residual_of_line / count.saturating_sub(2).max(1) as f64;
        let bend_variance = residual / count.saturating_sub(3).max(1) as f64;
        Shape {
            count,
            line_slope,
            line_error: ratio(line_variance, square).sqrt(),
            end_slope: line_slope + 2.0 * bend * middle,
            change: 2.0 * bend * middle,
            change_error: 2.0 * middle * ratio(bend_variance, bend_square).sqrt(),
            residual,
        }
    }

    /// Whether the slope at the end is above the fraction `sure` of the mean slope, except with the probability
    /// `chance`, and its estimate reaches the fraction `likely`.
    pub(super) fn stays_above(&self, (sure, likely): (f64, f64), chance: f64) -> bool {
        let above = self.end_slope - sure * self.line_slope;
        above > 0.0
            && self.end_slope >= likely * self.line_slope
            && student::tail(above / self.change_error, self.count.saturating_sub(3)) <= chance
    }

    /// Whether the rise flattens: it bends down by more than two standard errors.
    pub(super) fn flattens(&self) -> bool {
        self.change < -2.0 * self.change_error
    }

    /// Whether three constant levels explain the values better than the parabola.
    pub(super) fn is_steps(&self, values: &[f64]) -> bool {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
        residual_of_steps(&centred) < self.residual
    }
}

/// The rise of the floor (the minimum of a value and all later ones) and of the ceiling (the maximum of a value and all
/// earlier ones), each in the third of the series in which it rises least.
pub(super) fn least_third(values: &[f64]) -> (f64, f64) {
    let mut floor = values.to_vec();
    let mut ceiling = values.to_vec();
    for at in 1..values.len() {
        ceiling[at] = ceiling[at].max(ceiling[at - 1]);
        let back = values.len() - 1 - at;
        floor[back] = floor[back].min(floor[back + 1]);
    }
    let last = values.len().saturating_sub(1);
    let ends = [0, last / 3, last - last / 3, last];
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let [floor, ceiling] = [floor, ceiling]
        .map(|line| ends.windows(2).map(|ends| line[ends[1]] - line[ends[0]]).fold(f64::INFINITY, f64::min));
    (floor, ceiling)
}

/// The sum of squared residuals of the best three consecutive levels.
fn residual_of_steps(values: &[f64]) -> f64 {
    let mut sums = vec![(0.0, 0.0)];
    for value in values {
        let (sum, squares) = sums[sums.len() - 1];
        sums.push((sum + value, squares + value * value));
    }
    let mut least = f64::INFINITY;
    for first in 0..=values.len() {
        for second in first..=values.len() {
            least = least.min(
                residual_of_level(&sums, 0, first)
                    + residual_of_level(&sums, first, second)
                    + residual_of_level(&sums, second, values.len()),
            );
        }
    }
    least
}

/// The sum of squared residuals of one level. `sums` has the sums of all values, and of their squares, before each place.
#[inline]
fn residual_of_level(sums: &[(f64, f64)], from: usize, to: usize) -> f64 {
    if from == to {
        return 0.0;
    }
    let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
    (squares - sum * sum / (to - from) as f64).max(0.0)
}

/// The sum of squared residuals that rounding alone leaves of values on a line.
fn rounding(values: &[f64]) -> f64 {
    let largest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    values.len() as f64 * (largest * 1e-13).powi(2)
}

fn ratio(over: f64, under: f64) -> f64 {
    if under > 0.0 { over / under } else { 0.0 }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
