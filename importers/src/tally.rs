//! Counting by type, while a dump is read.

use std::collections::BTreeMap;

use crate::counted::{Counted, TypeCount};
use crate::error::{Damage, ImportError, Kept, Loss, Stop};
use barrow_writer::TypeId;

/// Objects of one type and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) objects: u64,
    pub(crate) heap_bytes: u64,
    pub(crate) unmanaged_bytes: u64,
}

impl Tally {
    /// One object.
    pub(crate) fn one(heap_bytes: u64, unmanaged_bytes: u64) -> Self {
        Tally { objects: 1, heap_bytes, unmanaged_bytes }
    }

    /// Adds another tally. The importer ensures that the sum of all sizes fits.
    pub(crate) fn add(&mut self, other: Tally) {
        self.objects += other.objects;
        self.heap_bytes += other.heap_bytes;
        self.unmanaged_bytes += other.unmanaged_bytes;
    }
}

/// The counts by type, in the order of their numbers. A type may occur repeatedly.
pub(crate) fn by_type(tallies: impl IntoIterator<Item = (TypeId, Tally)>) -> Vec<TypeCount> {
    let mut sums: BTreeMap<u32, Tally> = BTreeMap::new();
    for (type_id, tally) in tallies {
        sums.entry(type_id.0).or_default().add(tally);
    }
    let counts = sums.into_iter().map(|(id, Tally { objects, heap_bytes, unmanaged_bytes })| TypeCount {
        type_id: TypeId(id),
        objects,
        heap_bytes,
        unmanaged_bytes,
    });
    counts.collect()
}

/// The result of counting a dump of `length` bytes with one snapshot; `lost` is the damage that an import would
/// report.
pub(crate) fn counted(
    totals: Result<Vec<TypeCount>, Stop>,
    lost: Option<Damage>,
    length: u64,
) -> Result<Counted, ImportError> {
    match (totals, lost) {
        (Err(Stop::Import(error)), _) => Err(error),
        (Err(Stop::Damage(damage, _) | Stop::Partial(damage)), _) => Err(ImportError::NoWholeSnapshot { damage }),
        (Ok(totals), Some(damage)) if totals.is_empty() => Err(ImportError::NoWholeSnapshot { damage }),
        (Ok(totals), None) if totals.is_empty() => Err(ImportError::NoSnapshot { length }),
        (Ok(totals), lost) => Ok(Counted {
            totals,
            notes: Vec::new(),
            lost: lost.map(|damage| Loss::partial(damage, Kept::Snapshots(1))),
        }),
    }
}
