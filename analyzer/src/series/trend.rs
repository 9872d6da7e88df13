//! The number and the retained size of the objects that match an expression, snapshot by snapshot.

use std::sync::Arc;

use barrow_format::{KindId, SnapshotId};

use crate::error::Result;
use crate::file::recording::Recording;
use crate::heap::Heap;
use crate::progress::{Progress, Quiet};
use crate::questions::expression::Expression;
use crate::series::at_once::{at_once, most_at_once};
use crate::series::kept::answers::KeptAnswers;
use crate::series::kept::{KeptParts, SeriesOptions};

/// Bytes per object and per reference of a graph that is searched.
const OBJECT_BYTES: u64 = 16;
const REFERENCE_BYTES: u64 = 5;

/// The objects that match an expression in one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Their number.
    pub objects: u64,
    /// Their shallow sizes, summed.
    pub shallow_bytes: u64,
    /// Their unmanaged sizes, summed.
    pub unmanaged_bytes: u64,
    /// The bytes that would be freed with all of them together.
    pub retained_bytes: u64,
    /// The set of objects is exact.
    pub is_exact: bool,
}

impl Moment {
    /// The objects of a heap that are of one of these kinds, or of any if there are none, and match the expression.
    ///
    /// # Errors
    /// As for [`Heap::select`] and [`Heap::retained_set`].
    pub fn of(heap: &Heap, kinds: &[KindId], expression: &Expression, progress: &dyn Progress) -> Result<Self> {
        let (set, counted) = heap.select(kinds, expression, progress)?;
        let retained = if set.is_empty() { set } else { heap.retained_set(&set, progress)? };
        let totals = if retained.is_empty() { Vec::new() } else { heap.type_totals_of(&retained, progress)? };
        let bytes = totals.iter().flat_map(|row| [row.heap_bytes, row.unmanaged_bytes]);
        Ok(Moment {
            objects: counted.objects,
            shallow_bytes: counted.heap_bytes,
            unmanaged_bytes: counted.unmanaged_bytes,
            retained_bytes: bytes.fold(0, u64::wrapping_add),
            is_exact: heap.matches_exactly(expression, progress)?,
        })
    }

    fn numbers(&self) -> Vec<u64> {
        let Moment { objects, shallow_bytes, unmanaged_bytes, retained_bytes, is_exact } = *self;
        vec![objects, shallow_bytes, unmanaged_bytes, retained_bytes, is_exact.into()]
    }

    fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let &[objects, shallow_bytes, unmanaged_bytes, retained_bytes, is_exact] = numbers else { return None };
        Some(Moment { objects, shallow_bytes, unmanaged_bytes, retained_bytes, is_exact: is_exact == 1 })
    }
}

/// The objects that match an expression in each of several snapshots. Answers are kept in the index file; snapshots without
/// one are searched, several at the same time.
///
/// # Errors
/// As for [`Moment::of`].
pub fn trend(
    recording: &Arc<Recording>,
    snapshots: &[SnapshotId],
    (kinds, expression): (&[KindId], &Expression),
    options: &SeriesOptions,
    progress: &dyn Progress,
) -> Result<Vec<Moment>> {
    let text = options.asked("trend", kinds, expression);
    let mut answers = KeptAnswers::of(KeptParts::find(recording, options));
    let kept = snapshots.iter().map(|&snapshot| Moment::from_numbers(answers.get(snapshot, text.as_deref()?)?));
    let mut moments: Vec<Option<Moment>> = kept.collect();
    let missing: Vec<usize> = (0..snapshots.len()).filter(|&at| moments[at].is_none()).collect();
    if missing.is_empty() {
        return Ok(moments.into_iter().flatten().collect());
    }
    let mut bytes = 0;
    for &snapshot in snapshots {
        let totals = recording.commit(snapshot)?.totals;
        bytes = bytes.max(totals.objects * OBJECT_BYTES + totals.references * REFERENCE_BYTES);
    }
    progress.begin("searching snapshots", missing.len() as u64, "snapshots");
    let found = at_once(missing.len(), most_at_once(&options.memory, bytes), |at| {
        let heap = options.heap(recording, snapshots[missing[at]])?;
        let moment = Moment::of(&heap, kinds, expression, &Quiet(progress))?;
        progress.advance(1);
        Ok(moment)
    })?;
    for (at, moment) in missing.into_iter().zip(found) {
        if let Some(text) = &text {
            answers.add(snapshots[at], text, moment.numbers());
        }
        moments[at] = Some(moment);
    }
    answers.keep(progress)?;
    Ok(moments.into_iter().flatten().collect())
}
