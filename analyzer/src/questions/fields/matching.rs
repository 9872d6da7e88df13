//! The objects whose fields pass a test.

use barrow_expressions::{FieldTest, Number};
use barrow_format::rows::{Encoding, Value};

use super::named::NamedField;
use super::{FieldPath, Held, objects_in};
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{map_blocks, places};
use crate::file::strings::StringAnswers;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;

impl Heap {
    /// The objects for which the field at the end of a path passes a test. What a field holds that is not known, or that is
    /// missing, passes no test but that for it.
    ///
    /// Time: for each name of the path a pass over all objects, and one over those that fields refer to.
    ///
    /// # Errors
    /// [`AnalyzerError::NoField`], [`AnalyzerError::OtherValues`], [`AnalyzerError::Section`],
    /// [`AnalyzerError::Cancelled`].
    pub(crate) fn field_matches(
        &self,
        path: &FieldPath,
        test: &FieldTest,
        progress: &dyn Progress,
    ) -> Result<ObjectSet> {
        let Some((last, before)) = path.names().split_last() else {
            return Ok(ObjectSet::new(self.snapshot(), self.object_count()));
        };
        let mut matching = self.passing(last, test, progress)?;
        for name in before.iter().rev() {
            let field = NamedField::find(self.recording(), name)?;
            // What is null or not known on the way is so at its end.
            matching = self.collect(&field, progress, |held| match held {
                Held::Object(target) => matching.contains(target),
                Held::Null => {
                    matches!(test, FieldTest::Null { negated: false } | FieldTest::Unknown { negated: true })
                }
                Held::Unknown => matches!(test, FieldTest::Unknown { negated: false }),
                Held::Missing | Held::Value(_) => false,
            })?;
        }
        Ok(matching)
    }

    /// The objects for which the field of this name passes a test.
    fn passing(&self, name: &str, test: &FieldTest, progress: &dyn Progress) -> Result<ObjectSet> {
        let field = NamedField::find(self.recording(), name)?;
        if !field.is_reference() && !field.encodings().any(|encoding| is_comparable(test, encoding)) {
            return Err(AnalyzerError::OtherValues { name: name.to_owned(), held: described(field.encodings()) });
        }
        if matches!(test, FieldTest::Number(test) if !test.is_equality()) && self.recording().has_replaced_numbers()? {
            return Err(AnalyzerError::ReplacedNumbers);
        }
        let values = ValueTest::new(self, test)?;
        let targets = match test {
            FieldTest::Null { .. } | FieldTest::Unknown { .. } => None,
            _ if field.may_refer() => Some(self.standing_for(|value| values.holds(value), progress)?),
            _ => None,
        };
        self.collect(&field, progress, |held| match (held, test) {
            (Held::Missing, _) => false,
            (Held::Unknown, FieldTest::Unknown { negated }) => !negated,
            (_, FieldTest::Unknown { negated }) => *negated,
            (Held::Unknown, _) => false,
            (Held::Null, FieldTest::Null { negated }) => !negated,
            (_, FieldTest::Null { negated }) => *negated,
            (Held::Null, _) => false,
            (Held::Value(value), _) => values.holds(value),
            (Held::Object(target), _) => targets.as_ref().is_some_and(|targets| targets.contains(target)),
        })
    }

    /// The objects for which what the field holds passes.
    fn collect(
        &self,
        field: &NamedField<'_>,
        progress: &dyn Progress,
        passes: impl Fn(Held) -> bool + Sync,
    ) -> Result<ObjectSet> {
        let (recording, tables) = (self.recording(), self.recording().tables()?);
        let places = places(recording, &[self.snapshot()])?;
        progress.begin("reading fields", objects_in(&places), "objects");
        let parts = map_blocks(recording, &places, field.wanted(), progress, |_, _, columns| {
            let (mut found, is_continuation) = (Vec::new(), columns.objects() == 0);
            field.visit(
                columns,
                tables,
                |_| true,
                |object, held| {
                    // A continuation adds references and says nothing else of its object.
                    let is_reference = matches!(held, Held::Object(_));
                    if (is_reference || !is_continuation) && passes(held) {
                        found.push(object);
                    }
                },
            );
            Ok(found)
        })?;
        tables.check_strings()?;
        let mut matching = ObjectSet::new(self.snapshot(), self.object_count());
        parts.into_iter().flatten().for_each(|object| {
            matching.insert(object);
        });
        Ok(matching)
    }
}

/// A test of values, with its answer for every string.
struct ValueTest<'t> {
    test: &'t FieldTest,
    texts: Option<StringAnswers<'t>>,
}

impl<'t> ValueTest<'t> {
    fn new(heap: &'t Heap, test: &'t FieldTest) -> Result<Self> {
        let tables = heap.recording().tables()?;
        let texts = match test {
            FieldTest::Text(test) => Some(tables.string_answers(|text| test.holds(Some(text)))),
            _ => None,
        };
        Ok(ValueTest { test, texts })
    }

    fn holds(&self, value: Value) -> bool {
        match (self.test, value) {
            (FieldTest::Boolean(wanted), Value::Boolean(held)) => held == *wanted,
            (FieldTest::Number(test), value) => number(value).is_some_and(|number| test.holds(number)),
            (FieldTest::Text(_), Value::Text(text)) => self.texts.as_ref().is_some_and(|texts| texts.get(text)),
            (FieldTest::Text(test), Value::Character(character)) => {
                char::from_u32(character).is_some_and(|held| test.holds(Some(held.encode_utf8(&mut [0; 4]))))
            }
            _ => false,
        }
    }
}

/// A value as a number.
fn number(value: Value) -> Option<Number> {
    Some(match value {
        Value::Unsigned(value) => Number::Whole(value.into()),
        Value::Signed(value) => Number::Whole(value.into()),
        Value::Character(value) => Number::Whole(value.into()),
        Value::Float(value) => Number::Real(value.into()),
        Value::Double(value) => Number::Real(value),
        Value::Boolean(_) | Value::Text(_) => return None,
    })
}

/// Whether values of an encoding can pass a test.
fn is_comparable(test: &FieldTest, encoding: Encoding) -> bool {
    use Encoding::{Boolean, Character, Text};
    match test {
        FieldTest::Boolean(_) => encoding == Boolean,
        FieldTest::Number(_) => !matches!(encoding, Boolean | Text),
        FieldTest::Text(_) => matches!(encoding, Text | Character),
        FieldTest::Null { .. } | FieldTest::Unknown { .. } => true,
    }
}

/// What fields hold, in words.
fn described(encodings: impl Iterator<Item = Encoding>) -> &'static str {
    let mut kinds: Vec<&str> = encodings
        .map(|encoding| match encoding {
            Encoding::Boolean => "true or false",
            Encoding::Text => "texts",
            Encoding::Reference => "objects",
            _ => "numbers",
        })
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    if let [kind] = kinds[..] { kind } else { "other values" }
}
