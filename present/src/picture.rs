//! Pictures of values in one line: series, bars, and what ran over a time.

use barrow_answer::{Mark, Value};

/// A longer series is drawn by the means of its parts. A cell of this width leaves most of a line of 80 columns to the
/// others.
const WIDEST: usize = 32;
/// A full height of a line is this part of the greatest number at least, so that next to no change looks so. The part
/// is a judgement; the page has the same.
const FULL_HEIGHT: f64 = 0.2;
/// Characters of the longest bar: half of a line of 80 columns, so that the numbers beside it fit.
const LONGEST_BAR: u64 = 40;
/// Marks of classes, by their ranks.
const MARKS: &str = "#=+o*xv%~^abcdefghijklmnpqrstuwyz";
/// The mark of a class without one.
const OTHER: char = '?';

/// The picture of a value; `None` if it is not drawn, or takes several lines as a moment of a timeline does.
#[must_use]
pub fn picture(value: &Value) -> Option<String> {
    Some(match value {
        Value::Series { numbers, .. } => spark(numbers),
        Value::Bar { length, longest } => bar(*length, *longest),
        Value::Load(shares) => load(shares, usize::MAX),
        Value::Lane(marks) => format!("|{}|", marks.iter().map(|&mark| character(mark, '.')).collect::<String>()),
        Value::Mark(mark) => character(*mark, ' ').to_string(),
        _ => return None,
    })
}

/// A line of blocks, from the least number to the greatest; what hardly changes is in the middle. Places without a number
/// are gaps.
pub(crate) fn spark(numbers: &[Option<f64>]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let parts = numbers.len().min(WIDEST);
    let means: Vec<Option<f64>> = (0..parts).map(|part| mean(&numbers[part_of(numbers.len(), parts, part)])).collect();
    let known = means.iter().flatten();
    let (least, most) =
        known.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &number| (least.min(number), most.max(number)));
    let height = (most - least).max(FULL_HEIGHT * most.abs());
    let bottom = f64::midpoint(least, most) - height / 2.0;
    let level = |number: f64| if height > 0.0 { ((number - bottom) / height * 7.0).round() as usize } else { 0 };
    means.into_iter().map(|mean| mean.map_or(' ', |number| BLOCKS[level(number).min(7)])).collect()
}

fn part_of(count: usize, parts: usize, part: usize) -> std::ops::Range<usize> {
    part * count / parts..(part + 1) * count / parts
}

/// The mean of the numbers that are known; `None` if none is.
fn mean(numbers: &[Option<f64>]) -> Option<f64> {
    let count = numbers.iter().flatten().count();
    (count > 0).then(|| numbers.iter().flatten().sum::<f64>() / count as f64)
}

/// A bar. The longest one may stand for many things, but none that stands for something is empty.
fn bar(length: u64, longest: u64) -> String {
    let characters = match longest {
        0..=LONGEST_BAR => u128::from(length),
        _ => (u128::from(length) * u128::from(LONGEST_BAR)).div_ceil(u128::from(longest)),
    };
    "@".repeat(usize::try_from(characters).unwrap_or(0))
}

/// A bar from where the first thing ran to where the last one did: `#` where something ran for at least half of the
/// time, `-` where it ran for less, `.` where nothing ran. Where it is wider than `width`, parts of the time are put
/// together.
pub(crate) fn load(shares: &[f64], width: usize) -> String {
    const ENDS: usize = 2;
    let parts = shares.len().min(width.saturating_sub(ENDS).max(1));
    let part = |part| {
        let shares = &shares[part_of(shares.len(), parts, part)];
        shares.iter().sum::<f64>() / shares.len() as f64
    };
    let shares: Vec<f64> = (0..parts).map(part).collect();
    let is_running = |share: &f64| *share > 0.0;
    let (first, last) = (shares.iter().position(is_running), shares.iter().rposition(is_running));
    let drawn = shares.iter().enumerate().map(|(at, share)| match share {
        _ if first.is_none_or(|first| at < first) || last.is_none_or(|last| at > last) => ' ',
        share if *share >= 0.5 => '#',
        share if *share > 0.0 => '-',
        _ => '.',
    });
    format!("|{}|", drawn.collect::<String>())
}

fn character(mark: Mark, nothing: char) -> char {
    match mark {
        Mark::Nothing => nothing,
        Mark::Rank(rank) => MARKS.chars().nth(rank as usize).unwrap_or(OTHER),
        Mark::Other => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barrow_answer::Unit;

    #[test]
    fn lines_go_from_the_least_to_the_most() {
        let drawn = |numbers: &[f64]| spark(&numbers.iter().copied().map(Some).collect::<Vec<_>>());
        assert_eq!(drawn(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), "▁▂▃▄▅▆▇█");
        assert_eq!((drawn(&[5.0, 5.0, 5.0]), drawn(&[])), ("▅▅▅".to_owned(), String::new()));
        assert_eq!(
            [&[7.0, 10.0, 7.0], &[9.99, 10.0, 9.99], &[0.0; 3]].map(|values| drawn(values)),
            ["▁█▁", "▄▅▄", "▁▁▁"]
        );
        let long: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!((drawn(&long).chars().count(), drawn(&long).chars().last()), (WIDEST, Some('█')));
    }

    #[test]
    fn what_is_not_known_is_a_gap() {
        let gaps = Value::Series { numbers: vec![None, Some(0.0), None, Some(7.0)], unit: Unit::Bytes };
        assert_eq!(picture(&gaps).as_deref(), Some(" ▁ █"));
        assert_eq!(spark(&[None, None]), "  ");
    }

    #[test]
    fn bars_are_as_long_as_their_parts_of_the_longest() {
        assert_eq!([0, 1, 3].map(|length| bar(length, 3)), ["", "@", "@@@"]);
        assert_eq!([0, 1, 50, 100].map(|length| bar(length, 100).len()), [0, 1, 20, 40]);
        assert_eq!(bar(u64::MAX, u64::MAX).len(), 40);
    }

    #[test]
    fn what_ran_has_marks() {
        assert_eq!(load(&[0.0, 0.5, 0.1, 0.0, 1.0, 0.0], 8), "| #-.# |");
        assert_eq!(load(&[0.0, 0.5, 0.1, 0.0, 1.0, 0.0], 5), "|--#|");
        assert_eq!([0, 3].map(|width| load(&[0.0, 1.0], width)), ["|#|", "|#|"]);
        assert_eq!(load(&[0.0, 0.0], 80), "|  |");
        assert_eq!(load(&[], 80), "||");
        let lane = Value::Lane(vec![Mark::Rank(0), Mark::Nothing, Mark::Rank(10), Mark::Rank(1000), Mark::Other]);
        assert_eq!(picture(&lane).as_deref(), Some("|#.a??|"));
        assert_eq!(picture(&Value::Mark(Mark::Rank(1))).as_deref(), Some("="));
        assert_eq!(picture(&Value::Number(1)), None);
    }
}
