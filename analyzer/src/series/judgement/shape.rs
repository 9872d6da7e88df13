//! The shape of a series: how steep it is at its end, whether levels explain it better than a line, and how its
//! floor and its ceiling rise.

use crate::series::trend::student;

/// The line and the parabola of least squares through values at 0, 1, 2 and so on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    count: usize,
    /// The slope of the line.
    pub(super) line_slope: f64,
    /// Its standard error.
    pub(super) line_error: f64,
    /// The slope of the parabola at the end.
    pub(super) end_slope: f64,
    /// By how much the slope of the parabola changes from the middle to the end.
    change: f64,
    /// The standard error of that change.
    change_error: f64,
    /// What the better of both leaves: squares, summed.
    left: f64,
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
        let ratio = |over: f64, under: f64| if under > 0.0 { over / under } else { 0.0 };
        let line_slope = ratio(dot(&lines, &centred), square);
        let bend = if count > 2 { ratio(dot(&bends, &centred), bend_square) } else { 0.0 };
        let rest = |bend: f64| -> f64 {
            let rest = centred.iter().zip(&lines).zip(&bends).map(|((y, x), z)| y - line_slope * x - bend * z);
            rest.map(|rest| rest * rest).sum()
        };
        let rounding = rounding(values);
        let (left_by_line, left) = (rest(0.0).max(rounding), rest(bend).max(rounding));
        let error = |left: f64, fitted: usize, square: f64| {
            ratio(left / count.saturating_sub(fitted).max(1) as f64, square).sqrt()
        };
        Shape {
            count,
            line_slope,
            line_error: error(left_by_line, 2, square),
            end_slope: line_slope + 2.0 * bend * middle,
            change: 2.0 * bend * middle,
            change_error: 2.0 * middle * error(left, 3, bend_square),
            left,
        }
    }

    /// Whether it is sure, but for this chance, that the slope at the end is above the first part of the mean slope, and
    /// likely that it is above the second.
    pub(super) fn stays_above(&self, (sure, likely): (f64, f64), chance: f64) -> bool {
        let above = self.end_slope - sure * self.line_slope;
        above > 0.0
            && self.end_slope >= likely * self.line_slope
            && student::tail(above / self.change_error, self.count.saturating_sub(3)) <= chance
    }

    /// Whether the rise is seen to flatten: it bends down by more than twice the error of that.
    pub(super) fn flattens(&self) -> bool {
        self.change < -2.0 * self.change_error
    }

    /// Whether three levels explain the values better than a line or a parabola.
    pub(super) fn is_steps(&self, values: &[f64]) -> bool {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
        left_by_steps(&centred) < self.left
    }
}

/// By how much the floor (the least of all later values) and the ceiling (the greatest of all earlier ones) rise
/// in that third of a series in which they rise least.
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
    let least = |line: &[f64]| ends.windows(2).map(|ends| line[ends[1]] - line[ends[0]]).fold(f64::INFINITY, f64::min);
    if values.is_empty() { (0.0, 0.0) } else { (least(&floor), least(&ceiling)) }
}

/// What the best three levels, one after the other, leave of the values.
fn left_by_steps(values: &[f64]) -> f64 {
    let mut sums = vec![(0.0, 0.0)];
    for value in values {
        let (sum, squares) = sums[sums.len() - 1];
        sums.push((sum + value, squares + value * value));
    }
    let left = |from: usize, to: usize| {
        if from == to {
            return 0.0;
        }
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        (squares - sum * sum / (to - from) as f64).max(0.0)
    };
    let mut least = f64::INFINITY;
    for first in 0..=values.len() {
        for second in first..=values.len() {
            least = least.min(left(0, first) + left(first, second) + left(second, values.len()));
        }
    }
    least
}

/// What is left of values that lie on a line but for rounding.
fn rounding(values: &[f64]) -> f64 {
    let largest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    values.len() as f64 * (largest * 1e-13).powi(2)
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
