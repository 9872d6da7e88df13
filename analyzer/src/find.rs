//! Looking for objects that an expression describes.

use barrow_format::block::{BlockColumns, Wanted};
use barrow_format::{KindId, ObjectId, SnapshotId};

use crate::blocks::{BlockPlace, map_blocks, places};
use crate::error::Result;
use crate::expression::{Expression, Prepared};
use crate::object::{ObjectDetails, details, objects};
use crate::progress::Progress;
use crate::recording::Recording;

/// One page of what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The objects, by id.
    pub objects: Vec<ObjectDetails>,
    /// The next object that matches; `None` if there is none.
    pub next: Option<ObjectId>,
}

/// What the objects that match add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// How many there are.
    pub objects: u64,
    /// Their shallow sizes, summed, in bytes.
    pub heap_bytes: u64,
    /// Their unmanaged sizes, summed, in bytes.
    pub unmanaged_bytes: u64,
}

/// Blocks that are searched at once before it is known whether they hold enough.
const BATCH_BLOCKS: usize = 16;

/// The first `limit` objects from `from` on that are of one of `kinds` (of any, if there are none)
/// and match the expression.
///
/// # Errors
/// [`crate::AnalyzerError::NoSnapshot`], [`crate::AnalyzerError::Section`],
/// [`crate::AnalyzerError::Cancelled`].
pub fn find(
    recording: &Recording,
    snapshot: SnapshotId,
    kinds: &[KindId],
    expression: &Expression,
    from: ObjectId,
    limit: usize,
    progress: &dyn Progress,
) -> Result<Found> {
    let tables = recording.tables()?;
    let prepared = expression.prepare(tables, kinds);
    let places = search_places(recording, snapshot)?;
    let rest = &places[places.partition_point(|place| place.entry.first_object + place.entry.objects <= from.0)..];
    let objects_left = rest.iter().map(|place| u64::from(place.entry.objects)).sum();
    progress.begin("searching", objects_left, "objects");
    let mut matching = Vec::new();
    for batch in rest.chunks(BATCH_BLOCKS) {
        // One more than asked for shows whether there is more.
        if matching.len() > limit {
            break;
        }
        let pages = map_blocks(recording, batch, Wanted::Counts, progress, |place, _, columns| {
            let rows = matching_rows(columns, place, &prepared, recording)?;
            let ids = rows.map(|details| details.id).filter(|id| *id >= from).take(limit.saturating_add(1));
            Ok(ids.collect::<Vec<_>>())
        })?;
        matching.extend(pages.into_iter().flatten());
    }
    let next = matching.get(limit).copied();
    matching.truncate(limit);
    Ok(Found { objects: objects(recording, snapshot, &matching)?, next })
}

/// How many objects are of one of `kinds` (of any, if there are none) and match the expression, and
/// what they add up to.
///
/// # Errors
/// As for [`find`].
pub fn count(
    recording: &Recording,
    snapshot: SnapshotId,
    kinds: &[KindId],
    expression: &Expression,
    progress: &dyn Progress,
) -> Result<Counted> {
    let prepared = expression.prepare(recording.tables()?, kinds);
    let places = search_places(recording, snapshot)?;
    progress.begin("counting", places.iter().map(|place| u64::from(place.entry.objects)).sum(), "objects");
    let counts = map_blocks(recording, &places, Wanted::Counts, progress, |place, _, columns| {
        let mut counted = Counted::default();
        for details in matching_rows(columns, place, &prepared, recording)? {
            counted.objects += 1;
            counted.heap_bytes = counted.heap_bytes.wrapping_add(details.shallow_bytes);
            counted.unmanaged_bytes = counted.unmanaged_bytes.wrapping_add(details.unmanaged_bytes);
        }
        Ok(counted)
    })?;
    Ok(counts.into_iter().fold(Counted::default(), |sum, part| Counted {
        objects: sum.objects + part.objects,
        heap_bytes: sum.heap_bytes.wrapping_add(part.heap_bytes),
        unmanaged_bytes: sum.unmanaged_bytes.wrapping_add(part.unmanaged_bytes),
    }))
}

/// The blocks in which objects begin.
fn search_places(recording: &Recording, snapshot: SnapshotId) -> Result<Vec<BlockPlace>> {
    let mut places = places(recording, &[snapshot])?;
    places.retain(|place| place.entry.objects > 0);
    Ok(places)
}

/// The objects of a block that match.
fn matching_rows<'a>(
    columns: &'a BlockColumns,
    place: &BlockPlace,
    prepared: &'a Prepared<'_>,
    recording: &'a Recording,
) -> Result<impl Iterator<Item = ObjectDetails> + 'a> {
    let tables = recording.tables()?;
    let last = columns.objects().saturating_sub(1);
    let continued = place.continued;
    Ok((0..columns.objects()).filter_map(move |row| {
        let mut details = details(columns, row, tables);
        if row == last {
            details.references += continued;
        }
        prepared.matches(&details).then_some(details)
    }))
}
