//! Incoming references: of all objects, or of one object if the index file has them.

use std::sync::atomic::Ordering;

use barrow_format::ObjectId;

use super::{Heap, below, column};
use crate::columns::index_file::ColumnValues;
use crate::error::Result;
use crate::graph::adjacency::Follow;
use crate::graph::incoming::Incoming;
use crate::graph::transposed::Transposed;
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
        let adjacency = self.build_adjacency(Follow::All, progress)?;
        let found = Incoming::of(&adjacency, self.run(progress))?;
        drop(adjacency);
        let (starts, bases, sources) = found.sources.columns();
        let columns = [
            (column::INCOMING_STARTS, ColumnValues::of(starts)),
            (column::INCOMING_BASES, ColumnValues::of(bases)),
            (column::INCOMING_SOURCES, ColumnValues::of(sources)),
        ];
        self.keep(&columns, progress)?;
        Ok(self.incoming.store(found))
    }

    /// Incoming references, if they were computed before.
    #[must_use]
    pub fn known_incoming(&self) -> Option<&Incoming> {
        self.incoming.get_or_find(|| {
            let index = self.index.as_ref()?;
            let starts = index.column(self.snapshot, column::INCOMING_STARTS, |_, _| true)?;
            let bases = index.column(self.snapshot, column::INCOMING_BASES, |_, _| true)?;
            let are_objects = |_: usize, piece: &[u32]| below(piece, self.objects);
            let sources = index.column(self.snapshot, column::INCOMING_SOURCES, are_objects)?;
            let sources = Transposed::of_columns(starts, bases, sources)?;
            let fits = sources.columns().0.len() as u64 == self.objects + 1;
            fits.then_some(Incoming { sources })
        })
    }

    /// The sources of all references to an object, ascending, if incoming references were computed before. Of kept
    /// columns only the values of this object are read.
    pub(crate) fn known_sources(&self, target: ObjectId) -> Option<Vec<u32>> {
        if let Some(incoming) = self.incoming.get() {
            return Some(incoming.each_source(target).collect());
        }
        let index = self.index.as_ref()?;
        let column = |column| index.sparse_column::<u32>(self.snapshot, column, |_, _| true);
        let (starts, sources) = (column(column::INCOMING_STARTS)?, column(column::INCOMING_SOURCES)?);
        let bases = index.column::<u64>(self.snapshot, column::INCOMING_BASES, |_, _| true)?;
        if starts.len() as u64 != self.objects + 1 {
            return None;
        }
        let range = Transposed::range_of(target.index(), &bases, |target| starts.get(target), sources.len())?;
        let is_object = |source: &u32| u64::from(*source) < self.objects;
        range.rev().map(|place| sources.get(place).filter(is_object)).collect()
    }

    /// Whether the incoming references of one object were requested before. Notes this request.
    pub(crate) fn asks_again_for_incoming(&self) -> bool {
        // Relaxed: nothing else depends on the flag.
        self.incoming_asked.swap(true, Ordering::Relaxed)
    }
}
