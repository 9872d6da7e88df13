//! The snapshots a question names: `2`, `last`, `1..3`, `all`, `every 5`.

use barrow_analyzer::SnapshotId;

use crate::error::QueryError;
use crate::flags::SnapshotName;

/// The snapshot that `name` names, of `known` ones. Those of a damaged recording may have gaps.
///
/// # Errors
/// A usage error that says which snapshots there are.
pub(crate) fn one(name: SnapshotName, known: &[SnapshotId]) -> Result<SnapshotId, QueryError> {
    let (Some(first), Some(&last)) = (known.first(), known.last()) else {
        return Err(QueryError::NoSnapshot);
    };
    let SnapshotName::Number(number) = name else { return Ok(last) };
    if known.contains(&SnapshotId(number)) {
        return Ok(SnapshotId(number));
    }
    Err(QueryError::usage(match known.len() {
        1 => format!("there is no snapshot {number}; this recording holds only snapshot {first}"),
        count if (last.0 - first.0) as usize + 1 == count => {
            format!("there is no snapshot {number}; this recording holds {first} to {last}")
        }
        _ => format!("there is no snapshot {number}; `snapshots` lists those that are whole"),
    }))
}

/// The snapshots that `words` name, of `known` ones.
///
/// # Errors
/// A usage error.
pub(crate) fn several(words: &[String], known: &[SnapshotId]) -> Result<Vec<SnapshotId>, QueryError> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["all"] => Ok(known.to_vec()),
        ["every", step] => match step.parse() {
            Ok(step @ 1..) => Ok(known.iter().copied().step_by(step).collect()),
            _ => Err(QueryError::usage(format!("`every {step}` names no snapshots; try `every 2`"))),
        },
        [word] => range(word, known),
        _ => Err(QueryError::usage(format!(
            "`{}` names no snapshots; try `all`, `every 2`, `0..3` or `last`",
            words.join(" ")
        ))),
    }
}

/// Fails unless `words` could name snapshots of some recording.
///
/// # Errors
/// A usage error.
pub(crate) fn check(words: &str) -> Result<(), QueryError> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let [word] = &words[..] else { return several(&words, &[]).map(drop) };
    let is_named = |name: &str| name.is_empty() || name.parse::<SnapshotName>().is_ok();
    let (first, last) = word.split_once("..").unwrap_or((word, word));
    if word == "all" || is_named(first) && is_named(last) && !word.is_empty() {
        return Ok(());
    }
    Err(QueryError::usage(format!("`{word}` names no snapshots")))
}

/// Returns whether a word is `A..B`, with snapshots on both sides, or nothing.
pub(crate) fn is_range(word: &str) -> bool {
    let is_name = |name: &str| name.is_empty() || name.parse::<SnapshotName>().is_ok();
    word.split_once("..").is_some_and(|(first, last)| is_name(first) && is_name(last))
}

/// `N..M`, both included, or a single snapshot.
fn range(word: &str, known: &[SnapshotId]) -> Result<Vec<SnapshotId>, QueryError> {
    let named = |text: &str, otherwise: SnapshotName| {
        let name = if text.is_empty() { Ok(otherwise) } else { text.parse() };
        name.map_err(|_| {
            QueryError::usage(format!("`{word}` names no snapshots; try `all`, `every 2`, `0..3` or `last`"))
        })
    };
    let Some((first, last)) = word.split_once("..") else {
        return Ok(vec![one(named(word, SnapshotName::Last)?, known)?]);
    };
    let least = known.first().map_or(0, |first| first.0);
    let first = one(named(first, SnapshotName::Number(least))?, known)?;
    let last = one(named(last, SnapshotName::Last)?, known)?;
    if first > last {
        return Err(QueryError::usage(format!("`{word}` is empty; did you mean `{last}..{first}`?")));
    }
    Ok(known.iter().copied().filter(|snapshot| (first..=last).contains(snapshot)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(line: &str) -> Result<Vec<u32>, String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let known: Vec<SnapshotId> = (0..6).map(SnapshotId).collect();
        let snapshots = several(&words, &known).map_err(|error| error.to_string())?;
        Ok(snapshots.into_iter().map(|snapshot| snapshot.0).collect())
    }

    #[test]
    fn ranges_are_no_types() {
        assert_eq!(["0..3", "..", "2..last", "3..", "Foo", "a..b", "1.5"].map(is_range), {
            [true, true, true, true, false, false, false]
        });
    }

    #[test]
    fn snapshots_are_named_in_many_ways() {
        assert_eq!(named("all"), Ok(vec![0, 1, 2, 3, 4, 5]));
        assert_eq!(named("every 2"), Ok(vec![0, 2, 4]));
        assert_eq!(named("1..3"), Ok(vec![1, 2, 3]));
        assert_eq!(named("4.."), Ok(vec![4, 5]));
        assert_eq!(named("..last"), Ok(vec![0, 1, 2, 3, 4, 5]));
        assert_eq!(named("last"), Ok(vec![5]));
    }

    #[test]
    fn what_is_no_snapshot_is_told() {
        assert_eq!(named("6"), Err("there is no snapshot 6; this recording holds 0 to 5".into()));
        assert_eq!(named("3..1"), Err("`3..1` is empty; did you mean `1..3`?".into()));
        for wrong in ["every 0", "every x", "some", "1..x", "all of them"] {
            assert!(named(wrong).unwrap_err().contains("names no snapshots"), "{wrong}");
        }
        assert!(several(&["all".into()], &[]).unwrap().is_empty());
        assert!(one(SnapshotName::Last, &[]).is_err());
    }

    #[test]
    fn lost_snapshots_leave_gaps() {
        let known = [1, 2, 5].map(SnapshotId);
        assert_eq!(several(&["..2".into()], &known).unwrap(), [SnapshotId(1), SnapshotId(2)]);
        assert_eq!(several(&["every".into(), "2".into()], &known).unwrap(), [SnapshotId(1), SnapshotId(5)]);
        assert_eq!(one(SnapshotName::Last, &known).unwrap(), SnapshotId(5));
        assert!(one(SnapshotName::Number(3), &known).unwrap_err().to_string().contains("`snapshots` lists"));
    }
}
