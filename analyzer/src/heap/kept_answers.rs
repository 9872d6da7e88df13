//! Answers that the index file keeps under their exact questions.
//!
//! ```text
//!   slot      length of the question, 8 bytes · question · answer         one column each, SLOTS of them per snapshot
//!   question  the exclusion of the heap · the kind of question, with everything that the answer depends on
//! ```
//!
//! Questions are compared byte by byte, so an answer is never that of another question. Objects that are excluded are
//! part of the question as sets, not as the text that named them. A new answer takes a slot that is free. If there is
//! none, it replaces another answer.

use barrow_format::varint::put;
use bytemuck::Pod;

use super::{Heap, column};
use crate::columns::index_file::{ColumnId, ColumnValues, SparseColumn};
use crate::columns::values::Values;
use crate::error::Result;
use crate::graph::exclusion::Exclusion;
use crate::graph::object_set::ObjectSet;
use crate::progress::Progress;

/// The kind of a question. The numbers are written to index files, so they never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    /// The duplicate sets of each type.
    Duplicates = 1,
    /// The objects that are freed with a set of objects.
    Retained = 2,
    /// The objects that an exclusion frees in addition to those of the heap's own exclusion.
    Freed = 3,
    /// Small columns of a heap with an exclusion, several of them together.
    Columns = 4,
    /// The same for a single column.
    Column = 5,
    /// Paths to an object.
    Paths = 6,
    /// Ranks among the children of a place in the dominator tree.
    Siblings = 7,
    /// The fill of collections.
    Collections = 8,
    /// The sources of the references to an object.
    Referrers = 9,
    /// Memory outside the heap that buffers own.
    OffHeap = 10,
}

/// Slots per snapshot: an answer replaces another one whose question has the same slot. This is a judgement.
const SLOTS: u32 = 12;
/// An answer is kept if it takes, with its question, at most half a byte per object or at most this: small beside the
/// columns of the snapshot. This is a judgement.
const LEAST_ROOM_BYTES: u64 = 1 << 20;

/// A question under which an answer is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question(Vec<u8>);

impl Question {
    /// A question without parameters.
    fn of(exclusion: Option<&Exclusion>, asked: QuestionKind) -> Self {
        let mut question = Vec::new();
        put(&mut question, exclusion.is_some().into());
        exclusion.inspect(|exclusion| exclusion.put_content(&mut question));
        put(&mut question, asked as u64);
        Question(question)
    }
}

impl Heap {
    /// A question about this heap. `parameters` is everything else that its answer depends on.
    pub(crate) fn asked(&self, asked: QuestionKind, parameters: &[u8]) -> Question {
        let mut question = Question::of(self.exclusion.as_deref(), asked);
        question.0.extend_from_slice(parameters);
        question
    }

    /// The answer that the index file has to a question.
    pub(crate) fn kept_answer(&self, question: &Question) -> Option<Vec<u8>> {
        let found = self.slots().find_map(|slot| self.answer_in(slot, question));
        found.map(|(values, start)| values[start..].to_vec())
    }

    /// The same for an answer of plain numbers.
    pub(crate) fn kept_answer_numbers<T: Pod>(&self, question: &Question) -> Option<Vec<T>> {
        let answer = self.kept_answer(question)?;
        let numbers = answer.chunks_exact(size_of::<T>());
        numbers.remainder().is_empty().then(|| numbers.map(bytemuck::pod_read_unaligned).collect())
    }

    /// A set of objects that the index file has as an answer.
    pub(crate) fn kept_set(&self, question: &Question) -> Option<ObjectSet> {
        let answer = self.kept_answer(question)?;
        let mut rest = &answer[..];
        ObjectSet::take_runs(self.snapshot, self.objects, &mut rest).filter(|_| rest.is_empty())
    }

    /// Keeps a set of objects as an answer.
    pub(crate) fn keep_set(&self, question: &Question, set: &ObjectSet, progress: &dyn Progress) -> Result<()> {
        self.keep_answer(question, &set.to_runs(), progress)
    }

    /// The number of answers to questions of one kind about this heap, if nothing is excluded from it.
    pub(crate) fn kept_answer_count(&self, asked: QuestionKind) -> usize {
        let Question(beginning) = Question::of(None, asked);
        self.slots().filter(|&slot| self.begins_with(slot, &beginning)).count()
    }

    /// Returns whether the question of a slot begins with these bytes.
    fn begins_with(&self, slot: ColumnId, beginning: &[u8]) -> bool {
        self.slot_contents(slot).is_some_and(|values| values.slice(8..8 + beginning.len()) == Some(beginning))
    }

    fn slot_contents(&self, slot: ColumnId) -> Option<SparseColumn<u8>> {
        self.answers.as_ref()?.sparse_column(self.snapshot, slot, |_, _| true)
    }

    /// Keeps an answer.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn keep_answer(&self, question: &Question, answer: &[u8], progress: &dyn Progress) -> Result<()> {
        self.keep_answer_in(question, answer, None, progress)
    }

    /// Keeps an answer in place of that to another question of this kind: for questions that are asked about many
    /// objects, whose answers would replace all others.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn keep_last_answer(
        &self,
        asked: QuestionKind,
        parameters: &[u8],
        answer: &[u8],
        progress: &dyn Progress,
    ) -> Result<()> {
        let Question(beginning) = self.asked(asked, &[]);
        let before = self.slots().find(|&slot| self.begins_with(slot, &beginning));
        self.keep_answer_in(&self.asked(asked, parameters), answer, before, progress)
    }

    fn keep_answer_in(
        &self,
        question: &Question,
        answer: &[u8],
        before: Option<ColumnId>,
        progress: &dyn Progress,
    ) -> Result<()> {
        let Question(asked) = question;
        let bytes = 8 + asked.len() + answer.len();
        let most = (self.objects / 2).max(LEAST_ROOM_BYTES);
        let Some(index) = self.answers.as_ref().filter(|_| bytes as u64 <= most) else { return Ok(()) };
        let mut values = Vec::with_capacity(bytes);
        values.extend((asked.len() as u64).to_le_bytes());
        values.extend(asked);
        values.extend(answer);
        // The slot of the replaced answer depends on the question, so that two of them do not replace each other forever.
        let any = self.slots().nth(crc32c::crc32c(asked) as usize % SLOTS as usize);
        let same = self.slots().find(|&slot| self.answer_in(slot, question).is_some());
        let free = self.slots().find(|&slot| index.length::<u8>(self.snapshot, slot).is_none());
        let Some(slot) = before.or(same).or(free).or(any) else { return Ok(()) };
        self.keep_in(index, &[(slot, ColumnValues::of(&values))], progress)
    }

    fn slots(&self) -> impl Iterator<Item = ColumnId> + use<> {
        let slots = if self.answers.is_some() { SLOTS } else { 0 };
        (0..slots).map(|slot| column::FIRST_ANSWER.after(slot))
    }

    /// The values of a slot and the position of its answer in them, if it has the answer to this question.
    fn answer_in(&self, slot: ColumnId, question: &Question) -> Option<(Values<u8>, usize)> {
        let index = self.answers.as_ref()?;
        let Question(asked) = question;
        let start = 8 + asked.len();
        // Most slots have questions of other lengths, and are not read.
        let sparse = self.slot_contents(slot)?;
        let length = sparse.slice(0..8)?;
        if length != (asked.len() as u64).to_le_bytes() || sparse.len() < start {
            return None;
        }
        let values = index.column::<u8>(self.snapshot, slot, |_, _| true)?;
        (values.get(8..start)? == asked).then_some((values, start))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use barrow_format::{ObjectId, SnapshotId};
    use barrow_testdata::{Graph, Random};

    use super::*;
    use crate::questions::paths::PathOptions;
    use crate::{IndexPlace, Memory, Recording, Silent};

    /// Answers with any content end in another answer, or are computed again.
    #[test]
    fn any_bytes_are_an_answer_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heap.barrow");
        let mut random = Random::new(1);
        std::fs::write(&path, Graph::bytes_of(&[&Graph::random(&mut random, 60, true)], None)).unwrap();
        let place = IndexPlace::BESIDE;
        let recording = Arc::new(Recording::open(&path).unwrap());
        let options = PathOptions { count: 2, ..PathOptions::default() };
        for _ in 0..300 {
            let heap = Heap::new(Arc::clone(&recording), SnapshotId(0), &place, Memory::unlimited()).unwrap();
            let set = ObjectSet::from_sorted(SnapshotId(0), heap.object_count(), [3, 4].map(ObjectId));
            let most = 1 << random.below(9);
            let answer: Vec<u8> = (0..random.below(60)).map(|_| random.below(most) as u8).collect();
            let asked = [
                heap.asked(QuestionKind::Duplicates, &[]),
                heap.asked(QuestionKind::Retained, &set.to_runs()),
                heap.asked(QuestionKind::Paths, &options.to_bytes(ObjectId(5))),
                heap.asked(QuestionKind::Collections, &[]),
                heap.asked(QuestionKind::Referrers, &5_u32.to_le_bytes()),
                heap.asked(QuestionKind::OffHeap, &[]),
            ];
            asked.iter().for_each(|question| heap.keep_answer(question, &answer, &Silent).unwrap());
            assert!(asked.iter().all(|question| heap.kept_answer(question).as_deref() == Some(&answer)));
            heap.duplicates(&Silent).unwrap();
            let _ = heap.collections(&Silent);
            heap.off_heap(&Silent).unwrap();
            let referrers = heap.referrers(ObjectId(5), &Silent).unwrap();
            let _ = heap.incoming_page(&referrers, 0, 10);
            heap.retained_set(&set, &Silent).unwrap();
            for path in heap.paths(ObjectId(5), &options, &Silent).unwrap() {
                heap.steps(&path, 0..path.objects.len()).unwrap();
            }
        }
    }
}
