//! Series of numbers, one for each snapshot: drawn in a line of text, as a chart, and described in words.

use barrow_analyzer::{Judgement, Reason, Recording, SURE_POINTS, SnapshotId, Verdict};

use crate::answer::units;
use crate::answer::{Column, Value};
use crate::error::QueryError;

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

/// A series as a chart of braille dots from 0 to its greatest value, which is beside it; one snapshot is as far
/// from the next as any other.
pub(crate) fn chart(values: &[u64]) -> Vec<String> {
    let (width, height) = (2 * CHART.0, 4 * CHART.1);
    let last = values.len().saturating_sub(1).max(1) as f64;
    let most = values.iter().copied().max().unwrap_or(0);
    let mut dots = vec![false; width * height];
    let column = |place: usize| place as f64 / last * (width - 1) as f64;
    let row = |value: u64| (height - 1) as f64 * (1.0 - value as f64 / most.max(1) as f64);
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(at, &value)| (column(at), row(value))).collect();
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

fn part_of(count: usize, parts: usize, part: usize) -> std::ops::Range<usize> {
    part * count / parts..(part + 1) * count / parts
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn bounds(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| (least.min(value), most.max(value)))
}

/// What slopes are per. They are judged by the order of snapshots; times may be those of copied files.
pub(crate) const PER: &str = "snapshot";

/// The mean time from a snapshot to the next, in seconds, where the runtime tells the times.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn seconds_apart(recording: &Recording, snapshots: &[SnapshotId]) -> Result<Option<f64>, QueryError> {
    let times: Result<Vec<Option<u64>>, QueryError> =
        snapshots.iter().map(|&snapshot| Ok(recording.snapshot(snapshot)?.time_ns)).collect();
    let known: Option<Vec<u64>> = times?.into_iter().collect();
    let times = known.filter(|times| times.len() > 1 && times.is_sorted_by(|time, next| time < next));
    Ok(times.map(|times| (times[times.len() - 1] - times[0]) as f64 / 1e9 / (times.len() - 1) as f64))
}

/// Why a rise each time is not said to be growth.
pub(crate) fn few(snapshots: usize) -> String {
    let there = units::counted(snapshots as u64, "snapshot");
    format!("{there} are too few to be sure, as chance makes one of many paths do so; {SURE_POINTS} can be enough")
}

/// What is said of a series, in the same words everywhere.
pub(crate) fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Grows => "grows",
        Verdict::RisesEachTime => "rises each time, too few to be sure",
        Verdict::TooFew => "too few snapshots",
        Verdict::DoesNot(Reason::Chance) => "does not grow",
        Verdict::DoesNot(Reason::NotSure) => "does not grow for sure",
        Verdict::DoesNot(Reason::Flattens) => "does not grow for sure: it rises ever more slowly, like a warm-up",
        Verdict::DoesNot(Reason::Steps) => "does not grow: it rises in steps",
        Verdict::DoesNot(Reason::Sawtooth) => "does not grow: it falls back, like a sawtooth",
        Verdict::DoesNot(Reason::Parts) => "does not grow: only the sum of warm-ups and steps below it rises",
    }
}

/// The same in the width of a cell.
fn cell(verdict: Verdict) -> Value {
    let text = match verdict {
        Verdict::Grows => "yes",
        Verdict::RisesEachTime => "rises each time",
        Verdict::TooFew => return Value::None,
        Verdict::DoesNot(Reason::Chance) => "no",
        Verdict::DoesNot(Reason::NotSure) => "not for sure",
        Verdict::DoesNot(Reason::Flattens) => "no: flattens",
        Verdict::DoesNot(Reason::Steps) => "no: steps",
        Verdict::DoesNot(Reason::Sawtooth) => "no: sawtooth",
        Verdict::DoesNot(Reason::Parts) => "no: parts do not",
    };
    Value::Text(text.to_owned())
}

/// The columns of a judged series of bytes.
pub(crate) fn trend_columns() -> [Column; 10] {
    [
        Column::bytes("slope_bytes").called("per snapshot"),
        Column::text("slope_interval").called("95 % interval").for_people().secondary(),
        Column::bytes("slope_low_bytes").for_machines(),
        Column::bytes("slope_high_bytes").for_machines(),
        Column::bytes("lasting_slope_bytes").for_machines(),
        Column::number("p_value").for_machines(),
        Column::text("lasts").for_machines(),
        Column::text("grows").for_machines(),
        Column::text("verdict").for_machines(),
        Column::text("shown_verdict").called("grows").for_people(),
    ]
}

/// The cells of [`trend_columns`].
pub(crate) fn trend_cells(judgement: &Judgement) -> [Value; 10] {
    let trend = &judgement.trend;
    let (low, high) = trend.interval.unzip();
    let ends =
        matches!(judgement.verdict, Verdict::DoesNot(reason) if reason != Reason::Chance && reason != Reason::NotSure);
    [
        Value::Rate(trend.slope),
        trend.interval.map(|(low, high)| format!("{} to {}", units::rate(low), units::rate(high))).into(),
        low.map_or(Value::None, Value::Rate),
        high.map_or(Value::None, Value::Rate),
        Value::Rate(judgement.late_slope),
        Value::Rate(trend.p_value),
        Value::Flag(!ends),
        judgement.grows().map_or(Value::None, Value::Flag),
        Value::Text(words(judgement.verdict).to_owned()),
        cell(judgement.verdict),
    ]
}

/// A judged series of bytes in a sentence; `apart` is what [`seconds_apart`] found.
pub(crate) fn sentence(what: &str, judgement: &Judgement, apart: Option<f64>) -> String {
    let trend = &judgement.trend;
    let second = apart.map_or_else(String::new, |apart| format!(" ({} per second)", units::rate(trend.slope / apart)));
    let slope = format!("{what}: {} per {PER}{second}", units::rate(trend.slope));
    let verdict = words(judgement.verdict);
    match trend.interval {
        _ if judgement.verdict == Verdict::TooFew => {
            format!("{slope}; {} are too few to say whether it grows", units::counted(trend.points as u64, "snapshot"))
        }
        Some((low, high)) => {
            format!("{slope}, 95 % between {} and {}: it {verdict}", units::rate(low), units::rate(high))
        }
        None => format!("{slope}: it {verdict}"),
    }
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
        let drawn = chart(&[0, 2048, 1024]);
        let lines = &drawn;
        assert_eq!(lines.len(), CHART.1);
        assert!(lines[0].starts_with("   2.0 KiB ┤") && lines[7].starts_with("       0 B ┤"), "{drawn:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 12 + CHART.0));
        // The first point is at the lowest dot, the second at the highest in the middle.
        assert_eq!(lines[7].chars().nth(12).map(|c| c as u32 & 0x40), Some(0x40));
        assert!(lines[0].chars().count() > 12 + CHART.0 / 2 - 2);
        assert_eq!(chart(&[0, 0]).len(), CHART.1);
    }

    #[test]
    fn sentences_say_how_sure_they_are() {
        let told = |values: &[f64]| sentence("retained", &Judgement::of(values), None);
        assert_eq!(told(&[0.0, 10.0]), "retained: +10 B per snapshot; 2 snapshots are too few to say whether it grows");
        let line: Vec<f64> = (0..9).map(|at| 2048.0 * f64::from(at)).collect();
        assert_eq!(told(&line), "retained: +2.0 KiB per snapshot, 95 % between +2.0 KiB and +2.0 KiB: it grows");
        assert!(told(&line[..6]).ends_with("it rises each time, too few to be sure"), "{}", told(&line[..6]));
        assert!(told(&[1.0, 5.0, 2.0, 4.0, 1.0, 3.0]).ends_with("it does not grow"));
        let warm = told(&[0.0, 900.0, 990.0, 999.0, 1000.0, 1001.0, 1002.0, 1003.0]);
        assert!(warm.contains("does not grow") && warm.contains(": it "), "{warm}");
        let timed = sentence("retained", &Judgement::of(&line), Some(2.0));
        assert!(timed.starts_with("retained: +2.0 KiB per snapshot (+1.0 KiB per second), "), "{timed}");
    }
}
