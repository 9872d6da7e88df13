//! Fields that objects have although the recording does not have them.
//!
//! ```text
//!   the type, or a base, has the attribute `not recorded`, with the name ──────▶ all of its objects have the field
//!   the object has a text in the field `not recorded`: `{@plan, @count}` ──────▶ it has the fields of these names
//!                                                      any other text ─────────▶ it may have a field of any name
//! ```

use barrow_format::rows::{Encoding, Value};
use barrow_format::{FieldId, StringId, TypeId};
use foldhash::HashSet;

use crate::file::fields::Fields;
use crate::file::strings::StringAnswers;
use crate::file::tables::Tables;

/// The attribute of a type, which may have several, and the field of an object.
const NOT_RECORDED: &str = "not recorded";

/// The objects of which a field of one name is not recorded.
pub(super) struct Unrecorded<'r> {
    types: HashSet<TypeId>,
    /// The fields with the names that single objects have.
    lists: HashSet<FieldId>,
    /// Tells for such a text whether the object may have the name.
    may_have: StringAnswers<'r>,
    name: String,
}

impl<'r> Unrecorded<'r> {
    pub(super) fn find(tables: &'r Tables, fields: &Fields, name: &str) -> Self {
        let types = (0..tables.type_count() as u32).map(TypeId);
        let has_it = |id| tables.type_attributes(id).any(|(key, of_type)| key == NOT_RECORDED && of_type == name);
        let types = types.filter(|&id| tables.type_and_bases(id).any(has_it));
        let lists = fields.all().filter(|(_, field)| {
            name != NOT_RECORDED && field.encoding == Encoding::Text && tables.string(field.name) == NOT_RECORDED
        });
        let wanted = name.to_owned();
        Unrecorded {
            types: types.collect(),
            lists: lists.map(|(id, _)| id).collect(),
            may_have: tables
                .string_answers(move |text| names(text).is_none_or(|mut names| names.any(|of| of == wanted))),
            name: name.to_owned(),
        }
    }

    /// Returns whether all objects of some types have the field.
    pub(super) fn is_of_types(&self) -> bool {
        !self.types.is_empty()
    }

    /// Returns whether the name is in one of the texts. Reads all strings of the recording if there are such texts.
    pub(super) fn is_listed(&self, tables: &Tables) -> bool {
        let is_name = tables.string_answers(|text| {
            text.contains(&self.name) && names(text).is_some_and(|mut names| names.any(|of| of == self.name))
        });
        !self.lists.is_empty() && (0..tables.string_count() as u32).any(|id| is_name.get(StringId(id)))
    }

    /// Returns whether an object may have the field. `place` has its fields and the position of their values in `codes`.
    pub(super) fn contains(&self, type_id: TypeId, place: Option<(&[FieldId], &u32)>, codes: &[u64]) -> bool {
        if self.types.contains(&type_id) {
            return true;
        }
        let Some((fields, &start)) = place.filter(|_| !self.lists.is_empty()) else { return false };
        let at = fields.iter().position(|field| self.lists.contains(field));
        let text = at.and_then(|at| Value::of_code(Encoding::Text, codes[start as usize + at]));
        matches!(text, Some(Value::Text(text)) if self.may_have.get(text))
    }
}

/// The names in a list; `None` for another text.
fn names(text: &str) -> Option<impl Iterator<Item = &str>> {
    Some(text.strip_prefix('{')?.strip_suffix('}')?.split(", "))
}
