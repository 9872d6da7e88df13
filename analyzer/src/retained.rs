//! What would be freed: retained sets of any objects, and totals of sets.

use std::collections::BTreeMap;

use barrow_format::block::Wanted;
use barrow_format::rows::TypeTotals;
use barrow_format::{ObjectId, TypeId};

use crate::blocks::{map_blocks, places};
use crate::error::Result;
use crate::heap::Heap;
use crate::object_set::ObjectSet;
use crate::progress::Progress;

impl Heap {
    /// Everything that would be freed if all objects of `set` were gone, exactly: what the roots reach
    /// now, and would not reach without them.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn retained_set(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut retained = self.reachable(None, progress)?;
        retained.difference_with(&self.reachable(Some(set), progress)?);
        Ok(retained)
    }

    /// The objects that the roots do not reach.
    ///
    /// # Errors
    /// As for [`Heap::retained_set`].
    pub fn unreachable(&self, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut unreachable = self.all_objects();
        unreachable.difference_with(&self.reachable(None, progress)?);
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
        places.retain(|place| place.entry.objects > 0);
        progress.begin("adding up sizes", self.object_count(), "objects");
        let found = map_blocks(self.recording(), &places, Wanted::Sizes, progress, |_, _, columns| {
            let mut by_shape = vec![TypeTotals::default(); columns.dictionary.len()];
            for (row, &shape) in columns.shapes.iter().enumerate() {
                if set.contains(ObjectId(columns.first_object + row as u32)) {
                    let totals = &mut by_shape[shape as usize];
                    totals.objects += 1;
                    totals.heap_bytes = totals.heap_bytes.wrapping_add(columns.shallow_bytes[row]);
                    let unmanaged = columns.unmanaged_bytes.get(row).copied().unwrap_or(0);
                    totals.unmanaged_bytes = totals.unmanaged_bytes.wrapping_add(unmanaged);
                }
            }
            let types = columns.dictionary.iter().map(|&shape| tables.shape(shape).type_id);
            Ok(types.zip(by_shape).filter(|(_, totals)| totals.objects > 0).collect::<Vec<_>>())
        })?;
        let mut by_type: BTreeMap<TypeId, TypeTotals> = BTreeMap::new();
        for (type_id, totals) in found.into_iter().flatten() {
            let sum = by_type.entry(type_id).or_insert(TypeTotals { type_id, ..TypeTotals::default() });
            sum.objects += totals.objects;
            sum.heap_bytes = sum.heap_bytes.wrapping_add(totals.heap_bytes);
            sum.unmanaged_bytes = sum.unmanaged_bytes.wrapping_add(totals.unmanaged_bytes);
        }
        Ok(by_type.into_values().collect())
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

    /// For each type id the bytes that objects of the type dominate, each byte once, and how many of its
    /// objects are reachable. See [`crate::Dominators::bytes_by_group`].
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn retained_by_type(&self, progress: &dyn Progress) -> Result<Vec<crate::GroupRetained>> {
        let types = self.types(progress)?;
        let dominators = self.dominators(progress)?;
        let count = self.recording().tables()?.type_count();
        Ok(dominators.bytes_by_group(count, |object| Some(types[object.index()] as usize)))
    }
}
