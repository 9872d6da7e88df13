//! The transposed graph: for each target its sources, computed by a counting sort.
//!
//! ```text
//!   count the references to every target ─▶ sum up: where each list ends ─▶ fill each list from its end
//! ```

use rayon::prelude::*;

use crate::columns::memory::Column;
use crate::columns::prefetch::{Queue, prefetch};
use crate::columns::values::Values;
use crate::error::{AnalyzerError, Result};
use crate::progress::{Progress, check};
use crate::run::Run;

/// A sequence of references that can be iterated repeatedly, always in the same order.
pub(crate) trait EachReference: Sync {
    /// Calls `visit` with the source and the target of every reference.
    ///
    /// # Errors
    /// [`AnalyzerError::Cancelled`].
    fn for_each(&self, progress: &dyn Progress, visit: impl FnMut(u32, u32)) -> Result<()>;
}

/// For each target, the sources of the references to it.
#[derive(Debug)]
pub(crate) struct Transposed {
    /// The position of the sources of each target, relative to the base of its group. There is one more start than targets.
    starts: Values<u32>,
    /// For every [`GROUP`] targets, the position of their sources.
    bases: Values<u64>,
    sources: Values<u32>,
}

/// Targets per base, chosen so that a start fits four bytes.
const GROUP: usize = 1 << 12;
/// Prefetch distance in references, enough to hide the latency of memory.
const AHEAD: usize = 32;
/// Maximum number of threads that transpose. Each one reads all references and stores its part, so
/// that more threads read more in all. This is a judgement.
const MAX_PARTS: usize = 4;

impl Transposed {
    /// Transposes references whose targets are below `targets`.
    ///
    /// Time: the references are read twice by each of up to four threads. Memory: 4 bytes per target, 4 bytes per
    /// reference.
    ///
    /// # Errors
    /// [`AnalyzerError::TooManyReferences`], [`AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub(crate) fn of(
        references: &impl EachReference,
        targets: usize,
        reserved_bytes: u64,
        run: Run<'_>,
    ) -> Result<Self> {
        let Run { memory, progress } = run;
        check(progress)?;
        let mut starts: Column<u32> = memory.with_room(targets + 1, reserved_bytes)?;
        let mut bases: Column<u64> = memory.with_room(targets / GROUP + 2, reserved_bytes)?;
        let part = part_length(targets + 1);
        starts.par_chunks_mut(part).enumerate().try_for_each(|(number, counts)| {
            let (first, length) = ((number * part) as u32, counts.len());
            let mut coming = Queue::new();
            let mut step = |place: Option<usize>| {
                place.inspect(|&place| prefetch(counts, place));
                if let Some(place) = coming.exchange(place) {
                    counts[place] += 1;
                }
            };
            references.for_each(progress, |_, target| {
                let place = target.wrapping_sub(first) as usize;
                if place < length {
                    step(Some(place));
                }
            })?;
            (0..Queue::<usize>::LENGTH).for_each(|_| step(None));
            Ok(())
        })?;
        let total = ends(&mut starts, &mut bases)?;
        check(progress)?;
        let mut sources: Column<u32> = memory.with_room(total as usize, reserved_bytes)?;
        let mut rest = &mut sources[..];
        let mut jobs = Vec::new();
        for (number, starts) in (0..).zip(starts.chunks_mut(part)) {
            let first = number * part;
            let next = bases[first / GROUP + starts.len().div_ceil(GROUP)];
            let (own, others) = std::mem::take(&mut rest).split_at_mut((next - bases[first / GROUP]) as usize);
            rest = others;
            jobs.push((first as u32, starts, own));
        }
        let bases_of = &bases[..];
        jobs.into_par_iter().try_for_each(|(first, starts, sources)| {
            let base = bases_of[first as usize / GROUP];
            let (mut coming, mut placed) = (Queue::new(), Queue::new());
            let length = starts.len();
            let mut step = |reference: Option<(u32, u32)>| {
                reference.inspect(|&(_, target)| prefetch(starts, (target - first) as usize));
                let next = coming.exchange(reference).map(|(source, target)| {
                    let start = &mut starts[(target - first) as usize];
                    *start -= 1;
                    let group = bases_of[target as usize / GROUP] - base;
                    let place = (group + u64::from(*start)) as usize;
                    prefetch(sources, place);
                    (source, place)
                });
                if let Some((source, place)) = placed.exchange(next) {
                    sources[place] = source;
                }
            };
            references.for_each(progress, |source, target| {
                if (target.wrapping_sub(first) as usize) < length {
                    step(Some((source, target)));
                }
            })?;
            (0..2 * Queue::<u32>::LENGTH).for_each(|_| step(None));
            Ok(())
        })?;
        Ok(Transposed { starts: starts.into(), bases: bases.into(), sources: sources.into() })
    }

    fn start(&self, target: usize) -> usize {
        // The end of a group's last target is the start of the next group's first one.
        (self.bases[target / GROUP] + u64::from(self.starts[target])) as usize
    }

    /// Calls `visit` with the sources of each target, from `last` down to 1. Calls `announce` with each source some
    /// steps earlier, for prefetching.
    #[inline(always)]
    pub(crate) fn rev_each<S>(
        &self,
        last: u32,
        state: &mut S,
        mut announce: impl FnMut(&mut S, u32),
        mut visit: impl FnMut(&mut S, u32, &[u32]) -> Result<()>,
    ) -> Result<()> {
        let (starts, bases, sources) = (&self.starts[..], &self.bases[..], &self.sources[..]);
        let mut end = self.start(last as usize + 1);
        for target in (1..=last).rev() {
            let start = (bases[target as usize / GROUP] + u64::from(starts[target as usize])) as usize;
            let ahead = start.saturating_sub(AHEAD)..end.saturating_sub(AHEAD);
            sources[ahead].iter().for_each(|&source| announce(state, source));
            visit(state, target, &sources[start..end])?;
            end = start;
        }
        Ok(())
    }
}

/// The number of targets in a part: a multiple of the group size.
fn part_length(targets: usize) -> usize {
    let parts = rayon::current_num_threads().clamp(1, MAX_PARTS);
    targets.div_ceil(parts).next_multiple_of(GROUP)
}

/// Turns counts into ends of lists, relative to the base of each group. Returns the total.
fn ends(counts: &mut [u32], bases: &mut [u64]) -> Result<u64> {
    let mut total = 0u64;
    for (base, group) in bases.iter_mut().zip(counts.chunks_mut(GROUP)) {
        *base = total;
        let mut filled = 0u64;
        for count in group {
            filled += u64::from(*count);
            *count = u32::try_from(filled).map_err(|_| AnalyzerError::TooManyReferences)?;
        }
        total += filled;
    }
    let groups = counts.len().div_ceil(GROUP);
    bases[groups..].fill(total);
    Ok(total)
}
