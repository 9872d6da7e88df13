//! The names of objects that represent classes and modules.

use std::collections::HashMap;

use barrow_format::block::ColumnSelection;
use barrow_format::commit::BlockEntry;
use barrow_format::rows::KindRole;
use barrow_format::{ObjectId, StringId, TypeId};
use parking_lot::Mutex;

use super::Heap;
use crate::error::Result;
use crate::file::blocks::{map_blocks, places};
use crate::file::object::dictionary_place;
use crate::progress::Progress;

impl Heap {
    /// The names of objects whose kind says that they represent types: classes, modules. Such objects share one type,
    /// and their names distinguish them.
    ///
    /// Time: linear in all objects, in parallel, if there are such kinds; once. Where types are known, only blocks with
    /// such objects are decoded. Memory: 16 bytes for each of these objects.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn names_of_classes(&self, progress: &dyn Progress) -> Result<&HashMap<ObjectId, StringId>> {
        self.class_names.get_or_compute(|| self.read_names_of_classes(progress))
    }

    fn read_names_of_classes(&self, progress: &dyn Progress) -> Result<HashMap<ObjectId, StringId>> {
        let tables = self.recording.tables()?;
        let types = (0..tables.type_count() as u32).map(TypeId);
        let is_class: Vec<bool> =
            types.map(|type_id| tables.kind_role(tables.type_kind(type_id)) == KindRole::Type).collect();
        if !is_class.contains(&true) {
            return Ok(HashMap::new());
        }
        let found: Mutex<HashMap<ObjectId, StringId>> = Mutex::default();
        let mut places = places(&self.recording, &[self.snapshot])?;
        if let Some(types) = self.known_types()? {
            let has_class = |entry: &BlockEntry| {
                let first = entry.first_object as usize;
                types.iter().skip(first).take(entry.objects as usize).any(|&type_id| is_class[type_id as usize])
            };
            places.retain(|place| has_class(&place.entry));
        }
        let objects = places.iter().map(|place| u64::from(place.entry.objects)).sum();
        progress.begin("reading names of classes", objects, "objects");
        map_blocks(&self.recording, &places, ColumnSelection::Identity, progress, |_, _, columns| {
            let mut of_block = Vec::new();
            for (row, name) in columns.names.iter().enumerate() {
                let Some(name) = *name else { continue };
                let shape = tables.shape(columns.dictionary[dictionary_place(columns, row)]);
                if is_class[shape.type_id.index()] {
                    of_block.push((ObjectId(columns.first_object + row as u32), name));
                }
            }
            found.lock().extend(of_block);
            Ok(())
        })?;
        Ok(found.into_inner())
    }
}
