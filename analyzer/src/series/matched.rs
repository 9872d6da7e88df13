//! Serials of objects whose runtime gives none: each snapshot is [matched](super::matching) with the previous one.
//!
//! ```text
//!   snapshots    0   1   2   3   4   5   6         two threads: a run of pairs each
//!                └───┴───┴───┘   :   :   :         partners of objects, as runs of numbers
//!                            └───┴───┴───┘
//!   serials      0 → 1 → 2 → 3 → 4 → 5 → 6         inherited from partners, in order
//! ```
//!
//! Pairs do not depend on each other, so they are matched in parallel. Each thread holds two snapshots. Serials are
//! assigned from 1 upwards in the order in which objects first appear, so the objects born in a snapshot have
//! consecutive serials. They are kept in the index file: later questions read those that they need, and only snapshots
//! that were added since are matched.

use std::ops::RangeInclusive;

use barrow_format::SnapshotId;

use crate::error::Result;
use crate::file::recording::Recording;
use crate::graph::roots::Roots;
use crate::progress::{Progress, Quiet, check};
use crate::series::at_once::{at_once, most_at_once};
use crate::series::kept::parts::{SnapshotPart, SnapshotParts};
use crate::series::kept::runs::{put_runs, take_runs};
use crate::series::kept::{KeptParts, SERIALS, SeriesOptions};
use crate::series::loaded_snapshot::{LoadedSnapshot, NO_OBJECT};
use crate::series::matching::{Pairing, Side, match_structure, pairing};
use crate::series::serials::Serials;

/// Bytes per object and per reference of a snapshot while it is matched: two snapshots, and the state of matching.
const OBJECT_BYTES: u64 = 120;
const REFERENCE_BYTES: u64 = 8;
/// Sequences of pairs for each thread, so that no thread waits long for the last one.
const SEQUENCES: usize = 2;
/// The maximum number of bytes per object in a part: two varints.
const MOST_BYTES: u64 = 20;

/// The serials of consecutive snapshots, the first of the recording included.
#[derive(Debug)]
pub(crate) struct MatchedSerials {
    snapshots: Vec<MatchedSnapshot>,
    parts: SnapshotParts,
}

/// The data of a snapshot that is known without reading its serials.
#[derive(Debug, Clone, Copy)]
struct MatchedSnapshot {
    snapshot: SnapshotId,
    objects: u64,
    /// The largest serial so far.
    last_serial: u64,
    pairing: Option<Pairing>,
}

impl MatchedSnapshot {
    /// The numbers of a part.
    fn numbers(&self) -> [u64; 4] {
        let Pairing { pairs, references, agreeing, .. } = self.pairing.unwrap_or_default();
        [self.last_serial, pairs, references, agreeing]
    }

    /// Reads the numbers of a part. `None` if they are impossible.
    fn of(numbers: [u64; 4], snapshot: SnapshotId, objects: u64, before: Option<&MatchedSnapshot>) -> Option<Self> {
        let [last_serial, pairs, references, agreeing] = numbers;
        let pairing =
            before.map(|before| Pairing { before: before.objects, after: objects, pairs, references, agreeing });
        let born = last_serial.checked_sub(before.map_or(0, |before| before.last_serial))?;
        let is_possible = born <= objects && pairs <= objects - born && agreeing <= references;
        is_possible.then_some(MatchedSnapshot { snapshot, objects, last_serial, pairing })
    }
}

impl MatchedSerials {
    /// The serials of all snapshots up to `last`: kept ones, and those of the others by matching, which are kept.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::NoSnapshot`], [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn of(
        recording: &Recording,
        last: SnapshotId,
        options: &SeriesOptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let index = KeptParts::find(recording, options);
        let mut matched = MatchedSerials { snapshots: Vec::new(), parts: index.parts(SERIALS) };
        let all: Vec<SnapshotId> = recording.snapshot_ids().filter(|&snapshot| snapshot <= last).collect();
        matched.take_kept(recording, &all)?;
        if matched.len() < all.len() {
            matched.match_rest(recording, &all, (&index, options), progress)?;
        }
        Ok(matched)
    }

    /// Takes the parts that are kept, from the first snapshot on.
    fn take_kept(&mut self, recording: &Recording, all: &[SnapshotId]) -> Result<()> {
        for &snapshot in all {
            let Some(part) = self.parts.get(snapshot) else { break };
            let objects = recording.commit(snapshot)?.totals.objects;
            let Some(found) = MatchedSnapshot::of(part.numbers, snapshot, objects, self.snapshots.last()) else {
                break;
            };
            self.snapshots.push(found);
        }
        Ok(())
    }

    /// Matches the snapshots that are not known yet, and keeps their serials.
    fn match_rest(
        &mut self,
        recording: &Recording,
        all: &[SnapshotId],
        (index, options): (&KeptParts<'_>, &SeriesOptions),
        progress: &dyn Progress,
    ) -> Result<()> {
        let before = self.len().checked_sub(1).and_then(|before| self.serials(before));
        let mut new = Vec::new();
        let mut serials = match before {
            Some(serials) => serials,
            None => {
                // Nothing is kept, or nothing that can be continued.
                let objects = recording.commit(all[0])?.totals.objects;
                let first = MatchedSnapshot { snapshot: all[0], objects, last_serial: objects, pairing: None };
                new.push((all[0], part_of(&first, 1..=objects)));
                self.snapshots = vec![first];
                (1..=objects).collect()
            }
        };
        let from = self.len() - 1;
        let pairs = match_all(recording, &all[from..], options, progress)?;
        for (&snapshot, (partners, pairing)) in all[from + 1..].iter().zip(pairs) {
            check(progress)?;
            let mut given = Serials::after(self.snapshots.last().map_or(0, |before| before.last_serial));
            serials = given.inherit(&partners.numbers(), &serials);
            let last_serial = given.last();
            let found = MatchedSnapshot { snapshot, objects: pairing.after, last_serial, pairing: Some(pairing) };
            new.push((snapshot, part_of(&found, serials.iter().copied())));
            self.snapshots.push(found);
        }
        if let Some(&last) = all.last() {
            index.keep(last, SERIALS, &new, progress)?;
        }
        new.into_iter().for_each(|(snapshot, part)| self.parts.replace(snapshot, part));
        Ok(())
    }

    /// The number of snapshots.
    pub(crate) fn len(&self) -> usize {
        self.snapshots.len()
    }

    /// The snapshot at a place.
    pub(crate) fn snapshot(&self, place: usize) -> SnapshotId {
        self.snapshots[place].snapshot
    }

    /// The pairing of the snapshot at a place with the previous one.
    pub(crate) fn pairing(&self, place: usize) -> Option<Pairing> {
        self.snapshots[place].pairing
    }

    /// For each snapshot the largest serial so far: objects born in the snapshot have higher serials than that of the
    /// previous one.
    pub(crate) fn last_serials(&self) -> Vec<u64> {
        self.snapshots.iter().map(|matched| matched.last_serial).collect()
    }

    /// The serials of the snapshot at a place. `None` if they are damaged.
    pub(crate) fn serials(&self, place: usize) -> Option<Vec<u64>> {
        let MatchedSnapshot { snapshot, objects, last_serial, .. } = self.snapshots[place];
        let raw = self.parts.get(snapshot)?.raw(objects.saturating_mul(MOST_BYTES).saturating_add(MOST_BYTES))?;
        take_runs(&raw, usize::try_from(objects).ok()?, (1, last_serial))
    }
}

fn part_of(matched: &MatchedSnapshot, serials: impl Iterator<Item = u64>) -> SnapshotPart {
    let mut raw = Vec::new();
    put_runs(serials, &mut raw);
    SnapshotPart::of(matched.numbers(), &raw)
}

/// The partners of objects in the previous snapshot, as runs: the first partner and the number of objects. Objects
/// without one have [`NO_OBJECT`].
struct Partners(Vec<(u32, u32)>);

impl Partners {
    fn of(partners: &[u32]) -> Self {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &partner in partners {
            match runs.last_mut() {
                Some((NO_OBJECT, length)) if partner == NO_OBJECT => *length += 1,
                Some((first, length))
                    if *first != NO_OBJECT
                        && u64::from(*first) + u64::from(*length) == partner.into()
                        && partner != NO_OBJECT =>
                {
                    *length += 1;
                }
                _ => runs.push((partner, 1)),
            }
        }
        runs.shrink_to_fit();
        Partners(runs)
    }

    fn numbers(&self) -> Vec<u32> {
        let mut partners = Vec::new();
        for &(first, length) in &self.0 {
            match first {
                NO_OBJECT => partners.resize(partners.len() + length as usize, NO_OBJECT),
                _ => partners.extend((0..length).map(|at| first + at)),
            }
        }
        partners
    }
}

/// Matches each snapshot but the first with the one before it.
fn match_all(
    recording: &Recording,
    snapshots: &[SnapshotId],
    options: &SeriesOptions,
    progress: &dyn Progress,
) -> Result<Vec<(Partners, Pairing)>> {
    let (mut sizes, mut bytes) = (Vec::new(), 0);
    for &snapshot in snapshots {
        let totals = recording.commit(snapshot)?.totals;
        sizes.push(totals.objects);
        bytes = bytes.max(totals.objects * OBJECT_BYTES + totals.references * REFERENCE_BYTES);
    }
    let pairs = snapshots.len().saturating_sub(1);
    if pairs > 0 {
        options.memory.require_more(bytes)?;
    }
    let most = most_at_once(&options.memory, bytes).min(pairs.max(1));
    progress.begin("matching snapshots", sizes.iter().skip(1).sum(), "objects");
    let sequences = sequences(&sizes, if most == 1 { 1 } else { most * SEQUENCES });
    let matched =
        at_once(sequences.len(), most, |at| match_sequence(recording, &snapshots[sequences[at].clone()], progress))?;
    Ok(matched.into_iter().flatten().collect())
}

/// Divides pairs of neighbours into at most `count` sequences with about as many objects each. `sizes` are the numbers of
/// objects of the snapshots. A sequence begins with the last snapshot of the previous one.
fn sequences(sizes: &[u64], count: usize) -> Vec<RangeInclusive<usize>> {
    let all: u64 = sizes.iter().skip(1).sum();
    let share = all.div_ceil(count as u64).max(1);
    let (mut sequences, mut first, mut sum) = (Vec::new(), 0, 0);
    for (place, &objects) in sizes.iter().enumerate().skip(1) {
        sum += objects;
        if sum >= share * (sequences.len() as u64 + 1) || place + 1 == sizes.len() {
            sequences.push(first..=place);
            first = place;
        }
    }
    sequences
}

/// Matches each snapshot but the first with the one before it, one after the other.
fn match_sequence(
    recording: &Recording,
    snapshots: &[SnapshotId],
    progress: &dyn Progress,
) -> Result<Vec<(Partners, Pairing)>> {
    let quiet = Quiet(progress);
    let mut found = Vec::with_capacity(snapshots.len());
    let mut before: Option<(LoadedSnapshot, Roots)> = None;
    let mut unused = LoadedSnapshot::default();
    for &snapshot in snapshots {
        let loaded = unused.read_next(recording, snapshot, &quiet)?;
        let roots = Roots::read(recording, snapshot)?;
        if let Some((before, roots_before)) = &before {
            let old = Side { loaded: before, roots: roots_before.rows() };
            let new = Side { loaded: &loaded, roots: roots.rows() };
            let partners = match_structure(old, new, recording.tables()?, &quiet)?;
            found.push((Partners::of(&partners), pairing(before, &loaded, &partners)));
            progress.advance(loaded.objects() as u64);
        }
        unused = before.replace((loaded, roots)).map(|(before, _)| before).unwrap_or_default();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    #[test]
    fn sequences_have_each_pair_once() {
        let mut random = Random::new(3);
        for _ in 0..200 {
            let sizes: Vec<u64> = (0..random.below(20)).map(|_| random.below(5)).collect();
            let count = 1 + random.below(6) as usize;
            let sequences = sequences(&sizes, count);
            let pairs: Vec<usize> = sequences.iter().flat_map(|part| part.clone().skip(1)).collect();
            assert_eq!(pairs, (1..sizes.len()).collect::<Vec<_>>());
            assert!(sequences.len() <= count + 1, "{sizes:?} {sequences:?}");
        }
    }

    #[test]
    fn partners_are_kept_as_runs() {
        let mut random = Random::new(4);
        for _ in 0..200 {
            let draw = |random: &mut Random| [NO_OBJECT, NO_OBJECT - 1, 0, 1, 2][random.below(5) as usize];
            let partners: Vec<u32> = (0..random.below(30)).map(|_| draw(&mut random)).collect();
            assert_eq!(Partners::of(&partners).numbers(), partners);
        }
    }
}
