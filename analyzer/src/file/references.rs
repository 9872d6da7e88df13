//! The outgoing references of several objects at once.

use barrow_format::block::ColumnSelection;
use barrow_format::{ObjectId, SnapshotId};

use super::blocks::{BlockPlace, Workspace, decode, pooled};
use super::object::{Cursor, Reference, run_of_blocks};
use super::recording::Recording;
use crate::error::{AnalyzerError, Result};

/// Reads all outgoing references of several objects, which are in ascending order. Each block is decoded once, in parallel
/// on the current pool.
///
/// # Errors
/// As for [`super::object::object`].
pub(crate) fn references_of(
    recording: &Recording,
    snapshot: SnapshotId,
    ids: &[ObjectId],
) -> Result<Vec<Vec<Reference>>> {
    let mut jobs = Vec::new();
    let mut rest = ids;
    while let Some(&first) = rest.first() {
        let run = run_of_blocks(recording, snapshot, first)?;
        let end = run[0].entry.first_object + run[0].entry.objects;
        let (here, later) = rest.split_at(rest.partition_point(|id| id.0 < end));
        jobs.push((run, here));
        rest = later;
    }
    let found = pooled(jobs, |(run, ids), workspace| in_blocks(recording, &run, ids, workspace))?;
    Ok(found.into_iter().flatten().collect())
}

/// Reads the references of objects that begin in the first block of `run`. The other blocks continue its last object.
fn in_blocks(
    recording: &Recording,
    run: &[BlockPlace],
    ids: &[ObjectId],
    workspace: &mut Workspace,
) -> Result<Vec<Vec<Reference>>> {
    let tables = recording.tables()?;
    let at = |place: &BlockPlace| AnalyzerError::section("BLOCK", place.entry.offset);
    let (begin, continuations) = (&run[0], &run[1..]);
    let mut found = decode(recording, begin, ColumnSelection::References, workspace, |_, columns| {
        let (mut cursor, mut row) = (Cursor::default(), 0);
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            let wanted = (id.0 - columns.first_object) as usize;
            (row..wanted).for_each(|row| cursor.step(columns, row));
            row = wanted;
            let mut references = Vec::new();
            cursor.push_references(columns, row, tables, &mut references).map_err(at(begin))?;
            found.push(references);
        }
        Ok(found)
    })?;
    for place in continuations {
        let continued = ids.last().is_some_and(|id| id.0 == place.entry.first_object);
        let Some(references) = found.last_mut().filter(|_| continued) else { break };
        decode(recording, place, ColumnSelection::References, workspace, |_, columns| {
            Cursor::default().push_references(columns, 0, tables, references).map_err(at(place))
        })?;
    }
    Ok(found)
}
