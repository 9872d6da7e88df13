//! Incoming references: of all objects, or of one object if the index file has them.

use std::sync::atomic::Ordering;

use barrow_format::ObjectId;

use super::kept_dominators::CheckTime;
use super::{Heap, column};
use crate::columns::index_file::ColumnValues;
use crate::error::Result;
use crate::graph::incoming::Incoming;
use crate::progress::Progress;

impl Heap {
    /// The incoming references of all objects, weak ones included.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`], [`crate::AnalyzerError::MemoryCeiling`].
    pub fn incoming(&self, progress: &dyn Progress) -> Result<&Incoming> {
        if let Some(incoming) = self.known_incoming() {
            return Ok(incoming);
        }
        let exclusion = self.exclusion.as_deref();
        let found = Incoming::of(&self.recording, self.snapshot, exclusion, self.run(progress))?;
        let kept = found.columns();
        let columns = [
            (column::INCOMING_COUNTS, ColumnValues::of(kept.counts)),
            (column::INCOMING_MANY, ColumnValues::of(kept.many)),
            (column::INCOMING_STARTS, ColumnValues::of(kept.starts)),
            (column::INCOMING_LISTS, ColumnValues::of(kept.lists)),
        ];
        self.keep(&columns, progress)?;
        Ok(self.incoming.store(found))
    }

    /// Incoming references, if they were computed before.
    #[must_use]
    pub fn known_incoming(&self) -> Option<&Incoming> {
        self.incoming.get_or_find(|| self.kept_incoming(CheckTime::Whole))
    }

    /// The sources of all references to an object, ascending, if incoming references were computed before. Of kept
    /// columns only the values of this object are read.
    pub(crate) fn known_sources(&self, target: ObjectId) -> Option<Vec<u32>> {
        if let Some(incoming) = self.incoming.get() {
            return Some(incoming.each_source(target));
        }
        let kept = self.kept_incoming(CheckTime::WhenRead)?;
        let sources = kept.each_source(target);
        (!kept.are_damaged() && sources.len() as u64 == kept.count(target)).then_some(sources)
    }

    /// The columns of the index file. Damaged values read as 0.
    fn kept_incoming(&self, checked: CheckTime) -> Option<Incoming> {
        let many = self.index.as_ref()?.column::<u64>(self.snapshot, column::INCOMING_MANY, |_, _| true)?;
        let (many, rest) = many.as_chunks();
        let many = many.to_vec();
        let counts = self.kept(column::INCOMING_COUNTS, checked, 0, |_, _| true)?;
        let starts = self.kept(column::INCOMING_STARTS, checked, 0, |_, _| true)?;
        let lists = self.kept(column::INCOMING_LISTS, checked, 0, |_, _| true)?;
        Incoming::of_columns(self.objects, counts, many, starts, lists).filter(|_| rest.is_empty())
    }

    /// Returns whether the incoming references of one object were requested before. Notes this request.
    pub(crate) fn asks_again_for_incoming(&self) -> bool {
        // Relaxed: nothing else depends on the flag.
        self.incoming_asked.swap(true, Ordering::Relaxed)
    }
}
