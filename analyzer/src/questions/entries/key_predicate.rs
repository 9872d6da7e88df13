//! Compares the keys of entries with one that was typed.
//!
//! ```text
//!   a value, or an object that represents one ──▶ is the value the key? Of a typed text: a text is the key, and another
//!                                                 object that reads like it only if no text is
//!   an object that has a line, or a class ──────▶ is the line, or the name, the key? Read when the walks have ended.
//!   a collection ───────────────────────────────▶ no
//!   any other object ───────────────────────────▶ not known: programs may print it as the key
//! ```

use std::cmp::Ordering;

use barrow_expressions::{Bound, FieldTest, MapKey, Number, NumberTest, Pattern, TextTest};
use barrow_format::rows::{Encoding, KindRole, Value};
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;

use crate::error::Result;
use crate::file::object::objects;
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::heap::nulls::Nulls;
use crate::progress::Progress;
use crate::questions::fields::{Held, Meant, Standing, ValuePredicate, are_texts, number};
use crate::questions::lines::Line;

/// A key, and the objects of a heap that represent it.
pub(super) struct KeyPredicate<'h> {
    /// The value and the objects that represent values; `None` of the key that is null.
    value: Option<(ValuePredicate<'h>, Standing)>,
    nulls: &'h Nulls,
    /// The objects that are the key, not only called like it; `None` if that is no difference.
    texts: Option<ObjectSet>,
    /// Objects that represent no value are certainly not the key.
    is_plain: bool,
    /// The place in a list that it may be.
    index: Option<u64>,
    /// Keys like this one are objects even in V8, where small numbers and constants are not.
    is_object: bool,
}

/// The place in a list that a key may be, from 0.
pub(super) fn index_of(key: &MapKey) -> Option<u64> {
    if let MapKey::Number(Number::Whole(number)) = key { u64::try_from(*number).ok() } else { None }
}

/// The answer to whether a key is the one that was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyMatch {
    Yes,
    /// It reads like the key, and no text: texts go first.
    Alike,
    No,
    Unknown,
    /// An object that [`KeyPredicate::read`] tells it of.
    Unread(ObjectId),
}

impl From<Option<bool>> for KeyMatch {
    fn from(is_key: Option<bool>) -> Self {
        match is_key {
            Some(true) => KeyMatch::Yes,
            Some(false) => KeyMatch::No,
            None => KeyMatch::Unknown,
        }
    }
}

impl<'h> KeyPredicate<'h> {
    pub(super) fn new(heap: &'h Heap, key: &MapKey, progress: &dyn Progress) -> Result<Self> {
        let nulls = heap.nulls(progress)?;
        let test = match key {
            MapKey::Null => {
                return Ok(KeyPredicate {
                    value: None,
                    nulls,
                    texts: None,
                    is_plain: true,
                    index: None,
                    is_object: false,
                });
            }
            MapKey::Boolean(truth) => FieldTest::Boolean(*truth),
            MapKey::Number(number) => {
                let (low, high) = (Bound::With(number.clone()), Bound::With(number.clone()));
                FieldTest::Number(NumberTest { low, high, negated: false })
            }
            MapKey::Text(text) => FieldTest::Text(TextTest { pattern: Pattern::Exact(text.clone()), negated: false }),
        };
        let value = ValuePredicate::new(heap, test)?;
        let standing = {
            let test = KeyValue::new(heap, key, &value)?;
            heap.standing_by(|meant| test.holds(meant), progress)?
        };
        let is_plain = matches!(key, MapKey::Boolean(_));
        let texts = match key {
            MapKey::Text(_) => {
                let tables = heap.recording().tables()?;
                Some(heap.objects_of_types(Some(&standing.passing), |id| are_texts(tables, id), progress)?)
            }
            _ => None,
        };
        let is_object = match key {
            MapKey::Text(_) => true,
            // `7.0` is no fraction: it is equal to the small number 7.
            MapKey::Number(number) => number.real().fract() != 0.0 && !heap.recording().lacks_numbers()?,
            MapKey::Boolean(_) | MapKey::Null => false,
        };
        let index = index_of(key);
        Ok(KeyPredicate { value: Some((value, standing)), nulls, texts, is_plain, index, is_object })
    }

    /// The place in a list that the key may be.
    pub(super) fn index(&self) -> Option<u64> {
        self.index
    }

    /// Returns whether a key like this one always is an object: a text, or a fraction where numbers were recorded.
    pub(super) fn is_object(&self) -> bool {
        self.is_object
    }

    /// Returns whether the key is a text.
    fn is_of_texts(&self) -> bool {
        self.value.as_ref().is_some_and(|(value, _)| value.is_of_texts())
    }

    /// Returns whether a key is this one.
    pub(super) fn holds(&self, key: Held) -> KeyMatch {
        let key = key.object().and_then(|object| self.nulls.held(object)).unwrap_or(key);
        let Some((value, standing)) = &self.value else {
            return match key {
                Held::Missing | Held::Unknown => KeyMatch::Unknown,
                key => KeyMatch::from(Some(key == Held::Null)),
            };
        };
        match key {
            Held::Missing | Held::Unknown => KeyMatch::Unknown,
            Held::Null | Held::Undefined => KeyMatch::No,
            Held::Value(held) => match KeyMatch::from(is_same(value, held)) {
                KeyMatch::Yes if self.is_of_texts() && !matches!(held, Value::Text(_)) => KeyMatch::Alike,
                is_key => is_key,
            },
            Held::Object(object) if standing.passing.contains(object) => match &self.texts {
                Some(texts) if !texts.contains(object) => KeyMatch::Alike,
                _ => KeyMatch::Yes,
            },
            Held::Object(object) if standing.failing.contains(object) => KeyMatch::No,
            Held::Object(object) if standing.unknown.contains(object) => KeyMatch::Unknown,
            Held::Object(_) if self.is_plain => KeyMatch::No,
            Held::Object(object) => KeyMatch::Unread(object),
        }
    }

    /// Returns for each of these objects, which represent no value, whether it is the key; `None` if that is not known.
    pub(super) fn read(
        &self,
        heap: &Heap,
        keys: impl Iterator<Item = ObjectId>,
        progress: &dyn Progress,
    ) -> Result<HashMap<ObjectId, Option<bool>>> {
        let held: Vec<Held> = keys.map(Held::Object).collect();
        let Some((value, _)) = self.value.as_ref().filter(|_| !held.is_empty()) else { return Ok(HashMap::default()) };
        let tables = heap.recording().tables()?;
        let lines = heap.lines_of(&held, progress)?;
        let details = objects(heap.recording(), heap.snapshot(), &Held::objects(&held))?.into_iter();
        let is_key = details.map(|object| {
            let is_class = tables.kind_role(tables.type_kind(object.type_id)) == KindRole::Type;
            let is_key = match (lines.get(&object.id), object.name) {
                (Some(line), _) => is_line(value, line),
                (None, Some(name)) if is_class => value.holds(Value::Text(name)),
                _ => is_collection(tables, object.type_id).then_some(false),
            };
            (object.id, is_key)
        });
        Ok(is_key.collect())
    }
}

/// Returns whether a value is that of a key; `None` if that is not known. A character is a text here, and no number: a
/// map may have both as keys.
fn is_same(key: &ValuePredicate<'_>, held: Value) -> Option<bool> {
    if key.is_of_numbers() && matches!(held, Value::Character(_)) { Some(false) } else { key.holds(held) }
}

/// Compares the values that objects represent with a key.
struct KeyValue<'k, 'h> {
    key: &'k MapKey,
    value: &'k ValuePredicate<'h>,
    /// True and false are the numbers 1 and 0.
    truths_are_numbers: bool,
}

impl<'k, 'h> KeyValue<'k, 'h> {
    fn new(heap: &'h Heap, key: &'k MapKey, value: &'k ValuePredicate<'h>) -> Result<Self> {
        Ok(KeyValue { key, value, truths_are_numbers: heap.truths_are_numbers()? })
    }

    /// Returns whether a value that an object represents is that of the key; `None` if that is not known.
    fn holds(&self, meant: Meant) -> Option<bool> {
        match (meant, self.key) {
            (Meant::Known(held), MapKey::Boolean(truth))
                if self.truths_are_numbers && !matches!(held, Value::Boolean(_)) =>
            {
                let order = |held: Number| held.compare(&Number::Whole((*truth).into()));
                Some(number(held).and_then(order) == Some(Ordering::Equal))
            }
            (Meant::Known(held), _) => is_same(self.value, held),
            (Meant::KnownTruth(truth), _) => {
                let values = [Value::Boolean(truth), Value::Signed(truth.into())];
                Some(values.into_iter().any(|value| self.value.holds(value) == Some(true)))
            }
            (Meant::Unknown(None), _) => None,
            (Meant::Called(_, encoding) | Meant::Unknown(Some(encoding)), key) => {
                let is_text = matches!(encoding, Encoding::Text | Encoding::Character);
                let may_be_key = match key {
                    MapKey::Text(_) => is_text,
                    MapKey::Number(_) => !is_text,
                    MapKey::Boolean(_) => encoding == Encoding::Boolean,
                    MapKey::Null => false,
                };
                (!may_be_key).then_some(false)
            }
        }
    }
}

/// Returns whether the line of an object is that of a key; `None` if that is not known. A number is no text.
fn is_line(key: &ValuePredicate<'_>, line: &Line) -> Option<bool> {
    if key.is_of_texts() && line.number().is_some() { Some(false) } else { key.holds_line(line) }
}

/// Returns whether the objects of a type have elements or entries.
fn is_collection(tables: &Tables, id: TypeId) -> bool {
    let has_any = |id| tables.type_attributes(id).any(|(key, _)| ["elements", "entries"].contains(&key));
    tables.type_and_bases(id).any(has_any)
}
