//! Births and deaths of objects over the snapshots of a recording.
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
//! objects, and memory 32 bytes for each object of two snapshots besides that of serials. If serials come from matching,
//! the objects born in a snapshot have consecutive serials, so time is O(n), and memory one bit for each serial.

use barrow_format::{ObjectId, SnapshotId};
use rayon::prelude::*;

use crate::error::Result;
use crate::file::recording::Recording;
use crate::graph::object_set::ObjectSet;
use crate::progress::Progress;
use crate::series::identity::{SerialOrigin, SerialWalk, lesser};
use crate::series::kept::SeriesOptions;

/// The birth of an object without a serial, which is unknown.
const UNKNOWN: u32 = u32::MAX;

/// Walks over snapshots in order, and finds the objects that were born or died.
#[derive(Debug)]
pub struct Lives<'r> {
    walk: SerialWalk<'r>,
    /// The number of snapshots visited.
    passed: u32,
    before: Previous,
    /// The lowest confidence of all matches.
    confidence: Option<f64>,
}

/// The objects of the previous snapshot.
#[derive(Debug)]
enum Previous {
    /// Those that have a serial, in order of serial.
    Alive(Vec<LiveObject>),
    /// Their serials, if these come from matching.
    Matched(Vec<u64>),
}

#[derive(Debug, Clone, Copy)]
struct LiveObject {
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

    /// Returns whether the object was born in the snapshot at this place of the walk.
    pub(crate) fn is_born_at(&self, object: usize, place: usize) -> bool {
        self.births[object] as usize == place
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
    /// A walk from the first snapshot to `last`, without an index file.
    ///
    /// # Errors
    /// As for [`Recording::serials`].
    pub fn new(recording: &'r Recording, last: SnapshotId) -> Result<Self> {
        Self::with(recording, last, SeriesOptions::default())
    }

    /// The same with an index file: serials that come from matching are kept in it.
    ///
    /// # Errors
    /// As for [`Recording::serials`].
    pub fn with(recording: &'r Recording, last: SnapshotId, options: SeriesOptions) -> Result<Self> {
        let walk = SerialWalk::new(recording, last, options)?;
        let before = match walk.origin() {
            SerialOrigin::Matched => Previous::Matched(Vec::new()),
            SerialOrigin::Runtime | SerialOrigin::Repacked => Previous::Alive(Vec::new()),
        };
        Ok(Lives { walk, passed: 0, before, confidence: None })
    }

    /// The origin of the serials.
    #[must_use]
    pub fn origin(&self) -> SerialOrigin {
        self.walk.origin()
    }

    /// The confidence of the matches so far, between 0 and 1: the lowest [`crate::Pairing::confidence`]. `None` if no
    /// snapshots were matched in this walk.
    #[must_use]
    pub fn confidence(&self) -> Option<f64> {
        self.confidence
    }

    /// Visits the next snapshot; `None` after the last.
    ///
    /// # Errors
    /// As for [`SerialWalk::next`].
    pub fn next(&mut self, progress: &dyn Progress) -> Result<Option<LifeStep>> {
        let Some(found) = self.walk.next(progress)? else { return Ok(None) };
        self.confidence = lesser(self.confidence, found.pairing.map(|pairing| pairing.confidence()));
        let (births, died) = match &mut self.before {
            Previous::Alive(before) => {
                let mut alive = by_serial(&found.serials, self.passed);
                let died = find_births(&mut alive, before);
                let mut births = vec![UNKNOWN; found.serials.len()];
                alive.iter().for_each(|one| births[one.object.index()] = one.born);
                *before = alive;
                (births, died)
            }
            Previous::Matched(before) => {
                let last_serials = self.walk.matched(progress)?.last_serials();
                let births = births_of(&found.serials, &last_serials);
                let died = died_of(before, &found.serials, &last_serials);
                *before = found.serials;
                (births, died)
            }
        };
        self.passed += 1;
        Ok(Some(LifeStep { snapshot: found.snapshot, births, died }))
    }

    /// Visits all remaining snapshots and returns the last, without its deaths; `None` if there are none.
    ///
    /// # Errors
    /// As for [`SerialWalk::next`].
    pub fn last(&mut self, progress: &dyn Progress) -> Result<Option<LifeStep>> {
        let mut last = None;
        if matches!(self.before, Previous::Matched(_)) {
            self.skip_to(self.walk.len().saturating_sub(1), progress)?;
        }
        while let Some(step) = self.next(progress)? {
            last = Some(LifeStep { died: Vec::new(), ..step });
        }
        Ok(last)
    }
}

impl Lives<'_> {
    /// The confidence of all matches of the walk, those of later snapshots included.
    pub(crate) fn whole_confidence(&mut self, progress: &dyn Progress) -> Result<Option<f64>> {
        self.walk.confidence(0..self.walk.len(), progress)
    }

    /// The step at a place of a walk over matched snapshots, which need not be the next one. `None` if the kept serials are
    /// damaged.
    pub(crate) fn matched_step(&self, place: usize) -> Option<LifeStep> {
        let matched = self.walk.known_matched()?;
        let last_serials = matched.last_serials();
        let serials = matched.serials(place)?;
        let before = if place == 0 { Vec::new() } else { matched.serials(place - 1)? };
        let (births, died) = (births_of(&serials, &last_serials), died_of(&before, &serials, &last_serials));
        Some(LifeStep { snapshot: matched.snapshot(place), births, died })
    }

    /// Leaves out snapshots that were matched: the next one is that at this place, and it has no deaths.
    fn skip_to(&mut self, place: usize, progress: &dyn Progress) -> Result<()> {
        let passed = self.passed as usize;
        if place <= passed {
            return Ok(());
        }
        self.confidence = lesser(self.confidence, self.walk.confidence(passed..place, progress)?);
        self.walk.skip_to(place);
        self.passed = place as u32;
        self.before = Previous::Matched(Vec::new());
        Ok(())
    }
}

/// Sets the births of the objects that are in the previous snapshot, too. Returns the objects of that snapshot that
/// died. Both are in order of serial.
fn find_births(alive: &mut [LiveObject], before: &[LiveObject]) -> Vec<(ObjectId, usize)> {
    let mut before = before.iter().peekable();
    let mut died = Vec::new();
    let mut last: Option<LiveObject> = None;
    for one in alive {
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
    died
}

/// For each object the place of the snapshot that it was born in, by its serial. `last_serials` are those of all
/// snapshots, see [`crate::series::matched::MatchedSerials::last_serials`].
fn births_of(serials: &[u64], last_serials: &[u64]) -> Vec<u32> {
    let mut born = BornIn::new(last_serials);
    serials.iter().map(|&serial| born.place(serial) as u32).collect()
}

/// The objects of the snapshot `before` whose serials are not among `serials`, with the places they were born in.
fn died_of(before: &[u64], serials: &[u64], last_serials: &[u64]) -> Vec<(ObjectId, usize)> {
    if before.is_empty() {
        return Vec::new();
    }
    let alive = SerialSet::of(serials, last_serials.last().copied().unwrap_or(0));
    let mut born = BornIn::new(last_serials);
    let gone = (0..).map(ObjectId).zip(before).filter(|&(_, &serial)| !alive.contains(serial));
    gone.map(|(object, &serial)| (object, born.place(serial))).collect()
}

/// Finds the snapshot that an object was born in.
struct BornIn<'l> {
    last_serials: &'l [u64],
    /// The place found last, and the serials that were born there. Neighbours were mostly born together.
    known: (usize, std::ops::RangeInclusive<u64>),
}

impl<'l> BornIn<'l> {
    fn new(last_serials: &'l [u64]) -> Self {
        BornIn { last_serials, known: (0, 0..=0) }
    }

    fn place(&mut self, serial: u64) -> usize {
        if !self.known.1.contains(&serial) {
            let place = self.last_serials.partition_point(|&last| last < serial);
            let before = place.checked_sub(1).map_or(0, |before| self.last_serials[before]);
            self.known = (place, before + 1..=self.last_serials.get(place).copied().unwrap_or(u64::MAX));
        }
        self.known.0
    }
}

/// A set of serials that were assigned from 1 upwards: one bit for each.
struct SerialSet(Vec<u64>);

impl SerialSet {
    fn of(serials: &[u64], last_serial: u64) -> Self {
        let mut words = vec![0; last_serial as usize / 64 + 1];
        serials.iter().for_each(|&serial| words[serial as usize / 64] |= 1u64 << (serial % 64));
        SerialSet(words)
    }

    fn contains(&self, serial: u64) -> bool {
        self.0[serial as usize / 64] >> (serial % 64) & 1 == 1
    }
}

/// The objects that have a serial, in order of serial, born at position `now`.
fn by_serial(serials: &[u64], now: u32) -> Vec<LiveObject> {
    let ids = (0..serials.len() as u32).map(ObjectId);
    let all = ids.zip(serials).map(|(object, &serial)| LiveObject { serial, object, born: now });
    let mut known: Vec<LiveObject> = all.filter(|one| one.serial != 0).collect();
    known.par_sort_unstable_by_key(|one| (one.serial, one.object));
    known
}

/// Returns whether one of the objects, which are in order of serial, has this serial.
#[inline]
fn has_serial(side: &[LiveObject], serial: u64) -> bool {
    side.binary_search_by_key(&serial, |one| one.serial).is_ok()
}

/// Two snapshots, compared object by object.
#[derive(Debug, Clone, PartialEq)]
pub struct Between {
    /// The origin of the serials.
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
    /// Compares two snapshots of a recording; `earlier` precedes `later`. No index file is used.
    ///
    /// # Errors
    /// As for [`SerialWalk::next`]; [`crate::AnalyzerError::NoSnapshot`].
    pub fn of(recording: &Recording, earlier: SnapshotId, later: SnapshotId, progress: &dyn Progress) -> Result<Self> {
        Self::with(recording, [earlier, later], SeriesOptions::default(), progress)
    }

    /// The same with an index file: serials that come from matching are kept in it.
    ///
    /// # Errors
    /// As for [`Between::of`].
    pub fn with(
        recording: &Recording,
        [earlier, later]: [SnapshotId; 2],
        options: SeriesOptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut walk = SerialWalk::new(recording, later, options)?;
        let born = ObjectSet::new(later, recording.commit(later)?.totals.objects);
        let died = ObjectSet::new(earlier, recording.commit(earlier)?.totals.objects);
        let stayed = born.clone();
        let confidence = walk.confidence(0..walk.len(), progress)?;
        let mut between = Between { origin: walk.origin(), confidence, born, died, stayed, unknown: 0 };
        let [before, after] = [walk.serials_of(earlier, progress)?, walk.serials_of(later, progress)?];
        if between.origin == SerialOrigin::Matched {
            let matched = walk.matched(progress)?;
            between.fill_by_bits(&before, &after, matched.last_serials().last().copied().unwrap_or(0));
        } else {
            between.fill_by_order(&by_serial(&before, 0), &by_serial(&after, 0));
            between.unknown = before.iter().chain(&after).filter(|&&serial| serial == 0).count() as u64;
        }
        Ok(between)
    }

    /// Finds the objects by serials of the runtime.
    fn fill_by_order(&mut self, before: &[LiveObject], after: &[LiveObject]) {
        for one in after {
            let set = if has_serial(before, one.serial) { &mut self.stayed } else { &mut self.born };
            set.insert(one.object);
        }
        before.iter().filter(|one| !has_serial(after, one.serial)).for_each(|one| _ = self.died.insert(one.object));
    }

    /// Finds the objects by serials that come from matching.
    fn fill_by_bits(&mut self, before: &[u64], after: &[u64], last_serial: u64) {
        let [old, new] = [before, after].map(|serials| SerialSet::of(serials, last_serial));
        for (object, &serial) in (0..).map(ObjectId).zip(after) {
            let set = if old.contains(serial) { &mut self.stayed } else { &mut self.born };
            set.insert(object);
        }
        let gone = (0..).map(ObjectId).zip(before).filter(|&(_, &serial)| !new.contains(serial));
        gone.for_each(|(object, _)| _ = self.died.insert(object));
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

    /// Returns whether the counts alone determine the number.
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
