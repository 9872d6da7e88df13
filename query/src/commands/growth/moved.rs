//! Paths that gain what other paths lose: the objects of their types are about as many as before.

use std::collections::{HashMap, HashSet};

use barrow_analyzer::{Growth, GrowthNode, GrowthPart, GrowthRow, Recording, SnapshotId, TypeIdentity};

use crate::error::QueryError;
use crate::session::state::State;

/// Objects have moved if their type gains less than this part of what the path gains. This is a judgement.
const LEAST_GAIN: f64 = 0.1;
/// The bytes that a path gains come with its new objects if they are at most so many times what these retain on average.
/// This is a judgement.
const MOST_BYTES: f64 = 1.1;

/// The nodes of the rows whose new objects came from other paths, from one snapshot to another.
///
/// # Errors
/// Those of the analyzer.
pub(super) fn moved(
    state: &State,
    recording: &Recording,
    [first, last]: [SnapshotId; 2],
    growth: &Growth<'_>,
    rows: &[GrowthRow],
) -> Result<HashSet<usize>, QueryError> {
    let tables = recording.tables()?;
    let mut gains: HashMap<TypeIdentity<'_>, f64> = HashMap::new();
    for (snapshot, sign) in [(first, -1.0), (last, 1.0)] {
        for totals in state.type_totals(snapshot)? {
            *gains.entry(TypeIdentity::of(tables, totals.type_id)).or_default() += sign * totals.objects as f64;
        }
    }
    let has_moved = |node: &GrowthNode<'_>| {
        let GrowthPart::Type(identity) = node.part else { return false };
        let changes = [&node.objects, &node.retained_bytes].map(|values| change(values));
        let [Some(objects), Some(bytes)] = changes else { return false };
        let of_type = gains.get(&identity).copied().unwrap_or(f64::INFINITY);
        objects.gain > 0.0
            && of_type < LEAST_GAIN * objects.gain
            && bytes.gain <= MOST_BYTES * objects.gain * bytes.last / objects.last
    };
    let nodes = rows.iter().map(|row| row.node);
    Ok(nodes.filter(|&node| has_moved(&growth.nodes()[node])).collect())
}

/// A number in the last snapshot, and how much it is more than in the first.
struct Change {
    gain: f64,
    last: f64,
}

/// The change of a number; `None` where one of both was too small to be tracked.
fn change(values: &[Option<u64>]) -> Option<Change> {
    let &[first, .., last] = values else { return None };
    let [first, last] = [first? as f64, last? as f64];
    Some(Change { gain: last - first, last })
}
