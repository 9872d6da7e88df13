//! Births in a series of snapshots and deaths of the objects born in it, by type.

use std::sync::Arc;

use barrow_format::SnapshotId;

use crate::error::Result;
use crate::file::recording::Recording;
use crate::progress::{Progress, Quiet, check};
use crate::series::at_once::{at_once, most_at_once};
use crate::series::identity::SerialOrigin;
use crate::series::kept::parts::SnapshotPart;
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

/// The turnover of all types, and its confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Turnovers {
    /// By type id.
    pub by_type: Vec<Turnover>,
    /// The origin of the serials.
    pub origin: SerialOrigin,
    /// The confidence of the matches, see [`Lives::confidence`].
    pub confidence: Option<f64>,
}

impl Turnovers {
    /// Counts by type the births after the snapshot `first` up to `last`, and the deaths of these objects. The counts of
    /// each snapshot are kept in the index file.
    ///
    /// # Errors
    /// As for [`crate::SerialWalk::next`] and [`crate::Heap::types`].
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
    let mut tables: Vec<Option<LifeTable>> = Vec::new();
    let mut objects_before = match first_place.checked_sub(1) {
        Some(before) => recording.commit(snapshots[before])?.totals.objects,
        None => 0,
    };
    for (place, &snapshot) in snapshots.iter().enumerate().skip(first_place) {
        let objects = recording.commit(snapshot)?.totals.objects;
        let counts = [std::mem::replace(&mut objects_before, objects), objects];
        let part = parts.get(snapshot);
        tables.push(part.and_then(|part| LifeTable::from_part(part, place, counts, types)));
    }
    let missing: Vec<usize> = (first_place..snapshots.len()).filter(|&at| tables[at - first_place].is_none()).collect();
    let found = compute(recording, lives, snapshots, &missing, (options, progress))?;
    if let Some(&last) = missing.last() {
        let new = missing.iter().zip(&found).map(|(&place, table)| (snapshots[place], table.to_part()));
        let new: Vec<(SnapshotId, SnapshotPart)> = new.collect();
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
            let step = lives.matched_step(places[at]);
            let table = step.map(|step| table_of(recording, snapshots, places[at], &step, (options, progress)));
            progress.advance(1);
            table.transpose()
        })?;
        if let Some(found) = found.into_iter().collect() {
            return Ok(found);
        }
        // Kept serials are damaged. The walk below matches the snapshots again.
    }
    let mut found = Vec::new();
    for place in 0.. {
        let Some(step) = lives.next(&Quiet(progress))? else { break };
        if places.contains(&place) {
            found.push(table_of(recording, snapshots, place, &step, (options, progress))?);
            progress.advance(1);
        }
    }
    Ok(found)
}

/// The table of the snapshot at a place.
fn table_of(
    recording: &Arc<Recording>,
    snapshots: &[SnapshotId],
    place: usize,
    step: &LifeStep,
    (options, progress): (&SeriesOptions, &dyn Progress),
) -> Result<LifeTable> {
    let mut types = [Vec::new(), Vec::new()];
    for (place, types) in [place.checked_sub(1), Some(place)].into_iter().zip(&mut types) {
        let Some(place) = place else { continue };
        *types = options.heap(recording, snapshots[place])?.types(&Quiet(progress))?.to_vec();
    }
    let [before, own] = types;
    Ok(LifeTable::of(step, place, &own, &before))
}
