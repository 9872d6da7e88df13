//! Arrays that hold the texts of objects: a duplicate set needs only one of them.

use std::collections::BTreeMap;

use barrow_format::block::ColumnSelection;
use barrow_format::{ObjectId, TypeId};
use rayon::prelude::*;

use super::hasher::{ID_BITS, Record, array_of};
use super::hashes::size;
use crate::error::Result;
use crate::file::blocks::{BlockPlace, map_blocks, places};
use crate::heap::Heap;
use crate::progress::{Progress, check};

/// The attribute of a type whose objects' text is the contents of an array: the label of the reference to it.
pub(super) const TEXT_OF: &str = "text of";
/// The array of the text of objects of a duplicate set, to which objects of no other set refer.
#[derive(Clone, Copy)]
pub(super) struct TextArray {
    /// The first object of the set.
    pub(super) first: ObjectId,
    array: ObjectId,
    /// The set needs one of its arrays. The others would be unnecessary.
    pub(super) is_needed: bool,
}

impl Heap {
    /// The arrays of the texts of duplicate sets to which objects of no other set refer. The first one of each set is
    /// needed. `arrays` are hashes of objects, 96 bits, and the arrays of their texts.
    pub(super) fn text_arrays(
        &self,
        mut arrays: Vec<Record>,
        objects: &[Record],
        progress: &dyn Progress,
    ) -> Result<Vec<TextArray>> {
        arrays.par_sort_unstable_by_key(|&record| (array_of(record), record));
        arrays.dedup();
        let by_array = arrays.chunk_by(|&one, &other| array_of(one) == array_of(other));
        let mut own: Vec<Record> = by_array.filter(|of_array| of_array.len() == 1).flatten().copied().collect();
        own.par_sort_unstable();
        check(progress)?;
        let mut found = Vec::new();
        for of_set in own.chunk_by(|one, other| one >> ID_BITS == other >> ID_BITS) {
            let hash = of_set[0] >> ID_BITS;
            // Each array was noted with an object of this hash.
            let alike = &objects[objects.partition_point(|object| object >> ID_BITS < hash)..];
            if alike.get(1).is_some_and(|second| second >> ID_BITS == hash) {
                let first = ObjectId(alike[0] as u32);
                let of_set = of_set.iter().enumerate();
                found.extend(of_set.map(|(at, &record)| TextArray {
                    first,
                    array: ObjectId(array_of(record)),
                    is_needed: at == 0,
                }));
            }
        }
        Ok(found)
    }

    /// Arrays with their shallow and unmanaged sizes, in bytes.
    pub(super) fn with_sizes(
        &self,
        mut arrays: Vec<TextArray>,
        progress: &dyn Progress,
    ) -> Result<Vec<(TextArray, u64)>> {
        arrays.par_sort_unstable_by_key(|array| array.array);
        let mut places = places(self.recording(), &[self.snapshot()])?;
        let of_block = |place: &BlockPlace| {
            let first = place.entry.first_object;
            let [start, end] = [u64::from(first), u64::from(first) + u64::from(place.entry.objects)]
                .map(|object| arrays.partition_point(|array| u64::from(array.array.0) < object));
            start..end
        };
        places.retain(|place| place.entry.objects > 0 && !of_block(place).is_empty());
        progress.begin("adding up arrays", places.iter().map(|place| u64::from(place.entry.objects)).sum(), "objects");
        let found = map_blocks(self.recording(), &places, ColumnSelection::Sizes, progress, |place, _, columns| {
            let arrays = arrays[of_block(place)].iter();
            let sized = arrays.map(|&array| (array, size(columns, (array.array.0 - columns.first_object) as usize)));
            Ok(sized.collect::<Vec<_>>())
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The label of the reference to the array of the text, for each type that has such.
    pub(super) fn text_labels(&self) -> Result<BTreeMap<TypeId, &str>> {
        let tables = self.recording().tables()?;
        let types = (0..tables.type_count() as u32).map(TypeId);
        Ok(types.filter_map(|id| Some((id, tables.type_attribute(id, TEXT_OF)?))).collect())
    }
}
