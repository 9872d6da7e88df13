//! Growth over snapshots, as `growth` and `leaks A..B` ask for it.

use std::sync::Arc;

use barrow_analyzer::{Growth, Recording, SnapshotId, growth};

use crate::error::QueryError;
use crate::language::selection;
use crate::session::Session;
use crate::tables::type_path;

/// The requested snapshots: at least two.
pub(crate) fn snapshots(session: &Session, words: &[String]) -> Result<Vec<SnapshotId>, QueryError> {
    let known = session.snapshots()?;
    let snapshots = if words.is_empty() { known } else { selection::several(words, &known)? };
    match snapshots.len() {
        0 | 1 => Err(QueryError::usage("growth needs two snapshots at least; `snapshots` lists what there are")),
        _ => Ok(snapshots),
    }
}

/// What grows over the snapshots. Where something is excluded, the heaps of the session are merged.
pub(crate) fn folded<'a>(
    session: &Session,
    recording: &'a Arc<Recording>,
    snapshots: &[SnapshotId],
    least_share: f64,
) -> Result<Growth<'a>, QueryError> {
    let meter = session.meter();
    if session.away.is_empty() {
        return Ok(growth(recording, snapshots, least_share, &session.context.series_options(), &meter)?);
    }
    let mut growth = Growth::new(snapshots.len(), least_share);
    for (column, &snapshot) in snapshots.iter().enumerate().rev() {
        growth.fold(column, recording, &*type_path::heap(session, recording, snapshot)?, &meter)?;
    }
    growth.gather_moving();
    Ok(growth)
}
