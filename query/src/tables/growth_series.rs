//! Growth over snapshots, as `growth` and `leaks A..B` ask for it.

use std::sync::Arc;

use barrow_analyzer::{Growth, Recording, SnapshotId, growth, without_repeated};

use crate::error::QueryError;
use crate::language::selection;
use crate::session::state::State;
use crate::tables::type_path;

/// The note where the last snapshot is left out.
pub(crate) const REPEATED: &str = "the last snapshot repeats the one before: no type differs by more than 0.1 % of the heap; growth is judged without it";

/// The requested snapshots: at least two; without the last one if it repeats the one before. Whether it was left out.
pub(crate) fn snapshots(
    state: &State,
    recording: &Recording,
    words: &[String],
) -> Result<(Vec<SnapshotId>, bool), QueryError> {
    let known = state.snapshots()?;
    let snapshots = if words.is_empty() { known } else { selection::several(words, &known)? };
    match snapshots.len() {
        0 | 1 => Err(QueryError::usage("growth needs two snapshots at least; `snapshots` lists what there are")),
        2 => Ok((snapshots, false)),
        _ => {
            let (judged, is_repeated) = without_repeated(recording, &snapshots)?;
            Ok((judged.to_vec(), is_repeated))
        }
    }
}

/// The growth over the snapshots. If something is excluded, the heaps of the session are merged.
pub(crate) fn folded<'a>(
    state: &State,
    recording: &'a Arc<Recording>,
    snapshots: &[SnapshotId],
    least_share: f64,
) -> Result<Growth<'a>, QueryError> {
    let meter = state.meter();
    if state.away.is_empty() {
        return Ok(growth(recording, snapshots, least_share, &state.context.series_options(), &meter)?);
    }
    let mut growth = Growth::new(snapshots.len(), least_share);
    for (column, &snapshot) in snapshots.iter().enumerate().rev() {
        growth.fold(column, recording, &*type_path::heap(state, recording, snapshot)?, &meter)?;
    }
    growth.gather_moving();
    Ok(growth)
}
