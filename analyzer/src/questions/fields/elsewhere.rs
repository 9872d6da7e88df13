//! Fields that objects keep in a map of their own, as instances of CPython do that have a dictionary.
//!
//! The attribute `fields in` of a type names the field that leads to the map. A field that an object does not have itself
//! is looked for there.

use barrow_expressions::MapKey;
use barrow_format::{ObjectId, TypeId};

use super::Held;
use super::named::NamedField;
use super::path::Declaration;
use crate::error::{AnalyzerError, Result};
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;

/// The attribute.
const FIELDS_IN: &str = "fields in";

impl Heap {
    /// The name of the field that leads to further fields. Recordings have one language, and so one name.
    fn field_of_fields(&self) -> Result<Option<&str>> {
        let tables = self.recording().tables()?;
        let mut types = (0..tables.type_count() as u32).map(TypeId);
        Ok(types.find_map(|id| tables.type_attribute(id, FIELDS_IN)))
    }

    /// The objects that keep fields in a map; `None` if no object does.
    pub(super) fn with_fields_elsewhere(&self, progress: &dyn Progress) -> Result<Option<ObjectSet>> {
        let Some(name) = self.field_of_fields()? else { return Ok(None) };
        let found = NamedField::find(self.recording(), name)
            .and_then(|field| self.collect(&field, name, progress, |held| Some(held != Held::Missing)));
        match found {
            Err(AnalyzerError::NoField { .. }) => Ok(None),
            found => found.map(|found| Some(found.passing).filter(|set| !set.is_empty())),
        }
    }

    /// The values of a field: those that the objects of the set have themselves, and for the others those in their maps.
    pub(super) fn or_elsewhere(
        &self,
        set: &ObjectSet,
        name: &str,
        own: Result<Vec<Held>>,
        progress: &dyn Progress,
    ) -> Result<Vec<Held>> {
        let Some(leading) = self.field_of_fields()?.filter(|leading| *leading != name) else { return own };
        let (mut column, refused) = match own {
            Ok(column) => (column, None),
            Err(error @ AnalyzerError::NoField { .. }) => (vec![Held::Missing; set.len() as usize], Some(error)),
            Err(error) => return Err(error),
        };
        let without = set.iter().zip(&column).filter(|(_, held)| **held == Held::Missing);
        let without: Vec<ObjectId> = without.map(|(object, _)| object).collect();
        let maps = match self.one_field(&self.set_of(&without), leading, Declaration::MostDerived, progress) {
            Err(AnalyzerError::NoField { .. }) => Vec::new(),
            maps => maps?,
        };
        // An object without a map has no further fields.
        let maps: Vec<Held> =
            maps.into_iter().map(|held| if held == Held::Null { Held::Missing } else { held }).collect();
        let key = MapKey::Text(name.to_owned());
        let mut elsewhere = self.through(&maps, |maps| self.values_under(maps, &key, progress))?.into_iter();
        if !maps.is_empty() {
            for held in column.iter_mut().filter(|held| **held == Held::Missing) {
                *held = elsewhere.next().unwrap_or(Held::Missing);
            }
        }
        match refused {
            // Nothing says that any object has it.
            Some(error) if column.iter().all(|held| matches!(held, Held::Missing | Held::Unknown)) => Err(error),
            _ => Ok(column),
        }
    }

    /// The names of objects: those that they have themselves, and for the others those in their maps, which are references
    /// with this label. Members of enumerations have them there before CPython 3.11.
    pub(super) fn or_called_elsewhere(
        &self,
        set: &ObjectSet,
        label: &str,
        mut own: Vec<Held>,
        progress: &dyn Progress,
    ) -> Result<Vec<Held>> {
        let Some(leading) = self.field_of_fields()? else { return Ok(own) };
        let without = set.iter().zip(&own).filter(|(_, held)| **held == Held::Missing);
        let without: Vec<ObjectId> = without.map(|(object, _)| object).collect();
        let of_field = |set: &ObjectSet, name: &str| match self.one_field(set, name, Declaration::MostDerived, progress)
        {
            Err(AnalyzerError::NoField { .. }) => Ok(vec![Held::Missing; set.len() as usize]),
            column => column,
        };
        let maps = of_field(&self.set_of(&without), leading)?;
        let mut elsewhere = self.through(&maps, |maps| of_field(maps, label))?.into_iter();
        for held in own.iter_mut().filter(|held| **held == Held::Missing) {
            *held = elsewhere.next().unwrap_or(Held::Missing);
        }
        Ok(own)
    }
}
