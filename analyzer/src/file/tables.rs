//! The tables of a recording in memory: strings, kinds, strengths, types and shapes. Sites, processes and
//! measurements have files of their own: [`super::sites`], [`super::processes`] and [`super::measurements`].
//!
//! Tables are loaded when a question first needs one. All ids in them are checked then, so later look-ups cannot fail.
//! Strings are decoded when they are used, see [`super::strings`].

use barrow_format::block::ShapeForm;
use barrow_format::codec::Decompressor;
use barrow_format::commit::TableCounts;
use barrow_format::frame::{Frame, SectionType};
use barrow_format::rows::{
    Chunk, KeyValue, Kind, KindRole, Label, LabelCode, Row, Shape, Strength, StrengthClass, Tail, Text, Type,
    table_memory_bytes, table_memory_limit, table_memory_name,
};
use barrow_format::{FormatError, KindId, ShapeId, StrengthId, StringId, TypeId};

use std::sync::Arc;

use crate::error::{AnalyzerError, Result};
use crate::file::bytes::Bytes;
use crate::file::strings::{StringAnswers, Strings};

/// The maximum number of classes in a chain of bases. No real hierarchy is that deep; a longer chain is a cycle.
const MOST_BASES: usize = 256;
/// The attribute of a type with the name of objects that represent the absence of a value.
pub(crate) const NULL: &str = "null";
/// The attribute of a type with the template for the lines of its objects.
pub(crate) const READS_AS: &str = "reads as";
/// The attribute of a type with the name of an interface or a further base.
const IMPLEMENTS: &str = "implements";

/// The tables that all snapshots of a recording share.
///
/// Ids come from the recording itself. An id that is not in the table is a bug of the caller and panics, as an index
/// out of bounds does.
#[derive(Debug, Default)]
pub struct Tables {
    strings: Strings,
    kinds: Vec<Kind>,
    strengths: Vec<Strength>,
    types: Vec<Type>,
    shapes: Vec<Shape>,
    forms: Vec<ShapeForm>,
    facts: Vec<KeyValue>,
}

impl Tables {
    /// Loads the table chunks at these offsets.
    pub(crate) fn load(file: &Arc<Bytes>, chunks: &[(SectionType, u64)]) -> Result<Self> {
        let of_strings = chunks.iter().filter(|(section, _)| *section == SectionType::STRINGS);
        let mut tables =
            Tables { strings: Strings::load(file, of_strings.map(|&(_, offset)| offset))?, ..Tables::default() };
        let mut decompressor = Decompressor::new();
        let mut room = TableRoom::new(file);
        let others = [
            SectionType::STRINGS,
            SectionType::FIELDS,
            SectionType::SITES,
            SectionType::PROCESSES,
            SectionType::MEASUREMENTS,
            SectionType::WORDS,
        ];
        for &(section, offset) in chunks.iter().filter(|(section, _)| !others.contains(section)) {
            let name = section.name().unwrap_or("table");
            tables
                .load_chunk(file, section, offset, &mut decompressor, &mut room)
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
        room: &mut TableRoom,
    ) -> Result<(), FormatError> {
        let chunk = chunk_at(file, section, offset, room)?;
        match section {
            SectionType::META => append(&chunk, decompressor, &mut self.facts, |row| row),
            SectionType::KINDS => append(&chunk, decompressor, &mut self.kinds, |row| row),
            SectionType::STRENGTHS => append(&chunk, decompressor, &mut self.strengths, |row| row),
            SectionType::TYPES => append(&chunk, decompressor, &mut self.types, |row| row),
            SectionType::SHAPES => append(&chunk, decompressor, &mut self.shapes, |row| row),
            _ => Ok(()),
        }
    }

    /// Checks all ids that tables hold of each other.
    fn check(&self) -> Result<(), FormatError> {
        fn rows<R: CheckedRow>(rows: &[R], known: &TableCounts) -> Result<(), FormatError> {
            (0..).zip(rows).try_for_each(|(id, row)| row.check(id, known))
        }
        let known = self.counts();
        rows(&self.facts, &known)?;
        rows(&self.kinds, &known)?;
        rows(&self.strengths, &known)?;
        rows(&self.types, &known)?;
        rows(&self.shapes, &known)
    }

    pub(crate) fn counts(&self) -> TableCounts {
        let lengths = [self.kinds.len(), self.strengths.len(), self.types.len(), self.shapes.len()];
        let [kinds, strengths, types, shapes] = lengths.map(|length| u32::try_from(length).unwrap_or(u32::MAX));
        TableCounts { strings: self.strings.count(), kinds, strengths, types, shapes }
    }

    /// The texts of pairs of strings.
    pub(crate) fn texts(&self, pairs: impl Iterator<Item = (StringId, StringId)>) -> Vec<(String, String)> {
        pairs.map(|(key, value)| (self.string(key).to_owned(), self.string(value).to_owned())).collect()
    }

    /// Checks the name of an object.
    pub(crate) fn check_name(&self, name: StringId) -> Result<(), FormatError> {
        below("name of an object", name.0, self.counts().strings)
    }

    /// Checks the ids in a label.
    pub(crate) fn check_label(&self, code: LabelCode) -> Result<(), FormatError> {
        check_label(code, &self.counts())
    }

    pub(crate) fn facts(&self) -> &[KeyValue] {
        &self.facts
    }

    /// The parts of all shapes that decoding a block needs, in the order of their ids.
    #[must_use]
    pub fn forms(&self) -> &[ShapeForm] {
        &self.forms
    }

    /// All shapes, in the order of their ids.
    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The shape of objects with this number.
    #[must_use]
    pub fn shape(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.index()]
    }

    /// The number of strings.
    #[must_use]
    pub fn string_count(&self) -> usize {
        self.strings.count() as usize
    }

    /// The text of a string. If it cannot be read, this is a placeholder, and [`Tables::check_strings`] fails from then
    /// on.
    #[must_use]
    pub fn string(&self, id: StringId) -> &str {
        self.strings.get(id)
    }

    /// Fails if a string used so far could not be read: its chunk is damaged or does not continue the table, or there was no
    /// room for it in memory or on disk. An answer that contains strings is valid only if this succeeds
    /// afterwards.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Io`].
    pub fn check_strings(&self) -> Result<()> {
        self.strings.check()
    }

    /// From now on keeps at most `bytes` of strings in memory. Strings kept before stay.
    pub(crate) fn bound_kept_strings(&self, bytes: u64) {
        self.strings.bound_kept(bytes);
    }

    /// Decodes all strings and returns the errors.
    pub(crate) fn string_problems(&self) -> Vec<AnalyzerError> {
        self.strings.problems()
    }

    /// Calls `answer` for every string, in parallel on the current pool. Returns the results in order.
    pub(crate) fn map_strings<T: Clone + Default + Send>(&self, answer: impl Fn(&str) -> T + Sync) -> Vec<T> {
        self.strings.map(answer)
    }

    /// Tells of each string whether it is this name; remembered from question to question.
    pub(crate) fn strings_named(&self, name: &str) -> StringAnswers<'_> {
        self.strings.named(name)
    }

    /// The results of `answer`, computed for the strings that are queried.
    pub(crate) fn string_answers<'s>(&'s self, answer: impl Fn(&str) -> bool + Send + Sync + 's) -> StringAnswers<'s> {
        StringAnswers::new(&self.strings, answer)
    }

    /// The number of kinds.
    #[must_use]
    pub fn kind_count(&self) -> usize {
        self.kinds.len()
    }

    /// A kind's name, in the singular.
    #[must_use]
    pub fn kind_name(&self, id: KindId) -> &str {
        self.string(self.kinds[id.index()].name)
    }

    /// The role of a kind.
    #[must_use]
    pub fn kind_role(&self, id: KindId) -> KindRole {
        self.kinds[id.index()].role
    }

    /// The number of types.
    #[must_use]
    pub fn type_count(&self) -> usize {
        self.types.len()
    }

    fn type_ids(&self) -> impl Iterator<Item = TypeId> {
        (0..self.type_count() as u32).map(TypeId)
    }

    /// The number of shapes.
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

    /// The layout of a type's objects, in the runtime's words.
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

    /// A type and its bases, the nearest first. At most 256, because a longer chain is a cycle.
    pub fn type_and_bases(&self, id: TypeId) -> impl Iterator<Item = TypeId> {
        std::iter::successors(Some(id), |&id| self.type_base(id)).take(MOST_BASES)
    }

    /// The recorded names of interfaces and further bases of a type or one of its bases.
    pub fn type_interfaces(&self, id: TypeId) -> impl Iterator<Item = &str> {
        let attributes = self.type_and_bases(id).flat_map(|id| self.type_attributes(id));
        attributes.filter(|&(key, _)| key == IMPLEMENTS).map(|(_, name)| name)
    }

    /// Returns whether a type has this name.
    #[must_use]
    pub fn has_type(&self, name: &str) -> bool {
        self.type_ids().any(|id| self.type_name(id) == name)
    }

    /// Returns whether a type has this name, or this title: `name (file:line)`.
    #[must_use]
    pub fn has_titled_type(&self, name: &str) -> bool {
        self.has_type(name) || self.type_ids().any(|id| self.type_file(id).is_some() && self.type_title(id) == name)
    }

    /// Returns whether the base of any type is recorded.
    #[must_use]
    pub fn has_bases(&self) -> bool {
        self.type_ids().any(|id| self.type_base(id).is_some())
    }

    /// Returns whether a type implements an interface of this name.
    pub(crate) fn has_interface(&self, name: &str) -> bool {
        self.type_ids().any(|id| self.type_interfaces(id).any(|known| known == name))
    }

    /// The package, module or namespace in the name of a type: `java.util` of `java.util.HashMap$Node[]`. `None` if it has
    /// none.
    #[must_use]
    pub fn type_package(&self, id: TypeId) -> Option<&str> {
        package(self.type_name(id))
    }

    /// The class of the class loader that defined a type of a JVM; `None` if that is the JVM itself, or not recorded.
    #[must_use]
    pub fn type_loader(&self, id: TypeId) -> Option<&str> {
        self.type_attribute(id, "class loader")
    }

    /// The template for the lines of a type's objects, from the type itself or its nearest base with one; see
    /// [`crate::Heap::lines`].
    #[must_use]
    pub fn type_template(&self, id: TypeId) -> Option<&str> {
        self.type_and_bases(id).find_map(|id| self.own_template(id))
    }

    /// The template that a type itself has.
    pub(crate) fn own_template(&self, id: TypeId) -> Option<&str> {
        self.type_attribute(id, READS_AS)
    }

    /// Other attributes of a type that the runtime recorded: keys and values.
    pub fn type_attributes(&self, id: TypeId) -> impl Iterator<Item = (&str, &str)> {
        self.types[id.index()].attributes.iter().map(|&(key, value)| (self.string(key), self.string(value)))
    }

    /// The value of an attribute of a type.
    pub(crate) fn type_attribute(&self, id: TypeId, key: &str) -> Option<&str> {
        self.type_attributes(id).find(|&(known, _)| known == key).map(|(_, value)| value)
    }

    /// Returns whether objects of a type with this name represent the absence of a value, as `None` does in Python.
    #[must_use]
    pub fn is_null(&self, id: TypeId, name: Option<StringId>) -> bool {
        self.type_attributes(id).any(|(key, value)| key == NULL && name.is_some_and(|name| self.string(name) == value))
    }

    /// The display form of a type: its name; for a function, also file and line.
    #[must_use]
    pub fn type_title(&self, id: TypeId) -> String {
        title(self.type_name(id), self.type_file(id), self.type_line(id))
    }

    /// The number of strengths.
    #[must_use]
    pub fn strength_count(&self) -> usize {
        self.strengths.len()
    }

    /// The runtime's name for a strength.
    #[must_use]
    pub fn strength_name(&self, id: StrengthId) -> &str {
        self.string(self.strengths[id.index()].name)
    }

    /// The meaning of a strength for reachability.
    #[must_use]
    pub fn strength_class(&self, id: StrengthId) -> StrengthClass {
        self.strengths[id.index()].class
    }
}

/// The part of a type's name before the last `.` or `::`. Parameters and nested classes do not count.
fn package(name: &str) -> Option<&str> {
    let class = &name[..name.find(['<', '(', '[', '$', '/', '#', ' ']).unwrap_or(name.len())];
    let end = class.rfind('.').max(class.rfind("::"))?;
    Some(&class[..end]).filter(|package| !package.is_empty())
}

/// The display form of a type with this name, file and line.
pub(crate) fn title(name: &str, file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{name} ({file}:{line})"),
        (Some(file), None) => format!("{name} ({file})"),
        _ => name.to_owned(),
    }
}

/// A table row that holds ids of other tables.
pub(crate) trait CheckedRow: Row {
    /// Fails unless all ids in row `id` are within tables of `known` rows.
    fn check(&self, id: u64, known: &TableCounts) -> Result<(), FormatError>;
}

impl CheckedRow for Text {
    fn check(&self, _id: u64, _known: &TableCounts) -> Result<(), FormatError> {
        Ok(())
    }
}

impl CheckedRow for KeyValue {
    fn check(&self, _id: u64, known: &TableCounts) -> Result<(), FormatError> {
        below("string", self.key.0.max(self.value.0), known.strings)
    }
}

impl CheckedRow for Kind {
    fn check(&self, _id: u64, known: &TableCounts) -> Result<(), FormatError> {
        below("string", self.name.0, known.strings)
    }
}

impl CheckedRow for Strength {
    fn check(&self, id: u64, known: &TableCounts) -> Result<(), FormatError> {
        if id == 0 && self.class != StrengthClass::Strong {
            return Err(FormatError::Missing { what: "the strong strength" });
        }
        below("string", self.name.0, known.strings)
    }
}

impl CheckedRow for Type {
    fn check(&self, _id: u64, known: &TableCounts) -> Result<(), FormatError> {
        below("kind", self.kind.0, known.kinds)?;
        self.base.map_or(Ok(()), |base| below("base type", base.0, known.types))?;
        let attributes = self.attributes.iter().flat_map(|&(key, value)| [key, value]);
        [self.name]
            .into_iter()
            .chain(self.layout)
            .chain(self.file)
            .chain(attributes)
            .try_for_each(|text| below("string", text.0, known.strings))
    }
}

impl CheckedRow for Shape {
    fn check(&self, _id: u64, known: &TableCounts) -> Result<(), FormatError> {
        below("type of a shape", self.type_id.0, known.types)?;
        self.prefix.iter().try_for_each(|&code| check_label(code, known))?;
        match self.tail {
            Tail::Repeated(code) => check_label(code, known),
            // Labels are made from this strength, so it must fit into one.
            Tail::Indexed(strength) => {
                LabelCode::new(Label::Unknown, strength)?;
                below("strength", strength.0, known.strengths)
            }
            Tail::None | Tail::Explicit => Ok(()),
        }
    }
}

fn check_label(code: LabelCode, known: &TableCounts) -> Result<(), FormatError> {
    if let Label::Name(name) = code.label()? {
        below("name of a reference", name.0, known.strings)?;
    }
    below("strength", code.strength().0, known.strengths)
}

/// Fails unless `id` is below `count`.
pub(crate) fn below(what: &'static str, id: u32, count: u32) -> Result<(), FormatError> {
    if id < count {
        return Ok(());
    }
    Err(FormatError::OutOfRange { what, value: id.into(), limit: count.into() })
}

/// The memory that tables may still use. A row of one byte in a chunk can take fifty in memory, and chunks can compress
/// to a ten-thousandth, so without a limit a small file could claim any amount of memory. Writers keep the same limit.
/// Strings need none, because they are decoded chunk by chunk.
#[derive(Clone)]
pub(crate) struct TableRoom {
    /// A limit that depends on the length of the file, for files written before writers had a limit.
    by_length: u64,
    used: [u64; SectionType::WORDS.0 as usize + 1],
}

/// The memory for a table if that is more than the writers' limit, in bytes: a fixed part, and a part for each byte of
/// the file.
const TABLE_BYTES: u64 = 16 << 20;
const TABLE_BYTES_PER_BYTE: u64 = 16;

impl TableRoom {
    /// The room for the tables of `file`.
    pub(crate) fn new(file: &[u8]) -> Self {
        let mut room = TableRoom { by_length: 0, used: Default::default() };
        room.of(file);
        room
    }

    /// Updates the room after the file has grown.
    pub(crate) fn of(&mut self, file: &[u8]) {
        self.by_length = TABLE_BYTES.saturating_add((file.len() as u64).saturating_mul(TABLE_BYTES_PER_BYTE));
    }

    /// Takes the room for a chunk that will be decoded.
    pub(crate) fn take(&mut self, section: SectionType, chunk: &Chunk<'_>) -> Result<(), FormatError> {
        let Some(limit) = table_memory_limit(section).map(|limit| limit.max(self.by_length)) else { return Ok(()) };
        let Some(used) = self.used.get_mut(section.0 as usize) else { return Ok(()) };
        let value = used.saturating_add(table_memory_bytes(section, chunk.raw_length() as u64, chunk.count));
        if value > limit {
            return Err(FormatError::OutOfRange { what: table_memory_name(section), value, limit });
        }
        *used = value;
        Ok(())
    }
}

/// The table chunk at `offset`. Fails if there is no room for it.
pub(crate) fn chunk_at<'f>(
    file: &'f [u8],
    section: SectionType,
    offset: u64,
    room: &mut TableRoom,
) -> Result<Chunk<'f>, FormatError> {
    let frame = Frame::parse(file, offset)?;
    frame.expect(section)?;
    let chunk = Chunk::parse(frame.directory()?, frame.body()?)?;
    room.take(section, &chunk)?;
    Ok(chunk)
}

/// Appends the rows of a chunk to its table. The chunk must continue the table.
pub(crate) fn append<R: Row, T>(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_before_the_last_part_of_a_name() {
        for (name, expected) in [
            ("java.util.HashMap$Node[]", Some("java.util")),
            ("a.Main$$Lambda$3/0x00007f09", Some("a")),
            ("com.sun.proxy.$Proxy12", Some("com.sun.proxy")),
            ("collections.OrderedDict", Some("collections")),
            ("Rack::Session::Cookie", Some("Rack::Session")),
            ("alloc::vec::Vec<std::path::PathBuf>", Some("alloc::vec")),
            ("#<Class:Rack::Session>", None),
            ("byte[]", None),
            ("system / Map", None),
            (".hidden", None),
            ("", None),
        ] {
            assert_eq!(package(name), expected, "{name}");
        }
    }
}
