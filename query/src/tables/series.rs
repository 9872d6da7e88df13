//! Series of numbers, one for each snapshot, described in words.

use barrow_analyzer::{Judgement, Reason, Recording, SURE_POINTS, SnapshotId, Verdict};

use crate::answer::units;
use crate::answer::{Column, Value};
use crate::error::QueryError;

/// Fewer snapshots are no series: their numbers say more than a picture.
pub(crate) const LEAST_DRAWN: usize = 3;

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
        Column::text("slope_interval").own_words().called("95 % interval").for_people().secondary().interval(),
        Column::bytes("slope_low_bytes").for_machines().interval(),
        Column::bytes("slope_high_bytes").for_machines().interval(),
        Column::bytes("lasting_slope_bytes").for_machines(),
        Column::number("p_value").for_machines(),
        Column::text("lasts").own_words().for_machines(),
        Column::text("grows").own_words().for_machines(),
        Column::text("verdict").own_words().for_machines(),
        Column::text("shown_verdict").own_words().called("grows").for_people(),
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
