//! The result of judging an assertion.

pub(super) mod grown;

use std::sync::Arc;

use barrow_analyzer::SnapshotId;

use super::{figure::Figure, witness::Witness};
use crate::error::QueryError;
use grown::Grown;

/// The outcome for an assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Fails,
    /// It is not known, for this reason: a clause.
    Undecided(String),
}

/// A verdict, and the numbers that it follows from.
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    /// The snapshot that decided; none for growth, processes and trials.
    pub(super) snapshot: Option<SnapshotId>,
    pub(super) found: f64,
    pub(super) limit: f64,
    /// The judgement on growth or on a change of trials, in words.
    pub(super) said: Option<&'static str>,
    /// The unit of both numbers.
    pub(super) unit: Figure,
    /// The reason why it does not hold.
    pub(super) witness: Option<Witness>,
    /// Why the number is not exact, in the words of [`crate::answer::Answer::exactness`] and for people; `None` if it
    /// is.
    pub(super) inexact: Option<Inexact>,
    /// Facts that matter whatever the verdict is.
    pub(super) notes: Vec<String>,
}

impl Judgement {
    /// A judgement about these numbers, without a witness or a note.
    pub(super) fn new(verdict: Verdict, found: f64, limit: f64, unit: Figure) -> Self {
        let (snapshot, said, witness) = (None, None, None);
        Judgement { verdict, snapshot, found, limit, said, unit, witness, inexact: None, notes: Vec::new() }
    }

    /// A judgement without numbers, for this reason.
    pub(super) fn undecided(why: impl Into<String>, unit: Figure) -> Self {
        Self::new(Verdict::Undecided(why.into()), 0.0, 0.0, unit)
    }

    /// The judgement that decides for all: the first that fails, otherwise the first that is undecided, otherwise the
    /// first, and of several snapshots the last.
    pub(super) fn decisive(all: Vec<Judgement>) -> Option<Self> {
        all.into_iter().min_by_key(|judgement| {
            let rank = match judgement.verdict {
                Verdict::Fails => 0,
                Verdict::Undecided(_) => 1,
                Verdict::Holds => 2,
            };
            (rank, std::cmp::Reverse(judgement.snapshot))
        })
    }
}

/// The reason why a number is not exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inexact {
    pub(super) exactness: &'static str,
    pub(super) note: String,
}

/// A measure as read from a snapshot, a series of them, processes or a program.
pub(super) struct Found<'r> {
    pub(super) value: f64,
    /// The interval that contains the true value in 95 of 100 cases, or in any case if there is a doubt. Both ends are
    /// `value` if it is exact.
    pub(super) interval: (f64, f64),
    /// The objects of which it is not known whether they count, in words.
    pub(super) doubt: Option<String>,
    /// The series whose slope is the value.
    pub(super) growth: Option<Arc<Grown>>,
    pub(super) notes: Vec<String>,
    /// Finds the reason for the value.
    pub(super) witness: Explain<'r>,
}

/// Finds a witness.
pub(super) type Explain<'r> = Box<dyn FnOnce() -> Result<Witness, QueryError> + 'r>;

impl<'r> Found<'r> {
    /// An exact value.
    pub(super) fn exactly(value: f64, witness: Explain<'r>) -> Self {
        Found { value, interval: (value, value), doubt: None, growth: None, notes: Vec::new(), witness }
    }
}

/// A measure, or the reason why it is not known.
pub(super) type Reading<'r> = Result<Found<'r>, String>;
