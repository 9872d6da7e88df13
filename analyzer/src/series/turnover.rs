//! What became of the objects that were born in a series of snapshots, by type.

use std::sync::Arc;

use barrow_format::SnapshotId;

use crate::error::Result;
use crate::file::recording::Recording;
use crate::heap::Heap;
use crate::progress::{Progress, Quiet, check};
use crate::series::at_once::{at_once, most_at_once};
use crate::series::identity::SerialOrigin;
use crate::series::kept::parts::Part;
use crate::series::kept::{KeptParts, LIVES, SeriesOptions};
use crate::series::life_table::LifeTable;
use crate::series::lives::{CountBounds, LifeStep, Lives};

/// Bytes per object while a table is made: types and serials of two snapshots.
const OBJECT_BYTES: u64 = 40;

/// The objects of a type that were born after the first snapshot of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turnover {
    /// The number of births.
    pub born: u64,
    /// The number of these objects that died before the last snapshot.
    pub died: u64,
    /// Bounds on the number of births that follow from the counts of all snapshots.
    pub born_bounds: CountBounds,
}

/// The turnover of all types, and how far it can be trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Turnovers {
    /// By type id.
    pub by_type: Vec<Turnover>,
    /// Where serials come from.
    pub origin: SerialOrigin,
    /// The confidence of the matches, see [`Lives::confidence`].
    pub confidence: Option<f64>,
}

impl Turnovers {
    /// Counts by type the births after the snapshot `first` up to `last`, and how many of these objects died. What is
    /// counted for each snapshot is kept in the index file.
    ///
    /// # Errors
    /// As for [`crate::SerialWalk::next`] and [`Heap::types`].
    pub fn of(
        recording: &Arc<Recording>,
        [first, last]: [SnapshotId; 2],
        options: &SeriesOptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut lives = Lives::with(recording, last, options.clone())?;
        let confidence = lives.whole_confidence(progress)?;
        let origin = lives.origin();
        let snapshots: Vec<SnapshotId> = recording.snapshot_ids().filter(|&snapshot| snapshot <= last).collect();
        let first_place = snapshots.iter().filter(|&&snapshot| snapshot <= first).count().saturating_sub(1);
        let tables = tables_of(recording, lives, &snapshots, first_place, (options, progress))?;
        let mut by_type = vec![Turnover::default(); recording.tables()?.type_count()];
        for pair in tables.windows(2) {
            let [before, after] = pair else { continue };
            add(&mut by_type, before, after, first_place);
        }
        Ok(Turnovers { by_type, origin, confidence })
    }
}

/// Adds the births and deaths between two snapshots, of objects born after that at `first_place`.
fn add(by_type: &mut [Turnover], before: &LifeTable, after: &LifeTable, first_place: usize) {
    // A type without objects in the later snapshot has no births.
    for (&type_id, &(objects, born)) in &after.alive {
        let objects_before = before.alive.get(&type_id).map_or(0, |&(objects, _)| objects);
        let turnover = &mut by_type[type_id as usize];
        turnover.born += born;
        turnover.born_bounds += CountBounds::born(&[objects_before, objects]);
    }
    for (&(type_id, _), &died) in after.died.iter().filter(|((_, born), _)| *born > first_place) {
        by_type[type_id as usize].died += died;
    }
}

/// The tables of snapshots from `first_place` on: kept ones, and those of the others, which are kept.
fn tables_of(
    recording: &Arc<Recording>,
    lives: Lives<'_>,
    snapshots: &[SnapshotId],
    first_place: usize,
    (options, progress): (&SeriesOptions, &dyn Progress),
) -> Result<Vec<LifeTable>> {
    let index = KeptParts::find(recording, options);
    let parts = index.parts(LIVES);
    let types = recording.tables()?.type_count();
    let objects = |place: usize| Ok(recording.commit(snapshots[place])?.totals.objects);
    let mut tables: Vec<Option<LifeTable>> = Vec::new();
    for (place, &snapshot) in snapshots.iter().enumerate().skip(first_place) {
        let counts = [if place == 0 { 0 } else { objects(place - 1)? }, objects(place)?];
        let part = parts.get(snapshot);
        tables.push(part.and_then(|part| LifeTable::from_part(part, place, counts, types)));
    }
    let missing: Vec<usize> = (first_place..snapshots.len()).filter(|&at| tables[at - first_place].is_none()).collect();
    let found = compute(recording, lives, snapshots, &missing, (options, progress))?;
    if let Some(&last) = missing.last() {
        let part = |(&place, table): (&usize, &LifeTable)| (snapshots[place], table.to_part());
        let new: Vec<(SnapshotId, Part)> = missing.iter().zip(&found).map(part).collect();
        index.keep(snapshots[last], LIVES, &new, progress)?;
    }
    missing.into_iter().zip(found).for_each(|(place, table)| tables[place - first_place] = Some(table));
    Ok(tables.into_iter().flatten().collect())
}

/// The tables of the snapshots at these places, in order.
fn compute(
    recording: &Arc<Recording>,
    mut lives: Lives<'_>,
    snapshots: &[SnapshotId],
    places: &[usize],
    (options, progress): (&SeriesOptions, &dyn Progress),
) -> Result<Vec<LifeTable>> {
    let types_of = |place: usize| -> Result<Vec<u32>> {
        let SeriesOptions { place: index, memory } = options;
        let heap = Heap::new(Arc::clone(recording), snapshots[place], index, memory.clone())?;
        Ok(heap.only_reading_the_index().types(&Quiet(progress))?.to_vec())
    };
    let table = |place: usize, step: &LifeStep| -> Result<LifeTable> {
        let before = place.checked_sub(1).map_or(Ok(Vec::new()), types_of)?;
        Ok(LifeTable::of(step, place, &types_of(place)?, &before))
    };
    let mut bytes = 0;
    for &snapshot in snapshots {
        bytes = bytes.max(recording.commit(snapshot)?.totals.objects * OBJECT_BYTES);
    }
    if places.is_empty() {
        return Ok(Vec::new());
    }
    progress.begin("counting births and deaths", places.len() as u64, "snapshots");
    if lives.origin() == SerialOrigin::Matched {
        let found = at_once(places.len(), most_at_once(&options.memory, bytes), |at| {
            check(progress)?;
            let table = lives.matched_step(places[at]).map(|step| table(places[at], &step)).transpose();
            progress.advance(1);
            table
        })?;
        if let Some(found) = found.into_iter().collect() {
            return Ok(found);
        }
        // What was kept is damaged: the walk below finds out.
    }
    let mut found = Vec::new();
    for place in 0.. {
        let Some(step) = lives.next(&Quiet(progress))? else { break };
        if places.contains(&place) {
            found.push(table(place, &step)?);
            progress.advance(1);
        }
    }
    Ok(found)
}
