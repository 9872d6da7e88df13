//! Entries whose keys are the names of an object's references, as properties of JavaScript are.
//!
//! Attributes of a type say that its objects have such entries, and what is known of them:
//!
//! ```text
//!   keys         names, or some names: those of numbers may be missing
//!   no key       a name of references that may be no properties
//!   other keys   the name of a reference of objects that have other entries, too
//!   computed     the name of objects that stand for a value that the program computes when it reads it
//! ```

use std::collections::BTreeSet;

use barrow_expressions::MapKey;
use barrow_format::rows::Label;
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;

use crate::error::Result;
use crate::file::object::{Reference, objects};
use crate::file::references::references_of;
use crate::file::strings::StringAnswers;
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::{Progress, check};
use crate::questions::fields::{COMPUTED, Held};

/// The attributes.
const KEYS: &str = "keys";
const NO_KEY: &str = "no key";
const OTHER_KEYS: &str = "other keys";
/// The value of `keys` where all properties have a reference.
const ALL: &str = "names";
/// Objects whose references are in memory at once.
const AT_ONCE: usize = 1 << 12;
/// Numbers below this one are indices of elements; others are names, as all texts are.
const MOST_INDEX: u64 = u32::MAX as u64;

/// Returns whether the keys of a type's objects are the names of their references.
pub(super) fn has_named_keys(tables: &Tables, id: TypeId) -> bool {
    tables.type_attribute(id, KEYS).is_some()
}

/// What is known of the entries of a type's objects.
#[derive(Debug, Clone, Copy)]
struct KnownKeys<'r> {
    /// A name that no reference has is no key.
    are_all: bool,
    /// References of the requested name may be no properties.
    is_doubtful: bool,
    /// The name of a reference of objects that have other entries, too.
    other: Option<&'r str>,
    /// The name of objects that stand for computed values.
    computed: Option<&'r str>,
}

impl<'r> KnownKeys<'r> {
    /// What is known of the entries of a type's objects under the key `text`.
    fn of(tables: &'r Tables, id: TypeId, text: &str) -> Self {
        KnownKeys {
            are_all: tables.type_attribute(id, KEYS) == Some(ALL),
            is_doubtful: tables.type_attributes(id).any(|(key, name)| key == NO_KEY && name == text),
            other: tables.type_attribute(id, OTHER_KEYS),
            computed: tables.type_attribute(id, COMPUTED),
        }
    }

    /// Returns whether a reference leads to other entries.
    fn leads_on(&self, label: Label, tables: &Tables) -> bool {
        matches!(label, Label::Name(name) if self.other == Some(tables.string(name)))
    }
}

/// A key of a property.
struct PropertyKey<'r> {
    /// The place of an element; `None` for a name.
    index: Option<u64>,
    name: StringAnswers<'r>,
}

impl<'r> PropertyKey<'r> {
    fn new(tables: &'r Tables, text: &str) -> Self {
        let index = text.parse().ok().filter(|index: &u64| *index < MOST_INDEX && index.to_string() == text);
        PropertyKey { index, name: tables.strings_named(text) }
    }

    fn is_key(&self, label: Label) -> bool {
        match (label, self.index) {
            (Label::Index(found), Some(index)) => found == index,
            (Label::Name(name), None) => self.name.get(name),
            _ => false,
        }
    }

    /// What an object with these references holds under the key.
    fn entry(&self, references: &[Reference], known: KnownKeys<'_>, tables: &Tables) -> Held {
        if known.is_doubtful {
            return Held::Unknown;
        }
        if let Some(reference) = references.iter().find(|reference| self.is_key(reference.label)) {
            return Held::Object(reference.target);
        }
        // Elements that are numbers may be in an array without references.
        let is_unknown = self.index.is_some() || !known.are_all;
        match is_unknown || references.iter().any(|reference| known.leads_on(reference.label, tables)) {
            true => Held::Unknown,
            false => Held::Missing,
        }
    }
}

impl Heap {
    /// What each object of the set, whose type has named keys, holds under a key, in their order.
    ///
    /// Time: that of reading the references of all. Memory: the references of 4,096 objects.
    pub(super) fn values_by_name(&self, set: &ObjectSet, key: &MapKey, progress: &dyn Progress) -> Result<Vec<Held>> {
        let tables = self.recording().tables()?;
        let text = if let MapKey::Text(text) = key { text.clone() } else { key.to_string() };
        let property = PropertyKey::new(tables, &text);
        let mut known: HashMap<TypeId, KnownKeys<'_>> = HashMap::default();
        let mut held = Vec::with_capacity(set.len() as usize);
        for ids in set.iter().collect::<Vec<ObjectId>>().chunks(AT_ONCE) {
            check(progress)?;
            let details = objects(self.recording(), self.snapshot(), ids)?;
            let references = references_of(self.recording(), self.snapshot(), ids)?;
            held.extend(details.iter().zip(references).map(|(object, references)| {
                let known =
                    *known.entry(object.type_id).or_insert_with(|| KnownKeys::of(tables, object.type_id, &text));
                property.entry(&references, known, tables)
            }));
        }
        self.forget_computed(&mut held, &known.values().filter_map(|known| known.computed).collect())?;
        if property.index.is_some() {
            // V8 has references of the same form to numbers in other properties.
            let unrecorded = self.unrecorded(progress)?;
            forget(&mut held, |target| unrecorded.contains(target));
        }
        Ok(held)
    }

    /// Makes what objects with one of these names stand for unknown.
    fn forget_computed(&self, held: &mut [Held], names: &BTreeSet<&str>) -> Result<()> {
        let tables = self.recording().tables()?;
        let targets = if names.is_empty() { Vec::new() } else { Held::objects(held) };
        let mut computed = objects(self.recording(), self.snapshot(), &targets)?;
        computed.retain(|object| object.name.is_some_and(|name| names.contains(tables.string(name))));
        forget(held, |target| computed.binary_search_by_key(&target, |object| object.id).is_ok());
        Ok(())
    }
}

/// Makes the objects that pass unknown.
fn forget(held: &mut [Held], passes: impl Fn(ObjectId) -> bool) {
    for held in held.iter_mut().filter(|held| held.object().is_some_and(&passes)) {
        *held = Held::Unknown;
    }
}
