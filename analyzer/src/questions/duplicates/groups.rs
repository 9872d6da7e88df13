//! Duplicate sets one by one, with their objects.

use barrow_format::{ObjectId, SnapshotId, StringId, TypeId};

use crate::columns::memory::Column;
use crate::graph::object_set::ObjectSet;

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
    pub(super) snapshot: SnapshotId,
    /// The number of objects in the snapshot.
    pub(super) snapshot_objects: u64,
    /// The sets, in descending order of wasted bytes.
    pub groups: Vec<DuplicateGroup>,
    /// The objects of all sets, those of a set together and ascending.
    pub(super) objects: Column<u32>,
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
