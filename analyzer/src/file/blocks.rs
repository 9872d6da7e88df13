//! Decoding blocks, in parallel.

use barrow_format::SnapshotId;
use barrow_format::block::{Block, BlockColumns, ColumnSelection, Decoder};
use barrow_format::commit::BlockEntry;
use parking_lot::Mutex;
use rayon::prelude::*;

use crate::error::{AnalyzerError, Result};
use crate::file::patch_merge::PatchMerge;
use crate::file::recording::Recording;
use crate::progress::{Progress, check};

/// A block of one snapshot, to be decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockPlace {
    pub(crate) snapshot: SnapshotId,
    pub(crate) entry: BlockEntry,
    /// Number of references of the last object that are in continuations after this block.
    pub(crate) continued: u64,
}

/// The buffers that one thread decodes with. They take a few megabytes and are reused.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    decoder: Decoder,
    columns: BlockColumns,
    merge: PatchMerge,
    /// Scratch buffer for callers.
    pub(crate) bytes: Vec<u8>,
    /// The same for types, shallow and unmanaged sizes of objects.
    pub(crate) numbers: [Vec<u32>; 3],
}

/// All blocks of some snapshots, in order.
pub(crate) fn places(recording: &Recording, snapshots: &[SnapshotId]) -> Result<Vec<BlockPlace>> {
    let mut places = Vec::new();
    for &snapshot in snapshots {
        places.extend(places_of(snapshot, &recording.commit(snapshot)?.blocks));
    }
    Ok(places)
}

/// The blocks of a commit's directory, in order.
pub(crate) fn places_of(snapshot: SnapshotId, blocks: &[BlockEntry]) -> Vec<BlockPlace> {
    let mut continued = 0;
    let mut places: Vec<BlockPlace> = blocks
        .iter()
        .rev()
        .map(|&entry| {
            let place = BlockPlace { snapshot, entry, continued };
            continued = if entry.objects == 0 { continued + u64::from(entry.references) } else { 0 };
            place
        })
        .collect();
    places.reverse();
    places
}

/// Decodes the wanted columns of one block and passes them to `visit`. The names of its objects and their texts are
/// valid strings. In a patched snapshot, the block passed is the newest of the frames that the columns come from.
pub(crate) fn decode<T>(
    recording: &Recording,
    place: &BlockPlace,
    wanted: ColumnSelection,
    workspace: &mut Workspace,
    visit: impl FnOnce(&Block<'_>, &BlockColumns) -> Result<T>,
) -> Result<T> {
    let tables = recording.tables()?;
    let forms = tables.forms();
    let commit = recording.commit(place.snapshot)?;
    let known = forms.get(..commit.tables.shapes as usize).unwrap_or(forms);
    let at = AnalyzerError::section("BLOCK", place.entry.offset);
    let Workspace { decoder, columns, merge, .. } = workspace;
    let block = if let Some(chain) = recording.patch_chain(place.snapshot)? {
        chain.decode(recording, &place.entry, (known, wanted), decoder, merge, columns)?
    } else {
        let objects = u32::try_from(commit.totals.objects).unwrap_or(u32::MAX);
        let block = recording.block(place.snapshot, &place.entry)?;
        decoder.decode(&block, known, objects, wanted, columns).map_err(&at)?;
        block
    };
    columns.names.iter().flatten().max().map_or(Ok(()), |&name| tables.check_name(name)).map_err(&at)?;
    // An unreadable field table is reported to questions about fields.
    if !columns.values.is_empty()
        && let Ok(fields) = recording.fields()
    {
        fields.check_texts(&columns.values, tables).map_err(at)?;
    }
    visit(&block, columns)
}

/// Decodes the wanted columns of blocks, in parallel on the current pool. The results are in the order of `places` for
/// any number of threads.
///
/// # Errors
/// The first error in the order of blocks; [`AnalyzerError::Cancelled`].
pub(crate) fn map_blocks<T: Send>(
    recording: &Recording,
    places: &[BlockPlace],
    wanted: ColumnSelection,
    progress: &dyn Progress,
    visit: impl Fn(&BlockPlace, &Block<'_>, &BlockColumns) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    in_parallel(places, wanted, progress, |place, workspace| {
        decode(recording, place, wanted, workspace, |block, columns| visit(place, block, columns))
    })
}

/// Calls `work` for every place, in parallel on the current pool, each with its own workspace.
pub(crate) fn in_parallel<T: Send>(
    places: &[BlockPlace],
    wanted: ColumnSelection,
    progress: &dyn Progress,
    work: impl Fn(&BlockPlace, &mut Workspace) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    pooled(places.iter().collect(), |place, workspace| {
        check(progress)?;
        let result = work(place, workspace);
        progress.advance(steps(place, wanted));
        result
    })
}

/// Fills a column that has a value for each object of a snapshot, in parallel on the current pool. `fill` gets the part
/// of the column for the objects of a block, and the block's columns.
pub(crate) fn fill_by_object<T: Send>(
    recording: &Recording,
    snapshot: SnapshotId,
    wanted: ColumnSelection,
    column: &mut [T],
    progress: &dyn Progress,
    fill: impl Fn(&mut [T], &BlockColumns) + Sync,
) -> Result<()> {
    let mut rest = column;
    let mut jobs = Vec::new();
    for place in places(recording, &[snapshot])? {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(place.entry.objects as usize);
        rest = others;
        jobs.push((place, own));
    }
    jobs.retain(|(place, _)| place.entry.objects > 0);
    pooled(jobs, |(place, own), workspace| {
        check(progress)?;
        decode(recording, &place, wanted, workspace, |_, columns| {
            fill(own, columns);
            Ok(())
        })?;
        progress.advance(place.entry.objects.into());
        Ok(())
    })
    .map(drop)
}

/// Reads the blocks of a snapshot in batches, each in parallel on the current pool. Passes the results to `visit` in
/// the order of the objects.
pub(crate) fn stream_by_object<T: Send>(
    recording: &Recording,
    snapshot: SnapshotId,
    wanted: ColumnSelection,
    progress: &dyn Progress,
    read: impl Fn(&BlockColumns) -> T + Sync,
    mut visit: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut places = places(recording, &[snapshot])?;
    places.retain(|place| place.entry.objects > 0);
    for batch in places.chunks(2 * rayon::current_num_threads()) {
        check(progress)?;
        let parts = pooled(batch.iter().collect(), |place, workspace| {
            decode(recording, place, wanted, workspace, |_, columns| Ok(read(columns)))
        })?;
        parts.into_iter().try_for_each(&mut visit)?;
    }
    Ok(())
}

/// Calls `work` for every item, in parallel on the current pool, each with its own workspace.
pub(crate) fn pooled<I: Send, T: Send>(
    items: Vec<I>,
    work: impl Fn(I, &mut Workspace) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let spare = Mutex::new(Vec::<Workspace>::new());
    // Items are scheduled one by one, because some take many times longer than others: one item may be a block and all
    // the references of an array.
    let results = items.into_par_iter().with_max_len(1).map(|item| {
        let taken = spare.lock().pop();
        let mut workspace = taken.unwrap_or_default();
        let result = work(item, &mut workspace);
        spare.lock().push(workspace);
        result
    });
    // All results are collected before errors are searched, so that the error reported is the first in the order of
    // blocks, not in time.
    let results: Vec<Result<T>> = results.collect();
    results.into_iter().collect()
}

/// Begins a phase that decodes the wanted columns of blocks with [`map_blocks`] or [`in_parallel`].
pub(crate) fn begin(progress: &dyn Progress, phase: &'static str, places: &[BlockPlace], wanted: ColumnSelection) {
    let unit = match wanted {
        ColumnSelection::References | ColumnSelection::All => "references",
        ColumnSelection::Sizes | ColumnSelection::Counts | ColumnSelection::Identity | ColumnSelection::Values => {
            "objects"
        }
    };
    progress.begin(phase, places.iter().map(|place| steps(place, wanted)).sum(), unit);
}

/// The progress that a block counts for: its references if they are decoded, otherwise its objects.
fn steps(place: &BlockPlace, wanted: ColumnSelection) -> u64 {
    u64::from(match wanted {
        ColumnSelection::References | ColumnSelection::All => place.entry.references,
        ColumnSelection::Sizes | ColumnSelection::Counts | ColumnSelection::Identity | ColumnSelection::Values => {
            place.entry.objects
        }
    })
}
