//! The objects that an exclusion frees.

use super::{Heap, QuestionKind};
use crate::error::Result;
use crate::graph::exclusion::{Cut, Exclusion};
use crate::graph::object_set::ObjectSet;
use crate::progress::Progress;

impl Exclusion {
    /// Excludes objects and references, in addition to those that `heap` excludes already.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn new(heap: &Heap, removed: &ObjectSet, cut: Option<Cut>, progress: &dyn Progress) -> Result<Self> {
        let before = heap.exclusion().map(|before| &**before);
        let exclusion = Exclusion::besides(before, removed, cut);
        let mut freed = if before.is_none() && exclusion.cuts_nothing() {
            heap.retained_set(removed, progress)?
        } else {
            heap.freed_by_all_of(&exclusion, progress)?
        };
        if let Some(before) = before {
            freed.union_with(before.freed());
        }
        Ok(exclusion.with_freed(freed))
    }
}

impl Heap {
    /// The objects that are reachable now but not with `exclusion`, which contains the exclusion of this heap.
    fn freed_by_all_of(&self, exclusion: &Exclusion, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut content = Vec::new();
        exclusion.put_content(&mut content);
        let question = self.asked(QuestionKind::Freed, &content);
        if let Some(kept) = self.kept_set(&question) {
            return Ok(kept);
        }
        let mut freed = self.all_reachable(progress)?;
        freed.difference_with(&self.excluding(exclusion.clone()).reachable(None, progress)?);
        self.keep_set(&question, &freed, progress)?;
        Ok(freed)
    }
}
