//! `no leaks`: suspects, known leaks, and the sizes that those may have.
//!
//! ```text
//!   except 1a2b3c4d up to 64M     at most 64 MiB
//!   except baseline               at most 1.5 times what the baseline has, or 1 % of the heap more, if that is more
//!   except 1a2b3c4d               as baseline if there is one that has it; else any size, and a note says so
//! ```

use barrow_analyzer::{Fingerprint, Heap, SnapshotId};

use super::{Judge, Side};
use crate::answer::units;
use crate::assertion::judgement::{Judgement, Verdict};
use crate::assertion::{Figure, Known, witness};
use crate::error::QueryError;
use crate::flags::Least;
use crate::progress::Meter;
use crate::session::state::State;
use crate::tables::suspects::suspects;

/// The size that a known leak may have, as a multiple of that in the baseline. This is a judgement: chance should not
/// pass it, and a leak that grows does so soon.
const MOST_TIMES: f64 = 1.5;
/// The size by which it may be larger in any case, as a part of the heap: small ones vary by chance. This is a
/// judgement, a tenth of the least share of a suspect.
const MOST_MORE: f64 = 0.01;

/// Leaks that are excused.
struct Excused<'k> {
    /// Those of the assertion and of `--allow`.
    known: Vec<&'k Known>,
    /// The suspects of the baseline, and the bytes that they retain there.
    of_baseline: Vec<(Fingerprint, u64)>,
}

/// The result of the exceptions for a suspect.
#[derive(Debug, PartialEq, Eq)]
enum Excuse {
    /// No exception names it.
    New,
    /// It is known, and not too large.
    Known,
    /// It is known, and its size has no bound.
    Unbounded,
    /// It is known and too large, for this reason.
    Grown(String),
}

impl Judge {
    /// Judges that no snapshot has a suspect that is not known.
    ///
    /// # Errors
    /// A usage error if there is no baseline; those of the analyzer.
    pub(in crate::assertion) fn no_leaks(
        &self,
        state: &State,
        known: &[Known],
        snapshots: &[SnapshotId],
    ) -> Result<Judgement, QueryError> {
        let mut excused = Excused { known: known.iter().chain(&self.allowed).collect(), of_baseline: Vec::new() };
        if known.contains(&Known::Baseline) || self.baseline.is_some() {
            let heap = self.heap(state, Side::Baseline, self.baseline()?.snapshot()?)?;
            let found = suspects(&heap, self.flags.min, &state.meter())?;
            excused.of_baseline.extend(found.iter().map(|one| (one.fingerprint, one.retained_bytes)));
        }
        let mut judgement = Judgement::undecided("there is no such snapshot", Figure::Suspects);
        for &snapshot in snapshots {
            judgement = leaks_of(&*state.heap(snapshot)?, self.flags.min, &excused, &state.meter())?;
            if judgement.verdict == Verdict::Fails {
                break;
            }
        }
        Ok(judgement)
    }
}

/// Judges that a heap has no suspects but those that are excused.
fn leaks_of(heap: &Heap, min: Option<Least>, excused: &Excused<'_>, meter: &Meter) -> Result<Judgement, QueryError> {
    let whole = heap.largest(meter)?.reachable_bytes();
    let (mut left, mut notes) = (Vec::new(), Vec::new());
    for suspected in suspects(heap, min, meter)? {
        let (fingerprint, bytes) = (suspected.fingerprint, suspected.retained_bytes);
        match excused.excuse(fingerprint, bytes, whole) {
            Excuse::Known => {}
            Excuse::New => left.push((suspected, None)),
            Excuse::Grown(reason) => left.push((suspected, Some(reason))),
            Excuse::Unbounded => notes.push(format!(
                "{fingerprint} is excused at any size, now {}; `up to SIZE` or a baseline bounds it",
                units::size(bytes)
            )),
        }
    }
    let verdict = if left.is_empty() { Verdict::Holds } else { Verdict::Fails };
    let witness = (!left.is_empty()).then(|| witness::of_suspects(heap, &left, meter)).transpose()?;
    let judgement = Judgement::new(verdict, left.len() as f64, 0.0, Figure::Suspects);
    Ok(Judgement { snapshot: Some(heap.snapshot()), witness, notes, ..judgement })
}

impl Excused<'_> {
    /// Looks for an exception for a suspect that retains `bytes`, in a heap with `whole` reachable bytes.
    fn excuse(&self, fingerprint: Fingerprint, bytes: u64, whole: u64) -> Excuse {
        let text = fingerprint.to_string();
        let named = self.known.iter().filter_map(|known| match known {
            Known::Fingerprint(beginning, most) if text.starts_with(beginning) => Some(*most),
            _ => None,
        });
        let named: Vec<Option<u64>> = named.collect();
        // Of several sizes the largest counts.
        if let Some(most) = named.iter().flatten().max() {
            let limit = format!("up to {} is excused", units::size(*most));
            return grown(bytes, *most, &limit);
        }
        let before = self.of_baseline.iter().find(|(known, _)| *known == fingerprint).map(|&(_, before)| before);
        let is_allowed = !named.is_empty() || self.known.contains(&&Known::Baseline);
        match before {
            Some(before) if is_allowed => {
                let more = (whole as f64 * MOST_MORE) as u64;
                let most = ((before as f64 * MOST_TIMES) as u64).max(before.saturating_add(more));
                let limit = format!("the baseline has {}, so {} are excused", units::size(before), units::size(most));
                grown(bytes, most, &limit)
            }
            _ if named.is_empty() => Excuse::New,
            _ => Excuse::Unbounded,
        }
    }
}

fn grown(bytes: u64, most: u64, limit: &str) -> Excuse {
    match bytes > most {
        true => Excuse::Grown(format!("it is known, and has grown: it retains {}; {limit}", units::size(bytes))),
        false => Excuse::Known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excuse(known: &[Known], before: Option<u64>, bytes: u64) -> Excuse {
        let fingerprint = Fingerprint(0x1a2b_3c4d_0000_0000);
        let of_baseline = before.map(|before| (fingerprint, before)).into_iter().collect();
        Excused { known: known.iter().collect(), of_baseline }.excuse(fingerprint, bytes, 10_000)
    }

    #[test]
    fn excuses_have_bounds() {
        let named = |most| Known::Fingerprint("1a2b3c4d".to_owned(), most);
        let is_grown = |excuse| matches!(excuse, Excuse::Grown(_));
        // By what the exception says, which counts more than a baseline; of two the larger.
        assert_eq!(excuse(&[named(Some(500))], Some(10), 500), Excuse::Known);
        assert!(is_grown(excuse(&[named(Some(500)), Known::Baseline], Some(1000), 501)));
        assert_eq!(excuse(&[named(Some(500)), named(Some(600))], None, 600), Excuse::Known);
        // By the baseline: half as much again, or 1 % of the heap.
        for known in [&[Known::Baseline][..], &[named(None)]] {
            assert_eq!(excuse(known, Some(1000), 1500), Excuse::Known);
            assert!(is_grown(excuse(known, Some(1000), 1501)));
            assert_eq!(excuse(known, Some(100), 200), Excuse::Known);
            assert!(is_grown(excuse(known, Some(100), 201)));
        }
        assert_eq!(excuse(&[named(None)], None, 9000), Excuse::Unbounded);
        assert_eq!(excuse(&[Known::Baseline], None, 1), Excuse::New);
        assert_eq!(excuse(&[], Some(1000), 1000), Excuse::New);
        assert_eq!(excuse(&[Known::Fingerprint("ffffffff".to_owned(), None)], None, 1), Excuse::New);
    }
}
