//! Series of numbers, one for each snapshot: drawn in a line of text, as a chart, and told in words.

use barrow_analyzer::{Axis, AxisUnit, CONFIDENCE, LEAST_POINTS, Recording, SnapshotId, Trend};

use crate::answer::{Column, Unit, Value};
use crate::error::ReplError;
use crate::units;

/// Fewer snapshots are no series: their numbers say more than a drawing.
pub(crate) const LEAST_DRAWN: usize = 3;
/// A longer series is drawn by the means of its parts.
const WIDEST: usize = 32;
/// Characters of a chart; each has 2 × 4 dots.
const CHART: (usize, usize) = (60, 8);

/// A full height of a line is this part of the greatest value at least, so that next to no change looks so.
const FULL_HEIGHT: f64 = 0.2;

/// A series as a line of blocks, from its least value to its greatest; in the middle what hardly changes.
pub(crate) fn spark(values: &[f64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let parts = values.len().min(WIDEST);
    let means: Vec<f64> = (0..parts).map(|part| mean(&values[part_of(values.len(), parts, part)])).collect();
    let (least, most) = bounds(&means);
    let height = (most - least).max(FULL_HEIGHT * most.abs());
    let bottom = f64::midpoint(least, most) - height / 2.0;
    let level = |value: f64| if height > 0.0 { ((value - bottom) / height * 7.0).round() as usize } else { 0 };
    means.into_iter().map(|value| BLOCKS[level(value).min(7)]).collect()
}

/// A series as a chart of braille dots from 0 to its greatest value, which stands beside it.
pub(crate) fn chart(axis: &Axis, values: &[u64]) -> Vec<String> {
    let (width, height) = (2 * CHART.0, 4 * CHART.1);
    let (first, last) = bounds(&axis.places);
    let most = values.iter().copied().max().unwrap_or(0);
    let mut dots = vec![false; width * height];
    let column = |place: f64| if last > first { (place - first) / (last - first) * (width - 1) as f64 } else { 0.0 };
    let row = |value: u64| (height - 1) as f64 * (1.0 - value as f64 / most.max(1) as f64);
    let points: Vec<(f64, f64)> =
        axis.places.iter().zip(values).map(|(&at, &value)| (column(at), row(value))).collect();
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
            units::size(most)
        } else if line + 1 == CHART.1 {
            units::size(0)
        } else {
            String::new()
        };
        let text: String = (0..CHART.0).map(|at| braille(&dots, width, at, line)).collect();
        format!("{beside:>10} ┤{}", text.trim_end_matches('\u{2800}'))
    });
    lines.collect()
}

/// The character of 2 × 4 dots: Unicode numbers them down the left column, then the right, the last row behind.
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

fn part_of(count: usize, parts: usize, part: usize) -> std::ops::Range<usize> {
    part * count / parts..(part + 1) * count / parts
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn bounds(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| (least.min(value), most.max(value)))
}

/// Where snapshots stand: at their times, or in their order.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn axis(recording: &Recording, snapshots: &[SnapshotId]) -> Result<Axis, ReplError> {
    let times: Result<Vec<Option<u64>>, ReplError> =
        snapshots.iter().map(|&snapshot| Ok(recording.snapshot(snapshot)?.time_ns)).collect();
    Ok(Axis::of(&times?))
}

/// What slopes are per.
pub(crate) fn per(axis: &Axis) -> &'static str {
    match axis.unit {
        AxisUnit::Second => "second",
        AxisUnit::Snapshot => "snapshot",
    }
}

/// The columns of a trend of bytes; `per` is in the headings.
pub(crate) fn trend_columns(axis: &Axis) -> [Column; 8] {
    let heading = match axis.unit {
        AxisUnit::Second => "per second",
        AxisUnit::Snapshot => "per snapshot",
    };
    [
        Column::new("slope_bytes", heading, Unit::Bytes),
        Column::new("slope_interval", "95 % interval", Unit::Text).for_people(),
        Column::new("slope_low_bytes", "", Unit::Bytes).for_machines(),
        Column::new("slope_high_bytes", "", Unit::Bytes).for_machines(),
        Column::new("lasting_slope_bytes", "", Unit::Bytes).for_machines(),
        Column::new("p_value", "", Unit::Number).for_machines(),
        Column::new("lasts", "", Unit::Text).for_machines(),
        Column::new("grows", "grows", Unit::Text),
    ]
}

/// The cells of [`trend_columns`]; `grows` is what was found out with all other series in sight.
pub(crate) fn trend_cells(trend: &Trend, grows: bool) -> [Value; 8] {
    let (low, high) = trend.interval.unzip();
    [
        Value::Rate(trend.slope),
        trend.interval.map(|(low, high)| format!("{} to {}", units::rate(low), units::rate(high))).into(),
        low.map_or(Value::None, Value::Rate),
        high.map_or(Value::None, Value::Rate),
        Value::Rate(trend.lasting_slope),
        Value::Rate(trend.p_value),
        Value::Flag(trend.lasts),
        if trend.points < LEAST_POINTS { Value::None } else { Value::Flag(grows) },
    ]
}

/// A trend of bytes in a sentence.
pub(crate) fn sentence(what: &str, trend: &Trend, per: &str) -> String {
    let slope = units::rate(trend.slope);
    let Some((low, high)) = trend.interval else {
        return format!(
            "{what}: {slope} per {per}; with {} nobody can say how sure that is",
            units::counted(trend.points as u64, "snapshot")
        );
    };
    let verdict = match (trend.is_growing(CONFIDENCE, 1), trend.lasts, low > 0.0) {
        (true, ..) => "it grows",
        (_, false, true) => "it grew, and has stopped or nearly so",
        (_, true, true) => "it may grow, but of two tests one is not sure",
        _ => "that it grows is not sure",
    };
    format!("{what}: {slope} per {per}, 95 % between {} and {}: {verdict}", units::rate(low), units::rate(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_from_the_least_to_the_most() {
        assert_eq!(spark(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), "▁▂▃▄▅▆▇█");
        assert_eq!((spark(&[5.0, 5.0, 5.0]), spark(&[])), ("▅▅▅".to_owned(), String::new()));
        assert_eq!(
            [&[7.0, 10.0, 7.0], &[9.99, 10.0, 9.99], &[0.0; 3]].map(|values| spark(values)),
            ["▁█▁", "▄▅▄", "▁▁▁"]
        );
        let long: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!((spark(&long).chars().count(), spark(&long).chars().last()), (WIDEST, Some('█')));
    }

    #[test]
    fn charts_begin_at_nothing() {
        let drawn = chart(&Axis::of(&[None; 3]), &[0, 2048, 1024]);
        let lines = &drawn;
        assert_eq!(lines.len(), CHART.1);
        assert!(lines[0].starts_with("   2.0 KiB ┤") && lines[7].starts_with("       0 B ┤"), "{drawn:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 12 + CHART.0));
        // The first point is at the lowest dot, the second at the highest in the middle.
        assert_eq!(lines[7].chars().nth(12).map(|c| c as u32 & 0x40), Some(0x40));
        assert!(lines[0].chars().count() > 12 + CHART.0 / 2 - 2);
        assert_eq!(chart(&Axis::of(&[None; 2]), &[0, 0]).len(), CHART.1);
    }

    #[test]
    fn sentences_say_how_sure_they_are() {
        let told = |values: &[f64]| sentence("retained", &Trend::of_values(values), "snapshot");
        assert_eq!(
            told(&[0.0, 10.0]),
            "retained: +10 B per snapshot; with 2 snapshots nobody can say how sure that is"
        );
        let line: Vec<f64> = (0..9).map(|at| 2048.0 * f64::from(at)).collect();
        assert_eq!(told(&line), "retained: +2.0 KiB per snapshot, 95 % between +2.0 KiB and +2.0 KiB: it grows");
        assert!(told(&[1.0, 5.0, 2.0, 4.0, 1.0, 3.0]).ends_with("not sure"));
        assert!(told(&[0.0, 900.0, 990.0, 999.0, 1000.0, 1001.0, 1002.0, 1003.0]).ends_with("nearly so"));
    }
}
