//! Assertions about a recording, for CI: `retained(type = "Cache") < 64M`, `memory(class = "ld") < 2G`.
//!
//! ```text
//!   assertion := claim [ "over" A..B | "in" N ]          snapshots, of claims about objects
//!   claim     := "no leaks" [ "except" known { "," known } ]
//!   known     := FINGERPRINT [ "up to" SIZE ] | "baseline"
//!              | measure "(" [ KIND ] EXPR ")" comparison limit
//!   measure   := "count" | "size" | "retained" | "growth"            growth(count EXPR) counts, growth(EXPR) weighs
//!              | "count" | "failed" | "memory" | "peak" | "wall" | "cpu" | "user" | "system" | "reads" | "writes"
//!              | "compare" | "median" | "minimum" | "maximum" | "modes" | "runs" | "failed"
//!                "(" [ METRIC { "," PROGRAM } ] ")"                  of trials
//!   limit     := NUMBER | SIZE | TIME | "baseline" [ ("+" | "-") (NUMBER "%" | SIZE | TIME) | "*" FACTOR ]
//! ```
//!
//! [`parse`] makes an [`Assertion`] of a text, [`judge`] says whether it holds, [`witness`] and [`process_witness`] show why it does not,
//! [`report`] puts it all into an answer.

mod excused;
mod figure;
pub(crate) mod input;
mod judge;
mod judgement;
pub(crate) mod junit;
mod parse;
mod process_witness;
mod processes;
mod report;
mod trials;
mod witness;

use barrow_analyzer::{Counted, Expression, ExpressionError, Heap, Names, ObjectSet};
use barrow_processes::ImageNames;

use crate::error::QueryError;
use crate::flags::SnapshotName;
use crate::language::kinds::{self, Kinds};
use crate::progress::Meter;

use processes::ProcessMeasure;
use trials::{TrialLimit, TrialMeasure};

pub(crate) use judge::Judge;
pub(crate) use judgement::Verdict;
pub(crate) use report::{Judged, answer, junit_cases};

/// Something that is said about a recording.
#[derive(Debug, Clone)]
pub(crate) struct Assertion {
    /// As it was typed.
    pub(crate) text: String,
    /// What is said.
    claim: Claim,
    /// Of which snapshots.
    when: When,
}

#[derive(Debug, Clone)]
enum Claim {
    /// There are no leak suspects, except these.
    NoLeaks(Vec<Known>),
    /// A measure is as large as it should be.
    Compared { measure: Measure, comparison: Comparison, limit: Limit },
    /// The same of processes.
    Processes { measure: ProcessMeasure, comparison: Comparison, limit: Limit },
    /// The same of trials.
    Trials { measure: TrialMeasure, comparison: Comparison, limit: TrialLimit },
}

/// What names mean in an assertion.
pub(crate) struct Scope<'s> {
    /// Sets and rows of objects.
    pub(crate) objects: &'s dyn Names,
    /// Sets and rows of processes, and their schemata.
    pub(crate) processes: &'s dyn ImageNames,
    /// Whether the recording holds processes.
    pub(crate) has_processes: bool,
    /// Whether the recording holds trials, and neither processes nor snapshots: `failed()` counts runs.
    pub(crate) only_trials: bool,
    /// Whether `count()` counts processes: the recording holds them, and no snapshot.
    pub(crate) only_processes: bool,
}

/// The snapshots that an assertion is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum When {
    /// The selected one; for growth all.
    Selected,
    /// This one.
    In(SnapshotName),
    /// Each of these, in the words of `summary`: `3..10`, `all`.
    Over(String),
}

/// A leak that may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known {
    /// One whose fingerprint begins so, and what it may retain at most, in bytes.
    Fingerprint(String, Option<u64>),
    /// Those that the baseline has.
    Baseline,
}

/// What is measured of the objects that an expression describes.
#[derive(Debug, Clone)]
struct Measure {
    quantity: Quantity,
    /// How it grows from snapshot to snapshot, instead of how much it is.
    growth: bool,
    /// The words that name a kind, if any do; of every kind without.
    kind: Vec<String>,
    expression: Expression,
    /// Kind and expression as they were typed.
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Quantity {
    /// How many there are.
    Count,
    /// What they take themselves, shallow and unmanaged.
    Size,
    /// What would be freed with all of them.
    Retained,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Different,
}

/// What is compared with: `plus`, and `factor` times what the baseline has.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Limit {
    plus: f64,
    factor: Option<f64>,
}

impl Assertion {
    /// Reads an assertion.
    ///
    /// # Errors
    /// A usage error with a caret at the place.
    pub(crate) fn parse(text: &str, scope: &Scope<'_>) -> Result<Self, QueryError> {
        parse::parse(text, scope).map_err(|error| {
            crate::tables::found::pointed_at(
                text,
                &error,
                "`help assert` and `help expressions` list what can be asserted",
            )
        })
    }

    /// The names of types in it that no type of these tables has.
    fn unknown_types(&self, tables: &barrow_analyzer::Tables) -> Vec<&str> {
        match &self.claim {
            Claim::NoLeaks(_) | Claim::Processes { .. } | Claim::Trials { .. } => Vec::new(),
            Claim::Compared { measure, .. } => measure.expression.unknown_types(tables),
        }
    }
}

impl Measure {
    /// The objects of a snapshot that are measured, and what they are in all.
    ///
    /// # Errors
    /// A usage error if its recording has no such kind; those of [`Heap::select`].
    fn select(&self, heap: &Heap, meter: &Meter) -> Result<(ObjectSet, Counted), QueryError> {
        let kinds = match self.kind.is_empty() {
            true => Kinds::default(),
            false => kinds::leading_kind(heap.recording().tables()?, &self.kind)?,
        };
        if kinds.words < self.kind.len() {
            let what = "what follows a kind is an expression, such as `size > 1M`";
            return Err(QueryError::usage(format!("`{}` is no kind; {what}", self.kind.join(" "))));
        }
        Ok(heap.select(&kinds.ids, &self.expression, meter)?)
    }
}

impl Comparison {
    /// The longer ones first.
    const ALL: [(&'static str, Comparison); 8] = [
        ("<=", Comparison::AtMost),
        (">=", Comparison::AtLeast),
        ("!=", Comparison::Different),
        ("==", Comparison::Equal),
        ("≠", Comparison::Different),
        ("<", Comparison::Less),
        (">", Comparison::More),
        ("=", Comparison::Equal),
    ];

    fn sign(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::More => ">",
            Comparison::AtLeast => ">=",
            Comparison::Equal => "=",
            Comparison::Different => "!=",
        }
    }

    /// Whether it may hold for something between `low` and `high`: for what is known exactly, whether it does.
    fn may_hold(self, low: f64, high: f64, limit: f64) -> bool {
        match self {
            Comparison::Less => low < limit,
            Comparison::AtMost => low <= limit,
            Comparison::More => high > limit,
            Comparison::AtLeast => high >= limit,
            Comparison::Equal => low <= limit && limit <= high,
            Comparison::Different => low != limit || high != limit,
        }
    }
}

impl Limit {
    /// The limit, given what the baseline has.
    fn of(self, baseline: f64) -> f64 {
        self.plus + self.factor.map_or(0.0, |factor| factor * baseline)
    }
}

/// Reads fingerprints, one a line, perhaps with `up to SIZE`; what follows `#` is a comment.
///
/// # Errors
/// The line that is none.
pub(crate) fn fingerprints(text: &str) -> Result<Vec<Known>, ExpressionError> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(parse::known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_those_of_numbers() {
        for (sign, comparison) in Comparison::ALL {
            let holds = [1.0, 2.0, 3.0].map(|found| comparison.may_hold(found, found, 2.0));
            let expected = match sign {
                "<" => [true, false, false],
                "<=" => [true, true, false],
                ">" => [false, false, true],
                ">=" => [false, true, true],
                "=" | "==" => [false, true, false],
                _ => [true, false, true],
            };
            assert_eq!(holds, expected, "{sign}");
        }
    }

    #[test]
    fn what_is_not_sure_is_not_false() {
        assert!(Comparison::AtMost.may_hold(-1.0, 5.0, 0.0) && !Comparison::AtMost.may_hold(0.1, 5.0, 0.0));
        assert!(Comparison::AtLeast.may_hold(-5.0, 0.0, 0.0) && !Comparison::AtLeast.may_hold(-5.0, -0.1, 0.0));
    }

    #[test]
    fn limits_follow_a_baseline() {
        assert_eq!(Limit { plus: 10.0, factor: None }.of(100.0), 10.0);
        assert_eq!(Limit { plus: -10.0, factor: Some(1.5) }.of(100.0), 140.0);
    }

    #[test]
    fn known_leaks_stand_in_lines() {
        let known = fingerprints("# known\n1A2B3C4D  # the cache\n\n5e6f708090a0b0c0 up to 3M\n").unwrap();
        let of = |text: &str, most| Known::Fingerprint(text.to_owned(), most);
        assert_eq!(known, [of("1a2b3c4d", None), of("5e6f708090a0b0c0", Some(3 << 20))]);
        assert!(
            ["cache", "1a2b3c4d up", "1a2b3c4d up to", "1a2b3c4d up to 3M or so"]
                .map(fingerprints)
                .iter()
                .all(Result::is_err)
        );
    }
}
