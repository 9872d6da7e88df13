//! Survival of the objects that match an expression from each snapshot to the next, by age.

use std::sync::Arc;

use barrow_format::{KindId, SnapshotId};

use crate::error::Result;
use crate::file::recording::Recording;
use crate::graph::object_set::ObjectSet;
use crate::progress::{Progress, Quiet};
use crate::questions::expression::Expression;
use crate::series::at_once::{at_once, most_at_once};
use crate::series::identity::SerialOrigin;
use crate::series::kept::answers::KeptAnswers;
use crate::series::kept::{KeptParts, SeriesOptions};
use crate::series::lives::{LifeStep, Lives};

/// Bytes per object while a snapshot is searched: serials of two snapshots, births and types.
const OBJECT_BYTES: u64 = 32;

/// Objects of one age, over all snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgeCount {
    /// Those that another snapshot follows.
    pub objects: u64,
    /// Those that the next snapshot does not have.
    pub died: u64,
}

/// The objects of all ages, and the confidence of the counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Survival {
    /// By age in snapshots, from 0.
    pub ages: Vec<AgeCount>,
    /// The origin of the serials.
    pub origin: SerialOrigin,
    /// The confidence of the matches, see [`Lives::confidence`].
    pub confidence: Option<f64>,
}

/// The objects that match in one snapshot, and in the previous one, by the place of the snapshot that they were born in.
/// Those of the first snapshot are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ByBirth {
    alive: Vec<u64>,
    /// Objects that matched in the previous snapshot, and died.
    died: Vec<u64>,
}

impl ByBirth {
    /// The objects of sets at step number `place`.
    fn of(step: &LifeStep, place: usize, set: &ObjectSet, set_before: Option<&ObjectSet>) -> Self {
        let mut counts = ByBirth { alive: vec![0; place + 1], died: vec![0; place + 1] };
        let births = set.iter().filter_map(|object| step.born(object));
        births.for_each(|born| counts.alive[born] += 1);
        let died = step.died.iter().filter(|(object, _)| set_before.is_some_and(|set| set.contains(*object)));
        died.for_each(|&(_, born)| counts.died[born] += 1);
        (counts.alive[0], counts.died[0]) = (0, 0);
        counts
    }

    fn numbers(&self) -> Vec<u64> {
        [&self.alive[..], &self.died].concat()
    }

    fn from_numbers(numbers: &[u64], place: usize) -> Option<Self> {
        if numbers.len() != 2 * (place + 1) || numbers.iter().any(|&number| number > u64::from(u32::MAX)) {
            return None;
        }
        let (alive, died) = numbers.split_at(place + 1);
        Some(ByBirth { alive: alive.to_vec(), died: died.to_vec() })
    }
}

impl Survival {
    /// Counts the objects that match in a snapshot, and those of them that the next snapshot does not have, by age. Objects
    /// of the first snapshot are left out, because their age is unknown. The counts of each snapshot are kept in the index
    /// file.
    ///
    /// # Errors
    /// As for [`crate::SerialWalk::next`] and [`crate::Heap::select`].
    pub fn of(
        recording: &Arc<Recording>,
        (kinds, expression): (&[KindId], &Expression),
        options: &SeriesOptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let snapshots: Vec<SnapshotId> = recording.snapshot_ids().collect();
        let last = snapshots.last().copied().unwrap_or(SnapshotId(0));
        let mut lives = Lives::with(recording, last, options.clone())?;
        let (origin, confidence) = (lives.origin(), lives.whole_confidence(progress)?);
        let text = options.asked("survival", kinds, expression);
        let mut answers = KeptAnswers::of(KeptParts::find(recording, options));
        let kept = snapshots
            .iter()
            .enumerate()
            .map(|(place, &snapshot)| ByBirth::from_numbers(answers.get(snapshot, text.as_deref()?)?, place));
        let mut counts: Vec<Option<ByBirth>> = kept.collect();
        let missing: Vec<usize> = (0..snapshots.len()).filter(|&place| counts[place].is_none()).collect();
        let search = Search { recording, snapshots: &snapshots, kinds, expression, options };
        let found = search.counts(&mut lives, &missing, progress)?;
        for (place, found) in missing.into_iter().zip(found) {
            if let Some(text) = &text {
                answers.add(snapshots[place], text, found.numbers());
            }
            counts[place] = Some(found);
        }
        answers.keep(progress)?;
        let counts: Vec<ByBirth> = counts.into_iter().flatten().collect();
        Ok(Survival { ages: ages(&counts), origin, confidence })
    }
}

/// Sums the counts of all snapshots by age.
fn ages(counts: &[ByBirth]) -> Vec<AgeCount> {
    let mut ages = vec![AgeCount::default(); counts.len()];
    for (place, count) in counts.iter().enumerate() {
        if place + 1 < counts.len() {
            count.alive.iter().enumerate().for_each(|(born, objects)| ages[place - born].objects += objects);
        }
        let before = count.died.iter().enumerate().take(place);
        before.for_each(|(born, died)| ages[place - 1 - born].died += died);
    }
    ages
}

struct Search<'s> {
    recording: &'s Arc<Recording>,
    snapshots: &'s [SnapshotId],
    kinds: &'s [KindId],
    expression: &'s Expression,
    options: &'s SeriesOptions,
}

impl Search<'_> {
    /// The counts of the snapshots at these places, in order.
    fn counts(&self, lives: &mut Lives<'_>, places: &[usize], progress: &dyn Progress) -> Result<Vec<ByBirth>> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        progress.begin("searching snapshots", places.len() as u64, "snapshots");
        if let Some(found) = self.counts_at_once(lives, places, progress)? {
            return Ok(found);
        }
        let mut found = Vec::new();
        for place in 0.. {
            let Some(step) = lives.next(&Quiet(progress))? else { break };
            if places.contains(&place) {
                found.push(self.count(&step, place, progress)?);
            }
        }
        Ok(found)
    }

    /// The same for matched snapshots, several at the same time. `None` for others, and if kept serials are damaged.
    fn counts_at_once(
        &self,
        lives: &Lives<'_>,
        places: &[usize],
        progress: &dyn Progress,
    ) -> Result<Option<Vec<ByBirth>>> {
        let mut bytes = 0;
        for &snapshot in self.snapshots {
            bytes = bytes.max(self.recording.commit(snapshot)?.totals.objects * OBJECT_BYTES);
        }
        let found = at_once(places.len(), most_at_once(&self.options.memory, bytes), |at| {
            lives.matched_step(places[at]).map(|step| self.count(&step, places[at], progress)).transpose()
        })?;
        Ok(found.into_iter().collect())
    }

    fn count(&self, step: &LifeStep, place: usize, progress: &dyn Progress) -> Result<ByBirth> {
        let before = place.checked_sub(1).map(|before| self.select(before, progress)).transpose()?;
        let count = ByBirth::of(step, place, &self.select(place, progress)?, before.as_ref());
        progress.advance(1);
        Ok(count)
    }

    /// The objects that match in the snapshot at a place.
    fn select(&self, place: usize, progress: &dyn Progress) -> Result<ObjectSet> {
        let heap = self.options.heap(self.recording, self.snapshots[place])?;
        Ok(heap.select(self.kinds, self.expression, &Quiet(progress))?.0)
    }
}
