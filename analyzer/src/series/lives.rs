//! When objects were born and died, over the snapshots of a recording.
//!
//! ```text
//!   snapshot      0          1          2
//!   serials     7 8 9      7 9 10     7 10 11
//!   born        0 0 0      0 0 1      0  1  2      the first snapshot that holds the object
//!   died                     8          9          the previous snapshot holds the object, this one does not
//! ```
//!
//! Objects are identified by their serials. If serials come from matching, births and deaths are estimates, too, see
//! [`SerialOrigin`]. Objects that live only between two snapshots are not seen. Time is O(n log n) for a snapshot of n
//! objects. Memory is 32 bytes for each object of two snapshots besides that of serials.

use barrow_format::{ObjectId, SnapshotId};
use rayon::prelude::*;

use crate::error::Result;
use crate::file::recording::Recording;
use crate::graph::object_set::ObjectSet;
use crate::progress::Progress;
use crate::series::identity::{SerialOrigin, SerialWalk};
use crate::series::matching::Pairing;

/// The birth of an object without a serial, which is unknown.
const UNKNOWN: u32 = u32::MAX;

/// Walks over snapshots in order, and finds the objects that were born or died.
#[derive(Debug)]
pub struct Lives<'r> {
    walk: SerialWalk<'r>,
    /// The number of snapshots visited.
    passed: u32,
    /// The objects of the previous snapshot that have a serial, in order of serial.
    alive: Vec<Alive>,
    /// The lowest confidence of all matches.
    confidence: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Alive {
    serial: u64,
    object: ObjectId,
    born: u32,
}

/// One snapshot of the walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifeStep {
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// For each object the position of the snapshot it was born in, see [`LifeStep::born`].
    births: Vec<u32>,
    /// The objects of the previous snapshot that died since, with the positions of the snapshots they were born in.
    pub died: Vec<(ObjectId, usize)>,
}

impl LifeStep {
    /// The position in the walk of the first snapshot that holds the object, from 0; `None` if it has no serial.
    #[must_use]
    pub fn born(&self, object: ObjectId) -> Option<usize> {
        Some(self.births[object.index()]).filter(|&born| born != UNKNOWN).map(|born| born as usize)
    }

    /// The number of objects in the snapshot.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.births.len()
    }

    /// The objects whose birth satisfies `wanted`, which gets the result of [`LifeStep::born`].
    #[must_use]
    pub fn objects_born(&self, wanted: impl Fn(usize) -> bool) -> ObjectSet {
        let ids = (0..self.births.len() as u32).map(ObjectId);
        let chosen = ids.filter(|&object| self.born(object).is_some_and(&wanted));
        ObjectSet::from_sorted(self.snapshot, self.births.len() as u64, chosen)
    }
}

impl<'r> Lives<'r> {
    /// A walk from the first snapshot to `last`.
    ///
    /// # Errors
    /// As for [`Recording::serials`].
    pub fn new(recording: &'r Recording, last: SnapshotId) -> Result<Self> {
        Ok(Lives { walk: recording.serials(last)?, passed: 0, alive: Vec::new(), confidence: None })
    }

    /// Where serials come from.
    #[must_use]
    pub fn origin(&self) -> SerialOrigin {
        self.walk.origin()
    }

    /// The confidence of the matches so far, between 0 and 1: the lowest [`Pairing::confidence`]. `None` if no
    /// snapshots were matched in this walk.
    #[must_use]
    pub fn confidence(&self) -> Option<f64> {
        self.confidence
    }

    /// The next snapshot; `None` after the last.
    ///
    /// # Errors
    /// As for [`SerialWalk::next`].
    pub fn next(&mut self, progress: &dyn Progress) -> Result<Option<LifeStep>> {
        let Some(found) = self.walk.next(progress)? else { return Ok(None) };
        self.confidence = lesser(self.confidence, found.pairing);
        let mut alive = by_serial(&found.serials, self.passed);
        let mut before = self.alive.iter().peekable();
        let mut died = Vec::new();
        let mut last: Option<Alive> = None;
        for one in &mut alive {
            while let Some(gone) = before.next_if(|old| old.serial < one.serial) {
                died.push((gone.object, gone.born as usize));
            }
            if let Some(same) = last.filter(|same| same.serial == one.serial) {
                one.born = same.born;
            }
            while let Some(same) = before.next_if(|old| old.serial == one.serial) {
                one.born = same.born;
            }
            last = Some(*one);
        }
        died.extend(before.map(|gone| (gone.object, gone.born as usize)));
        died.sort_unstable();
        let mut births = vec![UNKNOWN; found.serials.len()];
        alive.iter().for_each(|one| births[one.object.index()] = one.born);
        self.alive = alive;
        self.passed += 1;
        Ok(Some(LifeStep { snapshot: found.snapshot, births, died }))
    }

    /// Visits all remaining snapshots and returns the last; `None` if there are none.
    ///
    /// # Errors
    /// As for [`SerialWalk::next`].
    pub fn last(&mut self, progress: &dyn Progress) -> Result<Option<LifeStep>> {
        let mut last = None;
        while let Some(step) = self.next(progress)? {
            last = Some(step);
        }
        Ok(last)
    }
}

fn lesser(confidence: Option<f64>, pairing: Option<Pairing>) -> Option<f64> {
    let next = pairing.map(|pairing| pairing.confidence());
    confidence.into_iter().chain(next).reduce(f64::min)
}

/// The objects that have a serial, in order of serial, born at position `now`.
fn by_serial(serials: &[u64], now: u32) -> Vec<Alive> {
    let ids = (0..serials.len() as u32).map(ObjectId);
    let all = ids.zip(serials).map(|(object, &serial)| Alive { serial, object, born: now });
    let mut known: Vec<Alive> = all.filter(|one| one.serial != 0).collect();
    known.par_sort_unstable_by_key(|one| (one.serial, one.object));
    known
}

/// Two snapshots, compared object by object.
#[derive(Debug, Clone, PartialEq)]
pub struct Between {
    /// Where serials come from.
    pub origin: SerialOrigin,
    /// The confidence of the matches, see [`Lives::confidence`].
    pub confidence: Option<f64>,
    /// Objects of the later snapshot that the earlier one did not have.
    pub born: ObjectSet,
    /// Objects of the earlier snapshot that the later one does not have.
    pub died: ObjectSet,
    /// Objects of the later snapshot that the earlier one has, too.
    pub stayed: ObjectSet,
    /// The number of objects of both snapshots that have no serial. They are in none of these sets.
    pub unknown: u64,
}

impl Between {
    /// Compares two snapshots of a recording; `earlier` precedes `later`.
    ///
    /// # Errors
    /// As for [`SerialWalk::next`]; [`crate::AnalyzerError::NoSnapshot`].
    pub fn of(recording: &Recording, earlier: SnapshotId, later: SnapshotId, progress: &dyn Progress) -> Result<Self> {
        let none = |snapshot| Ok(ObjectSet::new(snapshot, recording.commit(snapshot)?.totals.objects));
        let (mut born, mut died, mut stayed) = (none(later)?, none(earlier)?, none(later)?);
        let mut walk = recording.serials(later)?;
        let (mut before, mut after, mut unknown) = (Vec::new(), Vec::new(), 0);
        let mut confidence = None;
        while let Some(found) = walk.next(progress)? {
            confidence = lesser(confidence, found.pairing);
            if found.snapshot == earlier {
                before = by_serial(&found.serials, 0);
                unknown += (found.serials.len() - before.len()) as u64;
            }
            if found.snapshot == later {
                after = by_serial(&found.serials, 0);
                unknown += (found.serials.len() - after.len()) as u64;
            }
        }
        let has = |side: &[Alive], serial: u64| side.binary_search_by_key(&serial, |one| one.serial).is_ok();
        for one in &after {
            let set = if has(&before, one.serial) { &mut stayed } else { &mut born };
            set.insert(one.object);
        }
        before.iter().filter(|one| !has(&after, one.serial)).for_each(|one| _ = died.insert(one.object));
        Ok(Between { origin: walk.origin(), confidence, born, died, stayed, unknown })
    }
}

/// Bounds on a number of objects that follow from the counts of snapshots alone, whatever objects are paired.
///
/// An object keeps its type. So the number of objects of a type that are in all snapshots of a series is at most the
/// smallest count of a snapshot; the others were born or died. The true number of births or deaths is always within
/// these bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CountBounds {
    /// The lower bound.
    pub low: u64,
    /// The upper bound.
    pub high: u64,
}

impl CountBounds {
    /// Bounds on the number of objects in the last snapshot and not in the first. `counts` holds the counts of one
    /// type, from the first snapshot to the last.
    #[must_use]
    pub fn born(counts: &[u64]) -> Self {
        Self::missing(counts, counts.last())
    }

    /// Bounds on the number of objects in the first snapshot and not in the last.
    #[must_use]
    pub fn died(counts: &[u64]) -> Self {
        Self::missing(counts, counts.first())
    }

    /// Bounds on the number of objects in all snapshots.
    #[must_use]
    pub fn stayed(counts: &[u64]) -> Self {
        let least = counts.iter().copied().min().unwrap_or(0);
        CountBounds { low: if counts.len() == 1 { least } else { 0 }, high: least }
    }

    fn missing(counts: &[u64], there: Option<&u64>) -> Self {
        let (there, stayed) = (there.copied().unwrap_or(0), Self::stayed(counts));
        CountBounds { low: there - stayed.high, high: there - stayed.low }
    }

    /// Whether the counts alone determine the number.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self.low == self.high
    }
}

impl std::ops::AddAssign for CountBounds {
    fn add_assign(&mut self, other: Self) {
        self.low += other.low;
        self.high += other.high;
    }
}

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

impl<'r> Lives<'r> {
    /// Counts by type id the births after the snapshot `first`, and how many of these objects died. `types_of` returns
    /// the type of each object of a snapshot.
    ///
    /// # Errors
    /// As for [`SerialWalk::next`], and those of `types_of`.
    pub fn turnover(
        &mut self,
        first: SnapshotId,
        mut types_of: impl FnMut(SnapshotId) -> Result<Vec<u32>>,
        progress: &dyn Progress,
    ) -> Result<Vec<Turnover>> {
        let mut found: Vec<Turnover> = Vec::new();
        let (mut types_before, mut first_place, mut at) = (Vec::new(), 0, 0);
        let mut counts_before = Vec::new();
        while let Some(step) = self.next(progress)? {
            let types: Vec<u32> = types_of(step.snapshot)?;
            found.resize(
                found.len().max(types.iter().map(|&of| of as usize + 1).max().unwrap_or(0)),
                Turnover::default(),
            );
            if step.snapshot <= first {
                first_place = at;
            }
            let counts = counts_of(&types, found.len());
            if at > first_place {
                add_bounds(&mut found, &counts_before, &counts);
            }
            counts_before = counts;
            for &(object, _) in step.died.iter().filter(|&&(_, born)| born > first_place) {
                let of: Option<&u32> = types_before.get(object.index());
                of.into_iter().for_each(|&of| found[of as usize].died += 1);
            }
            for (object, &of) in (0..).map(ObjectId).zip(&types) {
                found[of as usize].born += u64::from(at > first_place && step.born(object) == Some(at));
            }
            (types_before, at) = (types, at + 1);
        }
        Ok(found)
    }
}

/// The number of objects of each type.
fn counts_of(types: &[u32], len: usize) -> Vec<u64> {
    let mut counts = vec![0; len];
    types.iter().for_each(|&of| counts[of as usize] += 1);
    counts
}

/// Adds for each type the bounds on births from one snapshot to the next.
fn add_bounds(found: &mut [Turnover], before: &[u64], after: &[u64]) {
    for (of, (turnover, &after)) in found.iter_mut().zip(after).enumerate() {
        turnover.born_bounds += CountBounds::born(&[before.get(of).copied().unwrap_or(0), after]);
    }
}
