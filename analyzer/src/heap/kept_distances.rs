//! Distances and shortest paths of a heap: computed, or read from its index file.

use barrow_format::ObjectId;

use super::{Heap, column};
use crate::columns::index_file::{ColumnId, ColumnValues, SparseColumn};
use crate::error::Result;
use crate::graph::distances::{Bounds, Distances, distance_of, path_over};
use crate::progress::Progress;

impl Heap {
    /// Distances from the roots over retaining references.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`], [`crate::AnalyzerError::MemoryCeiling`].
    pub fn distances(&self, progress: &dyn Progress) -> Result<&Distances> {
        if let Some(known) = self.known_distances() {
            return Ok(known);
        }
        let found = self.distances_anew(progress)?;
        self.keep(&columns_of(&found), progress)?;
        Ok(self.distances.store(found))
    }

    /// Distances, if they were computed before.
    pub(super) fn known_distances(&self) -> Option<&Distances> {
        self.distances.get_or_find(|| {
            let index = self.index.as_ref()?;
            let distance = index.column(self.snapshot, column::DISTANCE, |_, _| true)?;
            let parent = index.column(self.snapshot, column::PARENT, |_, piece: &[u32]| {
                // Branch-free, because nearly always all of them are valid.
                !piece.iter().fold(false, |found, &parent| found | (parent != 0 && u64::from(!parent) >= self.objects))
            })?;
            Distances::of_columns(self.objects, distance, parent)
        })
    }

    /// A shortest path as by [`Distances::path`]. Of kept columns only the values on the path are read.
    pub(crate) fn shortest_path(&self, object: ObjectId, progress: &dyn Progress) -> Result<Vec<ObjectId>> {
        if self.distances.get().is_none()
            && let Some(path) = self.kept_path(object)
        {
            return Ok(path);
        }
        Ok(self.distances(progress)?.path(object))
    }

    /// The distance of one object, as by [`Distances::distance`]. Of a kept column only this value is read.
    ///
    /// # Errors
    /// As for [`Heap::distances`].
    pub fn distance(&self, object: ObjectId, progress: &dyn Progress) -> Result<Option<u32>> {
        if self.distances.get().is_none()
            && let Some(value) = self.kept_number_of(column::DISTANCE).and_then(|kept| kept.get(object.index()))
        {
            return Ok(distance_of(value));
        }
        Ok(self.distances(progress)?.distance(object))
    }

    fn kept_path(&self, object: ObjectId) -> Option<Vec<ObjectId>> {
        let (distance, parent) = (self.kept_number_of(column::DISTANCE)?, self.kept_number_of(column::PARENT)?);
        path_over(object, |object| Some((distance.get(object.index())?, parent.get(object.index())?)))
    }

    /// A column of the index file with one number per object, of which few are read.
    fn kept_number_of(&self, column: ColumnId) -> Option<SparseColumn<u32>> {
        let column = self.index.as_ref()?.sparse_column(self.snapshot, column, |_, _| true)?;
        (column.len() as u64 == self.objects).then_some(column)
    }

    /// Distances from the roots, computed even if they are known. They are not kept.
    ///
    /// # Errors
    /// As for [`Heap::distances`].
    pub fn distances_anew(&self, progress: &dyn Progress) -> Result<Distances> {
        self.search(&self.roots()?.targets(), Bounds::default(), progress)
    }

    /// Distances from some roots within bounds. They are not kept.
    pub(crate) fn search(&self, roots: &[ObjectId], bounds: Bounds<'_>, progress: &dyn Progress) -> Result<Distances> {
        let adjacency = self.adjacency(progress)?;
        Distances::find(self.snapshot, &adjacency, roots, bounds, self.run(progress))
    }
}

/// The columns of distances that the index file keeps.
pub(super) fn columns_of(distances: &Distances) -> [(ColumnId, ColumnValues<'_>); 2] {
    [(column::DISTANCE, ColumnValues::of(&distances.distance)), (column::PARENT, ColumnValues::of(&distances.parent))]
}
