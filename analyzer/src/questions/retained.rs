//! Retained sets, which are the objects that would be freed, and totals of sets.

use barrow_format::block::ColumnSelection;
use barrow_format::commit::Totals;
use barrow_format::rows::TypeTotals;
use barrow_format::{ObjectId, TypeId};
use parking_lot::Mutex;

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{places, pooled};
use crate::graph::adjacency::Follow;
use crate::graph::dominators::Dominators;
use crate::graph::object_set::ObjectSet;
use crate::graph::partial_set::PartialSet;
use crate::heap::{Heap, QuestionKind, visit_block};
use crate::progress::{Progress, check};
use crate::questions::summary::{Source, Summary, accumulate, by_kind, summary};

/// The number of parts of a heap for each thread, so that no thread waits long for the last one.
const RUNS: usize = 4;

/// The index file keeps larger retained sets even if they were found without a search.
const MANY_OBJECTS: u64 = 1 << 19;

impl Heap {
    /// The objects that would be freed if all objects of `set` were collected: those that the roots reach now but not
    /// without `set`. The answer is exact.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn retained_set(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<ObjectSet> {
        let question = self.asked(QuestionKind::Retained, &set.to_runs());
        if let Some(kept) = self.kept_set(&question) {
            return Ok(kept);
        }
        if let Some(freed) = self.freed_along_dominators(set, progress)? {
            // A few objects are found again as fast as they are read.
            if freed.len() >= MANY_OBJECTS {
                self.keep_set(&question, &freed, progress)?;
            }
            return Ok(freed);
        }
        let mut retained = self.all_reachable(progress)?;
        retained.difference_with(&self.reachable(Some(set), progress)?);
        self.keep_set(&question, &retained, progress)?;
        Ok(retained)
    }

    /// The bytes that the objects of `set` dominate one by one, counting each byte once; `None` unless dominators exist
    /// already. This is a lower bound for [`Heap::retained_set`] that is faster to compute.
    ///
    /// # Errors
    /// [`AnalyzerError::Cancelled`]; those of [`Heap::roots`].
    pub fn known_to_be_dominated(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Option<u64>> {
        self.ask_known_dominators(|dominators| dominators.bytes_below_any(set, progress))
    }

    /// The objects that would be freed if one object were collected, see [`Heap::retained_set`]. If dominators exist
    /// and are exact, these are the objects that it dominates.
    ///
    /// # Errors
    /// As for [`Heap::retained_set`].
    pub fn retained_set_of(&self, object: ObjectId, progress: &dyn Progress) -> Result<ObjectSet> {
        let dominated = self.ask_known_dominators(|dominators| {
            let mut retained = ObjectSet::new(self.snapshot(), self.object_count());
            dominators.dominated(object).for_each(|object| _ = retained.insert(object));
            Ok::<_, AnalyzerError>(Some(retained).filter(|_| dominators.is_exact()))
        })?;
        if let Some(retained) = dominated.flatten() {
            return Ok(retained);
        }
        self.retained_set(&ObjectSet::from_sorted(self.snapshot(), self.object_count(), [object]), progress)
    }

    /// The objects that the roots reach, see [`Heap::reachable`]; taken from the dominators if they exist.
    pub(crate) fn all_reachable(&self, progress: &dyn Progress) -> Result<ObjectSet> {
        if let Some(kept) = self.flat_reachable() {
            return Ok(kept);
        }
        let known = self.ask_known_dominators(|dominators| Ok::<_, AnalyzerError>(self.reachable_in(dominators)))?;
        known.map_or_else(|| self.reachable(None, progress), Ok)
    }

    /// The objects of a dominator tree.
    pub(crate) fn reachable_in(&self, dominators: &Dominators) -> ObjectSet {
        let mut reachable = ObjectSet::new(self.snapshot(), self.object_count());
        dominators.reachable_parts().iter().for_each(|part| reachable.insert_part(part));
        reachable
    }

    /// The unreachable objects.
    ///
    /// # Errors
    /// As for [`Heap::retained_set`].
    pub fn unreachable(&self, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut unreachable = self.all_objects();
        unreachable.difference_with(&self.all_reachable(progress)?);
        Ok(unreachable)
    }

    /// All objects that are not excluded.
    #[must_use]
    pub fn all_objects(&self) -> ObjectSet {
        let mut all = ObjectSet::new(self.snapshot(), self.object_count());
        all.insert_part(&PartialSet::all(ObjectId(0), self.object_count() as usize));
        if let Some(exclusion) = self.exclusion() {
            all.difference_with(exclusion.freed());
        }
        all
    }

    /// The totals of a set by type, in order of type id.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn type_totals_of(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Vec<TypeTotals>> {
        let tables = self.recording().tables()?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| set.may_hold_any(ObjectId(place.entry.first_object), place.entry.objects));
        let objects = places.iter().map(|place| u64::from(place.entry.objects)).sum();
        progress.begin("adding up sizes", objects, "objects");
        let flat = self.flat_columns(true)?;
        let all = Mutex::new(vec![TypeTotals::default(); tables.type_count()]);
        // Each thread handles consecutive blocks, so there are few partial sums to add.
        let runs = places.chunks(places.len().div_ceil(RUNS * rayon::current_num_threads()).max(1));
        pooled(runs.collect(), |run, workspace| {
            let mut own = vec![TypeTotals::default(); tables.type_count()];
            for place in run {
                check(progress)?;
                visit_block(self, place, ColumnSelection::Sizes, flat.as_ref(), workspace, |block| {
                    block.add_up(&set.part(block.first, block.count), &mut own);
                })?;
                progress.advance(place.entry.objects.into());
            }
            let mut all = all.lock();
            all.iter_mut().zip(&own).for_each(|(all, own)| accumulate(all, own));
            Ok(())
        })?;
        let all = all.into_inner();
        let with_objects = (0..).map(TypeId).zip(all).filter(|(_, totals)| totals.objects > 0);
        Ok(with_objects.map(|(type_id, totals)| TypeTotals { type_id, ..totals }).collect())
    }

    /// The totals of the snapshot, without excluded objects.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn summary(&self, progress: &dyn Progress) -> Result<Summary> {
        let mut summary = summary(self.recording(), self.snapshot())?;
        if self.exclusion().is_some() {
            let types = self.type_totals(progress)?;
            let mut sum = TypeTotals::default();
            types.iter().for_each(|row| accumulate(&mut sum, row));
            summary.totals = Totals {
                objects: sum.objects,
                references: self.build_adjacency(Follow::All, progress)?.references(),
                roots: self.roots()?.rows().len() as u64,
                heap_bytes: sum.heap_bytes,
                unmanaged_bytes: sum.unmanaged_bytes,
            };
            summary.kinds = by_kind(&types, self.recording().tables()?);
            summary.source = Source::Counted;
        }
        Ok(summary)
    }

    /// The totals of every type of the snapshot in order of type id, without excluded objects.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn type_totals(&self, progress: &dyn Progress) -> Result<Vec<TypeTotals>> {
        match self.exclusion() {
            None => crate::questions::summary::type_totals(self.recording(), self.snapshot()),
            Some(_) => self.type_totals_of(&self.all_objects(), progress),
        }
    }
}
