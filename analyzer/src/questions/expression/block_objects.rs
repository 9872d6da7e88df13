//! The objects of a block in the form that expressions are evaluated on.
//!
//! ```text
//!   a decoded block      types by position in its dictionary, sizes of 64 bits, and other wanted columns
//!   an index file        type ids, sizes of 32 bits: sufficient for most expressions
//! ```

use std::borrow::Cow;

use barrow_format::block::BlockColumns;
use barrow_format::rows::TypeTotals;
use barrow_format::{ObjectId, SiteId, StringId, TypeId};

use crate::file::tables::Tables;
use crate::graph::partial_set::PartialSet;

/// The objects of a block, with their columns.
pub(crate) struct BlockObjects<'b> {
    pub(crate) first: ObjectId,
    pub(crate) count: usize,
    /// For each object the position of its type in `types`; empty if the expression does not need types.
    pub(crate) places: &'b [u32],
    /// The type at each position; `None` if positions are type ids.
    pub(crate) types: Option<Vec<TypeId>>,
    pub(crate) shallow_bytes: Sizes<'b>,
    pub(crate) unmanaged_bytes: Sizes<'b>,
    /// The block, if it was decoded, and the number of references of its last object that are in continuations.
    pub(crate) decoded: Option<(&'b BlockColumns, u64)>,
}

/// A size of each object, in bytes.
#[derive(Clone, Copy)]
pub(crate) enum Sizes<'b> {
    /// All sizes are 0.
    Zero,
    Narrow(&'b [u32]),
    Wide(&'b [u64]),
}

impl<'b> BlockObjects<'b> {
    /// A decoded block that is not a continuation.
    pub(crate) fn new(columns: &'b BlockColumns, continued: u64, tables: &Tables) -> Self {
        BlockObjects {
            first: ObjectId(columns.first_object),
            count: columns.objects(),
            places: &columns.shapes,
            types: Some(columns.dictionary.iter().map(|&shape| tables.shape(shape).type_id).collect()),
            shallow_bytes: Sizes::of(&columns.shallow_bytes),
            unmanaged_bytes: Sizes::of(&columns.unmanaged_bytes),
            decoded: Some((columns, continued)),
        }
    }

    /// The empty set.
    pub(crate) fn none(&self) -> PartialSet {
        PartialSet::none(self.first, self.count)
    }

    /// The set of all objects of the block.
    pub(crate) fn all(&self) -> PartialSet {
        PartialSet::all(self.first, self.count)
    }

    /// Adds `objects` to the totals of their types, which are indexed by type id.
    pub(crate) fn add_up(&self, objects: &PartialSet, totals: &mut [TypeTotals]) {
        for object in objects.objects() {
            let row = (object.0 - self.first.0) as usize;
            let totals = &mut totals[self.type_of(row).index()];
            totals.objects += 1;
            totals.heap_bytes = totals.heap_bytes.wrapping_add(self.shallow_bytes.at(row));
            totals.unmanaged_bytes = totals.unmanaged_bytes.wrapping_add(self.unmanaged_bytes.at(row));
        }
    }

    pub(crate) fn object(&self, row: usize) -> ObjectId {
        // Rows of a block and ids of objects fit in 32 bits.
        ObjectId(self.first.0 + row as u32)
    }

    pub(crate) fn type_of(&self, row: usize) -> TypeId {
        let place = self.places[row];
        self.types.as_ref().map_or(TypeId(place), |types| types[place as usize])
    }

    /// The values by position in `types`, from values by type id.
    pub(super) fn by_place<'v, T: Copy>(&self, by_type: &'v [T]) -> Cow<'v, [T]> {
        match &self.types {
            Some(types) => types.iter().map(|id| by_type[id.index()]).collect(),
            None => by_type.into(),
        }
    }

    pub(crate) fn site(&self, row: usize) -> Option<SiteId> {
        let sites = self.decoded.map_or(&[][..], |(columns, _)| &columns.sites);
        sites.get(row).copied().filter(|&site| site != 0).map(SiteId)
    }

    /// What identifies an object, from a column in which 0 means none; a column without values is empty.
    pub(super) fn identity(&self, row: usize, column: impl Fn(&BlockColumns) -> &Vec<u64>) -> Option<u64> {
        let (columns, _) = self.decoded?;
        column(columns).get(row).copied().filter(|&id| id != 0)
    }

    pub(super) fn name(&self, row: usize) -> Option<StringId> {
        let names = self.decoded.map_or(&[][..], |(columns, _)| &columns.names);
        names.get(row).copied().flatten()
    }

    /// The number of references of an object; 0 if counts were not decoded.
    pub(crate) fn references(&self, row: usize) -> u64 {
        let Some((columns, continued)) = self.decoded else { return 0 };
        let is_last = row + 1 == self.count;
        u64::from(columns.counts[row]) + if is_last { continued } else { 0 }
    }
}

impl<'b> Sizes<'b> {
    /// The sizes in a column, which is empty if all are 0.
    fn of(column: &'b [u64]) -> Self {
        if column.is_empty() { Sizes::Zero } else { Sizes::Wide(column) }
    }

    /// The size of one object.
    #[inline(always)]
    pub(super) fn at(self, row: usize) -> u64 {
        match self {
            Sizes::Zero => 0,
            Sizes::Narrow(sizes) => sizes[row].into(),
            Sizes::Wide(sizes) => sizes[row],
        }
    }

    /// The sum of the sizes of these objects.
    pub(crate) fn sum(self, of: &PartialSet) -> u64 {
        match self {
            Sizes::Zero => 0,
            Sizes::Narrow(sizes) => of.sum(sizes),
            Sizes::Wide(sizes) => of.sum(sizes),
        }
    }
}
