//! The objects of a block, as an expression asks about them.

use barrow_format::block::BlockColumns;
use barrow_format::{ObjectId, SiteId, TypeId};

use crate::partial_set::PartialSet;
use crate::tables::Tables;

/// The objects of a block, with the columns that tell about them.
pub(crate) struct BlockObjects<'b> {
    pub(super) columns: &'b BlockColumns,
    /// For each place in the dictionary its type.
    pub(super) types: Vec<TypeId>,
    /// References of the last object that stand in continuations.
    pub(super) continued: u64,
}

impl<'b> BlockObjects<'b> {
    /// A block in which objects begin.
    pub(crate) fn new(columns: &'b BlockColumns, continued: u64, tables: &Tables) -> Self {
        let types = columns.dictionary.iter().map(|&shape| tables.shape(shape).type_id).collect();
        BlockObjects { columns, types, continued }
    }

    /// None of them.
    pub(crate) fn none(&self) -> PartialSet {
        PartialSet::none(ObjectId(self.columns.first_object), self.columns.objects())
    }

    /// All of them.
    pub(crate) fn all(&self) -> PartialSet {
        PartialSet::all(ObjectId(self.columns.first_object), self.columns.objects())
    }

    pub(super) fn object(&self, row: usize) -> ObjectId {
        // A row of a block has less than 32 bits, as have the ids of its objects.
        ObjectId(self.columns.first_object + row as u32)
    }

    pub(super) fn type_of(&self, row: usize) -> TypeId {
        self.types[self.columns.shapes[row] as usize]
    }

    pub(super) fn site(&self, row: usize) -> Option<SiteId> {
        self.columns.sites.get(row).copied().filter(|&site| site != 0).map(SiteId)
    }

    pub(super) fn references(&self, row: usize) -> u64 {
        let is_last = row + 1 == self.columns.objects();
        u64::from(self.columns.counts[row]) + if is_last { self.continued } else { 0 }
    }
}
