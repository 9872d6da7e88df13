//! Incoming references: who refers to an object.

use barrow_format::block::Wanted;
use barrow_format::{ObjectId, SnapshotId};

use crate::blocks::{map_blocks, places};
use crate::error::Result;
use crate::memory::Memory;
use crate::progress::Progress;
use crate::recording::Recording;
use crate::rows::Rows;
use crate::transposed::{EachReference, Transposed};

/// The incoming references of all objects.
#[derive(Debug)]
pub struct Incoming {
    pub(crate) sources: Transposed,
}

impl EachReference for Rows {
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(u32, u32)) {
        let view = self.view();
        for object in 0..self.objects() as u32 {
            view.row(object).for_each(|target| visit(object, target));
        }
    }
}

impl Incoming {
    /// Turns all rows around.
    ///
    /// Time: linear. Memory: 4 bytes an object, 4 bytes a reference.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`], those of [`Memory`].
    pub(crate) fn of(rows: &Rows, memory: &Memory, progress: &dyn Progress) -> Result<Self> {
        progress.begin("turning references around", rows.references(), "references");
        Ok(Incoming { sources: Transposed::of(rows, rows.objects(), memory, memory.room_bytes(), progress)? })
    }

    /// How many references lead to an object.
    #[must_use]
    pub fn count(&self, object: ObjectId) -> u64 {
        self.sources.row(object.0).len() as u64
    }

    /// The objects that refer to an object, ascending, each once.
    #[must_use]
    pub fn sources(&self, object: ObjectId) -> Vec<ObjectId> {
        let mut sources: Vec<ObjectId> = self.sources.row(object.0).iter().map(|&source| ObjectId(source)).collect();
        // They stand in falling order, as the last reference was filled in first.
        sources.reverse();
        sources.dedup();
        sources
    }
}

/// The objects that refer to `target`, ascending, each once: found by looking at all references, on all
/// threads of the current pool.
///
/// # Errors
/// [`crate::AnalyzerError::NoSnapshot`], [`crate::AnalyzerError::Section`],
/// [`crate::AnalyzerError::Cancelled`].
pub fn scan_incoming(
    recording: &Recording,
    snapshot: SnapshotId,
    target: ObjectId,
    progress: &dyn Progress,
) -> Result<Vec<ObjectId>> {
    let places = places(recording, &[snapshot])?;
    let references = places.iter().map(|place| u64::from(place.entry.references)).sum();
    progress.begin("looking at all references", references, "references");
    let found = map_blocks(recording, &places, Wanted::References, progress, |_, _, columns| {
        let mut sources = Vec::new();
        // Most blocks do not refer to it at all.
        if columns.targets.contains(&target.0) {
            let mut rest = &columns.targets[..];
            for (source, &count) in (columns.first_object..).zip(&columns.counts) {
                let (own, others) = rest.split_at(count as usize);
                rest = others;
                if own.contains(&target.0) {
                    sources.push(ObjectId(source));
                }
            }
        }
        Ok(sources)
    })?;
    let mut sources = found.concat();
    // An object that goes on in the next block may be found twice.
    sources.dedup();
    Ok(sources)
}
