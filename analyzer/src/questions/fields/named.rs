//! All fields of one name, and what they hold for the objects of a block.

use barrow_format::block::{BlockColumns, Wanted};
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
    /// For each type how it declares the field, or one that it is derived from does.
    declared: Vec<Option<Encoding>>,
    /// Whether a string is the name.
    is_name: StringAnswers<'r>,
    /// For each shape how the references of this name are found.
    references: Vec<References>,
}

/// Where an object's references of a name are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum References {
    None,
    /// The first one is at this position.
    At(u32),
    /// Perhaps among those from this position on, whose labels are stored with each object.
    From(u32),
}

impl<'r> NamedField<'r> {
    /// Finds the fields of a recording that have a name.
    ///
    /// # Errors
    /// [`AnalyzerError::NoField`] if there is none and no reference has the name.
    pub(super) fn find(recording: &'r Recording, name: &str) -> Result<Self> {
        let (tables, fields) = (recording.tables()?, recording.fields()?);
        let wanted = name.to_owned();
        let is_name = tables.string_answers(move |text| text == wanted);
        let (mut encodings, mut of_type) = (HashMap::default(), HashMap::default());
        for (id, field) in fields.all().filter(|(_, field)| is_name.get(field.name)) {
            if field.encoding != Encoding::Reference {
                encodings.insert(id, field.encoding);
            }
            if !field.is_optional {
                of_type.entry(field.type_id).or_insert(field.encoding);
            }
        }
        let declared = (0..tables.type_count() as u32).map(TypeId);
        let declared: Vec<Option<Encoding>> = if of_type.is_empty() {
            vec![None; tables.type_count()]
        } else {
            declared.map(|id| tables.type_and_bases(id).find_map(|id| of_type.get(&id).copied())).collect()
        };
        let is_label = |code: LabelCode| matches!(code.label(), Ok(Label::Name(label)) if is_name.get(label));
        let references = tables.shapes().iter().map(|shape| {
            let length = shape.prefix.len() as u32;
            match shape.prefix.iter().position(|&code| is_label(code)) {
                Some(position) => References::At(position as u32),
                None => match shape.tail {
                    Tail::Repeated(code) if is_label(code) => References::At(length),
                    Tail::Explicit => References::From(length),
                    _ => References::None,
                },
            }
        });
        let references: Vec<References> = references.collect();
        let is_named = |found: &References| matches!(found, References::At(_));
        if encodings.is_empty() && of_type.is_empty() && !references.iter().any(is_named) {
            // Labels that are stored with each object are strings, too.
            let has_others = references.iter().any(|&found| found != References::None);
            let mut strings = (0..tables.string_count() as u32).map(StringId);
            if !has_others || !strings.any(|id| is_name.get(id)) {
                return Err(AnalyzerError::NoField { name: name.to_owned() });
            }
        }
        Ok(NamedField { encodings, declared, is_name, references })
    }

    /// The encodings of the fields.
    pub(super) fn encodings(&self) -> impl Iterator<Item = Encoding> {
        self.encodings.values().copied()
    }

    /// Whether types have references of the name, or no fields of it that hold anything else.
    pub(super) fn is_reference(&self) -> bool {
        self.encodings.is_empty()
            || self.references.iter().any(|found| matches!(found, References::At(_)))
            || self.declared.contains(&Some(Encoding::Reference))
    }

    /// Whether a reference may have the name, or hold null.
    pub(super) fn may_refer(&self) -> bool {
        self.references.iter().any(|&found| found != References::None)
            || self.declared.contains(&Some(Encoding::Reference))
    }

    /// The columns that are needed of a block.
    pub(super) fn wanted(&self) -> Wanted {
        if self.may_refer() { Wanted::All } else { Wanted::Values }
    }

    /// Tells for each object of a block what the field holds; of a continuation for the object that is continued.
    pub(super) fn visit(&self, columns: &BlockColumns, tables: &Tables, mut visit: impl FnMut(ObjectId, Held)) {
        let layouts: Vec<Option<(usize, Encoding)>> =
            columns.values.layouts().map(|fields| self.position(fields)).collect();
        let starts = columns.values.starts();
        let has_references = !columns.targets.is_empty();
        let mut cursor = Cursor::default();
        for row in 0..columns.objects().max(1) {
            let shape_id = columns.dictionary[dictionary_place(columns, row)];
            let object = ObjectId(columns.first_object + row as u32);
            let layout = columns.values.objects().get(row).and_then(|layout| layout.checked_sub(1));
            let place = layout.and_then(|layout| layouts[layout as usize]).zip(starts.get(row));
            let value = place.and_then(|((position, encoding), &start)| {
                Value::of_code(encoding, columns.values.codes()[start as usize + position])
            });
            let held = match value {
                Some(value) => Held::Value(value),
                None => match has_references.then(|| self.target(&cursor, columns, row)).flatten() {
                    Some(target) => Held::Object(ObjectId(target)),
                    None => match self.declared[tables.shape(shape_id).type_id.index()] {
                        Some(Encoding::Reference) => Held::Null,
                        Some(_) => Held::Unknown,
                        None => Held::Missing,
                    },
                },
            };
            visit(object, held);
            if has_references {
                cursor.step(columns, row);
            }
        }
    }

    /// Where in a layout the field is.
    fn position(&self, fields: &[FieldId]) -> Option<(usize, Encoding)> {
        fields.iter().enumerate().find_map(|(at, field)| Some((at, *self.encodings.get(field)?)))
    }

    /// The target of the first reference with the name.
    fn target(&self, cursor: &Cursor, columns: &BlockColumns, row: usize) -> Option<u32> {
        let shape = columns.dictionary[dictionary_place(columns, row)];
        let targets = || cursor.targets(columns, row);
        match self.references[shape.index()] {
            References::None => None,
            References::At(position) => targets().get(position as usize).copied(),
            References::From(first) => {
                let labels = cursor.explicit_labels(columns, row);
                let at = labels.iter().position(|&code| self.is_label(code))?;
                targets().get(first as usize + at).copied()
            }
        }
    }

    fn is_label(&self, code: u64) -> bool {
        let label = |label: StringId| self.is_name.get(label);
        matches!(LabelCode(code).label(), Ok(Label::Name(name)) if label(name))
    }
}
