//! Answers about the objects that match an expression, for each snapshot: a few numbers under the text of the question.
//!
//! ```text
//!   part of a snapshot    number of answers · for each: length of the text · text · number of numbers · numbers
//! ```
//!
//! All numbers are varints. The whole text is stored, so no two questions share an answer.

use std::collections::{BTreeMap, BTreeSet};

use barrow_format::SnapshotId;
use barrow_format::varint::put;

use super::parts::SnapshotPart;
use super::runs::take;
use super::{ANSWERS, KeptParts};
use crate::error::Result;
use crate::progress::Progress;

/// The maximum number of answers that are kept for a snapshot. The oldest ones are removed first. All are read together,
/// so their number bounds the time and the memory of reading one.
const MOST_ANSWERS: usize = 64;
/// The maximum length of a text in bytes, and number of numbers in an answer, that are kept: an answer of more is
/// seldom asked for again. This is a judgement.
const MOST_TEXT_BYTES: usize = 4096;
const MOST_NUMBERS: usize = 4096;
/// The maximum length of a part in bytes.
const MOST_BYTES: u64 = (MOST_ANSWERS * (MOST_TEXT_BYTES + 10 * (MOST_NUMBERS + 2)) + 10) as u64;

/// The answers of one snapshot, the oldest first.
type SnapshotAnswers = Vec<(String, Vec<u64>)>;

/// Answers that are kept, and new ones.
#[derive(Debug)]
pub(crate) struct KeptAnswers<'r> {
    index: KeptParts<'r>,
    by_snapshot: BTreeMap<SnapshotId, SnapshotAnswers>,
    /// Snapshots with new answers.
    changed: BTreeSet<SnapshotId>,
}

impl<'r> KeptAnswers<'r> {
    /// All answers that are kept.
    pub(crate) fn of(index: KeptParts<'r>) -> Self {
        let mut by_snapshot: BTreeMap<SnapshotId, SnapshotAnswers> = BTreeMap::new();
        for (snapshot, part) in index.all_parts(ANSWERS) {
            let known = by_snapshot.entry(snapshot).or_default();
            for (text, numbers) in part.raw(MOST_BYTES).and_then(|raw| decode(&raw)).unwrap_or_default() {
                if !known.iter().any(|(other, _)| *other == text) {
                    known.push((text, numbers));
                }
            }
        }
        KeptAnswers { index, by_snapshot, changed: BTreeSet::new() }
    }

    /// The answer to a question about a snapshot.
    pub(crate) fn get(&self, snapshot: SnapshotId, text: &str) -> Option<&[u64]> {
        let answers = self.by_snapshot.get(&snapshot)?;
        answers.iter().find(|(known, _)| known == text).map(|(_, numbers)| &numbers[..])
    }

    /// Adds an answer, or replaces it.
    pub(crate) fn add(&mut self, snapshot: SnapshotId, text: &str, numbers: Vec<u64>) {
        if text.len() > MOST_TEXT_BYTES || numbers.len() > MOST_NUMBERS {
            return;
        }
        let answers = self.by_snapshot.entry(snapshot).or_default();
        answers.retain(|(known, _)| known != text);
        answers.push((text.to_owned(), numbers));
        let beyond = answers.len().saturating_sub(MOST_ANSWERS);
        answers.drain(..beyond);
        self.changed.insert(snapshot);
    }

    /// Keeps new answers, with the others of their snapshots.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn keep(&self, progress: &dyn Progress) -> Result<()> {
        let Some(&last) = self.changed.last() else { return Ok(()) };
        let parts = self.changed.iter().filter_map(|snapshot| {
            let answers = self.by_snapshot.get(snapshot)?;
            Some((*snapshot, SnapshotPart::of([0; 4], &encode(answers))))
        });
        self.index.keep(last, ANSWERS, &parts.collect::<Vec<_>>(), progress)
    }
}

fn encode(answers: &SnapshotAnswers) -> Vec<u8> {
    let mut raw = Vec::new();
    put(&mut raw, answers.len() as u64);
    for (text, numbers) in answers {
        put(&mut raw, text.len() as u64);
        raw.extend_from_slice(text.as_bytes());
        put(&mut raw, numbers.len() as u64);
        numbers.iter().for_each(|&number| put(&mut raw, number));
    }
    raw
}

/// Reads answers. `None` if they are not valid.
fn decode(raw: &[u8]) -> Option<SnapshotAnswers> {
    let mut rest = raw;
    let mut answers = Vec::new();
    for _ in 0..take(&mut rest)? {
        let length = usize::try_from(take(&mut rest)?).ok()?;
        let (text, after) = rest.split_at_checked(length)?;
        rest = after;
        let text = std::str::from_utf8(text).ok()?.to_owned();
        let count = usize::try_from(take(&mut rest)?).ok().filter(|&count| count <= rest.len())?;
        let numbers = (0..count).map(|_| take(&mut rest)).collect::<Option<Vec<u64>>>()?;
        answers.push((text, numbers));
    }
    (rest.is_empty() && answers.len() <= MOST_ANSWERS).then_some(answers)
}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    #[test]
    fn answers_are_read_as_they_were_and_any_bytes_are_read_or_refused() {
        let mut random = Random::new(12);
        for _ in 0..300 {
            let answers: SnapshotAnswers = (0..random.below(5))
                .map(|at| {
                    let bits = random.below(64);
                    (format!("{at} type ~ /ä{at}/"), (0..random.below(9)).map(|_| random.next() >> bits).collect())
                })
                .collect();
            let mut raw = encode(&answers);
            assert_eq!(decode(&raw), Some(answers));
            for _ in 0..20 {
                let at = random.below(raw.len() as u64) as usize;
                raw[at] = random.next() as u8;
                decode(&raw);
                decode(&raw[..at]);
            }
        }
    }
}
