//! Compares the keys of entries with one that was typed.

use barrow_expressions::{Bound, FieldTest, MapKey, NumberTest, Pattern, TextTest};
use barrow_format::rows::Value;

use crate::error::Result;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::fields::{Held, ValuePredicate};

/// A key, and the objects of a heap that represent it.
pub(super) struct KeyPredicate<'h> {
    /// `None` of the key that is null.
    value: Option<ValuePredicate<'h>>,
    /// The objects that represent the key.
    objects: ObjectSet,
    /// The objects that represent a value which is not known.
    unknown: ObjectSet,
}

impl<'h> KeyPredicate<'h> {
    pub(super) fn new(heap: &'h Heap, key: &MapKey, progress: &dyn Progress) -> Result<Self> {
        let test = match key {
            MapKey::Null => {
                let unknown = ObjectSet::new(heap.snapshot(), heap.object_count());
                return Ok(KeyPredicate { value: None, objects: heap.nulls(progress)?.null, unknown });
            }
            MapKey::Boolean(truth) => FieldTest::Boolean(*truth),
            MapKey::Number(number) => {
                let (low, high) = (Bound::With(number.clone()), Bound::With(number.clone()));
                FieldTest::Number(NumberTest { low, high, negated: false })
            }
            MapKey::Text(text) => FieldTest::Text(TextTest { pattern: Pattern::Exact(text.clone()), negated: false }),
        };
        let value = ValuePredicate::new(heap, test)?;
        let standing = heap.standing_for(|held| is_same(&value, held), progress)?;
        Ok(KeyPredicate { value: Some(value), objects: standing.passing, unknown: standing.unknown })
    }

    /// Returns whether the key is a text.
    pub(super) fn is_of_texts(&self) -> bool {
        self.value.as_ref().is_some_and(ValuePredicate::is_of_texts)
    }

    /// Returns whether a key is this one; `None` if that is not known.
    pub(super) fn holds(&self, key: Held) -> Option<bool> {
        match key {
            Held::Missing | Held::Unknown => None,
            Held::Null => Some(self.value.is_none()),
            Held::Undefined => Some(false),
            Held::Value(held) => self.value.as_ref().map_or(Some(false), |value| is_same(value, held)),
            Held::Object(object) if self.objects.contains(object) => Some(true),
            Held::Object(object) => (!self.unknown.contains(object)).then_some(false),
        }
    }
}

/// Returns whether a value is that of a key; `None` if that is not known. A character is a text here, and no number: a
/// map may have both as keys.
fn is_same(key: &ValuePredicate<'_>, held: Value) -> Option<bool> {
    if key.is_of_numbers() && matches!(held, Value::Character(_)) { Some(false) } else { key.holds(held) }
}
