//! Exact reachability from the roots, over strong references and ephemerons.
//!
//! An ephemeron keeps its value alive while both its source and its key are alive. The search evaluates an ephemeron
//! when the second of the two is reached.

use barrow_format::{ObjectId, SnapshotId};

use crate::error::Result;
use crate::graph::adjacency::Adjacency;
use crate::graph::frontier::Frontier;
use crate::graph::object_set::ObjectSet;
use crate::progress::{Progress, check};

/// Objects between two checks for cancellation: a cancelled question ends within milliseconds.
const CHECK_OBJECTS: u64 = 1 << 16;

/// The objects reachable from `roots` without passing an object of `removed`.
///
/// Time: linear. Memory: two bits per object, and the frontier. Sequential.
///
/// # Errors
/// [`crate::AnalyzerError::Cancelled`].
pub(crate) fn reachable(
    snapshot: SnapshotId,
    adjacency: &Adjacency,
    roots: &[ObjectId],
    removed: Option<&ObjectSet>,
    progress: &dyn Progress,
) -> Result<ObjectSet> {
    let objects = adjacency.objects() as u64;
    progress.begin("searching from the roots", objects, "objects");
    // Removed objects count as seen during the search, so that it does not visit them.
    let mut frontier = Frontier::new(removed.cloned().unwrap_or_else(|| ObjectSet::new(snapshot, objects)));
    let is_removed = |object: ObjectId| removed.is_some_and(|removed| removed.contains(object));
    let (view, ephemerons) = (adjacency.view(), adjacency.ephemerons());
    let rows = adjacency.visited_rows();
    let mut level: Vec<u32> = roots.iter().filter(|&&root| frontier.seen.insert(root)).map(|root| root.0).collect();
    let (mut visited, mut values) = (0, Vec::new());
    let mut is_listed = true;
    loop {
        frontier.sort(&mut level, is_listed);
        if level.is_empty() {
            break;
        }
        is_listed = !frontier.is_large(level.len());
        let seen = &mut frontier.seen;
        let mut next = Vec::new();
        for (object, targets) in view.new_scattered(&level, &rows) {
            if is_listed {
                next.extend(targets.filter(|&target| seen.insert(ObjectId(target))));
            } else {
                // Branch-free, because whether a target is new is unpredictable.
                targets.for_each(|target| _ = seen.insert(ObjectId(target)));
            }
            if !ephemerons.is_empty() {
                let is_seen = |object: ObjectId| seen.contains(object) && !is_removed(object);
                ephemerons.completed(ObjectId(object), is_seen, |ephemeron| values.push(ephemeron.value));
                next.extend(values.drain(..).filter(|&value| seen.insert(value)).map(|value| value.0));
            }
            visited += 1;
            if visited % CHECK_OBJECTS == 0 {
                check(progress)?;
                progress.advance(CHECK_OBJECTS);
            }
        }
        level = next;
    }
    let mut seen = frontier.seen;
    if let Some(removed) = removed {
        seen.difference_with(removed);
    }
    Ok(seen)
}
