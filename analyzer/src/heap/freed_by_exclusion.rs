//! Which objects an exclusion frees.

use super::Heap;
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
            let mut freed = heap.all_reachable(progress)?;
            freed.difference_with(&heap.excluding(exclusion.clone()).reachable(None, progress)?);
            freed
        };
        if let Some(before) = before {
            freed.union_with(before.freed());
        }
        Ok(exclusion.with_freed(freed))
    }
}
