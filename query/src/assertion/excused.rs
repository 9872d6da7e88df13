//! Leaks that are known, and how large they may be.
//!
//! ```text
//!   except 1a2b3c4d up to 64M     at most 64 MiB
//!   except baseline               at most 1.5 times what the baseline has, or 1 % of the heap more, if that is more
//!   except 1a2b3c4d               as baseline if there is one that has it; else any size, and a note says so
//! ```

use barrow_analyzer::Fingerprint;

use super::Known;
use crate::answer::units;
use crate::tables::suspects::Suspected;

/// A known leak may be this many times as large as in the baseline,
const MOST_TIMES: f64 = 1.5;
/// or larger by this part of the heap.
const MOST_MORE: f64 = 0.01;

/// What is excused.
pub(super) struct Excused<'k> {
    /// What the assertion and `--allow` name.
    pub(super) known: Vec<&'k Known>,
    /// The suspects of the baseline with what they retain, if there is one.
    pub(super) of_baseline: Vec<(Fingerprint, u64)>,
}

/// Whether a suspect is excused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No exception names it.
    New,
    /// It is known, and no larger than it may be.
    Known,
    /// It is known, and nothing says how large it may be.
    Unbounded,
    /// It is known, and larger than it may be: why, in words.
    Grown(String),
}

impl Excused<'_> {
    /// Judges a suspect of a heap with `reachable` bytes.
    pub(super) fn judge(&self, suspected: &Suspected, whole: u64) -> Verdict {
        self.verdict(suspected.fingerprint, suspected.retained_bytes, whole)
    }

    fn verdict(&self, fingerprint: Fingerprint, bytes: u64, whole: u64) -> Verdict {
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
            _ if named.is_empty() => Verdict::New,
            _ => Verdict::Unbounded,
        }
    }
}

fn grown(bytes: u64, most: u64, limit: &str) -> Verdict {
    match bytes > most {
        true => Verdict::Grown(format!("it is known, and has grown: it retains {}; {limit}", units::size(bytes))),
        false => Verdict::Known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(known: &[Known], before: Option<u64>, bytes: u64) -> Verdict {
        let fingerprint = Fingerprint(0x1a2b_3c4d_0000_0000);
        let of_baseline = before.map(|before| (fingerprint, before)).into_iter().collect();
        Excused { known: known.iter().collect(), of_baseline }.verdict(fingerprint, bytes, 10_000)
    }

    #[test]
    fn what_is_excused_is_bounded() {
        let named = |most| Known::Fingerprint("1a2b3c4d".to_owned(), most);
        let is_grown = |verdict| matches!(verdict, Verdict::Grown(_));
        // By what the exception says, which counts more than a baseline; of two the larger.
        assert_eq!(verdict(&[named(Some(500))], Some(10), 500), Verdict::Known);
        assert!(is_grown(verdict(&[named(Some(500)), Known::Baseline], Some(1000), 501)));
        assert_eq!(verdict(&[named(Some(500)), named(Some(600))], None, 600), Verdict::Known);
        // By the baseline: half as much again, or 1 % of the heap.
        for known in [&[Known::Baseline][..], &[named(None)]] {
            assert_eq!(verdict(known, Some(1000), 1500), Verdict::Known);
            assert!(is_grown(verdict(known, Some(1000), 1501)));
            assert_eq!(verdict(known, Some(100), 200), Verdict::Known);
            assert!(is_grown(verdict(known, Some(100), 201)));
        }
        assert_eq!(verdict(&[named(None)], None, 9000), Verdict::Unbounded);
        assert_eq!(verdict(&[Known::Baseline], None, 1), Verdict::New);
        assert_eq!(verdict(&[], Some(1000), 1000), Verdict::New);
        assert_eq!(verdict(&[Known::Fingerprint("ffffffff".to_owned(), None)], None, 1), Verdict::New);
    }
}
