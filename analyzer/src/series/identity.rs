//! Identity: serials that name objects across the snapshots of a recording.
//!
//! ```text
//!   snapshot        0            1            2
//!   serials      1 2 3 4      1 2 4 5      1 4 5 6        2 and 3 died, 5 and 6 were born
//! ```
//!
//! Serials come from the runtime if it records them. Otherwise each snapshot is [matched](super::matching) with the
//! previous one.

use std::ops::Range;

use barrow_format::block::ColumnSelection;
use barrow_format::{ObjectId, SnapshotId};

use crate::columns::index_file::IndexPlace;
use crate::error::Result;
use crate::file::blocks::{Workspace, begin, decode, map_blocks, places};
use crate::file::recording::Recording;
use crate::graph::roots::Roots;
use crate::progress::Progress;
use crate::series::kept::SeriesOptions;
use crate::series::loaded_snapshot::{LoadedSnapshot, NO_OBJECT};
use crate::series::matched::MatchedSerials;
use crate::series::matching::{Pairing, Side, match_structure};

/// The fact of a recording with the origin of its serials; absent if they come from the runtime.
pub const SERIALS_FACT: &str = "serials";
/// Its value for serials that come from matching.
pub const MATCHED: &str = "matched by structure";
/// The key of a repacked snapshot for the result of its matching, as [`Pairing::sentence`].
pub const PAIRED_KEY: &str = "paired with the snapshot before";

/// The origin of serials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SerialOrigin {
    /// The runtime recorded them: they are exact.
    Runtime,
    /// Consecutive snapshots were matched when the recording was repacked.
    Repacked,
    /// The recording has none: consecutive snapshots are matched now.
    Matched,
}

impl SerialOrigin {
    /// Returns whether they come from the runtime, so that they are no estimate.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self == SerialOrigin::Runtime
    }
}

/// The serials of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotSerials {
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// For each object its serial; 0 if it is unknown.
    pub serials: Vec<u64>,
    /// The pairing with the previous snapshot, if it was matched.
    pub pairing: Option<Pairing>,
}

/// Walks over snapshots in order and returns the serials of each.
#[derive(Debug)]
pub struct SerialWalk<'r> {
    recording: &'r Recording,
    origin: SerialOrigin,
    /// The snapshots of the walk.
    snapshots: Vec<SnapshotId>,
    /// The place of the next one.
    next: usize,
    options: SeriesOptions,
    /// The serials of all snapshots, if they are matched.
    matched: Option<MatchedSerials>,
}

impl Recording {
    /// The origin of the serials of the recording's objects.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section).
    pub fn serial_origin(&self) -> Result<SerialOrigin> {
        if self.facts()?.iter().any(|(key, value)| key == SERIALS_FACT && value == MATCHED) {
            return Ok(SerialOrigin::Repacked);
        }
        for snapshot in self.snapshot_ids() {
            let mut workspace = Workspace::default();
            if let Some(place) = places(self, &[snapshot])?.first() {
                let has_serials = decode(self, place, ColumnSelection::Identity, &mut workspace, |_, columns| {
                    Ok(!columns.serials.is_empty())
                })?;
                if !has_serials {
                    return Ok(SerialOrigin::Matched);
                }
            }
        }
        Ok(SerialOrigin::Runtime)
    }

    /// Walks over all snapshots from the first to `last` and returns the serials of each. If the recording has none,
    /// serials are assigned from 1 upwards in the order in which objects first appear. No index file is used.
    ///
    /// # Errors
    /// As for [`Recording::serial_origin`].
    pub fn serials(&self, last: SnapshotId) -> Result<SerialWalk<'_>> {
        SerialWalk::new(self, last, SeriesOptions::default())
    }

    /// The first snapshot up to `last` that holds an object with this serial.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section),
    /// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled).
    pub fn born(&self, serial: u64, last: SnapshotId, progress: &dyn Progress) -> Result<Option<SnapshotId>> {
        for snapshot in self.snapshot_ids().take_while(|&snapshot| snapshot <= last) {
            let places = places(self, &[snapshot])?;
            begin(progress, "reading serials", &places, ColumnSelection::Identity);
            let has_serial = map_blocks(self, &places, ColumnSelection::Identity, progress, |_, _, columns| {
                Ok(columns.serials.contains(&serial))
            })?;
            if has_serial.contains(&true) {
                return Ok(Some(snapshot));
            }
        }
        Ok(None)
    }

    /// For each object of `after` the same object in `before`, found by structure alone, as [`Recording::serials`] does
    /// without serials of the runtime.
    ///
    /// # Errors
    /// As for [`Recording::born`].
    pub fn partners(
        &self,
        before: SnapshotId,
        after: SnapshotId,
        progress: &dyn Progress,
    ) -> Result<Vec<Option<ObjectId>>> {
        let (old, new) = (LoadedSnapshot::read(self, before, progress)?, LoadedSnapshot::read(self, after, progress)?);
        let (old_roots, new_roots) = (Roots::read(self, before)?, Roots::read(self, after)?);
        let sides =
            [(&old, &old_roots), (&new, &new_roots)].map(|(loaded, roots)| Side { loaded, roots: roots.rows() });
        let partners = match_structure(sides[0], sides[1], self.tables()?, progress)?;
        Ok(partners.into_iter().map(|object| (object != NO_OBJECT).then_some(ObjectId(object))).collect())
    }

    /// The serials of one snapshot as the recording holds them; all are 0 if there are none.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section).
    pub fn recorded_serials(&self, snapshot: SnapshotId) -> Result<Vec<u64>> {
        let mut serials = Vec::new();
        let mut workspace = Workspace::default();
        for place in places(self, &[snapshot])? {
            decode(self, &place, ColumnSelection::Identity, &mut workspace, |_, columns| {
                serials.extend_from_slice(&columns.serials);
                let end = place.entry.first_object as usize + columns.objects().max(1);
                serials.resize(end, 0);
                Ok(())
            })?;
        }
        Ok(serials)
    }
}

/// The lesser of two confidences; that which is known, if only one is.
pub(crate) fn lesser(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::min)
}

impl<'r> SerialWalk<'r> {
    /// A walk as [`Recording::serials`] describes it. Serials that come from matching are kept in the index file.
    ///
    /// # Errors
    /// As for [`Recording::serial_origin`].
    pub fn new(recording: &'r Recording, last: SnapshotId, options: SeriesOptions) -> Result<Self> {
        let origin = recording.serial_origin()?;
        let snapshots = recording.snapshot_ids().filter(|&snapshot| snapshot <= last).collect();
        Ok(SerialWalk { recording, origin, snapshots, next: 0, options, matched: None })
    }

    /// The origin of the serials.
    #[must_use]
    pub fn origin(&self) -> SerialOrigin {
        self.origin
    }

    /// The serials of the next snapshot; `None` after the last.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section),
    /// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled).
    pub fn next(&mut self, progress: &dyn Progress) -> Result<Option<SnapshotSerials>> {
        let Some(&snapshot) = self.snapshots.get(self.next) else { return Ok(None) };
        let place = self.next;
        self.next += 1;
        let serials = match self.origin {
            SerialOrigin::Matched => self.matched_serials(place, progress)?,
            SerialOrigin::Runtime | SerialOrigin::Repacked => self.recording.recorded_serials(snapshot)?,
        };
        let pairing = self.pairing(place, progress)?;
        Ok(Some(SnapshotSerials { snapshot, serials, pairing }))
    }

    /// The pairing of the snapshot at a place with the previous one, made now or when the recording was repacked.
    fn pairing(&mut self, place: usize, progress: &dyn Progress) -> Result<Option<Pairing>> {
        match self.origin {
            SerialOrigin::Runtime => Ok(None),
            SerialOrigin::Matched => Ok(self.matched(progress)?.pairing(place)),
            SerialOrigin::Repacked => {
                let known = self.recording.snapshot(self.snapshots[place])?.key_values;
                Ok(known.iter().find(|(key, _)| key == PAIRED_KEY).and_then(|(_, text)| Pairing::from_sentence(text)))
            }
        }
    }

    /// The lowest confidence of the matches at these places; `None` if none of them was matched.
    pub(crate) fn confidence(&mut self, places: Range<usize>, progress: &dyn Progress) -> Result<Option<f64>> {
        let mut least: Option<f64> = None;
        for place in places {
            least = lesser(least, self.pairing(place, progress)?.map(|pairing| pairing.confidence()));
        }
        Ok(least)
    }

    /// The serials of one snapshot of the walk.
    pub(crate) fn serials_of(&mut self, snapshot: SnapshotId, progress: &dyn Progress) -> Result<Vec<u64>> {
        match self.snapshots.binary_search(&snapshot) {
            Ok(place) if self.origin == SerialOrigin::Matched => self.matched_serials(place, progress),
            _ => self.recording.recorded_serials(snapshot),
        }
    }

    /// The number of snapshots of the walk.
    pub(crate) fn len(&self) -> usize {
        self.snapshots.len()
    }

    /// Leaves out snapshots: the next one is that at this place.
    pub(crate) fn skip_to(&mut self, place: usize) {
        self.next = place;
    }

    /// The serials of all snapshots by matching.
    pub(crate) fn matched(&mut self, progress: &dyn Progress) -> Result<&MatchedSerials> {
        match &mut self.matched {
            Some(matched) => Ok(matched),
            none => {
                let last = self.snapshots.last().copied().unwrap_or(SnapshotId(0));
                Ok(none.insert(MatchedSerials::of(self.recording, last, &self.options, progress)?))
            }
        }
    }

    /// The same, if they are known already.
    pub(crate) fn known_matched(&self) -> Option<&MatchedSerials> {
        self.matched.as_ref()
    }

    /// The serials of the snapshot at a place by matching.
    fn matched_serials(&mut self, place: usize, progress: &dyn Progress) -> Result<Vec<u64>> {
        if let Some(serials) = self.matched(progress)?.serials(place) {
            return Ok(serials);
        }
        // The kept serials are damaged.
        self.options.place = IndexPlace::Nowhere;
        self.matched = None;
        Ok(self.matched(progress)?.serials(place).expect("serials that were just computed can be read"))
    }
}
