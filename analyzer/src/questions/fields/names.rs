//! The names of fields, for people who type them.

use barrow_format::rows::{Encoding, Label};
use barrow_format::{StringId, TypeId};

use crate::error::Result;
use crate::file::recording::Recording;

impl Recording {
    /// The names of the fields that types with `is_wanted`, or their bases, declare, in order and each once. If no type
    /// declares references, as in dumps of V8 and Python, the names of the references of their objects are fields, too,
    /// except those that are stored with each object.
    ///
    /// Time: that of a pass over the tables of types, fields and shapes.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section), [`AnalyzerError::Io`](crate::AnalyzerError::Io).
    pub fn field_names(&self, is_wanted: impl Fn(TypeId) -> bool) -> Result<Vec<&str>> {
        let (tables, fields) = (self.tables()?, self.fields()?);
        let mut wanted = vec![false; tables.type_count()];
        for id in (0..tables.type_count() as u32).map(TypeId).filter(|&id| is_wanted(id)) {
            tables.type_and_bases(id).for_each(|id| wanted[id.index()] = true);
        }
        let declared = fields.all().filter(|(_, field)| wanted[field.type_id.index()]).map(|(_, field)| field.name);
        let mut found: Vec<StringId> = declared.collect();
        if !fields.all().any(|(_, field)| field.encoding == Encoding::Reference) {
            // The names of references of a collection belong to its entries.
            let has_entries = |id| tables.type_attributes(id).any(|(key, _)| key == "entries");
            let shapes = tables.shapes().iter().filter(|shape| wanted[shape.type_id.index()]);
            for shape in shapes.filter(|shape| !has_entries(shape.type_id)) {
                let names = shape.prefix.iter().filter_map(|code| match code.label() {
                    Ok(Label::Name(name)) => Some(name),
                    _ => None,
                });
                found.extend(names);
            }
        }
        found.sort_unstable();
        found.dedup();
        let mut names: Vec<&str> = found.into_iter().map(|id| tables.string(id)).collect();
        names.sort_unstable();
        names.dedup();
        tables.check_strings()?;
        Ok(names)
    }
}
