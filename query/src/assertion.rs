//! Assertions about a recording, for CI: `retained(type = "Cache") < 64M`, `memory(class = "ld") < 2G`.
//!
//! ```text
//!   assertion := claim [ "over" A..B | "in" N ]          snapshots, of claims about objects
//!   claim     := "no leaks" [ "except" known { "," known } ]
//!              | MEASURE "(" argument ")" comparison limit [ "," "weight" "<=" PERCENT ]
//!   known     := FINGERPRINT [ "up to" SIZE ] | "baseline"
//!   argument  := [ KIND ] EXPR                           of objects; after `count` for the growth of their number
//!              | "path" TEXT                             of objects on a path of types, for growth
//!              | [ "processes" ] EXPR                    of processes
//!              | [ METRIC { "," PROGRAM } ]              of trials
//!   limit     := NUMBER | SIZE | TIME | PERCENT
//!              | "baseline" [ ("+" | "-") (PERCENT | SIZE | TIME) | "*" FACTOR ]
//! ```
//!
//! [`measure::MEASURES`] is the table of measures. [`parse`] makes an [`Assertion`] of a text, [`judge`] says whether it
//! holds. What a measure comes to and why is read by [`judge::objects`], [`judge::paths`], [`processes`] and [`trials`], and
//! [`report`] puts it all into an answer.

mod change;
mod figure;
pub(crate) mod input;
mod judge;
mod judgement;
pub(crate) mod junit;
pub(crate) mod measure;
mod parse;
mod processes;
mod report;
mod trials;
mod witness;

use barrow_analyzer::{Amount, ExpressionError, Names};
use barrow_processes::ImageNames;

use crate::error::QueryError;
use crate::flags::SnapshotName;

use figure::Figure;
use judge::objects::Objects;
use judge::paths::TypePath;
use measure::Measure;
use processes::Processes;
use trials::Programs;

pub(crate) use judge::Judge;
pub(crate) use judgement::Verdict;
pub(crate) use report::{Judged, answer, junit_cases};

/// A statement about a recording.
#[derive(Debug, Clone)]
pub(crate) struct Assertion {
    /// The text as it was typed.
    pub(crate) text: String,
    claim: Claim,
    when: When,
}

#[derive(Debug, Clone)]
enum Claim {
    /// There are no leak suspects, except these.
    NoLeaks(Vec<Known>),
    Compared(Compared),
}

/// A measure, its argument, and the limit that it is compared with.
#[derive(Debug, Clone)]
struct Compared {
    measure: &'static Measure,
    argument: Argument,
    comparison: Comparison,
    limit: Limit,
    /// The most by which the weight of a mode may change, as a fraction; of `compare(…)` only.
    weight: Option<f64>,
}

/// The parentheses of a measure.
#[derive(Debug, Clone)]
enum Argument {
    Objects(Objects),
    Path(TypePath),
    Processes(Processes),
    Trials(Programs),
}

/// The meaning of names and words in an assertion.
pub(crate) struct Scope<'s> {
    /// Sets and rows of objects.
    pub(crate) objects: &'s dyn Names,
    /// Sets and rows of processes, and their schemata.
    pub(crate) processes: &'s dyn ImageNames,
    /// The recording holds processes.
    pub(crate) has_processes: bool,
    /// The recording holds trials, and neither processes nor snapshots: `failed()` counts runs.
    pub(crate) only_trials: bool,
    /// The recording holds processes and no snapshot: `count()` counts processes.
    pub(crate) only_processes: bool,
}

/// The snapshots that an assertion is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum When {
    /// The selected one; for growth all.
    Selected,
    In(SnapshotName),
    /// Each of these, in the words of `summary`: `3..10`, `all`.
    Over(String),
}

/// A leak that may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known {
    /// One whose fingerprint begins so, and the most that it may retain, in bytes.
    Fingerprint(String, Option<u64>),
    /// Those that the baseline has.
    Baseline,
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

/// The limit: `plus`, and `factor` times the number of the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Limit {
    plus: Amount,
    factor: Option<f64>,
}

impl Assertion {
    /// Parses an assertion.
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

    /// The unit of what it is about, as far as its text says.
    fn figure(&self) -> Figure {
        match &self.claim {
            Claim::NoLeaks(_) => Figure::Suspects,
            Claim::Compared(compared) => compared.measure.figure,
        }
    }

    /// The expression that the objects match that it is about.
    fn expression(&self) -> Option<&barrow_analyzer::Expression> {
        match &self.claim {
            Claim::Compared(Compared { argument: Argument::Objects(objects), .. }) => Some(&objects.expression),
            _ => None,
        }
    }
}

impl Comparison {
    /// The comparison of a sign.
    fn named(sign: &str) -> Option<Self> {
        Some(match sign {
            "<" => Comparison::Less,
            "<=" => Comparison::AtMost,
            ">" => Comparison::More,
            ">=" => Comparison::AtLeast,
            "=" | "==" => Comparison::Equal,
            "!=" | "≠" => Comparison::Different,
            _ => return None,
        })
    }

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

    /// Returns whether a number fulfils it.
    fn holds(self, found: f64, limit: f64) -> bool {
        self.may_hold(found, found, limit)
    }

    /// Returns whether any number from `low` to `high` fulfils it.
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

    /// Returns whether any number from `low` to `high` does not fulfil it.
    fn may_fail(self, low: f64, high: f64, limit: f64) -> bool {
        let opposite = match self {
            Comparison::Less => Comparison::AtLeast,
            Comparison::AtMost => Comparison::More,
            Comparison::More => Comparison::AtMost,
            Comparison::AtLeast => Comparison::Less,
            Comparison::Equal => Comparison::Different,
            Comparison::Different => Comparison::Equal,
        };
        opposite.may_hold(low, high, limit)
    }
}

impl Limit {
    /// The limit, given the number of the baseline.
    fn of(self, baseline: f64) -> f64 {
        self.plus.value + self.factor.map_or(0.0, |factor| factor * baseline)
    }
}

/// Parses fingerprints, one a line, each optionally with `up to SIZE`; `#` begins a comment.
///
/// # Errors
/// The first line that is no fingerprint.
pub(crate) fn fingerprints(text: &str) -> Result<Vec<Known>, ExpressionError> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(parse::known).collect()
}

#[cfg(test)]
mod tests {
    use barrow_analyzer::AmountUnit;

    use super::*;

    #[test]
    fn comparisons_are_those_of_numbers() {
        for sign in ["<", "<=", ">", ">=", "=", "==", "!=", "≠"] {
            let comparison = Comparison::named(sign).unwrap();
            let holds = [1.0, 2.0, 3.0].map(|found| comparison.holds(found, 2.0));
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
        let limit = |value, factor| Limit { plus: Amount { value, unit: AmountUnit::Number }, factor };
        assert_eq!(limit(10.0, None).of(100.0), 10.0);
        assert_eq!(limit(-10.0, Some(1.5)).of(100.0), 140.0);
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
