//! Announces the lines of one thread to a shard.

use super::attributes::{NOT_RECORDED, VALUE};
use super::line::{Line, References};
use super::types::{LineType, put_key};
use super::{Classes, ReferenceNames, name_of_type};
use crate::contents::Contents;
use crate::context::Vocabulary;
use crate::error::{Damage, Stop};
use crate::heaps::json_lines::{Addresses, DeclaredTypes, MAX_NAME_BYTES, Strings, Text, add_bytes, unexpected};
use barrow_writer::{Label, Object, Shard, StrengthId, StringId, Value};

/// The categories of `dump_heap.py`'s roots.
const CATEGORIES: [&str; 4] = ["builtins", "frames", "interpreter", "modules"];

/// Tables that all threads share.
#[derive(Clone, Copy)]
pub(crate) struct SharedTables<'k> {
    pub(crate) vocabulary: &'k Vocabulary<'k>,
    pub(crate) contents: Contents,
    pub(crate) words: &'k ReferenceNames,
    pub(crate) addresses: &'k Addresses,
    pub(crate) classes: &'k Classes,
}

/// Counts of announced lines.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Announced {
    /// References and roots whose target is not in the dump.
    pub(crate) lost_references: u64,
    /// Sizes of objects, summed, in bytes.
    pub(crate) bytes: u64,
}

impl Announced {
    pub(crate) fn add(&mut self, other: &Announced) -> Result<(), Damage> {
        self.bytes = add_bytes(self.bytes, other.bytes, 0)?;
        self.lost_references += other.lost_references;
        Ok(())
    }
}

/// Announces the lines of one thread.
pub(crate) struct Announcer<'k, 's> {
    known: SharedTables<'k>,
    shard: Shard<'s>,
    /// The next object's number.
    row: u64,
    types: DeclaredTypes,
    strings: Strings<'k>,
    // Kept for their memory.
    key: Vec<u8>,
    references: References<'static>,
    pub(crate) announced: Announced,
}

impl<'k, 's> Announcer<'k, 's> {
    pub(crate) fn new(known: SharedTables<'k>, shard: Shard<'s>) -> Self {
        Announcer {
            known,
            shard,
            row: 0,
            types: DeclaredTypes::default(),
            strings: Strings::new(known.vocabulary),
            key: Vec::new(),
            references: References::default(),
            announced: Announced::default(),
        }
    }

    pub(crate) fn finish(self) -> Result<(), Stop> {
        Ok(self.shard.finish()?)
    }

    /// Begins a chunk whose first object is number `row`.
    pub(crate) fn begin(&mut self, row: u64) {
        self.row = row;
        self.announced = Announced::default();
    }

    /// Announces the line at `offset`: roots, or the next object.
    pub(crate) fn announce(&mut self, text: &[u8], offset: u64) -> Result<(), Stop> {
        let mut references = std::mem::take(&mut self.references).recycled();
        let line = Line::read(text, offset, &mut references)?;
        let announced = match (line.address, line.root, line.barrow) {
            (Some(address), ..) => self.object(&line, address, &references, offset),
            (None, Some(category), _) => self.roots(category, &references),
            (None, None, Some(_)) => Ok(()),
            (None, None, None) => Err(unexpected(text, offset)),
        };
        self.references = references.recycled();
        announced
    }

    fn roots(&mut self, category: Text<'_>, references: &References<'_>) -> Result<(), Stop> {
        self.known.vocabulary.mark_known(&category.decode_first(MAX_NAME_BYTES), &CATEGORIES)?;
        let category = self.strings.id(category)?;
        for (position, &address) in references.strong.iter().enumerate() {
            let label = self.label(references, position)?;
            match self.known.addresses.row(address) {
                Some(row) => self.shard.root(category, label, row.into())?,
                None => self.announced.lost_references += 1,
            }
        }
        Ok(())
    }

    fn object(&mut self, line: &Line<'_>, address: u64, references: &References<'_>, offset: u64) -> Result<(), Stop> {
        let SharedTables { vocabulary, contents, words, classes, .. } = self.known;
        let size = line.size.unwrap_or(0);
        self.announced.bytes = add_bytes(self.announced.bytes, size, offset)?;
        let address = Some(address).filter(|&address| address != 0);
        let name = self.name(line)?;
        put_key(line, &mut self.key);
        let declared =
            self.types.of(&self.key, || LineType::of(line).declare(classes, vocabulary, contents.has_values()))?;
        self.shard.object(self.row, &Object { address, name, ..Object::new(declared.type_id, size) })?;
        self.row += 1;
        let fields = [
            (VALUE, number(line, classes)),
            ("length", line.length.map(Value::Unsigned)),
            ("capacity", line.capacity.map(Value::Unsigned)),
        ];
        for (name, value) in fields.into_iter().filter(|_| contents.has_values()) {
            if let Some(value) = value {
                declared.announce(name, value, &mut self.shard, vocabulary)?;
            }
        }
        if contents.has_values() && may_have_more(line, references, classes) {
            let names = Value::Text(vocabulary.string(ANY_NAME)?);
            declared.announce_some(NOT_RECORDED, names, &mut self.shard, vocabulary)?;
        }
        if let Some(class) = line.class {
            self.reference(Label::Name(words.class), StrengthId::STRONG, class)?;
        }
        let elements = usize::try_from(line.elements).unwrap_or(usize::MAX);
        for (position, &target) in references.strong.iter().enumerate() {
            let label = match position.checked_sub(elements) {
                None => Label::Index(position as u64),
                Some(position) => self.label(references, position)?.map_or(Label::Unknown, Label::Name),
            };
            self.reference(label, StrengthId::STRONG, target)?;
        }
        for &target in &references.weak {
            self.reference(Label::Name(words.referent), words.weak, target)?;
        }
        Ok(())
    }

    fn name(&mut self, line: &Line<'_>) -> Result<Option<StringId>, Stop> {
        if line.kind == b"type" {
            return Ok(Some(self.known.vocabulary.string(&name_of_type(line))?));
        }
        let mut bases = line.class.into_iter().flat_map(|class| self.known.classes.line(class));
        let is_content = line.name.is_some()
            && bases.any(|(_, class)| matches!(&*class.name, "str" | "bytes" | "int" | "float" | "complex" | "bool"));
        let longest = if is_content { self.known.contents.longest_text() } else { Some(MAX_NAME_BYTES) };
        let named = line.name.zip(longest);
        Ok(named.map(|(text, longest)| self.strings.of_text(text, longest)).transpose()?)
    }

    fn label(&mut self, references: &References<'_>, position: usize) -> Result<Option<StringId>, Stop> {
        let label = references.labels.get(position).copied().flatten();
        Ok(label.map(|text| self.strings.id(text)).transpose()?)
    }

    fn reference(&mut self, label: Label, strength: StrengthId, address: u64) -> Result<(), Stop> {
        match self.known.addresses.row(address) {
            Some(row) => self.shard.reference(label, strength, row.into())?,
            None => self.announced.lost_references += 1,
        }
        Ok(())
    }
}

const ANY_NAME: &str = "all attributes";

/// Classes of the standard library whose objects refer to their elements without a name.
const CONTAINERS: [&str; 4] =
    ["collections.Counter", "collections.OrderedDict", "collections.defaultdict", "collections.deque"];

/// Returns whether an object may have attributes that the dump does not name: those that CPython keeps without a dictionary,
/// from 3.11 on, and the fields of a named tuple.
fn may_have_more(line: &Line<'_>, references: &References<'_>, classes: &Classes) -> bool {
    let elements = usize::try_from(line.elements).unwrap_or(usize::MAX);
    let mut labels =
        (elements..references.strong.len()).map(|at| references.labels.get(at - elements).copied().flatten());
    let Some(class) = line.class.filter(|_| line.kind == b"object") else { return false };
    if elements == 0 && labels.clone().all(|label| label.is_some()) {
        return false;
    }
    // The names of built-in classes have no module.
    let is_of_program = |name: &str| name.contains('.') && !CONTAINERS.contains(&name);
    if !classes.name(class).is_some_and(is_of_program) || labels.clone().flatten().any(|label| label.raw == b"__dict__")
    {
        return false;
    }
    labels.any(|label| label.is_none()) || classes.line(class).any(|(_, class)| &*class.name == "tuple")
}

/// The value of a number, which is its name. Integers have one if 64 bits suffice.
fn number(line: &Line<'_>, classes: &Classes) -> Option<Value> {
    let text = line.name?.raw;
    if !matches!(text.first(), Some(b'-' | b'0'..=b'9' | b'T' | b'F' | b'i' | b'n')) || line.kind != b"object" {
        return None;
    }
    let text = str::from_utf8(text).ok()?;
    match (classes.name(line.class?)?, text) {
        ("int", _) => text.parse().ok().map(Value::Signed),
        ("float", _) => text.parse().ok().map(Value::Double),
        ("bool", "True" | "False") => Some(Value::Boolean(text == "True")),
        _ => None,
    }
}
