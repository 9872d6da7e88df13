//! The order in which several dumps become the snapshots of one recording.
//!
//! ```text
//!   every dump says when it was taken      by these times
//!   --by-time                              by these times, or else by those of the files
//!   typed as a shell expands a glob        natural: heap-2 before heap-10
//!   otherwise                              as typed
//! ```
//!
//! A file's time says when it was written here: a copy or a download has another one than the dump. So file times are
//! used on request only, and never become times of snapshots.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::QueryError;

/// Names that are listed in a sentence; of more, the first ones and the last. More would hide what the sentence says.
const MOST_LISTED: usize = 6;

/// Dumps in the order of their snapshots.
#[derive(Debug)]
pub(crate) struct DumpOrder<'p> {
    /// The dumps.
    pub(crate) sources: Vec<&'p Path>,
    /// The criterion of the order.
    pub(crate) by: OrderedBy,
    /// Remarks about the order for the user, as clauses.
    pub(crate) remarks: Vec<String>,
}

/// A criterion by which dumps are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderedBy {
    /// As they were typed.
    Typed,
    /// Their names, numbers in them by value.
    NaturalNames,
    /// When they were taken, as they say themselves.
    DumpTimes,
    /// When their files were changed last.
    FileTimes,
}

impl OrderedBy {
    /// Its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            OrderedBy::Typed => "as typed",
            OrderedBy::NaturalNames => "natural order of names",
            OrderedBy::DumpTimes => "times in the dumps",
            OrderedBy::FileTimes => "file times",
        }
    }
}

/// A dump and what is known of its time.
#[derive(Debug, Clone, Copy)]
struct Dated<'p> {
    source: &'p Path,
    /// When it was taken, as it says itself, in nanoseconds since 1970.
    taken_ns: Option<u64>,
    /// When its file was changed last.
    changed: SystemTime,
}

impl<'p> DumpOrder<'p> {
    /// The order of the dumps at `typed`; `by_time`: times are wanted.
    ///
    /// # Errors
    /// A dump that cannot be read.
    pub(crate) fn of(typed: &[&'p Path], by_time: bool) -> Result<Self, QueryError> {
        let dated: Result<Vec<Dated<'p>>, QueryError> = typed.iter().map(|&source| Dated::new(source)).collect();
        Ok(order(dated?, by_time))
    }

    /// The order of dumps that nobody typed: as if a shell had expanded a glob, and with no remarks.
    ///
    /// # Errors
    /// A dump that cannot be read.
    pub(crate) fn untyped(dumps: &'p [PathBuf]) -> Result<Self, QueryError> {
        let mut paths: Vec<&Path> = dumps.iter().map(PathBuf::as_path).collect();
        paths.sort_by_key(|path| bytes(path));
        Ok(DumpOrder { remarks: Vec::new(), ..DumpOrder::of(&paths, false)? })
    }
}

impl<'p> Dated<'p> {
    fn new(source: &'p Path) -> Result<Self, QueryError> {
        let system = |error: std::io::Error| QueryError::unreadable(source.display(), error);
        let changed = fs::metadata(source).and_then(|metadata| metadata.modified()).map_err(system)?;
        Ok(Dated { source, taken_ns: barrow_importers::taken_ns(source).map_err(system)?, changed })
    }
}

fn order(typed: Vec<Dated<'_>>, by_time: bool) -> DumpOrder<'_> {
    let mut dumps = typed.clone();
    let dated = dumps.iter().filter(|dump| dump.taken_ns.is_some()).count();
    let is_glob = typed.is_sorted_by(|one, next| bytes(one.source) < bytes(next.source));
    if is_glob {
        dumps.sort_by(|one, other| natural(bytes(one.source), bytes(other.source)));
    }
    let by_names = sources(&dumps);
    let names_differ = by_names != sources(&typed);
    // The sorts are stable: dumps of one moment stay in the order of their names, or as typed.
    let by = if dated == dumps.len() {
        dumps.sort_by_key(|dump| dump.taken_ns);
        OrderedBy::DumpTimes
    } else if by_time {
        dumps.sort_by_key(|dump| dump.changed);
        OrderedBy::FileTimes
    } else if names_differ {
        OrderedBy::NaturalNames
    } else {
        OrderedBy::Typed
    };
    let mut remarks = Vec::new();
    if dumps.len() > 1 {
        let moved = sources(&dumps) != sources(&typed);
        remarks.extend(reason(by, by_time, moved, (dated, &dumps)));
        remarks.extend(contradiction(by, &dumps));
    }
    DumpOrder { sources: sources(&dumps), by, remarks }
}

/// A remark on why the order is not as typed.
fn reason(by: OrderedBy, by_time: bool, moved: bool, (dated, dumps): (usize, &[Dated<'_>])) -> Option<String> {
    let names = listed(dumps);
    match by {
        OrderedBy::DumpTimes if by_time => Some(format!("sorted by the times that the dumps themselves hold: {names}")),
        OrderedBy::DumpTimes if moved => {
            Some(format!("sorted by the times that the dumps hold, which is not the order typed: {names}"))
        }
        OrderedBy::FileTimes if dated == 0 => {
            Some(format!("sorted by the times of the files, since the dumps hold none: {names}"))
        }
        OrderedBy::FileTimes => {
            Some(format!("sorted by the times of the files, since not all of the dumps hold one: {names}"))
        }
        OrderedBy::NaturalNames => {
            Some(format!("in natural order, where a shell's glob gives the order of characters: {names}"))
        }
        OrderedBy::DumpTimes | OrderedBy::Typed => None,
    }
}

/// A remark that times of dumps or files contradict the order.
fn contradiction(by: OrderedBy, dumps: &[Dated<'_>]) -> Option<String> {
    if !dumps.iter().filter_map(|dump| dump.taken_ns).is_sorted() {
        return Some("the times that some of the dumps hold are not ascending in this order".to_owned());
    }
    if matches!(by, OrderedBy::Typed | OrderedBy::NaturalNames) && !dumps.is_sorted_by_key(|dump| dump.changed) {
        return Some("the times of the files give another order, which `--by-time` takes".to_owned());
    }
    None
}

fn sources<'p>(dumps: &[Dated<'p>]) -> Vec<&'p Path> {
    dumps.iter().map(|dump| dump.source).collect()
}

/// The names of the dumps; of many the first and the last.
fn listed(dumps: &[Dated<'_>]) -> String {
    let file_name = |dump: &Dated<'_>| dump.source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = |dump: &Dated<'_>| dump.source.display().to_string();
    let mut names: Vec<String> = dumps.iter().map(file_name).collect();
    let mut distinct = names.clone();
    distinct.sort();
    distinct.dedup();
    if distinct.len() < names.len() {
        names = dumps.iter().map(path).collect();
    }
    if names.len() > MOST_LISTED {
        names.splice(MOST_LISTED - 2..names.len() - 1, ["…".to_owned()]);
    }
    names.join(", ")
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Compares names as people count: digits that follow each other are a number. Names that differ in leading zeros only
/// are compared by bytes.
fn natural(one: &[u8], other: &[u8]) -> Ordering {
    let (mut left, mut right) = (one, other);
    loop {
        let found = match (left.first(), right.first()) {
            (Some(first), Some(second)) if first.is_ascii_digit() && second.is_ascii_digit() => {
                let (a, b) = (number(&mut left), number(&mut right));
                a.len().cmp(&b.len()).then_with(|| a.cmp(b))
            }
            (Some(first), Some(second)) => {
                let found = first.cmp(second);
                (left, right) = (&left[1..], &right[1..]);
                found
            }
            _ => return left.len().cmp(&right.len()).then_with(|| one.cmp(other)),
        };
        if found.is_ne() {
            return found;
        }
    }
}

/// Takes the digits at the beginning of `text`, and returns them without leading zeros.
fn number<'t>(text: &mut &'t [u8]) -> &'t [u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    &digits[digits.iter().take_while(|&&digit| digit == b'0').count()..]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Names, their own times and those of their files, in the order of their snapshots; and what is said about it.
    fn ordered(typed: &[(&str, Option<u64>, u64)], by_time: bool) -> (String, OrderedBy, String) {
        let dated = typed.iter().map(|&(name, taken_ns, changed)| Dated {
            source: Path::new(name),
            taken_ns,
            changed: SystemTime::UNIX_EPOCH + Duration::from_secs(changed),
        });
        let DumpOrder { sources, by, remarks } = order(dated.collect(), by_time);
        let names: Vec<String> = sources.iter().map(|source| source.display().to_string()).collect();
        (names.join(" "), by, remarks.join("; "))
    }

    fn undated(names: &str) -> Vec<(&str, Option<u64>, u64)> {
        names.split(' ').map(|name| (name, None, 7)).collect()
    }

    #[test]
    fn names_are_compared_as_people_count() {
        for ascending in [
            "a a1 a2 a10 a10b a11 b",
            "n.9 n.10 n.100",
            "run-2/heap run-10/heap",
            "heap heap-1 heap-02 heap-3",
            "1.9 1.10 01.11",
            "99999999999999999999998 99999999999999999999999 199999999999999999999999",
            "a007 a07 a7 a8",
        ] {
            let names: Vec<&str> = ascending.split(' ').collect();
            assert!(names.is_sorted_by(|one, next| natural(one.as_bytes(), next.as_bytes()).is_lt()), "{ascending}");
        }
        assert_eq!(natural(b"a1", b"a1"), Ordering::Equal);
    }

    #[test]
    fn untyped_dumps_are_in_the_natural_order() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["n-10", "n-2", "n-1"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| fs::write(path, "").unwrap());
        let order = DumpOrder::untyped(&paths).unwrap();
        let expected: Vec<&Path> = paths.iter().rev().map(PathBuf::as_path).collect();
        assert_eq!((order.sources, order.remarks), (expected, Vec::new()));
    }

    #[test]
    fn what_is_typed_stays_unless_it_is_a_glob() {
        let typed = ordered(&undated("n-10 n-2 n-1"), false);
        assert_eq!(typed, ("n-10 n-2 n-1".to_owned(), OrderedBy::Typed, String::new()));
        let same = ordered(&undated("n-01 n-02 n-10"), false);
        assert_eq!(same, ("n-01 n-02 n-10".to_owned(), OrderedBy::Typed, String::new()));
        let (names, by, remarks) = ordered(&undated("n-1 n-10 n-2"), false);
        assert_eq!((names.as_str(), by), ("n-1 n-2 n-10", OrderedBy::NaturalNames));
        assert!(remarks.contains("natural order") && remarks.contains("n-1, n-2, n-10"), "{remarks}");
    }

    #[test]
    fn file_times_order_on_request_only_and_are_named_when_they_contradict() {
        let dumps = [("a-1", None, 30), ("a-2", None, 10), ("a-10", None, 20)];
        let (names, by, remarks) = ordered(&dumps, false);
        assert_eq!((names.as_str(), by), ("a-1 a-2 a-10", OrderedBy::Typed));
        assert!(remarks.contains("`--by-time` takes"), "{remarks}");
        let (names, by, remarks) = ordered(&dumps, true);
        assert_eq!((names.as_str(), by), ("a-2 a-10 a-1", OrderedBy::FileTimes));
        assert!(remarks.contains("the dumps hold none"), "{remarks}");
    }

    #[test]
    fn the_times_of_the_dumps_order_where_all_have_one() {
        let dumps = [("b", Some(2), 1), ("a", Some(3), 2), ("c", Some(1), 3)];
        let (names, by, remarks) = ordered(&dumps, false);
        assert_eq!((names.as_str(), by), ("c b a", OrderedBy::DumpTimes));
        assert!(remarks.contains("not the order typed: c, b, a"), "{remarks}");
        assert!(ordered(&dumps, true).2.contains("the dumps themselves hold"));
        // In order already: nothing to say.
        assert_eq!(ordered(&[dumps[2], dumps[0], dumps[1]], false).2, "");
        // One does not say it: they are as typed, and what the others say is compared.
        let (names, by, remarks) = ordered(&[dumps[0], ("x", None, 2), ("c", Some(1), 3)], false);
        assert_eq!((names.as_str(), by), ("b x c", OrderedBy::Typed));
        assert!(remarks.contains("not ascending"), "{remarks}");
    }

    #[test]
    fn many_names_are_shortened_and_equal_ones_are_paths() {
        let names: Vec<String> = (1..=12).map(|number| format!("run-{number}/heap")).collect();
        let typed: Vec<_> = names.iter().map(|name| (name.as_str(), None, 1)).collect();
        assert_eq!(
            ordered(&typed, true).2.rsplit(": ").next(),
            Some("run-1/heap, run-2/heap, run-3/heap, run-4/heap, …, run-12/heap")
        );
    }
}
