//! The fields that types declare and that blocks have values of.
//!
//! The table is loaded when a question first needs it. All ids in it are checked then.

use barrow_format::block::FieldValues;
use barrow_format::codec::Decompressor;
use barrow_format::commit::TableCounts;
use barrow_format::frame::SectionType;
use barrow_format::rows::{Encoding, Field};
use barrow_format::{FieldId, FormatError, TypeId};
use foldhash::HashMap;

use crate::error::{AnalyzerError, Result};
use crate::file::tables::{CheckedRow, TableRoom, Tables, append, below, chunk_at};

/// The field table of a recording.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    rows: Vec<Option<Field>>,
    /// The fields that each type declares itself, those of one type in their order.
    of_type: HashMap<TypeId, Vec<FieldId>>,
    has_texts: bool,
}

impl Fields {
    /// Loads the chunks of the field table and checks their ids against `tables`.
    pub(crate) fn load(file: &[u8], chunks: &[(SectionType, u64)], tables: &Tables) -> Result<Self> {
        let mut fields = Fields::default();
        let mut decompressor = Decompressor::new();
        let mut room = TableRoom::new(file);
        let known = tables.counts();
        for &(section, offset) in chunks.iter().filter(|(section, _)| *section == SectionType::FIELDS) {
            let before = fields.rows.len();
            chunk_at(file, section, offset, &mut room)
                .and_then(|chunk| append(&chunk, &mut decompressor, &mut fields.rows, |row| row))
                .and_then(|()| (0..).zip(&fields.rows).skip(before).try_for_each(|(id, row)| row.check(id, &known)))
                .map_err(AnalyzerError::section("FIELDS", offset))?;
        }
        for (id, field) in (0..).map(FieldId).zip(&fields.rows) {
            if let Some(field) = field {
                fields.of_type.entry(field.type_id).or_default().push(id);
                fields.has_texts |= field.encoding == Encoding::Text;
            }
        }
        Ok(fields)
    }

    /// Returns whether no type declares a field.
    pub(crate) fn is_empty(&self) -> bool {
        self.of_type.is_empty()
    }

    /// A field; `None` if the recording has only its number.
    pub(crate) fn get(&self, id: FieldId) -> Option<&Field> {
        self.rows.get(id.index())?.as_ref()
    }

    /// All fields, with their ids.
    pub(crate) fn all(&self) -> impl Iterator<Item = (FieldId, &Field)> {
        (0..).map(FieldId).zip(&self.rows).filter_map(|(id, field)| Some((id, field.as_ref()?)))
    }

    /// The fields that a type declares itself.
    pub(crate) fn declared_by(&self, type_id: TypeId) -> &[FieldId] {
        self.of_type.get(&type_id).map_or(&[], Vec::as_slice)
    }

    /// Fails if a value is a text that is not in the table of strings.
    pub(crate) fn check_texts(&self, values: &FieldValues, tables: &Tables) -> Result<(), FormatError> {
        if !self.has_texts || !values.layouts().flatten().any(|&id| self.is_text(id)) {
            return Ok(());
        }
        let strings = tables.counts().strings;
        values.rows().flat_map(|(fields, codes)| fields.iter().zip(codes)).try_for_each(|(&id, &code)| {
            if self.is_text(id) {
                below("text of a field", u32::try_from(code).unwrap_or(u32::MAX), strings)
            } else {
                Ok(())
            }
        })
    }

    #[inline]
    fn is_text(&self, id: FieldId) -> bool {
        self.get(id).is_some_and(|field| field.encoding == Encoding::Text)
    }
}

impl CheckedRow for Option<Field> {
    fn check(&self, _id: u64, known: &TableCounts) -> Result<(), FormatError> {
        let Some(field) = self else { return Ok(()) };
        below("type of a field", field.type_id.0, known.types)?;
        below("string", field.name.0, known.strings)
    }
}
