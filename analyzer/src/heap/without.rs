//! What goes with what is thought away.

use super::Heap;
use crate::error::Result;
use crate::graph::object_set::ObjectSet;
use crate::graph::without::{Cut, Without};
use crate::progress::Progress;

impl Without {
    /// Thinks objects and references away, besides those that `heap` is without already.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn new(heap: &Heap, removed: &ObjectSet, cut: Option<Cut>, progress: &dyn Progress) -> Result<Self> {
        let before = heap.overlay().map(|before| &**before);
        let without = Without::besides(before, removed, cut);
        let mut freed = if before.is_none() && without.cuts_nothing() {
            heap.retained_set(removed, progress)?
        } else {
            let mut freed = heap.all_reachable(progress)?;
            freed.difference_with(&heap.without(without.clone()).reachable(None, progress)?);
            freed
        };
        if let Some(before) = before {
            freed.union_with(before.freed());
        }
        Ok(without.with_freed(freed))
    }
}
