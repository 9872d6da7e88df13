//! Duplicate sets one by one, with their objects.

use std::cmp::Reverse;

use barrow_format::{ObjectId, SnapshotId, StringId, TypeId};
use rayon::prelude::*;

use super::sets::Sets;
use crate::columns::memory::Column;
use crate::error::Result;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;

/// A duplicate set: objects that are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DuplicateGroup {
    /// Their type.
    pub type_id: TypeId,
    /// Their name or text, if they have one.
    pub text: Option<StringId>,
    /// The first of them.
    pub first: ObjectId,
    /// Their number, at least two.
    pub objects: u64,
    /// The shallow and unmanaged size of one of them, in bytes, with the array of its text if no object with another text
    /// refers to that.
    pub each_bytes: u64,
    /// The shallow and unmanaged sizes of all of them but one, and of all arrays of their text but one, summed, in bytes.
    pub wasted_bytes: u64,
    /// Where its objects begin among those of all sets.
    pub(super) start: u32,
}

/// The duplicate sets of a snapshot, and their objects.
#[derive(Debug)]
pub struct DuplicateGroups {
    snapshot: SnapshotId,
    /// The number of objects in the snapshot.
    snapshot_objects: u64,
    /// The sets, in descending order of wasted bytes.
    pub groups: Vec<DuplicateGroup>,
    /// The objects of all sets, those of a set together and ascending.
    objects: Column<u32>,
}

impl DuplicateGroups {
    /// The snapshot that holds the objects.
    #[must_use]
    pub fn snapshot(&self) -> SnapshotId {
        self.snapshot
    }

    /// The objects of a set, ascending.
    pub fn objects(&self, group: &DuplicateGroup) -> impl Iterator<Item = ObjectId> + '_ {
        let start = group.start as usize;
        self.objects[start..start + group.objects as usize].iter().copied().map(ObjectId)
    }

    /// The objects of a set, as a set.
    #[must_use]
    pub fn set(&self, group: &DuplicateGroup) -> ObjectSet {
        ObjectSet::from_sorted(self.snapshot, self.snapshot_objects, self.objects(group))
    }
}

impl Heap {
    /// The duplicate sets one by one, as [`Heap::duplicates`] finds them, those that waste most first. With `among` only
    /// sets that have one of these objects.
    ///
    /// Time and memory: as for [`Heap::duplicates`]; 4 bytes more for each object, and 56 for each set.
    ///
    /// # Errors
    /// As for [`Heap::duplicates`].
    pub fn duplicate_groups(&self, among: Option<&ObjectSet>, progress: &dyn Progress) -> Result<DuplicateGroups> {
        let Sets { records, count, common, arrays, objects } = self.duplicate_sets(true, progress)?;
        self.memory().require_more(count as u64 * size_of::<DuplicateGroup>() as u64)?;
        let parts = self.map_sets(&records[..count], &common, progress, |found| found.collect::<Vec<_>>())?;
        // In the order of their first objects.
        let mut groups: Vec<DuplicateGroup> = parts.into_iter().flatten().collect();
        for (array, bytes) in self.with_sizes(arrays, progress)? {
            if let Ok(at) = groups.binary_search_by_key(&array.first, |group| group.first) {
                let sum = if array.is_needed { &mut groups[at].each_bytes } else { &mut groups[at].wasted_bytes };
                *sum = sum.wrapping_add(bytes);
            }
        }
        let (snapshot, snapshot_objects) = (self.snapshot(), self.object_count());
        let mut found = DuplicateGroups { snapshot, snapshot_objects, groups: Vec::new(), objects };
        if let Some(among) = among {
            groups.retain(|group| found.objects(group).any(|object| among.contains(object)));
        }
        groups.par_sort_unstable_by_key(|group| (Reverse(group.wasted_bytes), group.first));
        found.groups = groups;
        Ok(found)
    }
}
