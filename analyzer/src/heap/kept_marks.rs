//! Marks in the dominator tree at the beginnings of pages far down a long list of siblings.
//!
//! Finding such a page means selecting among millions of children. The index file keeps the rank of the child before
//! the page, so that it is found again in one pass over the children, like the first page.

use std::cmp::Reverse;

use barrow_format::ObjectId;

use super::{Heap, QuestionKind};
use crate::error::Result;
use crate::graph::dominators::{Holder, Rank};
use crate::progress::Progress;

/// Marks per parent. Every second one is dropped when there are more, so that pages stay near a mark. This is a
/// judgement.
const MOST_MARKS: usize = 256;

/// A number of children, the bytes that the last of them retains, and its object.
type Mark = [u64; 3];

impl Heap {
    /// The nearest mark among the children of `parent`, or of the top: at most `skip` children, and the rank of the
    /// last of them.
    #[must_use]
    pub fn sibling_mark(&self, parent: Option<ObjectId>, skip: u64) -> Option<(u64, Rank)> {
        let marks = self.sibling_marks(parent);
        let &[children, bytes, object] = marks.iter().filter(|[children, ..]| *children <= skip).max()?;
        let object = u32::try_from(object).ok().filter(|&object| u64::from(object) < self.objects)?;
        Some((children, (Reverse(bytes), Holder::Object(ObjectId(object)))))
    }

    /// Keeps the rank of the last of the first `children` children.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub fn keep_sibling_mark(
        &self,
        parent: Option<ObjectId>,
        children: u64,
        rank: Rank,
        progress: &dyn Progress,
    ) -> Result<()> {
        let (Reverse(bytes), Holder::Object(object)) = rank else { return Ok(()) };
        let mut marks = self.sibling_marks(parent);
        if marks.len() >= MOST_MARKS {
            marks = marks.into_iter().step_by(2).collect();
        }
        marks.push([children, bytes, object.0.into()]);
        marks.sort_unstable();
        self.keep_answer(
            &self.asked(QuestionKind::Siblings, &parent_bytes(parent)),
            bytemuck::cast_slice(&marks),
            progress,
        )
    }

    fn sibling_marks(&self, parent: Option<ObjectId>) -> Vec<Mark> {
        self.kept_answer_numbers(&self.asked(QuestionKind::Siblings, &parent_bytes(parent))).unwrap_or_default()
    }
}

/// The top has no object number.
fn parent_bytes(parent: Option<ObjectId>) -> [u8; 8] {
    parent.map_or(u64::MAX, |object| object.0.into()).to_le_bytes()
}
