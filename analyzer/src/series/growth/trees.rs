//! The paths of all types of several snapshots: kept ones, or those of their heaps.

use std::sync::Arc;

use barrow_format::SnapshotId;
use rayon::prelude::*;

use super::path_tree::{PathTree, Selected};
use crate::error::Result;
use crate::file::recording::Recording;
use crate::progress::{Progress, Quiet};
use crate::series::at_once::{at_once, most_at_once};
use crate::series::kept::parts::SnapshotPart;
use crate::series::kept::{KeptParts, PATHS, SeriesOptions};

/// Bytes per object and per reference of a graph whose dominators are computed: an estimate by the columns that are
/// resident.
const OBJECT_BYTES: u64 = 48;
const REFERENCE_BYTES: u64 = 8;

/// All paths of snapshots, in their order. Those that are not kept are computed, several snapshots at the same time, and
/// kept.
pub(super) fn trees_of(
    recording: &Arc<Recording>,
    snapshots: &[SnapshotId],
    options: &SeriesOptions,
    progress: &dyn Progress,
) -> Result<Vec<PathTree>> {
    let index = KeptParts::find(recording, options);
    let tables = recording.tables()?;
    let parts = index.parts(PATHS);
    let kept = snapshots.par_iter().map(|&snapshot| {
        let totals = recording.commit(snapshot)?.totals;
        let part = parts.get(snapshot);
        Ok(part.and_then(|part| PathTree::from_part(part, tables, [totals.objects, totals.roots])))
    });
    let mut trees: Vec<Option<PathTree>> = kept.collect::<Result<_>>()?;
    let missing: Vec<usize> = (0..snapshots.len()).filter(|&at| trees[at].is_none()).collect();
    let ids: Vec<SnapshotId> = missing.iter().map(|&at| snapshots[at]).collect();
    let found = compute(recording, &ids, options, progress)?;
    if let Some(&last) = ids.iter().max() {
        let new = ids.iter().zip(&found).map(|(&snapshot, tree)| (snapshot, tree.to_part()));
        let new: Vec<(SnapshotId, SnapshotPart)> = new.collect();
        index.keep(last, PATHS, &new, progress)?;
    }
    missing.into_iter().zip(found).for_each(|(at, tree)| trees[at] = Some(tree));
    Ok(trees.into_iter().flatten().collect())
}

/// The paths of snapshots, several at the same time.
fn compute(
    recording: &Arc<Recording>,
    snapshots: &[SnapshotId],
    options: &SeriesOptions,
    progress: &dyn Progress,
) -> Result<Vec<PathTree>> {
    if snapshots.is_empty() {
        return Ok(Vec::new());
    }
    let (mut objects, mut bytes) = (0, 0);
    for &snapshot in snapshots {
        let totals = recording.commit(snapshot)?.totals;
        objects += totals.objects;
        bytes = bytes.max(totals.objects * OBJECT_BYTES + totals.references * REFERENCE_BYTES);
    }
    progress.begin("finding dominators of snapshots", objects, "objects");
    at_once(snapshots.len(), most_at_once(&options.memory, bytes), |at| {
        let heap = options.heap(recording, snapshots[at])?;
        let tree = PathTree::of(&heap, Selected::All, &Quiet(progress))?;
        progress.advance(heap.object_count());
        Ok(tree)
    })
}
