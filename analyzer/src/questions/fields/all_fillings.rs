//! The fill of all objects, for questions that go through them part by part.

use std::sync::atomic::Ordering;

use barrow_format::ObjectId;

use super::filling::{Filling, FillingFields};
use crate::error::Result;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::summary::type_totals;

/// The fill of all objects is found after questions about one in this number of them: so many cost about as much, part by
/// part, as all.
const SHARE: u64 = 8;
/// Memory while the fill of all is found, for each of these objects and for each object of the heap, which is in a set for
/// each of some dozens of places where numbers are. About 110 and 5 bytes were measured in a heap of 17.6 M objects.
const OBJECT_BYTES: u64 = 200;
const HEAP_BYTES: u64 = 8;

/// The fill of all objects whose types describe it, in the order of the objects.
#[derive(Debug)]
pub(crate) struct AllFillings(Vec<(ObjectId, Filling)>);

impl AllFillings {
    /// The fill of each object of a set; unknown for those whose type does not describe it.
    pub(super) fn of(&self, set: &ObjectSet) -> Vec<Filling> {
        let first = set.iter().next();
        let mut rest = &self.0[self.0.partition_point(|&(known, _)| Some(known) < first)..];
        let of_set = set.iter().map(|object| {
            let before = rest.iter().take_while(|(known, _)| *known < object).count();
            rest = &rest[before..];
            rest.first().filter(|(known, _)| *known == object).map(|(_, filling)| *filling).unwrap_or_default()
        });
        of_set.collect()
    }
}

impl Heap {
    /// The fill of all objects: if it is known, or if many objects were asked about so far, with these `objects`, and there is
    /// room for it.
    pub(super) fn all_fillings(&self, objects: u64, progress: &dyn Progress) -> Result<Option<&AllFillings>> {
        if let Some(known) = self.fillings.get() {
            return Ok(Some(known));
        }
        // Relaxed: nothing else depends on the number.
        let asked = objects + self.fillings_asked.fetch_add(objects, Ordering::Relaxed);
        if asked < self.object_count() / SHARE || !self.has_room_for_fillings()? {
            return Ok(None);
        }
        let mut all = Vec::new();
        for filled in self.filled(None, |_| true, progress)? {
            all.extend(filled.set.iter().zip(filled.own_slots()));
        }
        all.sort_unstable_by_key(|&(object, _)| object);
        Ok(Some(self.fillings.store(AllFillings(all))))
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
