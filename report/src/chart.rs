//! Series of numbers as pictures: a chart of all snapshots, and a line in a cell.

use barrow_query::answer::units;

use crate::html::Html;

/// The size of a chart, and of a line in a cell, in units of its picture.
const CHART: (f64, f64) = (640.0, 140.0);
const SPARK: (f64, f64) = (96.0, 20.0);
/// Points of a line; a longer series is drawn by the largest value of each part. A point has a few pixels of the page.
const MOST_POINTS: usize = 320;

/// A chart of one series, from 0 to its largest value. `format` writes a value.
pub(crate) fn chart(html: &mut Html, heading: &str, values: &[u64], format: fn(u64) -> String) {
    let (width, height) = CHART;
    let most = values.iter().copied().max().unwrap_or(0);
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return };
    let told = format!(
        "{heading} over {}: first {}, last {}, largest {}",
        units::counted(values.len() as u64, "snapshot"),
        format(*first),
        format(*last),
        format(most)
    );
    let view = format!("0 -2 {width} {}", height + 4.0);
    html.element("figure", &[], |html| {
        html.leaf("figcaption", &[], &format!("{heading}: {} → {}", format(*first), format(*last)));
        html.element(
            "svg",
            &[("viewBox", &view), ("role", "img"), ("aria-label", &told), ("class", "chart")],
            |html| {
                html.leaf("title", &[], &told);
                let base = format!("M0 {height}H{width}M0 0H{width}");
                html.leaf("path", &[("d", &base), ("class", "axis")], "");
                let line = path(values, 0, most, (width, height));
                let area = format!("{line}L{width} {height}L0 {height}Z");
                html.leaf("path", &[("d", &area), ("class", "area")], "");
                html.leaf("path", &[("d", &line), ("class", "line")], "");
            },
        );
    });
}

/// A small line of a series from its least to its largest value; what hardly changes is in the middle.
pub(crate) fn spark(html: &mut Html, values: &[u64], format: fn(u64) -> String) {
    let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return };
    let (least, most) = values.iter().fold((u64::MAX, 0), |(least, most), &value| (least.min(value), most.max(value)));
    // A full height is a fifth of the largest value at least, so that next to no change looks so.
    let room = (most / 5).saturating_sub(most - least);
    let (bottom, top) = (least.saturating_sub(room / 2), most.saturating_add(room / 2));
    let told = format!("from {} to {}", format(first), format(last));
    let view = format!("-1 -1 {} {}", SPARK.0 + 2.0, SPARK.1 + 2.0);
    html.element("svg", &[("viewBox", &view), ("role", "img"), ("aria-label", &told), ("class", "spark")], |html| {
        html.leaf("path", &[("d", &path(values, bottom, top, SPARK)), ("class", "line")], "");
    });
}

/// The line of a series between two values.
fn path(values: &[u64], bottom: u64, top: u64, (width, height): (f64, f64)) -> String {
    let parts = values.len().min(MOST_POINTS);
    let points = (0..parts).map(|at| {
        let part = &values[at * values.len() / parts..(at + 1) * values.len() / parts];
        part.iter().copied().max().unwrap_or(0)
    });
    let range = top.saturating_sub(bottom).max(1) as f64;
    let steps: Vec<String> = points
        .enumerate()
        .map(|(at, value)| {
            let x = width * at as f64 / (parts.max(2) - 1) as f64;
            let y = height * (1.0 - value.saturating_sub(bottom) as f64 / range);
            format!("{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' })
        })
        .collect();
    // A single value is a line, too.
    if parts == 1 { format!("{}H{width}", steps[0]) } else { steps.concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_from_the_first_value_to_the_last() {
        assert_eq!(path(&[0, 5, 10], 0, 10, (100.0, 10.0)), "M0.0 10.0L50.0 5.0L100.0 0.0");
        assert_eq!(path(&[7], 0, 7, (100.0, 10.0)), "M0.0 0.0H100");
        let long: Vec<u64> = (0..10_000).collect();
        assert_eq!(path(&long, 0, 9_999, (100.0, 10.0)).matches('L').count(), MOST_POINTS - 1);
    }
}
