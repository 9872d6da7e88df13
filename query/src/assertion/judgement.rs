//! What came of an assertion.

use barrow_analyzer::SnapshotId;

use super::figure::Figure;
use super::witness::Witness;

/// Whether an assertion holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Fails,
    /// The recording does not hold enough snapshots: a clause about those that are missing.
    Undecided(String),
}

/// What came of an assertion.
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    /// The snapshot that decided; none for growth.
    pub(super) snapshot: Option<SnapshotId>,
    /// What was found, and what it was compared with.
    pub(super) found: f64,
    pub(super) limit: f64,
    /// What is said of growth, in words.
    pub(super) said: Option<&'static str>,
    /// What these count.
    pub(super) unit: Figure,
    /// Why it does not hold.
    pub(super) witness: Option<Witness>,
    /// Whether it is exact which objects were measured.
    pub(super) is_exact: bool,
    /// What else there is to say, whether it holds or not.
    pub(super) notes: Vec<String>,
}

/// A judgement of what is not known, for this reason.
pub(super) fn undecided(why: String, unit: Figure) -> Judgement {
    Judgement {
        verdict: Verdict::Undecided(why),
        snapshot: None,
        found: 0.0,
        limit: 0.0,
        said: None,
        unit,
        witness: None,
        is_exact: true,
        notes: Vec::new(),
    }
}
