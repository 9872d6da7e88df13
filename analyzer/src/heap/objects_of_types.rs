//! The objects of some types.

use barrow_format::block::ColumnSelection;
use barrow_format::{ObjectId, TypeId};

use super::Heap;
use crate::error::Result;
use crate::file::blocks::{begin, map_blocks, places};
use crate::graph::object_set::ObjectSet;
use crate::progress::Progress;

impl Heap {
    /// The objects of some types, within a set or among all.
    pub(crate) fn objects_of_types(
        &self,
        within: Option<&ObjectSet>,
        is_one: impl Fn(TypeId) -> bool,
        progress: &dyn Progress,
    ) -> Result<ObjectSet> {
        let types = self.recording().tables()?.type_count() as u32;
        let class_of: Vec<Option<u32>> = (0..types).map(|id| is_one(TypeId(id)).then_some(0)).collect();
        Ok(self.objects_by_class(within, &class_of, 1, progress)?.remove(0))
    }

    /// The objects of several classes of types, within a set or among all. `class_of` has the class of each type, below
    /// `classes`.
    ///
    /// Time: one pass over the shapes of all objects.
    pub(crate) fn objects_by_class(
        &self,
        within: Option<&ObjectSet>,
        class_of: &[Option<u32>],
        classes: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<ObjectSet>> {
        let tables = self.recording().tables()?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        if let Some(set) = within {
            places.retain(|place| set.may_hold_any(ObjectId(place.entry.first_object), place.entry.objects));
        }
        if class_of.iter().all(Option::is_none) {
            places.clear();
        }
        begin(progress, "reading types", &places, ColumnSelection::Sizes);
        let parts = map_blocks(self.recording(), &places, ColumnSelection::Sizes, progress, |_, _, columns| {
            let of_shapes = columns.dictionary.iter().map(|&shape| class_of[tables.shape(shape).type_id.index()]);
            let of_shapes: Vec<Option<u32>> = of_shapes.collect();
            let rows = (columns.first_object..).map(ObjectId).zip(&columns.shapes);
            let rows = rows.filter_map(|(object, &shape)| Some((object, of_shapes[shape as usize]?)));
            Ok(rows.filter(|&(object, _)| within.is_none_or(|set| set.contains(object))).collect::<Vec<_>>())
        })?;
        let mut sets: Vec<ObjectSet> =
            (0..classes).map(|_| ObjectSet::new(self.snapshot(), self.object_count())).collect();
        for (object, class) in parts.into_iter().flatten() {
            sets[class as usize].insert(object);
        }
        Ok(sets)
    }
}
