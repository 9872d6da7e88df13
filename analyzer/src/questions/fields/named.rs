//! All fields of one name, and their values for the objects of a block.

use barrow_expressions::nearest;
use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::{Encoding, Label, LabelCode, Tail, Value};
use barrow_format::{FieldId, ObjectId, StringId, TypeId};
use foldhash::HashMap;

use super::Held;
use crate::error::{AnalyzerError, Result};
use crate::file::object::{Cursor, dictionary_place};
use crate::file::recording::Recording;
use crate::file::strings::StringAnswers;
use crate::file::tables::Tables;

/// The fields of one name.
pub(super) struct NamedField<'r> {
    /// The fields that have values.
    encodings: HashMap<FieldId, Encoding>,
    /// For each type the declaration of the field by the type or its nearest base with one.
    declared: Vec<Option<EffectiveField>>,
    /// Tells for a string whether it is the name.
    is_name: StringAnswers<'r>,
    /// For each shape the places of the references of this name.
    references: Vec<References>,
    /// Types or shapes have such a field. Otherwise only references whose labels are stored with each object may
    /// have the name.
    is_certain: bool,
}

/// The field of a name that counts for the objects of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EffectiveField {
    field: FieldId,
    encoding: Encoding,
    /// The number of fields of the name that are references, including shadowed fields of bases.
    references: u32,
}

impl EffectiveField {
    /// The field of the objects of a type, given the fields of the name that types declare themselves.
    fn of(tables: &Tables, id: TypeId, of_type: &HashMap<TypeId, (FieldId, Encoding)>) -> Option<Self> {
        let mut chain = tables.type_and_bases(id).filter_map(|id| of_type.get(&id)).peekable();
        let &&(field, encoding) = chain.peek()?;
        let references = chain.filter(|(_, encoding)| *encoding == Encoding::Reference).count() as u32;
        Some(EffectiveField { field, encoding, references })
    }
}

/// The places of an object's references of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum References {
    None,
    /// The position of the first one, and their number.
    At(u32, u32),
    /// Possibly among those from this position on, whose labels are stored with each object.
    From(u32),
}

/// The error that no object has a field of this name.
pub(super) fn no_field(recording: &Recording, name: &str) -> Result<AnalyzerError> {
    let tables = recording.tables()?;
    let known = recording.fields()?.all().map(|(_, field)| tables.string(field.name));
    let near = nearest(name, known.filter(|known| *known != name)).map(str::to_owned);
    Ok(AnalyzerError::NoField { name: name.to_owned(), path: None, near, has_contents: recording.has_contents()? })
}

impl<'r> NamedField<'r> {
    /// Finds the fields of a recording that have a name.
    ///
    /// # Errors
    /// [`AnalyzerError::NoField`] if there is none and no reference has the name.
    pub(super) fn find(recording: &'r Recording, name: &str) -> Result<Self> {
        let (tables, fields) = (recording.tables()?, recording.fields()?);
        let is_name = tables.strings_named(name);
        let (mut encodings, mut of_type) = (HashMap::default(), HashMap::default());
        for (id, field) in fields.all().filter(|(_, field)| is_name.get(field.name)) {
            if field.encoding != Encoding::Reference {
                encodings.insert(id, field.encoding);
            }
            if !field.is_optional {
                of_type.entry(field.type_id).or_insert((id, field.encoding));
            }
        }
        let declared = (0..tables.type_count() as u32).map(TypeId);
        let declared: Vec<Option<EffectiveField>> = if of_type.is_empty() {
            vec![None; tables.type_count()]
        } else {
            declared.map(|id| EffectiveField::of(tables, id, &of_type)).collect()
        };
        let references = tables.shapes().iter().map(|shape| {
            let length = shape.prefix.len() as u32;
            match shape.prefix.iter().position(|&code| is_label(&is_name, code)) {
                Some(position) => {
                    let count = shape.prefix.iter().filter(|&&code| is_label(&is_name, code)).count();
                    References::At(position as u32, count as u32)
                }
                None => match shape.tail {
                    Tail::Repeated(code) if is_label(&is_name, code) => References::At(length, 1),
                    Tail::Explicit => References::From(length),
                    _ => References::None,
                },
            }
        });
        let references: Vec<References> = references.collect();
        let is_certain = !encodings.is_empty()
            || !of_type.is_empty()
            || references.iter().any(|found| matches!(found, References::At(..)));
        if !is_certain {
            // Labels that are stored with each object are strings, too.
            let has_others = references.iter().any(|&found| found != References::None);
            let mut strings = (0..tables.string_count() as u32).map(StringId);
            if !has_others || !strings.any(|id| is_name.get(id)) {
                return Err(no_field(recording, name)?);
            }
        }
        Ok(NamedField { encodings, declared, is_name, references, is_certain })
    }

    /// Returns whether types or shapes have the field. If not, only reading all objects shows whether one of them has
    /// it.
    pub(super) fn is_certain(&self) -> bool {
        self.is_certain
    }

    /// Takes the first reference of the name even if it is unknown to which of several fields it belongs.
    pub(super) fn or_any(mut self) -> Self {
        self.declared.iter_mut().flatten().for_each(|declared| declared.references = 1);
        self
    }

    /// The encodings of the fields.
    pub(super) fn encodings(&self) -> impl Iterator<Item = Encoding> {
        self.encodings.values().copied()
    }

    /// Returns whether types have references of the name, or no fields of the name with other values.
    pub(super) fn is_reference(&self) -> bool {
        self.encodings.is_empty()
            || self.references.iter().any(|found| matches!(found, References::At(..)))
            || self.declared.iter().flatten().any(|declared| declared.encoding == Encoding::Reference)
    }

    /// Returns whether a reference may have the name, or hold null.
    pub(super) fn may_refer(&self) -> bool {
        self.references.iter().any(|&found| found != References::None)
            || self.declared.iter().flatten().any(|declared| declared.encoding == Encoding::Reference)
    }

    /// Returns whether fields of the name may hold anything but objects.
    pub(super) fn holds_values(&self) -> bool {
        !self.encodings.is_empty()
    }

    /// Returns whether the value of the field depends on references for any wanted object of the block.
    pub(super) fn needs_references(
        &self,
        columns: &BlockColumns,
        tables: &Tables,
        is_wanted: impl Fn(ObjectId) -> bool,
    ) -> bool {
        let needs = columns.dictionary.iter().map(|&shape| match self.declared[tables.shape(shape).type_id.index()] {
            Some(declared) => declared.encoding == Encoding::Reference,
            None => self.references[shape.index()] != References::None,
        });
        let needs: Vec<bool> = needs.collect();
        let mut rows = (0..columns.objects().max(1)).filter(|&row| needs[dictionary_place(columns, row)]);
        needs.contains(&true) && rows.any(|row| is_wanted(ObjectId(columns.first_object + row as u32)))
    }

    /// The columns that are needed of a block.
    pub(super) fn wanted(&self) -> ColumnSelection {
        if self.may_refer() { ColumnSelection::All } else { ColumnSelection::Values }
    }

    /// Passes the value of the field for each wanted object of a block to `visit`; for a continuation, that of the continued
    /// object.
    pub(super) fn visit(
        &self,
        columns: &BlockColumns,
        tables: &Tables,
        is_wanted: impl Fn(ObjectId) -> bool,
        mut visit: impl FnMut(ObjectId, Held),
    ) {
        let layouts: Vec<&[FieldId]> = columns.values.layouts().collect();
        let starts = columns.values.starts();
        let has_references = !columns.targets.is_empty();
        let mut cursor = Cursor::default();
        for row in 0..columns.objects().max(1) {
            let object = ObjectId(columns.first_object + row as u32);
            if !is_wanted(object) {
                if has_references {
                    cursor.step(columns, row);
                }
                continue;
            }
            let shape = columns.dictionary[dictionary_place(columns, row)];
            let layout = columns.values.objects().get(row).and_then(|layout| layout.checked_sub(1));
            let place = layout.map(|layout| layouts[layout as usize]).zip(starts.get(row));
            let found = if has_references { self.target(&cursor, columns, row) } else { None };
            let held = match (self.declared[tables.shape(shape).type_id.index()], found) {
                (Some(EffectiveField { field, encoding, .. }), _) if encoding != Encoding::Reference => {
                    let value = self.value(columns, place, |id| id == field);
                    value.map_or(Held::Unknown, Held::Value)
                }
                // Of several references of the name some are null; which ones is not recorded.
                (Some(declared), Some((_, count))) if count < declared.references => Held::Unknown,
                (_, Some((target, _))) => Held::Object(ObjectId(target)),
                (Some(_), None) => Held::Null,
                (None, None) => {
                    let value = self.value(columns, place, |id| self.encodings.contains_key(&id));
                    value.map_or(Held::Missing, Held::Value)
                }
            };
            visit(object, held);
            if has_references {
                cursor.step(columns, row);
            }
        }
    }

    /// The value of the first wanted field of an object. `place` has its fields and the position of their values.
    #[inline]
    fn value(
        &self,
        columns: &BlockColumns,
        place: Option<(&[FieldId], &u32)>,
        is_wanted: impl Fn(FieldId) -> bool,
    ) -> Option<Value> {
        let (fields, &start) = place?;
        let at = fields.iter().position(|&field| is_wanted(field))?;
        Value::of_code(*self.encodings.get(&fields[at])?, columns.values.codes()[start as usize + at])
    }

    /// The target of the first reference with the name, and the number of references with it.
    fn target(&self, cursor: &Cursor, columns: &BlockColumns, row: usize) -> Option<(u32, u32)> {
        let shape = columns.dictionary[dictionary_place(columns, row)];
        let (position, count) = match self.references[shape.index()] {
            References::None => return None,
            References::At(position, count) => (position as usize, count),
            References::From(first) => {
                let labels = cursor.explicit_labels(columns, row);
                let at = labels.iter().position(|&code| is_label(&self.is_name, LabelCode(code)))?;
                let count = labels.iter().filter(|&&code| is_label(&self.is_name, LabelCode(code))).count() as u32;
                (first as usize + at, count)
            }
        };
        cursor.targets(columns, row).get(position).map(|&target| (target, count))
    }
}

/// Returns whether a label is a name for which the answer is true.
fn is_label(is_name: &StringAnswers<'_>, code: LabelCode) -> bool {
    matches!(code.label(), Ok(Label::Name(label)) if is_name.get(label))
}
