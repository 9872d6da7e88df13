//! The types of objects: their keys in a dump, and their declaration.

use std::borrow::Cow;

use super::classes::{Class, GROUPS, NODE_TYPES, constructor, mark_fixed};
use super::detached::Detached;
use super::layout::Layout;
use super::locations::{Locations, SourcePositionId};
use super::meta::UNNAMED;
use super::nodes::Node;
use super::traces::Traces;
use crate::context::Context;
use crate::error::ImportError;
use barrow_writer::{KindId, KindRole, TypeDescription, TypeId, Word};

/// The name of a node whose name was lost.
const LOST: &str = "(name lost)";

/// The field that holds a number, `true` or `false`.
pub(crate) const VALUE: &str = "value";
/// The name of references from dates to the numbers that hold their time.
pub(crate) const TIME_OF_DATE: &str = "time";
/// The class of dates.
const DATE: &str = "Date";

/// The key of a type: the type of the node, its name, its constructor's place, whether it is detached.
pub(crate) type TypeKey = (u64, u64, SourcePositionId, bool);

/// The parts of a dump that determine the types of its nodes.
pub(crate) struct Types<'c, 'a> {
    context: &'c Context<'c>,
    pub(crate) layout: &'c Layout<'a>,
    pub(crate) locations: Locations,
    pub(crate) traces: Traces,
    detached: Detached,
    /// By type of node.
    classes: Vec<Class>,
    /// The kinds of the types that the snapshot names. The type without a name is a kind of few recordings.
    kinds: Vec<KindId>,
    /// The snapshot has small numbers, too.
    has_numbers: bool,
}

/// What programs read as a field of arrays, strings and collections, and snapshots do not have.
const NO_LENGTH: (&str, &str) = ("not recorded", "length");
const NO_SIZE: (&str, &str) = ("not recorded", "size");
/// The arrays of numbers of the language.
const TYPED_ARRAYS: [&str; 12] = [
    "Int8Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "BigInt64Array",
    "BigUint64Array",
];
/// The class of the buffers of Node.js. It has a place, as a class of this name in a program would.
const BUFFER: &str = "Buffer";

/// The attributes of objects whose properties are keys, but for references that V8 itself has. Objects of classes derived
/// from `Map` have further keys.
const PROPERTIES: [(&str, &str); 6] = [
    ("no key", "map"),
    ("no key", "properties"),
    ("no key", "elements"),
    ("other keys", "table"),
    ("computed", "system / AccessorPair"),
    ("fields computed", "system / JSProxy"),
];
/// A further one of arrays: the number is not in the snapshot.
const LENGTH: (&str, &str) = ("no key", "length");

impl<'c, 'a> Types<'c, 'a> {
    /// Declares the kinds of objects.
    pub(crate) fn new(
        context: &'c Context<'c>,
        layout: &'c Layout<'a>,
        (locations, traces, detached): (Locations, Traces, Detached),
        has_numbers: bool,
    ) -> Result<Self, ImportError> {
        let types = &layout.meta.nodes.types;
        let classes: Vec<Class> = types.iter().map(|name| Class::of(name)).collect();
        let named = types.iter().filter(|name| *name != UNNAMED);
        let kinds = named.zip(&classes).map(|(name, class)| {
            if let Class::Fixed(_) = class {
                mark_fixed(name, context)?;
            }
            let role = if *class == Class::Group { KindRole::Root } else { KindRole::Object };
            context.vocabulary.known_kind(name, &NODE_TYPES, role)
        });
        let kinds = kinds.collect::<Result<_, ImportError>>()?;
        context.vocabulary.word(LOST)?;
        Ok(Types { context, layout, locations, traces, detached, classes, kinds, has_numbers })
    }

    /// The class of the node at `row`, and the key of its type.
    #[inline(always)]
    pub(crate) fn key(&self, node: &Node, row: u64) -> (&Class, TypeKey) {
        let class = &self.classes[node.type_ as usize];
        let key = match class {
            Class::Fixed(_) => (node.type_, 0, 0, false),
            Class::Placed => (node.type_, node.name, self.locations.of(row as usize), false),
            Class::Named => (node.type_, node.name, 0, self.detached.contains(row)),
            Class::Group => (node.type_, node.name, 0, false),
        };
        (class, key)
    }

    /// Declares the type of a key, which is one of [`Types::key`].
    #[cold]
    pub(crate) fn declare(&self, (type_, name, place, is_detached): TypeKey) -> Result<TypeId, ImportError> {
        let class = &self.classes[type_ as usize];
        let kind = match self.kinds.get(type_ as usize) {
            Some(&kind) => kind,
            None => self.context.vocabulary.own_kind(UNNAMED, KindRole::Object)?,
        };
        if let Class::Fixed(name) = class {
            let attributes: &[_] = match &*self.layout.meta.nodes.types[type_ as usize] {
                // Without their names, they say that null is an object that cannot be told from others.
                "hidden" if !self.context.options.contents.has_values() => &[("null", "null"), ("null", "undefined")],
                _ if !self.context.options.contents.has_values() => &[],
                // Constants are among the hidden nodes.
                "hidden" => &[("value of", VALUE), ("null", "null"), ("null", "undefined")],
                "number" => &[("value of", VALUE)],
                // Where they have no text, it is not known.
                "concatenated string" | "sliced string" => &[("value of", VALUE), NO_LENGTH],
                "bigint" => &[("value of", VALUE)],
                "string" => &[NO_LENGTH],
                "symbol" => &[("named by", "name")],
                _ => &[],
            };
            let description = TypeDescription { attributes, ..TypeDescription::new(kind, name) };
            return self.context.vocabulary.declare_type(&description);
        }
        let text = self.text(name);
        let text = match class {
            Class::Group if text.is_empty() => Cow::Borrowed("(root)"),
            Class::Group => text,
            _ if is_detached => Cow::Owned(format!("Detached {text}")),
            _ => text,
        };
        if *class == Class::Group {
            self.context.vocabulary.mark_known(&text, &GROUPS)?;
        }
        let name = if *class == Class::Group { Cow::Borrowed(&*text) } else { constructor(&text) };
        let mut description = TypeDescription::new(kind, &name);
        let Some(place) = self.locations.place(place) else {
            // The collections and dates of the language, unlike classes of the program, have no place.
            let of_language = match (class, &*name) {
                (Class::Placed, "Map") => vec![("entries", ".table[map]"), NO_SIZE],
                (Class::Placed, "Set") => vec![("entries", ".table[set]"), NO_SIZE],
                (Class::Placed, DATE) => vec![("reads as", "{.time.value:ms}")],
                (Class::Placed, "Object") => self.properties().collect(),
                (Class::Placed, "Array") => self.properties().chain([LENGTH, NO_LENGTH]).collect(),
                (Class::Placed, name) if TYPED_ARRAYS.contains(&name) => vec![NO_LENGTH],
                _ => Vec::new(),
            };
            description.attributes = &of_language;
            return self.context.vocabulary.declare_type(&description);
        };
        let file = self.traces.script(place.script_id, &self.layout.strings);
        let column = from_one(place.column).unwrap_or_default().to_string();
        let column = (self.context.vocabulary.marked(Word::of_settings("column"))?, &*column);
        let properties = self.properties().filter(|_| *class == Class::Placed);
        let lengths = (name == BUFFER).then_some(NO_LENGTH);
        let known = properties.chain(lengths).map(|pair| pair as (&str, &str));
        let attributes: Vec<(&str, &str)> = std::iter::once(column).chain(known).collect();
        description.file = Some(&file);
        description.line = from_one(place.line);
        description.attributes = &attributes;
        self.context.vocabulary.declare_type(&description)
    }

    /// The attributes of objects whose properties are keys. Without numbers some properties are not in the snapshot.
    fn properties(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        std::iter::once(("keys", if self.has_numbers { "names" } else { "some names" })).chain(PROPERTIES)
    }

    /// Returns whether a type is that of the dates of the language.
    pub(crate) fn is_date(&self, (type_, name, place, is_detached): TypeKey) -> bool {
        let is_placed = self.classes[type_ as usize] == Class::Placed;
        is_placed && !is_detached && self.locations.place(place).is_none() && self.text(name) == DATE
    }

    /// The text of a string, which may be lost.
    pub(crate) fn text(&self, index: u64) -> Cow<'_, str> {
        usize::try_from(index).ok().and_then(|index| self.layout.strings.text(index)).unwrap_or(Cow::Borrowed(LOST))
    }
}

/// Converts a line or column counted from 0 to one counted from 1.
pub(crate) fn from_one(number: u64) -> Option<u32> {
    u32::try_from(number.checked_add(1)?).ok()
}
