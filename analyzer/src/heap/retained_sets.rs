//! Retained sets by jointly retained objects, which are computed or read from the index file.

use super::kept_distances::columns_of;
use super::{Heap, Keeps, QuestionKind, column};
use crate::columns::index_file::ColumnValues;
use crate::columns::lookup::Lookup;
use crate::error::{AnalyzerError, Result};
use crate::graph::jointly_retained::JointlyRetained;
use crate::graph::object_set::ObjectSet;
use crate::progress::Progress;

/// The number of sets for which a large heap is searched before jointly retained objects are found, because that takes
/// as long as several searches.
const SEARCHES: usize = 3;
/// In a heap of at most this number of objects, they are found at the first set.
const FEW_OBJECTS: u64 = 1 << 20;

/// The objects that are freed with a set, according to the dominator tree.
enum FreedObjects {
    /// Exactly these objects.
    All(ObjectSet),
    /// At least the subtrees at these positions.
    From(ObjectSet),
}

impl Heap {
    /// The same as [`Heap::retained_set`], but without searching the whole heap. `None` unless dominators are known and
    /// exact. Jointly retained objects are computed first if there is an index file to keep them and memory for it,
    /// and if the heap is small or was searched for a few sets before; that takes longer than a search, but only once.
    pub(crate) fn freed_along_dominators(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Option<ObjectSet>> {
        let lost = self.ask_known_dominators(|dominators| {
            if !dominators.is_exact() {
                return Ok(None);
            }
            let removed = dominators.positions_of(set, progress)?;
            if dominators.subtrees(removed.iter()).nth(1).is_none() {
                // The retained set of one object is its subtree.
                return Ok(Some(FreedObjects::All(dominators.objects_below(&removed, progress)?)));
            }
            let lost: u64 = dominators.subtrees(removed.iter()).map(|subtree| subtree.len() as u64).sum();
            // If most of the heap is removed, searching the rest is faster.
            Ok::<_, AnalyzerError>((lost <= dominators.reachable_count() / 2).then_some(FreedObjects::From(removed)))
        })?;
        let removed = match lost.flatten() {
            None => return Ok(None),
            Some(FreedObjects::All(freed)) => return Ok(Some(freed)),
            Some(FreedObjects::From(removed)) => removed,
        };
        if let Some(joint) = self.jointly_retained.get() {
            return self.freed_by(joint, &removed, progress);
        }
        if let Some(kept) = self.kept_jointly_retained()
            && let Some(freed) = self.freed_by(&kept, &removed, progress)?
        {
            return Ok(Some(freed));
        }
        let totals = self.recording.commit(self.snapshot)?.totals;
        let has_room = self.memory.has_room(JointlyRetained::bytes_to_find(totals.objects, totals.references));
        if self.index.is_none() || self.keeps == Keeps::Never || !has_room || self.is_dense()? {
            return Ok(None);
        }
        if self.objects > FEW_OBJECTS && self.kept_answer_count(QuestionKind::Retained) < SEARCHES {
            return Ok(None);
        }
        self.freed_by(self.find_jointly_retained(progress)?, &removed, progress)
    }

    fn freed_by(
        &self,
        joint: &JointlyRetained,
        removed: &ObjectSet,
        progress: &dyn Progress,
    ) -> Result<Option<ObjectSet>> {
        let answer = self.ask_known_dominators(|known| joint.freed_with(known, removed, self.run(progress)))?;
        Ok(answer.flatten())
    }

    fn find_jointly_retained(&self, progress: &dyn Progress) -> Result<&JointlyRetained> {
        let dominators = self.dominators(progress)?;
        let known_distances = self.known_distances();
        let distances = match known_distances {
            Some(distances) => distances,
            None => {
                let found = self.distances_anew(progress)?;
                self.distances.store(found)
            }
        };
        let adjacency = self.take_adjacency(progress)?;
        let found = JointlyRetained::find(dominators, &adjacency, self.roots()?, distances, self.run(progress))?;
        drop(adjacency);
        let kept = found.columns();
        let mut columns = vec![
            (column::KEEPER_COUNTS, ColumnValues::of(kept.counts)),
            (column::MANY_KEEPERS, ColumnValues::of(kept.many)),
            (column::KEPT_STARTS, ColumnValues::of(kept.starts)),
            (column::KEPT_OBJECTS, ColumnValues::of(kept.kept)),
        ];
        if known_distances.is_none() {
            columns.extend(columns_of(distances));
        }
        self.keep(&columns, progress)?;
        Ok(self.jointly_retained.store(found))
    }

    fn kept_jointly_retained(&self) -> Option<JointlyRetained> {
        let index = self.index.as_ref()?;
        let counts = index.sparse_column::<[u8; 2]>(self.snapshot, column::KEEPER_COUNTS, |_, _| true)?;
        let many = index.column::<u32>(self.snapshot, column::MANY_KEEPERS, |_, _| true)?;
        let many = many.chunks_exact(3).map(|row| [row[0], row[1], row[2]]).collect();
        let starts = index.sparse_column::<u64>(self.snapshot, column::KEPT_STARTS, |_, _| true)?;
        let kept = index.sparse_column::<u8>(self.snapshot, column::KEPT_OBJECTS, |_, _| true)?;
        let (counts, starts, kept) =
            (Lookup::sparse(counts, [0; 2]), Lookup::sparse(starts, 0), Lookup::sparse(kept, 0));
        Some(JointlyRetained::of_columns(counts, many, starts, kept))
    }
}
