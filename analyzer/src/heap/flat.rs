//! Columns of an index file with a number for each object: what expressions ask most, without a look at blocks.

use std::ops::Range;

use barrow_format::ObjectId;
use barrow_format::block::{BlockColumns, Wanted};
use rayon::prelude::*;

use super::{Heap, below, column};
use crate::columns::index_file::{ColumnId, SparseColumn};
use crate::error::Result;
use crate::file::blocks::{BlockPlace, Workspace, decode, stream_by_object};
use crate::graph::dominators::{Dominators, PIECE};
use crate::progress::{Progress, check};
use crate::questions::expression::{BlockObjects, Sizes};

/// What stands for a number that has no room in 32 bits, and for one that is not known.
const TOO_LARGE: u32 = u32::MAX;

/// Sizes of all objects, and their types.
#[derive(Debug)]
pub(crate) struct FlatColumns {
    /// `None` if nobody asks for them.
    types: Option<SparseColumn<u32>>,
    shallow: SparseColumn<u32>,
    /// `None` if nothing is unmanaged.
    unmanaged: Option<SparseColumn<u32>>,
}

impl FlatColumns {
    /// The objects that begin in a block; `None` if something is not known of one.
    pub(crate) fn block(&self, place: &BlockPlace) -> Option<BlockObjects<'_>> {
        let (first, count) = (ObjectId(place.entry.first_object), place.entry.objects as usize);
        let objects = first.index()..first.index() + count;
        Some(BlockObjects {
            first,
            count,
            places: self.types.as_ref().map_or(Some(&[][..]), |types| types.slice(objects.clone()))?,
            types: None,
            shallow_bytes: sizes(&self.shallow, objects.clone())?,
            unmanaged_bytes: self.unmanaged.as_ref().map_or(Some(Sizes::Zero), |column| sizes(column, objects))?,
            decoded: None,
        })
    }
}

fn sizes(column: &SparseColumn<u32>, objects: Range<usize>) -> Option<Sizes<'_>> {
    column.slice(objects).filter(|sizes| !sizes.contains(&TOO_LARGE)).map(Sizes::Narrow)
}

/// Hands over the objects that begin in a block: those of flat columns if these know all that is wanted, else it is decoded.
pub(crate) fn visit_block<T>(
    heap: &Heap,
    place: &BlockPlace,
    wanted: Wanted,
    flat: Option<&FlatColumns>,
    workspace: &mut Workspace,
    visit: impl FnOnce(&BlockObjects<'_>) -> T,
) -> Result<T> {
    if let Some(block) = flat.filter(|_| wanted == Wanted::Sizes).and_then(|flat| flat.block(place)) {
        return Ok(visit(&block));
    }
    let tables = heap.recording.tables()?;
    decode(&heap.recording, place, wanted, workspace, |_, columns| {
        Ok(visit(&BlockObjects::new(columns, place.continued, tables)))
    })
}

/// Retained sizes of all objects.
#[derive(Debug)]
pub(crate) struct FlatRetained(SparseColumn<u32>);

impl FlatRetained {
    /// The bytes that each of `count` objects from `first` on retains; `None` if that is not known of all.
    pub(crate) fn in_a_row(&self, first: ObjectId, count: usize) -> Option<&[u32]> {
        self.0.slice(first.index()..first.index() + count).filter(|values| !values.contains(&TOO_LARGE))
    }
}

impl Heap {
    /// Sizes, and types if they are asked for, if an index file has them.
    pub(crate) fn flat_columns(&self, asks_for_types: bool) -> Result<Option<FlatColumns>> {
        let types = if asks_for_types { self.flat_types()? } else { None };
        let Some(shallow) = self.flat(column::SHALLOW, |_, _| true) else { return Ok(None) };
        if asks_for_types && types.is_none() {
            return Ok(None);
        }
        let unmanaged = self.flat(column::UNMANAGED, |_, _| true);
        let is_complete = unmanaged.is_some() || self.recording.commit(self.snapshot)?.totals.unmanaged_bytes == 0;
        Ok(is_complete.then_some(FlatColumns { types, shallow, unmanaged }))
    }

    /// Types alone, if an index file has them.
    pub(super) fn flat_types(&self) -> Result<Option<SparseColumn<u32>>> {
        let count = self.recording.tables()?.type_count() as u64;
        Ok(self.flat(column::TYPE, move |_, piece| below(piece, count)))
    }

    /// Retained sizes, if an index file has them apart from the tree.
    pub(crate) fn flat_retained(&self) -> Option<FlatRetained> {
        self.flat(column::RETAINED, |_, _| true).map(FlatRetained)
    }

    /// A column of the index file with a number for each object.
    pub(super) fn flat(
        &self,
        column: ColumnId,
        is_valid: impl Fn(usize, &[u32]) -> bool + Send + Sync + 'static,
    ) -> Option<SparseColumn<u32>> {
        let column = self.index.as_ref()?.sparse_column(self.snapshot, column, is_valid)?;
        (column.len() as u64 == self.objects).then_some(column)
    }

    /// Hands over a size of each object, as it is kept; `sizes` tells those of a block, none if all are 0, if they are known.
    pub(super) fn each_size(
        &self,
        sizes: impl Fn(&BlockColumns) -> Option<&[u64]> + Sync,
        progress: &dyn Progress,
        out: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let read = |columns: &BlockColumns| match sizes(columns) {
            None => vec![TOO_LARGE; columns.objects()],
            Some([]) => vec![0; columns.objects()],
            Some(sizes) => sizes.iter().map(|&size| narrow(size)).collect(),
        };
        let write = |values: Vec<u32>| out(bytemuck::cast_slice(&values));
        stream_by_object(&self.recording, self.snapshot, Wanted::Sizes, progress, read, write)
    }

    /// Hands over the retained size of each object, as it is kept.
    pub(super) fn each_retained(
        &self,
        dominators: &Dominators,
        progress: &dyn Progress,
        out: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let end = self.objects as usize;
        let pieces: Vec<Range<usize>> = (0..end).step_by(PIECE).map(|at| at..end.min(at + PIECE)).collect();
        for batch in pieces.chunks(2 * rayon::current_num_threads()) {
            check(progress)?;
            let of = |piece: &Range<usize>| dominators.retained_of(piece.clone()).map(narrow).collect();
            let values: Vec<Vec<u32>> = batch.par_iter().map(of).collect();
            values.iter().try_for_each(|values| out(bytemuck::cast_slice(values)))?;
        }
        Ok(())
    }
}

fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(TOO_LARGE)
}
