//! Tests of values, and of what fields hold.

use barrow_expressions::{FieldTest, Number};
use barrow_format::ObjectId;
use barrow_format::rows::Value;

use super::Held;
use crate::error::Result;
use crate::file::strings::StringAnswers;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::lines::Line;

/// A test of values, with its answer for every string.
pub(crate) struct ValuePredicate<'h> {
    test: FieldTest,
    texts: Option<StringAnswers<'h>>,
}

impl<'h> ValuePredicate<'h> {
    pub(crate) fn new(heap: &'h Heap, test: FieldTest) -> Result<Self> {
        let tables = heap.recording().tables()?;
        let texts = match test.clone() {
            FieldTest::Text(test) | FieldTest::Time(_, Some(test)) => {
                Some(tables.string_answers(move |text| test.holds(Some(text))))
            }
            _ => None,
        };
        Ok(ValuePredicate { test, texts })
    }

    /// Returns whether it compares numbers.
    pub(crate) fn is_of_numbers(&self) -> bool {
        matches!(self.test, FieldTest::Number(_))
    }

    /// Returns whether it compares texts.
    pub(crate) fn is_of_texts(&self) -> bool {
        matches!(self.test, FieldTest::Text(_))
    }

    pub(crate) fn holds(&self, value: Value) -> bool {
        match (&self.test, value) {
            (FieldTest::Boolean(wanted), Value::Boolean(held)) => held == *wanted,
            (FieldTest::Number(test), value) => number(value).is_some_and(|number| test.holds(&number)),
            (FieldTest::Text(_) | FieldTest::Time(..), Value::Text(text)) => {
                self.texts.as_ref().is_some_and(|texts| texts.get(text))
            }
            (FieldTest::Text(test), Value::Character(character)) => {
                char::from_u32(character).is_some_and(|held| test.holds(Some(held.encode_utf8(&mut [0; 4]))))
            }
            _ => false,
        }
    }

    /// Returns whether the line of an object passes.
    pub(crate) fn holds_line(&self, line: &Line) -> bool {
        match &self.test {
            FieldTest::Number(test) => line.number().is_some_and(|number| test.holds(&number)),
            FieldTest::Text(test) => test.holds(Some(&line.text)),
            FieldTest::Time(test, text) => match (line.time(), text) {
                (Some(time), _) => test.holds(time),
                (None, Some(text)) => line.number().is_none() && text.holds(Some(&line.text)),
                (None, None) => false,
            },
            FieldTest::Boolean(_)
            | FieldTest::Null { .. }
            | FieldTest::Undefined { .. }
            | FieldTest::Unknown { .. } => false,
        }
    }
}

/// A value as a number.
pub(crate) fn number(value: Value) -> Option<Number> {
    Some(match value {
        Value::Unsigned(value) => Number::Whole(value.into()),
        Value::Signed(value) => Number::Whole(value.into()),
        Value::Character(value) => Number::Whole(value.into()),
        // Through its decimal form, so that the float 0.1 equals the typed 0.1.
        Value::Float(value) => Number::Real(shortest(value)),
        Value::Double(value) => Number::Real(value),
        Value::Boolean(_) | Value::Text(_) => return None,
    })
}

/// A number of 32 bits with the value of its shortest decimal form.
pub(crate) fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

/// A test of what fields hold, with its answer for every object.
pub(super) struct HeldTest<'h> {
    values: ValuePredicate<'h>,
    /// The objects that represent the absence of a value.
    nulls: &'h Nulls,
    /// The objects that represent a value that passes; `None` if they are not compared.
    targets: Option<ObjectSet>,
}

impl<'h> HeldTest<'h> {
    /// `nulls` are needed only for tests of what is not there. `referred` are the objects that fields hold; `None` if they
    /// cannot hold any.
    pub(super) fn new(
        heap: &'h Heap,
        test: &FieldTest,
        nulls: &'h Nulls,
        referred: Option<&ObjectSet>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let values = ValuePredicate::new(heap, test.clone())?;
        let targets = match referred.filter(|_| !is_of_absence(test)) {
            None => None,
            Some(referred) => {
                let mut targets = heap.standing_for(|value| values.holds(value), progress)?.passing;
                if !matches!(test, FieldTest::Boolean(_)) {
                    targets.union_with(&heap.line_matches(
                        Some(referred),
                        &|line| values.holds_line(line),
                        progress,
                    )?);
                }
                Some(targets)
            }
        };
        Ok(HeldTest { values, nulls, targets })
    }

    /// Returns whether objects are compared with the values that they represent.
    pub(super) fn compares_objects(&self) -> bool {
        self.targets.is_some()
    }

    /// Returns whether the value of a field passes. An unknown or missing one passes only the test for that.
    pub(super) fn holds(&self, held: Held) -> bool {
        let held = held.object().and_then(|target| self.nulls.held(target)).unwrap_or(held);
        match held {
            Held::Missing => false,
            _ if is_of_absence(&self.values.test) => absence_holds(&self.values.test, held),
            Held::Unknown | Held::Null | Held::Undefined => false,
            Held::Value(value) => self.values.holds(value),
            Held::Object(target) => self.targets.as_ref().is_some_and(|targets| targets.contains(target)),
        }
    }
}

/// The objects that represent the absence of a value, such as `None` of Python.
pub(crate) struct Nulls {
    pub(crate) null: ObjectSet,
    pub(crate) undefined: ObjectSet,
}

impl Nulls {
    /// What a field holds that refers to an object, if that represents the absence of a value.
    pub(super) fn held(&self, object: ObjectId) -> Option<Held> {
        let undefined = || self.undefined.contains(object).then_some(Held::Undefined);
        self.null.contains(object).then_some(Held::Null).or_else(undefined)
    }
}

/// Returns whether a test is about the absence of a value, and compares none.
pub(super) fn is_of_absence(test: &FieldTest) -> bool {
    matches!(test, FieldTest::Null { .. } | FieldTest::Undefined { .. } | FieldTest::Unknown { .. })
}

/// Returns whether a field passes such a test. What is not known is not known to differ from null.
pub(super) fn absence_holds(test: &FieldTest, held: Held) -> bool {
    match (test, held) {
        (_, Held::Missing) => false,
        (FieldTest::Unknown { negated }, held) => (held == Held::Unknown) != *negated,
        (_, Held::Unknown) => false,
        (FieldTest::Null { negated }, held) => (held == Held::Null) != *negated,
        (FieldTest::Undefined { negated }, held) => (held == Held::Undefined) != *negated,
        _ => false,
    }
}
