//! Tests of values, and of what fields hold.

use barrow_expressions::{Decimal, FieldTest, Number, TextTest};
use barrow_format::rows::Value;
use barrow_format::{ObjectId, StringId};

use super::{Held, Tested};
use crate::error::Result;
use crate::file::strings::StringAnswers;
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::heap::nulls::Nulls;
use crate::progress::Progress;
use crate::questions::lines::Line;
use crate::questions::shortened::tested;

/// A test of values, with its answer for every string.
pub(crate) struct ValuePredicate<'h> {
    test: FieldTest,
    texts: Option<TextAnswers<'h>>,
}

/// The answer of a test for each string.
pub(crate) struct TextAnswers<'h> {
    passing: StringAnswers<'h>,
    /// The strings of which so much was left out that it is not known.
    unknown: StringAnswers<'h>,
}

impl<'h> TextAnswers<'h> {
    pub(crate) fn new(tables: &'h Tables, test: &TextTest) -> Self {
        let (of_passing, of_unknown) = (test.clone(), test.clone());
        TextAnswers {
            passing: tables.string_answers(move |text| tested(&of_passing, text) == Some(true)),
            unknown: tables.string_answers(move |text| tested(&of_unknown, text).is_none()),
        }
    }

    /// Returns whether a string passes; `None` if that is not known.
    pub(crate) fn passes(&self, text: StringId) -> Option<bool> {
        if self.passing.get(text) { Some(true) } else { (!self.unknown.get(text)).then_some(false) }
    }
}

impl<'h> ValuePredicate<'h> {
    pub(crate) fn new(heap: &'h Heap, test: FieldTest) -> Result<Self> {
        let tables = heap.recording().tables()?;
        let texts = match &test {
            FieldTest::Text(test) | FieldTest::Time(_, Some(test)) => Some(TextAnswers::new(tables, test)),
            _ => None,
        };
        Ok(ValuePredicate { test, texts })
    }

    /// Returns whether it compares numbers.
    pub(crate) fn is_of_numbers(&self) -> bool {
        matches!(self.test, FieldTest::Number(_))
    }

    /// Returns whether no text passes it.
    pub(super) fn excludes_texts(&self) -> bool {
        matches!(self.test, FieldTest::Number(_) | FieldTest::Time(_, None) | FieldTest::Boolean(_))
    }

    /// Returns whether it compares with true or false.
    pub(super) fn is_of_truth(&self) -> bool {
        matches!(self.test, FieldTest::Boolean(_))
    }

    /// Returns whether it compares texts.
    pub(crate) fn is_of_texts(&self) -> bool {
        matches!(self.test, FieldTest::Text(_))
    }

    /// Returns whether a value passes; `None` if that is not known.
    pub(crate) fn holds(&self, value: Value) -> Option<bool> {
        match (&self.test, value) {
            (FieldTest::Boolean(wanted), Value::Boolean(held)) => Some(held == *wanted),
            (FieldTest::Number(test), value) => Some(number(value).is_some_and(|number| test.holds(&number))),
            (FieldTest::Text(_) | FieldTest::Time(..), Value::Text(text)) => {
                self.texts.as_ref().map_or(Some(false), |texts| texts.passes(text))
            }
            (FieldTest::Text(test), Value::Character(character)) => {
                let held = char::from_u32(character);
                Some(held.is_some_and(|held| test.holds(Some(held.encode_utf8(&mut [0; 4])))))
            }
            _ => Some(false),
        }
    }

    /// Returns whether a number that is known by its digits passes; `None` if that is not known.
    pub(super) fn holds_digits(&self, digits: &str) -> Option<bool> {
        let FieldTest::Number(test) = &self.test else { return Some(false) };
        let is_cut = digits.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit());
        match Decimal::parse(digits) {
            Some(number) => Some(test.holds(&Number::Decimal(number))),
            None => (!is_cut).then_some(false),
        }
    }

    /// Returns whether the line of an object passes; `None` if that is not known.
    pub(crate) fn holds_line(&self, line: &Line) -> Option<bool> {
        match &self.test {
            FieldTest::Number(test) => Some(line.number().is_some_and(|number| test.holds(&number))),
            FieldTest::Text(test) => tested(test, &line.text),
            FieldTest::Time(test, text) => match (line.time(), text) {
                (Some(time), _) => Some(test.holds(time)),
                (None, Some(_)) if line.number().is_some() => Some(false),
                (None, Some(text)) => tested(text, &line.text),
                (None, None) => Some(false),
            },
            FieldTest::Boolean(_)
            | FieldTest::Null { .. }
            | FieldTest::Undefined { .. }
            | FieldTest::Unknown { .. } => Some(false),
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

/// A number of 32 bits with the value of its shortest decimal form; its own value if that is larger than all that have
/// digits after the point.
pub(crate) fn shortest(number: f32) -> f64 {
    const FIRST_WITHOUT_A_FRACTION: f32 = 16_777_216.0;
    if number.abs() >= FIRST_WITHOUT_A_FRACTION {
        return number.into();
    }
    number.to_string().parse().unwrap_or(f64::NAN)
}

/// A test of what fields hold, with its answer for every object.
pub(super) struct HeldTest<'h> {
    values: ValuePredicate<'h>,
    /// The objects that represent the absence of a value.
    nulls: &'h Nulls,
    /// The answer for the objects that represent a value; `None` if they are not compared.
    targets: Option<Tested>,
    /// A field that holds a number looks as if there was none.
    lacks_numbers: bool,
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
        let targets = match referred.filter(|_| compares_objects(test)) {
            None => None,
            Some(referred) => Some(heap.representing(&values, referred, progress)?),
        };
        let lacks_numbers = heap.recording().lacks_numbers()?;
        Ok(HeldTest { values, nulls, targets, lacks_numbers })
    }

    /// Returns whether objects are compared with the values that they represent.
    pub(super) fn compares_objects(&self) -> bool {
        self.targets.is_some()
    }

    /// Returns whether the value of a field passes; `None` if that is not known.
    pub(super) fn holds(&self, held: Held) -> Option<bool> {
        let test = &self.values.test;
        let held = held.object().and_then(|target| self.nulls.held(target)).unwrap_or(held);
        match (held, &self.targets) {
            (Held::Missing, _) if self.lacks_numbers => match test {
                FieldTest::Unknown { negated } => Some(!negated),
                FieldTest::Number(_) | FieldTest::Null { negated: true } | FieldTest::Undefined { negated: true } => {
                    None
                }
                _ => Some(false),
            },
            (Held::Value(value), _) if !is_of_absence(test) => self.values.holds(value),
            (Held::Object(target), Some(targets)) => match test {
                FieldTest::Unknown { negated } => Some(targets.unknown.contains(target) != *negated),
                _ => targets.passes(target),
            },
            (Held::Object(_), None) if !is_of_absence(test) => Some(false),
            _ => nothing_holds(test, held),
        }
    }
}

impl Nulls {
    /// What a field holds that refers to an object, if that represents the absence of a value.
    pub(crate) fn held(&self, object: ObjectId) -> Option<Held> {
        let undefined = || self.undefined.contains(object).then_some(Held::Undefined);
        self.null.contains(object).then_some(Held::Null).or_else(undefined)
    }
}

/// Returns whether a test is about the absence of a value, and compares none.
pub(super) fn is_of_absence(test: &FieldTest) -> bool {
    matches!(test, FieldTest::Null { .. } | FieldTest::Undefined { .. } | FieldTest::Unknown { .. })
}

/// Returns whether a test compares objects with the values that they represent. What cannot be read of an object is
/// unknown.
pub(super) fn compares_objects(test: &FieldTest) -> bool {
    !is_of_absence(test) || matches!(test, FieldTest::Unknown { .. })
}

/// Returns whether a field passes a test that holds no value, or a test of that; `None` if that is not known. What is
/// not known is not known to differ from null.
pub(super) fn nothing_holds(test: &FieldTest, held: Held) -> Option<bool> {
    match (test, held) {
        (_, Held::Missing) => Some(false),
        (FieldTest::Unknown { negated }, held) => Some((held == Held::Unknown) != *negated),
        (_, Held::Unknown) => None,
        (FieldTest::Null { negated }, held) => Some((held == Held::Null) != *negated),
        (FieldTest::Undefined { negated }, held) => Some((held == Held::Undefined) != *negated),
        _ => Some(false),
    }
}
