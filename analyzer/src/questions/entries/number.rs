//! The number of entries of many objects. Their walks take turns, as those of a search for a key do.

use barrow_format::ObjectId;

use super::forms::Forms;
use super::lookup::{LEAST_STEPS, MAPS_AT_ONCE, STEPS_PER_OBJECT};
use super::reader::Reader;
use super::walk::Walk;
use super::{LEAST_AT_ONCE, MOST_AT_ONCE};
use crate::error::Result;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;

impl Heap {
    /// The number of entries of each object of the set, in their order; `None` if it is unknown.
    ///
    /// Time and memory: those of [`Heap::values_under`] for a key that none has.
    pub(crate) fn numbers_of_entries(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Vec<Option<u64>>> {
        let forms = Forms::find(self)?;
        let mut steps_left = LEAST_STEPS.max(self.object_count().saturating_mul(STEPS_PER_OBJECT));
        let mut numbers = Vec::with_capacity(set.len() as usize);
        for part in set.iter().collect::<Vec<_>>().chunks(MAPS_AT_ONCE) {
            let mut reader = Reader::new(self, &forms, progress)?;
            reader.steps_left = steps_left;
            numbers.extend(walk_all(&mut reader, part)?);
            steps_left = reader.steps_left;
        }
        Ok(numbers)
    }
}

/// The number of entries of each of these objects.
fn walk_all(reader: &mut Reader<'_>, objects: &[ObjectId]) -> Result<Vec<Option<u64>>> {
    let mut numbers = vec![None; objects.len()];
    let walks = objects.iter().map(|&object| Walk::new(object, usize::MAX));
    let mut walks: Vec<(usize, Walk<'_>)> = walks.enumerate().collect();
    let mut most = LEAST_AT_ONCE;
    while !walks.is_empty() {
        let next: Vec<ObjectId> = walks.iter().flat_map(|(_, walk)| walk.next_objects(reader, most)).collect();
        reader.read(next)?;
        let next: Vec<ObjectId> = walks.iter().flat_map(|(_, walk)| walk.next_visits(most)).collect();
        reader.read_arrays_of(&next)?;
        let mut going = Vec::new();
        for (place, mut walk) in walks {
            if walk.goes_on(reader)? {
                going.push((place, walk));
                continue;
            }
            let entries = walk.entries(reader)?;
            let is_whole = entries.are_known && !entries.has_more;
            numbers[place] = entries.nulls.filter(|_| is_whole).map(|nulls| nulls + entries.entries.len() as u64);
        }
        walks = going;
        most = (most * 2).min(LEAST_AT_ONCE.max(MOST_AT_ONCE / walks.len().max(1)));
    }
    Ok(numbers)
}
