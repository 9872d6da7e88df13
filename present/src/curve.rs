//! Curves of answers: a line, or a chart of braille dots.

use barrow_answer::{Curve, Form, Unit, Value, text};

use crate::picture::spark;

/// Characters of a chart; each has 2 × 4 dots.
const CHART: (usize, usize) = (60, 8);

/// The lines of a curve.
pub(crate) fn lines(curve: &Curve) -> Vec<String> {
    match curve.form {
        Form::Line => {
            vec![format!("{} {}", curve.heading, spark(&curve.numbers.iter().copied().map(Some).collect::<Vec<_>>()))]
        }
        Form::Chart => {
            let headings = [String::new(), curve.heading.to_owned()];
            headings.into_iter().chain(chart(&curve.numbers, curve.unit)).collect()
        }
    }
}

/// A chart from 0 to the greatest number, which is beside it; one place is as far from the next as any other.
fn chart(numbers: &[f64], unit: Unit) -> Vec<String> {
    let (width, height) = (2 * CHART.0, 4 * CHART.1);
    let last = numbers.len().saturating_sub(1).max(1) as f64;
    let most = numbers.iter().copied().fold(0.0, f64::max);
    let scale = if most > 0.0 { most } else { 1.0 };
    let mut dots = vec![false; width * height];
    let points: Vec<(f64, f64)> = (numbers.iter().enumerate())
        .map(|(at, &number)| {
            (at as f64 / last * (width - 1) as f64, (height - 1) as f64 * (1.0 - number.max(0.0) / scale))
        })
        .collect();
    for ends in points.windows(2) {
        let ((x, y), (to_x, to_y)) = (ends[0], ends[1]);
        let steps = (to_x - x).abs().max((to_y - y).abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let part = step as f64 / steps;
            let (x, y) = (x + (to_x - x) * part, y + (to_y - y) * part);
            dots[y.round() as usize * width + x.round() as usize] = true;
        }
    }
    let lines = (0..CHART.1).map(|line| {
        let beside = if line == 0 {
            amount(most, unit)
        } else if line + 1 == CHART.1 {
            amount(0.0, unit)
        } else {
            String::new()
        };
        let drawn: String = (0..CHART.0).map(|at| braille(&dots, width, at, line)).collect();
        format!("{beside:>10} ┤{}", drawn.trim_end_matches('\u{2800}'))
    });
    lines.collect()
}

fn amount(number: f64, unit: Unit) -> String {
    text::text(&Value::Series { numbers: vec![Some(number)], unit }, unit)
}

/// The character of 2 × 4 dots: Unicode numbers them down the left column, then the right column, and last the bottom row.
fn braille(dots: &[bool], width: usize, at: usize, line: usize) -> char {
    const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    let mut bits = 0;
    for (down, pair) in BITS.iter().enumerate() {
        for (right, bit) in pair.iter().enumerate() {
            if dots[(4 * line + down) * width + 2 * at + right] {
                bits |= bit;
            }
        }
    }
    char::from_u32(0x2800 + bits).unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_begin_at_nothing() {
        let lines = chart(&[0.0, 2048.0, 1024.0], Unit::Bytes);
        assert_eq!(lines.len(), CHART.1);
        assert!(lines[0].starts_with("   2.0 KiB ┤") && lines[7].starts_with("       0 B ┤"), "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 12 + CHART.0));
        // The first point is at the lowest dot, the second at the highest in the middle.
        assert_eq!(lines[7].chars().nth(12).map(|c| c as u32 & 0x40), Some(0x40));
        assert!(lines[0].chars().count() > 12 + CHART.0 / 2 - 2);
        assert_eq!(chart(&[0.0, 0.0], Unit::Bytes).len(), CHART.1);
    }

    #[test]
    fn a_line_stands_beside_its_name() {
        let curve = Curve { heading: "surviving", numbers: vec![1.0, 0.5, 0.0], unit: Unit::Share, form: Form::Line };
        assert_eq!(lines(&curve), ["surviving █▅▁"]);
    }
}
