//! The fill of sets of objects, and that of all for questions that go through them part by part.

use std::sync::atomic::Ordering;

use barrow_format::ObjectId;

use super::filling::{Filling, FillingFields};
use crate::error::Result;
use crate::graph::object_set::ObjectSet;
use crate::heap::{Heap, KnownFillings};
use crate::progress::Progress;
use crate::questions::summary::type_totals;

/// Once questions have asked about one in this number of objects, the fill of all is found: part by part that many cost
/// about as much as all at once.
const SHARE: u64 = 8;
/// The fill of fewer objects is read from the objects themselves, which takes less time than reading that of all. This is a
/// judgement.
const FEW: u64 = 1 << 12;
/// Memory while the fill of all is found: for each object that has one, and for each object of the heap, which takes a
/// bit in each of some dozens of sets. About 110 and 5 bytes were measured in a heap of 17.6 M objects.
const OBJECT_BYTES: u64 = 200;
const HEAP_BYTES: u64 = 8;

/// The fill of each object of a set; unknown for those that have none.
fn fillings_of(known: &KnownFillings, set: &ObjectSet) -> Vec<Filling> {
    let objects = known.objects();
    let mut place = set.iter().next().map_or(0, |first| objects.partition_point(|&known| known < first.0));
    let of_set = set.iter().map(|object| {
        place += objects[place..].iter().take_while(|&&known| known < object.0).count();
        if objects.get(place) == Some(&object.0) { known.at(place) } else { Filling::default() }
    });
    of_set.collect()
}

impl Heap {
    /// The fill of each object of a set, in its order. Arrays have no slots to fill.
    ///
    /// Time and memory: a pass over the shapes of the blocks with these objects, and that of [`Heap::field_column`] for
    /// each field with such a number.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::NoElements`] if no type describes it, [`crate::AnalyzerError::ReplacedNumbers`],
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn fillings(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Vec<Filling>> {
        let ids: Vec<ObjectId> = set.iter().collect();
        if let Some(all) = self.all_fillings(ids.len() as u64, progress)? {
            return Ok(fillings_of(all, set));
        }
        let mut fillings = vec![Filling::default(); ids.len()];
        for filled in self.filled(Some(set), |_| true, progress)? {
            for (object, filling) in filled.set.iter().zip(filled.own_slots()) {
                let row = ids.binary_search(&object).expect("it is in the set");
                fillings[row] = filling;
            }
        }
        Ok(fillings)
    }

    /// The fill of all objects: if it is known or kept, or if many objects were asked about so far, with these `objects`, and
    /// there is room for it.
    pub(crate) fn all_fillings(&self, objects: u64, progress: &dyn Progress) -> Result<Option<&KnownFillings>> {
        if let Some(known) = self.fillings.get() {
            return Ok(known.as_ref());
        }
        if objects < FEW || !self.has_room_for_fillings()? {
            return Ok(None);
        }
        if let Some(kept) = self.kept_fillings() {
            return Ok(self.fillings.store(Some(kept)).as_ref());
        }
        // Relaxed: nothing else depends on the number.
        let asked = objects + self.fillings_asked.fetch_add(objects, Ordering::Relaxed);
        if asked < self.object_count() / SHARE {
            return Ok(None);
        }
        let mut all = Vec::new();
        for filled in self.filled(None, |_| true, progress)? {
            all.extend(filled.set.iter().zip(filled.own_slots()));
        }
        all.sort_unstable_by_key(|&(object, _)| object);
        let known = KnownFillings::of(&all, self.memory())?;
        if let Some(known) = &known {
            self.keep_fillings(known, progress)?;
        }
        Ok(self.fillings.store(known).as_ref())
    }

    fn has_room_for_fillings(&self) -> Result<bool> {
        let tables = self.recording().tables()?;
        let totals = type_totals(self.recording(), self.snapshot())?;
        let described = totals.iter().filter(|totals| FillingFields::are_known(tables, totals.type_id));
        let objects: u64 = described.map(|totals| totals.objects).sum();
        let bytes = objects.saturating_mul(OBJECT_BYTES).saturating_add(HEAP_BYTES * self.object_count());
        Ok(self.memory().has_room(bytes))
    }
}
