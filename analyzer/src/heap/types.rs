//! The type of every object, and the objects that represent groups of roots.

use barrow_format::block::ColumnSelection;
use barrow_format::rows::KindRole;
use barrow_format::{ObjectId, TypeId};

use super::{Heap, below, column};
use crate::columns::index_file::ColumnValues;
use crate::columns::memory::Column;
use crate::error::Result;
use crate::file::blocks::fill_by_object;
use crate::progress::Progress;

/// The maximum number of objects that represent groups of roots: runtimes have a dozen categories, and a hostile dump
/// may have a million.
const MOST_ROOT_GROUPS: usize = 100;

impl Heap {
    /// The objects that represent groups of roots, according to the role of their kind. If there are too many, the
    /// first ones by number.
    ///
    /// # Errors
    /// As for [`Heap::types`].
    pub fn root_groups(&self, progress: &dyn Progress) -> Result<Vec<ObjectId>> {
        let kept = self.index.as_ref().and_then(|index| {
            index.column(self.snapshot, column::ROOT_GROUPS, |_, piece: &[u32]| below(piece, self.objects))
        });
        let ids = match kept {
            Some(kept) => kept.to_vec(),
            None if self.group_types()?.contains(&true) => self.root_groups_of(self.types(progress)?)?,
            None => Vec::new(),
        };
        Ok(ids.into_iter().map(ObjectId).filter(|&object| self.has(object)).collect())
    }

    pub(super) fn root_groups_of(&self, types: &[u32]) -> Result<Vec<u32>> {
        let is_group = self.group_types()?;
        if !is_group.contains(&true) {
            return Ok(Vec::new());
        }
        let groups = (0..).zip(types).filter(|&(_, &type_id)| is_group[type_id as usize]).map(|(object, _)| object);
        Ok(groups.take(MOST_ROOT_GROUPS).collect())
    }

    /// For each type, whether its objects represent groups of roots.
    fn group_types(&self) -> Result<Vec<bool>> {
        let tables = self.recording.tables()?;
        let types = (0..tables.type_count() as u32).map(TypeId);
        Ok(types.map(|type_id| tables.kind_role(tables.type_kind(type_id)) == KindRole::Root).collect())
    }

    /// The type id of every object, indexed by object number.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn types(&self, progress: &dyn Progress) -> Result<&[u32]> {
        if let Some(types) = self.known_types()? {
            return Ok(types);
        }
        let types = self.read_types(progress)?;
        if self.exclusion.is_none() {
            self.keep(&[(column::TYPE, ColumnValues::of(&types))], progress)?;
        }
        Ok(self.types.store(types.into()))
    }

    /// The types of all objects, if they were read before.
    pub(super) fn known_types(&self) -> Result<Option<&[u32]>> {
        if let Some(types) = self.types.get() {
            return Ok(Some(types));
        }
        let count = self.recording.tables()?.type_count() as u64;
        let kept = self
            .index
            .as_ref()
            .and_then(|index| index.column(self.snapshot, column::TYPE, |_, piece: &[u32]| below(piece, count)));
        let kept = kept.filter(|types| types.len() as u64 == self.objects);
        Ok(kept.map(|kept| &**self.types.store(kept)))
    }

    /// The types of some objects. Of a kept column only their values are read.
    ///
    /// # Errors
    /// As for [`Heap::types`].
    pub fn types_of(&self, objects: &[ObjectId], progress: &dyn Progress) -> Result<Vec<TypeId>> {
        if self.types.get().is_none()
            && let Some(types) = self.kept_types_of(objects)?
        {
            return Ok(types);
        }
        let types = self.types(progress)?;
        Ok(objects.iter().map(|object| TypeId(types[object.index()])).collect())
    }

    fn kept_types_of(&self, objects: &[ObjectId]) -> Result<Option<Vec<TypeId>>> {
        let Some(kept) = self.flat_types()? else { return Ok(None) };
        Ok(objects.iter().map(|object| kept.get(object.index()).map(TypeId)).collect())
    }

    pub(super) fn read_types(&self, progress: &dyn Progress) -> Result<Column<u32>> {
        let tables = self.recording.tables()?;
        progress.begin("reading types", self.objects, "objects");
        let mut types: Column<u32> = self.memory.column(usize::try_from(self.objects).unwrap_or(usize::MAX))?;
        fill_by_object(
            &self.recording,
            self.snapshot,
            ColumnSelection::Sizes,
            &mut types,
            progress,
            |own, columns| {
                let of: Vec<TypeId> = columns.dictionary.iter().map(|&shape| tables.shape(shape).type_id).collect();
                for (out, &shape) in own.iter_mut().zip(&columns.shapes) {
                    *out = of[shape as usize].0;
                }
            },
        )?;
        Ok(types)
    }
}
