//! All duplicate sets of a snapshot: equal hashes, merged.

use barrow_format::ObjectId;
use barrow_format::block::{BlockColumns, ColumnSelection};
use rayon::prelude::*;

use super::groups::DuplicateGroup;
use super::hasher::{Comparison, ID_BITS, Record};
use super::hashes::{Common, Found, name, size};
use super::text_arrays::TextArray;
use crate::columns::memory::Column;
use crate::error::Result;
use crate::file::blocks::{BlockPlace, map_blocks, places};
use crate::file::object::dictionary_place;
use crate::heap::Heap;
use crate::progress::{Progress, check};

const PLACE_BITS: u32 = u32::BITS;
const COUNT_BITS: u32 = u64::BITS;

/// The duplicate sets of a snapshot.
pub(super) struct Sets {
    /// Merged ones, of which the first `count` count, by their first objects.
    pub(super) records: Column<Record>,
    pub(super) count: usize,
    pub(super) common: Common,
    pub(super) arrays: Vec<TextArray>,
    /// The objects of all sets, those of a set together and ascending; none unless they are wanted.
    pub(super) objects: Column<u32>,
}

impl Heap {
    /// All duplicate sets, merged; with the objects of each if they are wanted.
    pub(super) fn duplicate_sets(&self, has_objects: bool, progress: &dyn Progress) -> Result<Sets> {
        let (mut records, length, found) = self.hashes(progress)?;
        progress.begin("sorting hashes", length as u64, "objects");
        records[..length].par_sort_unstable();
        check(progress)?;
        let Found { common, arrays } = found;
        let arrays = self.text_arrays(arrays, &records[..length], progress)?;
        let mut objects: Column<u32> = self.memory().column(if has_objects { length } else { 0 })?;
        objects.iter_mut().zip(&records[..length]).for_each(|(object, &record)| *object = record as u32);
        let count = merge_equal(&mut records[..length]);
        records[..count].par_sort_unstable();
        Ok(Sets { records, count, common, arrays, objects })
    }

    /// Calls `work` with the duplicate sets whose first objects are in a block, for each block, in their order. `sets`
    /// are in order of their first objects. The arrays of texts are not part of the sizes yet.
    pub(super) fn map_sets<T: Send>(
        &self,
        sets: &[Record],
        common: &Common,
        progress: &dyn Progress,
        work: impl Fn(&mut dyn Iterator<Item = DuplicateGroup>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let tables = self.recording().tables()?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| place.entry.objects > 0 && !sets_in(sets, place).is_empty());
        progress.begin("adding up sizes", places.iter().map(|place| u64::from(place.entry.objects)).sum(), "objects");
        let fields = self.comparisons()?;
        map_blocks(self.recording(), &places, ColumnSelection::Values, progress, |place, _, columns| {
            let mut groups = sets_in(sets, place).iter().filter_map(|&set| {
                let (first, start) = (ObjectId((set >> COUNT_BITS) as u32), (set >> PLACE_BITS) as u32);
                let objects = u64::from(set as u32);
                let row = (first.0 - columns.first_object) as usize;
                let type_id = tables.shape(columns.dictionary[dictionary_place(columns, row)]).type_id;
                let text = name(columns, row);
                let is_untold = text.is_none()
                    && has_one_reference(place, columns, row)
                    && !Comparison::is_told(&fields, columns, row)
                    && common.get(&type_id).is_some_and(|common| !common.is_empty());
                let each_bytes = size(columns, row);
                let wasted_bytes = each_bytes.wrapping_mul(objects - 1);
                let group = DuplicateGroup { type_id, text, first, objects, each_bytes, wasted_bytes, start };
                (!is_untold).then_some(group)
            });
            Ok(work(&mut groups))
        })
    }
}

/// The duplicate sets whose first objects are in a block.
fn sets_in<'s>(sets: &'s [Record], place: &BlockPlace) -> &'s [Record] {
    let first = u128::from(place.entry.first_object);
    let [start, end] = [first, first + u128::from(place.entry.objects)]
        .map(|object| sets.partition_point(|set| set >> COUNT_BITS < object));
    &sets[start..end]
}

/// Records that one thread merges at a time, and those that equal its last one: a heap of millions has a hundred pieces,
/// which threads share evenly. This is a judgement.
const PIECE: usize = 1 << 16;

/// Merges equal hashes, which are adjacent, into duplicate sets of at least two objects, in place. Returns the number
/// of sets. In parallel on the current pool.
fn merge_equal(records: &mut [Record]) -> usize {
    let mut pieces = Vec::new();
    let (mut rest, mut start) = (&mut *records, 0);
    while !rest.is_empty() {
        let mut end = PIECE.min(rest.len());
        end += rest[end..].iter().take_while(|&record| record >> ID_BITS == rest[end - 1] >> ID_BITS).count();
        let (piece, others) = rest.split_at_mut(end);
        pieces.push((start, piece));
        (rest, start) = (others, start + end);
    }
    let counts = pieces.into_par_iter().map(|(start, piece)| (start, merge_piece(start, piece))).collect::<Vec<_>>();
    let mut sets = 0;
    for (start, count) in counts {
        records.copy_within(start..start + count, sets);
        sets += count;
    }
    sets
}

/// The same for records of which the first is in this place.
fn merge_piece(place: usize, records: &mut [Record]) -> usize {
    let (mut sets, mut start) = (0, 0);
    while start < records.len() {
        let (hash, first) = (records[start] >> ID_BITS, u128::from(records[start] as u32));
        let same = records[start..].iter().take_while(|&record| record >> ID_BITS == hash).count();
        if same > 1 {
            // A set never overwrites records that were not read yet: each set replaces at least two.
            records[sets] = first << COUNT_BITS | ((place + start) as u128) << PLACE_BITS | same as u128;
            sets += 1;
        }
        start += same;
    }
    sets
}

/// Returns whether an object has a single reference. If the objects of its type have a reference in common, it is that
/// one.
fn has_one_reference(place: &BlockPlace, columns: &BlockColumns, row: usize) -> bool {
    let is_continued = row + 1 == columns.objects() && place.continued > 0;
    columns.counts[row] == 1 && !is_continued
}
