//! All fields of one name, and their values for the objects of a block.

use barrow_expressions::nearest;
use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::{Encoding, Label, LabelCode, Tail, Value};
use barrow_format::{FieldId, ObjectId, StringId, TypeId};
use foldhash::{HashMap, HashSet};

use super::Held;
use super::path::Declaration;
use super::unrecorded::Unrecorded;
use crate::error::{AnalyzerError, KnownFields, Result};
use crate::file::object::{Cursor, dictionary_place};
use crate::file::recording::Recording;
use crate::file::strings::StringAnswers;
use crate::file::tables::Tables;

/// The fields of one name.
pub(super) struct NamedField<'r> {
    /// The fields that have values.
    encodings: HashMap<FieldId, Encoding>,
    /// For each type the declaration of the field that counts.
    declared: Vec<Declared>,
    /// Tells for a string whether it is the name.
    is_name: StringAnswers<'r>,
    /// For each shape the places of the references of this name.
    references: Vec<References>,
    /// The objects that have the field although it is not recorded.
    unrecorded: Unrecorded<'r>,
    /// Types or shapes have such a field. Otherwise only references whose labels are stored with each object may
    /// have the name.
    is_certain: bool,
}

/// The field of a name for the objects of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    /// No type declares it.
    Not,
    /// Only types declare it whose fields do not count.
    Hidden,
    Field(EffectiveField),
}

/// The field of a name that counts for the objects of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EffectiveField {
    field: FieldId,
    encoding: Encoding,
    /// The number of fields of the name that are references, of the type and all of its bases.
    references: u32,
    /// The number of these before it, whose types are more derived.
    before: u32,
}

impl Declared {
    /// The field of the objects of a type, given the fields of the name that types declare themselves.
    fn of(
        tables: &Tables,
        id: TypeId,
        of_type: &HashMap<TypeId, (FieldId, Encoding)>,
        declaration: Declaration,
    ) -> Self {
        let chain: Vec<(TypeId, FieldId, Encoding)> = tables
            .type_and_bases(id)
            .filter_map(|id| of_type.get(&id).map(|&(field, encoding)| (id, field, encoding)))
            .collect();
        if chain.is_empty() {
            return Declared::Not;
        }
        let at = match declaration {
            Declaration::MostDerived => Some(0),
            Declaration::LeastDerived => Some(chain.len() - 1),
            Declaration::OfAttribute(key) => {
                let below = tables.type_and_bases(id).take_while(|&id| tables.type_attribute(id, key).is_none());
                let below: Vec<TypeId> = below.collect();
                // Importers of Python's dumps declare numbers with the types of the objects that have them.
                let of_objects = chain.last().is_some_and(|(.., encoding)| *encoding != Encoding::Reference);
                let last = of_objects.then(|| chain.len() - 1);
                chain.iter().position(|(id, ..)| !below.contains(id)).or(last)
            }
        };
        at.map_or(Declared::Hidden, |at| {
            let (_, field, encoding) = chain[at];
            let (all, before) = (reference_count(&chain), reference_count(&chain[..at]));
            Declared::Field(EffectiveField { field, encoding, references: all, before })
        })
    }

    fn field(self) -> Option<EffectiveField> {
        if let Declared::Field(field) = self { Some(field) } else { None }
    }
}

/// The number of fields that are references.
fn reference_count(fields: &[(TypeId, FieldId, Encoding)]) -> u32 {
    fields.iter().filter(|(_, _, encoding)| *encoding == Encoding::Reference).count() as u32
}

/// The places of an object's references of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum References {
    None,
    /// The position of the first one, and their number.
    At(u32, u32),
    /// The same of those before this position, from which on all references have the name.
    AllFrom(u32, u32, u32),
    /// Possibly among those from this position on, whose labels are stored with each object.
    From(u32),
}

impl References {
    /// Returns whether objects of the shape have references of the name.
    fn is_certain(&self) -> bool {
        matches!(self, References::At(..) | References::AllFrom(..))
    }
}

/// The error that no object has a field of this name.
pub(super) fn no_field(recording: &Recording, name: &str) -> Result<AnalyzerError> {
    let tables = recording.tables()?;
    let declared = recording.fields()?.all().map(|(_, field)| tables.string(field.name));
    let near = nearest(name, declared.filter(|known| *known != name)).map(str::to_owned);
    let near = variable(tables, name).or(near);
    let known = if !recording.has_contents()? {
        KnownFields::WithoutContents
    } else if !has_names(recording)? {
        KnownFields::WithoutNames
    } else if recording.lacks_numbers()? {
        KnownFields::WithoutNumbers
    } else {
        KnownFields::All
    };
    Ok(AnalyzerError::NoField { name: name.to_owned(), path: None, near, known })
}

/// The instance variable of Ruby that was meant by a name without `@`, if references have that name.
fn variable(tables: &Tables, name: &str) -> Option<String> {
    let variable = format!("@{name}");
    let mut codes = tables.shapes().iter().flat_map(|shape| shape.prefix.iter());
    let is_met = codes.any(|code| matches!(code.label(), Ok(Label::Name(label)) if tables.string(label) == variable));
    is_met.then_some(variable)
}

/// Returns whether the recording has names of references that the program gave them, or no references without a name.
fn has_names(recording: &Recording) -> Result<bool> {
    let (tables, words) = (recording.tables()?, recording.words()?);
    let own: HashSet<StringId> = words.iter().map(|word| word.text).collect();
    let is_of_program = |code: LabelCode| matches!(code.label(), Ok(Label::Name(name)) if !own.contains(&name));
    let is_unnamed = |code: LabelCode| matches!(code.label(), Ok(Label::Unknown));
    let mut any_unnamed = false;
    for shape in tables.shapes() {
        let tail = if let Tail::Repeated(code) = shape.tail { Some(code) } else { None };
        let mut codes = shape.prefix.iter().copied().chain(tail);
        if shape.tail == Tail::Explicit || codes.clone().any(is_of_program) {
            return Ok(true);
        }
        any_unnamed |= codes.any(is_unnamed);
    }
    let mut fields = recording.fields()?.all();
    Ok(!any_unnamed || fields.any(|(_, field)| field.encoding == Encoding::Reference))
}

impl<'r> NamedField<'r> {
    /// Finds the fields of a recording that have a name, of which that of the most derived type counts.
    ///
    /// # Errors
    /// [`AnalyzerError::NoField`] if there is none and no reference has the name.
    pub(super) fn find(recording: &'r Recording, name: &str) -> Result<Self> {
        Self::declared_by(recording, name, Declaration::MostDerived)
    }

    /// The same; `declaration` says which field of several counts.
    ///
    /// # Errors
    /// As for [`NamedField::find`].
    pub(super) fn declared_by(recording: &'r Recording, name: &str, declaration: Declaration) -> Result<Self> {
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
        let declared: Vec<Declared> = if of_type.is_empty() {
            vec![Declared::Not; tables.type_count()]
        } else {
            declared.map(|id| Declared::of(tables, id, &of_type, declaration)).collect()
        };
        let references = tables.shapes().iter().map(|shape| {
            let length = shape.prefix.len() as u32;
            let first = shape.prefix.iter().position(|&code| is_label(&is_name, code)).map(|position| position as u32);
            let count = shape.prefix.iter().filter(|&&code| is_label(&is_name, code)).count() as u32;
            match (shape.tail, first) {
                (Tail::Repeated(code), first) if is_label(&is_name, code) => {
                    References::AllFrom(first.unwrap_or(length), count, length)
                }
                (_, Some(position)) => References::At(position, count),
                (Tail::Explicit, None) => References::From(length),
                _ => References::None,
            }
        });
        let references: Vec<References> = references.collect();
        let unrecorded = Unrecorded::find(tables, fields, name);
        let mut is_certain = unrecorded.is_of_types()
            || !encodings.is_empty()
            || !of_type.is_empty()
            || references.iter().any(References::is_certain);
        if !is_certain {
            // Labels that are stored with each object are strings, too.
            let has_others = references.iter().any(|&found| found != References::None);
            let mut strings = (0..tables.string_count() as u32).map(StringId);
            let is_listed = unrecorded.is_listed(tables);
            if !is_listed && (!has_others || !strings.any(|id| is_name.get(id))) {
                return Err(no_field(recording, name)?);
            }
            is_certain = is_listed;
        }
        Ok(NamedField { encodings, declared, is_name, references, unrecorded, is_certain })
    }

    /// Returns whether types or shapes have the field. If not, only reading all objects shows whether one of them has
    /// it.
    pub(super) fn is_certain(&self) -> bool {
        self.is_certain
    }

    /// Takes the first reference of the name even if it is unknown to which of several fields it belongs.
    pub(super) fn or_any(mut self) -> Self {
        for declared in &mut self.declared {
            if let Declared::Field(field) = declared {
                (field.references, field.before) = (1, 0);
            }
        }
        self
    }

    /// The fields that count for any type.
    fn fields(&self) -> impl Iterator<Item = EffectiveField> {
        self.declared.iter().filter_map(|declared| declared.field())
    }

    /// The encodings of the fields.
    pub(super) fn encodings(&self) -> impl Iterator<Item = Encoding> {
        self.encodings.values().copied()
    }

    /// Returns whether types have references of the name, or no fields of the name with other values.
    pub(super) fn is_reference(&self) -> bool {
        self.encodings.is_empty()
            || self.references.iter().any(References::is_certain)
            || self.fields().any(|field| field.encoding == Encoding::Reference)
    }

    /// Returns whether a reference may have the name, or hold null.
    pub(super) fn may_refer(&self) -> bool {
        self.references.iter().any(|&found| found != References::None)
            || self.fields().any(|field| field.encoding == Encoding::Reference)
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
            Declared::Field(field) => field.encoding == Encoding::Reference,
            Declared::Hidden => false,
            Declared::Not => self.references[shape.index()] != References::None,
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
            let declared = self.declared[tables.shape(shape).type_id.index()];
            let before = declared.field().map_or(0, |field| field.before);
            let found = if has_references { self.target(&cursor, columns, tables, row, before) } else { None };
            let held = match (declared, found) {
                (Declared::Hidden, _) => Held::Missing,
                (Declared::Field(EffectiveField { field, encoding, .. }), _) if encoding != Encoding::Reference => {
                    let value = self.value(columns, place, |id| id == field);
                    value.map_or(Held::Unknown, Held::Value)
                }
                // Of several references of the name some are null; which ones is not recorded.
                (Declared::Field(declared), Some((_, count))) if count < declared.references => Held::Unknown,
                (_, Some((target, _))) => Held::Object(ObjectId(target)),
                (Declared::Field(_), None) => Held::Null,
                (Declared::Not, None) => {
                    let value = self.value(columns, place, |id| self.encodings.contains_key(&id));
                    let is_unrecorded = || {
                        let type_id = tables.shape(shape).type_id;
                        self.unrecorded.contains(type_id, place, columns.values.codes())
                    };
                    let absent = || if is_unrecorded() { Held::Unknown } else { Held::Missing };
                    value.map_or_else(absent, Held::Value)
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

    /// The target of the reference with the name after `before` others, or of the first one if there are fewer, and the
    /// number of references with the name.
    fn target(
        &self,
        cursor: &Cursor,
        columns: &BlockColumns,
        tables: &Tables,
        row: usize,
        before: u32,
    ) -> Option<(u32, u32)> {
        let shape = columns.dictionary[dictionary_place(columns, row)];
        let targets = cursor.targets(columns, row);
        let codes = tables.shape(shape).prefix.iter().map(|code| code.0);
        let (position, count) = match self.references[shape.index()] {
            References::None => return None,
            References::At(first, count) if before == 0 => (first as usize, count),
            References::At(first, count) => {
                (self.place_after(before, codes).map_or(first as usize, |(place, _)| place), count)
            }
            References::AllFrom(first, in_prefix, start) => {
                let position = match before.checked_sub(in_prefix) {
                    _ if before == 0 => first as usize,
                    Some(before) => start as usize + before as usize,
                    None => self.place_after(before, codes)?.0,
                };
                let count = in_prefix + (targets.len() as u32).saturating_sub(start);
                (if position < targets.len() { position } else { first as usize }, count)
            }
            References::From(first) => {
                let labels = cursor.explicit_labels(columns, row).iter().copied();
                let (place, count) = self.place_after(before, labels)?;
                (first as usize + place, count)
            }
        };
        targets.get(position).map(|&target| (target, count))
    }

    /// The place of the label with the name after `before` others, or of the first one if there are fewer, and the number
    /// of labels with the name.
    fn place_after(&self, before: u32, labels: impl Iterator<Item = u64>) -> Option<(usize, u32)> {
        let (mut found, mut count) = (None, 0);
        for (place, _) in labels.enumerate().filter(|&(_, code)| is_label(&self.is_name, LabelCode(code))) {
            if count == 0 || count == before {
                found = Some(place);
            }
            count += 1;
        }
        found.map(|place| (place, count))
    }
}

/// Returns whether a label is a name for which the answer is true.
fn is_label(is_name: &StringAnswers<'_>, code: LabelCode) -> bool {
    matches!(code.label(), Ok(Label::Name(label)) if is_name.get(label))
}
