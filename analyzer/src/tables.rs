//! The tables of a recording in memory: strings, kinds, strengths, types, shapes.
//!
//! They are loaded as a whole when the first question needs one, and every id in them is checked
//! then, so that later look-ups cannot fail.

use barrow_format::block::ShapeForm;
use barrow_format::codec::Decompressor;
use barrow_format::frame::{Frame, SectionType};
use barrow_format::rows::{
    Chunk, KeyValue, Kind, KindRole, Label, LabelCode, Row, Shape, Strength, StrengthClass, Tail, Text, Type,
};
use barrow_format::{FormatError, KindId, ShapeId, StrengthId, StringId, TypeId};

use crate::contents::Contents;
use crate::error::{AnalyzerError, Result};

/// The tables that all snapshots of a recording share.
///
/// Ids come from the recording itself; asking for one that the table does not have is a bug of the
/// caller and panics, as indexing a slice does.
#[derive(Debug, Default)]
pub struct Tables {
    strings: Vec<String>,
    kinds: Vec<Kind>,
    strengths: Vec<Strength>,
    types: Vec<Type>,
    shapes: Vec<Shape>,
    forms: Vec<ShapeForm>,
    facts: Vec<KeyValue>,
}

impl Tables {
    pub(crate) fn load(file: &[u8], contents: &Contents) -> Result<Self> {
        let mut tables = Tables::default();
        let mut decompressor = Decompressor::new();
        for &(section, offset) in &contents.chunks {
            let name = section.name().unwrap_or("table");
            tables
                .load_chunk(file, section, offset, &mut decompressor)
                .map_err(AnalyzerError::section(name, offset))?;
        }
        tables.check().map_err(AnalyzerError::Unreadable)?;
        tables.forms = tables.shapes.iter().map(ShapeForm::from).collect();
        Ok(tables)
    }

    fn load_chunk(
        &mut self,
        file: &[u8],
        section: SectionType,
        offset: u64,
        decompressor: &mut Decompressor,
    ) -> Result<(), FormatError> {
        let frame = Frame::parse(file, offset)?;
        if frame.header.section != section {
            let (stored, found) = (section.0.into(), frame.header.section.0.into());
            return Err(FormatError::Mismatch { what: "section type", stored, found });
        }
        let chunk = Chunk::parse(frame.directory()?, frame.body()?)?;
        match section {
            SectionType::META => append(&chunk, decompressor, &mut self.facts, |row| row),
            SectionType::STRINGS => append(&chunk, decompressor, &mut self.strings, |Text(text)| text),
            SectionType::KINDS => append(&chunk, decompressor, &mut self.kinds, |row| row),
            SectionType::STRENGTHS => append(&chunk, decompressor, &mut self.strengths, |row| row),
            SectionType::TYPES => append(&chunk, decompressor, &mut self.types, |row| row),
            SectionType::SHAPES => append(&chunk, decompressor, &mut self.shapes, |row| row),
            _ => Ok(()),
        }
    }

    /// Checks every id that one table holds of another.
    fn check(&self) -> Result<(), FormatError> {
        let string = |id: StringId| below("string", id.0, self.strings.len());
        let optional = |id: Option<StringId>| id.map_or(Ok(()), string);
        for fact in &self.facts {
            string(fact.key).and(string(fact.value))?;
        }
        self.kinds.iter().try_for_each(|kind| string(kind.name))?;
        self.strengths.iter().try_for_each(|strength| string(strength.name))?;
        if self.strengths.first().is_some_and(|first| first.class != StrengthClass::Strong) {
            return Err(FormatError::Missing { what: "the strong strength" });
        }
        for row in &self.types {
            below("kind", row.kind.0, self.kinds.len())?;
            string(row.name).and(optional(row.layout)).and(optional(row.file))?;
            row.base.map_or(Ok(()), |base| below("base type", base.0, self.types.len()))?;
            row.attributes.iter().try_for_each(|&(key, value)| string(key).and(string(value)))?;
        }
        for shape in &self.shapes {
            below("type of a shape", shape.type_id.0, self.types.len())?;
            shape.prefix.iter().try_for_each(|&code| self.check_label(code))?;
            match shape.tail {
                Tail::Repeated(code) => self.check_label(code)?,
                Tail::Indexed(strength) => below("strength", strength.0, self.strengths.len())?,
                Tail::None | Tail::Explicit => {}
            }
        }
        Ok(())
    }

    /// Checks the ids in a label.
    pub(crate) fn check_label(&self, code: LabelCode) -> Result<(), FormatError> {
        if let Label::Name(name) = code.label()? {
            below("name of a reference", name.0, self.strings.len())?;
        }
        below("strength", code.strength().0, self.strengths.len())
    }

    pub(crate) fn facts(&self) -> &[KeyValue] {
        &self.facts
    }

    pub(crate) fn forms(&self) -> &[ShapeForm] {
        &self.forms
    }

    pub(crate) fn shape(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.index()]
    }

    /// How many strings there are.
    #[must_use]
    pub fn string_count(&self) -> usize {
        self.strings.len()
    }

    /// The text of a string.
    #[must_use]
    pub fn string(&self, id: StringId) -> &str {
        &self.strings[id.index()]
    }

    /// How many kinds there are.
    #[must_use]
    pub fn kind_count(&self) -> usize {
        self.kinds.len()
    }

    /// A kind's name, in the singular.
    #[must_use]
    pub fn kind_name(&self, id: KindId) -> &str {
        self.string(self.kinds[id.index()].name)
    }

    /// What a kind is for.
    #[must_use]
    pub fn kind_role(&self, id: KindId) -> KindRole {
        self.kinds[id.index()].role
    }

    /// How many types there are.
    #[must_use]
    pub fn type_count(&self) -> usize {
        self.types.len()
    }

    /// How many shapes there are.
    #[must_use]
    pub fn shape_count(&self) -> usize {
        self.shapes.len()
    }

    /// The kind of a type's objects.
    #[must_use]
    pub fn type_kind(&self, id: TypeId) -> KindId {
        self.types[id.index()].kind
    }

    /// A type's name.
    #[must_use]
    pub fn type_name(&self, id: TypeId) -> &str {
        self.string(self.types[id.index()].name)
    }

    /// How a type's objects are laid out, in the runtime's words.
    #[must_use]
    pub fn type_layout(&self, id: TypeId) -> Option<&str> {
        self.types[id.index()].layout.map(|layout| self.string(layout))
    }

    /// The file a type is declared in.
    #[must_use]
    pub fn type_file(&self, id: TypeId) -> Option<&str> {
        self.types[id.index()].file.map(|file| self.string(file))
    }

    /// The line a type is declared at.
    #[must_use]
    pub fn type_line(&self, id: TypeId) -> Option<u32> {
        self.types[id.index()].line
    }

    /// The type a type is derived from.
    #[must_use]
    pub fn type_base(&self, id: TypeId) -> Option<TypeId> {
        self.types[id.index()].base
    }

    /// What else the runtime knows of a type: keys and values.
    pub fn type_attributes(&self, id: TypeId) -> impl Iterator<Item = (&str, &str)> {
        self.types[id.index()].attributes.iter().map(|&(key, value)| (self.string(key), self.string(value)))
    }

    /// A type as people read it: its name, for a function with file and line.
    #[must_use]
    pub fn type_title(&self, id: TypeId) -> String {
        let name = self.type_name(id);
        match (self.type_file(id), self.type_line(id)) {
            (Some(file), Some(line)) => format!("{name} ({file}:{line})"),
            (Some(file), None) => format!("{name} ({file})"),
            _ => name.to_owned(),
        }
    }

    /// How many strengths there are.
    #[must_use]
    pub fn strength_count(&self) -> usize {
        self.strengths.len()
    }

    /// The runtime's word for a strength.
    #[must_use]
    pub fn strength_name(&self, id: StrengthId) -> &str {
        self.string(self.strengths[id.index()].name)
    }

    /// What a strength means for reachability.
    #[must_use]
    pub fn strength_class(&self, id: StrengthId) -> StrengthClass {
        self.strengths[id.index()].class
    }
}

fn below(what: &'static str, id: u32, count: usize) -> Result<(), FormatError> {
    if (id as usize) < count {
        return Ok(());
    }
    Err(FormatError::OutOfRange { what, value: id.into(), limit: count as u64 })
}

fn append<R: Row, T>(
    chunk: &Chunk<'_>,
    decompressor: &mut Decompressor,
    table: &mut Vec<T>,
    value: impl Fn(R) -> T,
) -> Result<(), FormatError> {
    if chunk.first != table.len() as u64 {
        return Err(FormatError::Mismatch {
            what: "first row of a table chunk",
            stored: chunk.first,
            found: table.len() as u64,
        });
    }
    chunk.for_each(decompressor, |row| {
        table.push(value(row));
        Ok(())
    })
}
