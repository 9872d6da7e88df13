//! Incoming references: which objects refer to an object.

use barrow_format::block::{BlockColumns, Wanted};
use barrow_format::{ObjectId, SnapshotId};

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, map_blocks, places};
use crate::file::object::{Cursor, Reference};
use crate::file::recording::Recording;
use crate::graph::adjacency::Adjacency;
use crate::graph::exclusion::Exclusion;
use crate::graph::transposed::{EachReference, Transposed};
use crate::progress::{Progress, check};
use crate::run::Run;

/// Objects between two checks for cancellation.
const CHECK_OBJECTS: u32 = 1 << 16;

/// The incoming references of all objects.
#[derive(Debug)]
pub struct Incoming {
    pub(crate) sources: Transposed,
}

impl EachReference for Adjacency {
    #[inline(always)]
    fn for_each(&self, progress: &dyn Progress, mut visit: impl FnMut(u32, u32)) -> Result<()> {
        let view = self.view();
        for object in 0..self.objects() as u32 {
            if object % CHECK_OBJECTS == 0 {
                check(progress)?;
            }
            view.targets(object).for_each(|target| visit(object, target));
        }
        Ok(())
    }
}

impl Incoming {
    /// Transposes the graph.
    ///
    /// Time: linear. Memory: 4 bytes per object, 4 bytes per reference.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub(crate) fn of(adjacency: &Adjacency, run: Run<'_>) -> Result<Self> {
        run.progress.begin("turning references around", adjacency.references(), "references");
        Ok(Incoming { sources: Transposed::of(adjacency, adjacency.objects(), run.memory.room_bytes(), run)? })
    }

    /// The number of references to an object.
    #[must_use]
    pub fn count(&self, object: ObjectId) -> u64 {
        self.sources.sources_of(object.0).len() as u64
    }

    /// The objects that refer to an object, ascending, without duplicates.
    #[must_use]
    pub fn sources(&self, object: ObjectId) -> Vec<ObjectId> {
        let mut sources: Vec<ObjectId> = self.each_source(object).map(ObjectId).collect();
        sources.dedup();
        sources
    }

    /// The source of every reference to an object, ascending.
    pub(crate) fn each_source(&self, object: ObjectId) -> impl Iterator<Item = u32> {
        // They are stored in descending order, because lists are filled from their ends.
        self.sources.sources_of(object.0).iter().rev().copied()
    }
}

/// The source of every reference to `target`, ascending. Scans all references, in parallel on the current pool.
pub(crate) fn scan(
    recording: &Recording,
    snapshot: SnapshotId,
    target: ObjectId,
    exclusion: Option<&Exclusion>,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    let places = places(recording, &[snapshot])?;
    begin_scan(&places, progress);
    let found = map_blocks(recording, &places, Wanted::References, progress, |place, _, columns| {
        let mut sources = Vec::new();
        let hit = |hit: Hit| sources.extend(std::iter::repeat_n(hit.source.0, hit.count as usize));
        each_hit(recording, place, columns, target, exclusion, hit)?;
        Ok(sources)
    })?;
    Ok(found.concat())
}

/// Reports the start of a scan over the references of these blocks.
pub(crate) fn begin_scan(places: &[BlockPlace], progress: &dyn Progress) {
    let references = places.iter().map(|place| u64::from(place.entry.references)).sum();
    progress.begin("looking at all references", references, "references");
}

/// The references from one object, within one block, to the target of a scan.
pub(crate) struct Hit {
    /// The row of the object in the block; 0 in a continuation.
    pub(crate) row: usize,
    /// The object that refers to the target.
    pub(crate) source: ObjectId,
    /// The number of its references to the target.
    pub(crate) count: u64,
}

/// Calls `visit` for every object of a block that refers to `target`.
pub(crate) fn each_hit(
    recording: &Recording,
    place: &BlockPlace,
    columns: &BlockColumns,
    target: ObjectId,
    exclusion: Option<&Exclusion>,
    mut visit: impl FnMut(Hit),
) -> Result<()> {
    // Most blocks contain no reference to it.
    if !columns.targets.contains(&target.0) {
        return Ok(());
    }
    let tables = recording.tables()?;
    let (mut cursor, mut references) = (Cursor::default(), Vec::new());
    for row in 0..columns.counts.len() {
        let source = ObjectId(columns.first_object + row as u32);
        let mut count = cursor.targets(columns, row).iter().filter(|&&other| other == target.0).count() as u64;
        if let Some(exclusion) = exclusion.filter(|_| count > 0) {
            references.clear();
            let at = AnalyzerError::section("BLOCK", place.entry.offset);
            cursor.push_references(columns, row, tables, &mut references).map_err(at)?;
            let is_there = |reference: &&Reference| reference.target == target && !exclusion.cuts(source, reference);
            count = references.iter().filter(is_there).count() as u64;
        }
        if count > 0 {
            visit(Hit { row, source, count });
        }
        cursor.step(columns, row);
    }
    Ok(())
}
