//! What would be freed: retained sets of any objects, and totals of sets.

use barrow_format::ObjectId;
use barrow_format::block::Wanted;
use barrow_format::commit::Totals;
use barrow_format::rows::TypeTotals;

use crate::blocks::{map_blocks, places};
use crate::error::{AnalyzerError, Result};
use crate::heap::Heap;
use crate::object_set::ObjectSet;
use crate::progress::Progress;
use crate::rows::Follow;
use crate::summary::{Source, Summary, TypeCounter, by_kind, summary};

impl Heap {
    /// Everything that would be freed if all objects of `set` were gone, exactly: what the roots reach
    /// now, and would not reach without them.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn retained_set(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut retained = self.all_reachable(progress)?;
        retained.difference_with(&self.reachable(Some(set), progress)?);
        Ok(retained)
    }

    /// Everything that would be freed if an object were gone, as by [`Heap::retained_set`]. If dominators are
    /// known and exact, it is what the object dominates.
    ///
    /// # Errors
    /// As for [`Heap::retained_set`].
    pub fn retained_set_of(&self, object: ObjectId, progress: &dyn Progress) -> Result<ObjectSet> {
        if self.knows_dominators() {
            let (retained, is_exact) = self.ask_dominators(progress, |dominators| {
                let mut retained = ObjectSet::new(self.snapshot(), self.object_count());
                dominators.dominated(object).for_each(|object| _ = retained.insert(object));
                Ok::<_, AnalyzerError>((retained, dominators.is_exact()))
            })?;
            if is_exact {
                return Ok(retained);
            }
        }
        self.retained_set(&ObjectSet::from_sorted(self.snapshot(), self.object_count(), [object]), progress)
    }

    /// What the roots reach, as by [`Heap::reachable`]: read off the dominators if they are known.
    pub(crate) fn all_reachable(&self, progress: &dyn Progress) -> Result<ObjectSet> {
        if !self.knows_dominators() {
            return self.reachable(None, progress);
        }
        self.ask_dominators(progress, |dominators| {
            // Ids have 32 bits, and so has their number.
            let all = (0..self.object_count() as u32).map(ObjectId);
            let reachable = all.filter(|&object| dominators.is_reachable(object));
            Ok(ObjectSet::from_sorted(self.snapshot(), self.object_count(), reachable))
        })
    }

    /// The objects that the roots do not reach.
    ///
    /// # Errors
    /// As for [`Heap::retained_set`].
    pub fn unreachable(&self, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut unreachable = self.all_objects();
        unreachable.difference_with(&self.all_reachable(progress)?);
        Ok(unreachable)
    }

    /// All objects that are not thought away.
    #[must_use]
    pub fn all_objects(&self) -> ObjectSet {
        let mut all = ObjectSet::new(self.snapshot(), self.object_count());
        // Ids have 32 bits, and so has their number.
        (0..self.object_count() as u32).for_each(|id| _ = all.insert(ObjectId(id)));
        if let Some(without) = self.overlay() {
            all.difference_with(without.freed());
        }
        all
    }

    /// What the objects of a set add up to, type by type, by type id.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn type_totals_of(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Vec<TypeTotals>> {
        let tables = self.recording().tables()?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| set.may_hold_any(ObjectId(place.entry.first_object), place.entry.objects));
        let objects = places.iter().map(|place| u64::from(place.entry.objects)).sum();
        progress.begin("adding up sizes", objects, "objects");
        let found = map_blocks(self.recording(), &places, Wanted::Sizes, progress, |_, _, columns| {
            let types = columns.dictionary.iter().map(|&shape| tables.shape(shape).type_id);
            let mut rows: Vec<TypeTotals> =
                types.map(|type_id| TypeTotals { type_id, ..TypeTotals::default() }).collect();
            for (row, &shape) in columns.shapes.iter().enumerate() {
                if set.contains(ObjectId(columns.first_object + row as u32)) {
                    let totals = &mut rows[shape as usize];
                    totals.objects += 1;
                    totals.heap_bytes = totals.heap_bytes.wrapping_add(columns.shallow_bytes[row]);
                    let unmanaged = columns.unmanaged_bytes.get(row).copied().unwrap_or(0);
                    totals.unmanaged_bytes = totals.unmanaged_bytes.wrapping_add(unmanaged);
                }
            }
            Ok(rows)
        })?;
        let mut types = TypeCounter::default();
        found.iter().for_each(|rows| types.add(rows));
        Ok(types.rows())
    }

    /// The totals of the snapshot, without what is thought away.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn summary(&self, progress: &dyn Progress) -> Result<Summary> {
        let mut summary = summary(self.recording(), self.snapshot())?;
        if self.overlay().is_some() {
            let types = self.type_totals(progress)?;
            let sum = |of: fn(&TypeTotals) -> u64| types.iter().map(of).fold(0, u64::wrapping_add);
            summary.totals = Totals {
                objects: sum(|row| row.objects),
                references: self.build_rows(Follow::All, progress)?.references(),
                roots: self.roots()?.rows().len() as u64,
                heap_bytes: sum(|row| row.heap_bytes),
                unmanaged_bytes: sum(|row| row.unmanaged_bytes),
            };
            summary.kinds = by_kind(&types, self.recording().tables()?);
            summary.source = Source::Counted;
        }
        Ok(summary)
    }

    /// What every type of the snapshot adds up to, by type id; without what is thought away.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn type_totals(&self, progress: &dyn Progress) -> Result<Vec<TypeTotals>> {
        match self.overlay() {
            None => crate::summary::type_totals(self.recording(), self.snapshot()),
            Some(_) => self.type_totals_of(&self.all_objects(), progress),
        }
    }
}
