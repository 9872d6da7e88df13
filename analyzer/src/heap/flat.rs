//! Flat columns: one number per object, kept narrow in the index file, so that common expressions are evaluated without
//! decoding blocks.

use std::ops::Range;

use barrow_format::ObjectId;
use barrow_format::block::{BlockColumns, ColumnSelection};
use rayon::prelude::*;

use super::{Heap, below, column};
use crate::columns::index_file::{ColumnId, NarrowColumn};
use crate::error::Result;
use crate::file::blocks::{BlockPlace, Workspace, decode, stream_by_object};
use crate::graph::dominators::{Dominators, PIECE};
use crate::graph::object_set::ObjectSet;
use crate::progress::{Progress, check};
use crate::questions::expression::{BlockObjects, Sizes};

/// Represents an unknown number, or one that does not fit 32 bits.
const TOO_LARGE: u32 = u32::MAX;

/// The sizes of all objects, and optionally their types.
#[derive(Debug)]
pub(crate) struct FlatColumns {
    /// `None` if types are not needed.
    types: Option<NarrowColumn>,
    shallow: NarrowColumn,
    /// `None` if no object has an unmanaged size.
    unmanaged: Option<NarrowColumn>,
}

impl FlatColumns {
    /// The objects that begin in a block, with buffers for their numbers; `None` if some of these are unknown.
    pub(crate) fn block<'b>(&self, place: &BlockPlace, buffers: &'b mut [Vec<u32>; 3]) -> Option<BlockObjects<'b>> {
        let [types, shallow, unmanaged] = buffers;
        let (first, count) = (ObjectId(place.entry.first_object), place.entry.objects as usize);
        let objects = first.index()..first.index() + count;
        Some(BlockObjects {
            first,
            count,
            places: self.types.as_ref().map_or(Some(&[][..]), |column| column.read(objects.clone(), types))?,
            types: None,
            shallow_bytes: sizes(&self.shallow, objects.clone(), shallow)?,
            unmanaged_bytes: match &self.unmanaged {
                Some(column) => sizes(column, objects, unmanaged)?,
                None => Sizes::Zero,
            },
            decoded: None,
        })
    }
}

fn sizes<'b>(column: &NarrowColumn, objects: Range<usize>, buffer: &'b mut Vec<u32>) -> Option<Sizes<'b>> {
    column.read(objects, buffer).filter(|sizes| !sizes.contains(&TOO_LARGE)).map(Sizes::Narrow)
}

/// Passes the objects that begin in a block to `visit`. They come from flat columns if these hold everything wanted;
/// otherwise the block is decoded.
pub(crate) fn visit_block<T>(
    heap: &Heap,
    place: &BlockPlace,
    wanted: ColumnSelection,
    flat: Option<&FlatColumns>,
    workspace: &mut Workspace,
    visit: impl FnOnce(&BlockObjects<'_>) -> T,
) -> Result<T> {
    if let Some(block) =
        flat.filter(|_| wanted == ColumnSelection::Sizes).and_then(|flat| flat.block(place, &mut workspace.numbers))
    {
        return Ok(visit(&block));
    }
    let tables = heap.recording.tables()?;
    decode(&heap.recording, place, wanted, workspace, |_, columns| {
        Ok(visit(&BlockObjects::new(columns, place.continued, tables)))
    })
}

/// The retained sizes of all objects.
#[derive(Debug)]
pub(crate) struct FlatRetained(NarrowColumn);

impl FlatRetained {
    /// Reads the retained sizes of `count` objects from `first` on into a buffer, and returns them; `None` if some are
    /// unknown.
    pub(crate) fn in_a_row<'b>(&self, first: ObjectId, count: usize, buffer: &'b mut Vec<u32>) -> Option<&'b [u32]> {
        let sizes = self.0.read(first.index()..first.index() + count, buffer);
        sizes.filter(|values| !values.contains(&TOO_LARGE))
    }
}

impl Heap {
    /// Sizes, and types if needed, if the index file has them.
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

    /// Types, if the index file has them.
    pub(super) fn flat_types(&self) -> Result<Option<NarrowColumn>> {
        let count = self.recording.tables()?.type_count() as u64;
        Ok(self.flat(column::TYPE, move |_, piece| below(piece, count)))
    }

    /// Retained sizes, if the index file has them as a flat column.
    pub(crate) fn flat_retained(&self) -> Option<FlatRetained> {
        self.flat(column::RETAINED, |_, _| true).map(FlatRetained)
    }

    /// The reachable objects, if the index file has them.
    pub(crate) fn flat_reachable(&self) -> Option<ObjectSet> {
        let kept = self.kept_numbers(column::REACHABLE)?;
        ObjectSet::from_words(self.snapshot, self.objects, &kept)
    }

    /// A column of the index file with one number per object.
    pub(super) fn flat(
        &self,
        column: ColumnId,
        is_valid: impl Fn(usize, &[u32]) -> bool + Send + Sync + 'static,
    ) -> Option<NarrowColumn> {
        let column = self.index.as_ref()?.narrow_column(self.snapshot, column, is_valid)?;
        (column.len() as u64 == self.objects).then_some(column)
    }

    /// Produces the flat column of a size, which `sizes` reads from a block. An empty slice means that all sizes of the
    /// block are 0, `None` that they are unknown.
    pub(super) fn each_size(
        &self,
        sizes: impl Fn(&BlockColumns) -> Option<&[u64]> + Sync,
        progress: &dyn Progress,
        out: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        stream_by_object(
            &self.recording,
            self.snapshot,
            ColumnSelection::Sizes,
            progress,
            |columns| match sizes(columns) {
                None => vec![TOO_LARGE; columns.objects()],
                Some([]) => vec![0; columns.objects()],
                Some(sizes) => sizes.iter().map(|&size| narrow(size)).collect::<Vec<u32>>(),
            },
            |values| out(bytemuck::cast_slice(&values)),
        )
    }

    /// Produces the flat column of retained sizes.
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
            let retained = batch.par_iter().map(|piece| dominators.retained_of(piece.clone()).map(narrow).collect());
            let values: Vec<Vec<u32>> = retained.collect();
            values.iter().try_for_each(|values| out(bytemuck::cast_slice(values)))?;
        }
        Ok(())
    }
}

fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(TOO_LARGE)
}
