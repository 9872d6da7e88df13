//! A snapshot prepared to be committed as a patch.

use barrow_format::commit::Patched;
use barrow_format::patch::{Divisions, EncodedGroup, Layout, RowGroup};

use super::living::Living;

/// A snapshot ready to be committed as a patch: its frames wait in the spill.
pub(crate) struct Draft {
    /// The snapshot that it differs from.
    pub(super) base: u32,
    /// Rows, living and dead.
    pub(super) rows: u32,
    /// The description of the groups for the commit; offsets are those in the spill.
    pub(crate) layout: Layout,
    /// For each object in the order of announcement, its row.
    pub(super) row_of: Vec<u32>,
    pub(super) living: Living,
    pub(super) changed: ChangedRows,
    pub(super) new: NewRows,
    /// For each row, the address of its object; empty if none has one.
    pub(super) addresses: Vec<u64>,
}

/// Rows stored anew, and their contents.
#[derive(Default)]
pub(super) struct ChangedRows {
    pub(super) rows: Vec<u32>,
    pub(super) contents: Vec<u128>,
}

/// New rows in their order, and their groups.
#[derive(Default)]
pub(super) struct NewRows {
    pub(super) serials: Vec<u64>,
    pub(super) contents: Vec<u128>,
    pub(super) groups: Vec<RowGroup>,
    pub(super) divisions: Divisions,
}

impl Draft {
    /// The number of an object in the file, by its announced number.
    pub(crate) fn object(&self, announced: u32) -> u32 {
        self.living.object(self.row_of[announced as usize])
    }

    /// The difference of the snapshot to its base, for the commit.
    pub(crate) fn patched(&self) -> Patched {
        Patched { base: self.base, rows: self.rows, groups: self.layout.groups.clone() }
    }
}

/// A group whose frame is in the spill: offset and length.
pub(super) type SpilledGroup = EncodedGroup<(u64, u64)>;
