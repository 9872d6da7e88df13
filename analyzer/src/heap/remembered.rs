//! Objects that are reachable only through the remembered set of a generational collector.

use barrow_format::{ObjectId, StrengthId};

use crate::error::Result;
use crate::file::object::outgoing;
use crate::graph::object_set::ObjectSet;
use crate::graph::reachable::reachable;
use crate::progress::Progress;

use super::Heap;

/// The strength that importers give to references of a remembered set. They are weak, because only minor collections
/// follow them.
const REMEMBERED: &str = "remembered";

impl Heap {
    /// The unreachable objects that a minor collection keeps alive: those that references of a remembered set reach,
    /// from an object that represents a group of roots. A full collection frees them. `None` if the recording has no
    /// such references.
    ///
    /// Time: a search from the roots, and one from the remembered set.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn only_remembered(&self, progress: &dyn Progress) -> Result<Option<ObjectSet>> {
        let tables = self.recording.tables()?;
        let mut strengths = (0..tables.strength_count() as u32).map(StrengthId);
        let Some(remembered) = strengths.find(|&strength| tables.strength_name(strength) == REMEMBERED) else {
            return Ok(None);
        };
        let mut targets: Vec<ObjectId> = Vec::new();
        for group in self.root_groups(progress)? {
            let references = outgoing(&self.recording, self.snapshot, group)?;
            let of_strength = references.iter().filter(|reference| reference.strength == remembered);
            targets.extend(of_strength.map(|reference| reference.target).filter(|&target| self.has(target)));
        }
        targets.sort_unstable();
        targets.dedup();
        let (adjacency, mut unreachable) = (self.adjacency(progress)?, self.unreachable(progress)?);
        let kept = reachable(self.snapshot, &adjacency, &targets, None, progress)?;
        unreachable.intersect_with(&kept);
        Ok(Some(unreachable))
    }
}
