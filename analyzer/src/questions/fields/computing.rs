//! The objects whose fields the program computes when it reads them, such as proxies: what these hold themselves is not
//! what a path leads to.

use barrow_format::block::ColumnSelection;
use barrow_format::{ObjectId, TypeId};
use foldhash::HashSet;

use super::COMPUTED;
use crate::error::Result;
use crate::file::blocks::{begin, map_blocks, places};
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;

/// The attribute of a type with the name of objects, of any type, whose fields are computed. The values of those that the
/// attribute [`COMPUTED`] names are computed, and so are their fields.
const FIELDS_COMPUTED: &str = "fields computed";

impl Heap {
    /// The objects whose fields are computed; `None` if no type names any.
    ///
    /// Time: at first a pass over all objects, if a type names any.
    pub(super) fn computing(&self, progress: &dyn Progress) -> Result<Option<&ObjectSet>> {
        let tables = self.recording().tables()?;
        let all = (0..tables.type_count() as u32).map(TypeId);
        let attributes = all.flat_map(|id| tables.type_attributes(id));
        let names: HashSet<&str> =
            attributes.filter(|(key, _)| [COMPUTED, FIELDS_COMPUTED].contains(key)).map(|(_, name)| name).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let find = || {
            let is_named = tables.string_answers(|text| names.contains(text));
            let places = places(self.recording(), &[self.snapshot()])?;
            begin(progress, "reading names", &places, ColumnSelection::Identity);
            let parts = map_blocks(self.recording(), &places, ColumnSelection::Identity, progress, |_, _, columns| {
                let named =
                    columns.names.iter().enumerate().filter(|(_, name)| name.is_some_and(|id| is_named.get(id)));
                Ok(named.map(|(row, _)| ObjectId(columns.first_object + row as u32)).collect::<Vec<_>>())
            })?;
            tables.check_strings()?;
            Ok(self.set_of(&parts.concat()))
        };
        self.computing.get_or_compute(find).map(Some)
    }
}
