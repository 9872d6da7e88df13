//! The objects whose fields pass a test.

use std::sync::atomic::{AtomicBool, Ordering};

use barrow_expressions::{FieldTest, Number, Pattern, TextTest};
use barrow_format::block::ColumnSelection;
use barrow_format::rows::{Encoding, Value};
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;

use super::named::{NamedField, no_field};
use super::{FieldPath, Held, objects_in};
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{map_blocks, places};
use crate::file::strings::StringAnswers;
use crate::file::tables::NULL;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;

impl Heap {
    /// The objects for which the field at the end of a path passes a test. An unknown or missing value passes only the test
    /// for that.
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
        self.path_matches(last, before, test, progress).map_err(|error| path.place(error))
    }

    fn path_matches(
        &self,
        last: &str,
        before: &[String],
        test: &FieldTest,
        progress: &dyn Progress,
    ) -> Result<ObjectSet> {
        let nulls = match test {
            FieldTest::Null { .. } | FieldTest::Unknown { .. } => self.nulls(progress)?,
            _ => ObjectSet::new(self.snapshot(), self.object_count()),
        };
        let mut matching = self.passing(last, test, &nulls, progress)?;
        let is_doubtful = matching.is_empty() && !matches!(test, FieldTest::Null { .. } | FieldTest::Unknown { .. });
        for name in before.iter().rev() {
            let field = NamedField::find(self.recording(), name)?;
            // A null or unknown value on the way is that of the path.
            matching = self.collect(&field, name, progress, |held| match held {
                Held::Object(target) if !nulls.contains(target) => matching.contains(target),
                Held::Null | Held::Object(_) => {
                    matches!(test, FieldTest::Null { negated: false } | FieldTest::Unknown { negated: true })
                }
                Held::Unknown => matches!(test, FieldTest::Unknown { negated: false }),
                Held::Missing | Held::Value(_) => false,
            })?;
        }
        if is_doubtful {
            self.require_comparable(last, test, progress)?;
        }
        Ok(matching)
    }

    /// The objects that represent the absence of a value, such as `None` of Python, according to attributes of types.
    fn nulls(&self, progress: &dyn Progress) -> Result<ObjectSet> {
        let tables = self.recording().tables()?;
        let mut names = HashMap::default();
        for id in (0..tables.type_count() as u32).map(TypeId) {
            let of_type = tables.type_attributes(id).filter(|(key, _)| *key == NULL).map(|(_, name)| name);
            let of_type: Vec<&str> = of_type.collect();
            if !of_type.is_empty() {
                names.insert(id, of_type);
            }
        }
        let mut nulls = ObjectSet::new(self.snapshot(), self.object_count());
        if names.is_empty() {
            return Ok(nulls);
        }
        let places = places(self.recording(), &[self.snapshot()])?;
        let parts = map_blocks(self.recording(), &places, ColumnSelection::Identity, progress, |_, _, columns| {
            let of_shapes = columns.dictionary.iter().map(|&shape| names.get(&tables.shape(shape).type_id));
            let of_shapes: Vec<_> = of_shapes.collect();
            let found = (0..columns.objects()).filter(|&row| {
                let wanted = of_shapes[columns.shapes[row] as usize];
                let name = columns.names.get(row).copied().flatten();
                wanted.zip(name).is_some_and(|(wanted, name)| wanted.contains(&tables.string(name)))
            });
            Ok(found.map(|row| ObjectId(columns.first_object + row as u32)).collect::<Vec<_>>())
        })?;
        tables.check_strings()?;
        parts.into_iter().flatten().for_each(|object| {
            nulls.insert(object);
        });
        Ok(nulls)
    }

    /// The objects for which the field of this name passes a test.
    fn passing(&self, name: &str, test: &FieldTest, nulls: &ObjectSet, progress: &dyn Progress) -> Result<ObjectSet> {
        let field = NamedField::find(self.recording(), name)?;
        // Without contents, a null cannot be told from an unknown value.
        let asks_what_is_not_there = matches!(test, FieldTest::Null { negated: false } | FieldTest::Unknown { .. });
        if asks_what_is_not_there && !self.recording().has_contents()? {
            return Err(no_field(self.recording(), name)?);
        }
        if !field.is_reference() && !field.encodings().any(|encoding| is_comparable(test, encoding)) {
            return Err(AnalyzerError::OtherValues { name: name.to_owned(), held: described(field.encodings()) });
        }
        if matches!(test, FieldTest::Number(test) if !test.is_equality()) && self.recording().has_replaced_numbers()? {
            return Err(AnalyzerError::ReplacedNumbers);
        }
        let values = ValueTest::new(self, test)?;
        let targets = match test {
            FieldTest::Null { .. } | FieldTest::Unknown { .. } => None,
            _ if field.may_refer() => {
                let mut targets = self.standing_for(|value| values.holds(value), progress)?;
                if let FieldTest::Text(test) = test {
                    targets.union_with(&self.line_matches(test, progress)?);
                }
                Some(targets)
            }
            _ => None,
        };
        let found = self.collect(&field, name, progress, |held| match (held, test) {
            (Held::Missing, _) => false,
            (Held::Unknown, FieldTest::Unknown { negated }) => !negated,
            (_, FieldTest::Unknown { negated }) => *negated,
            (Held::Unknown, _) => false,
            (Held::Null, FieldTest::Null { negated }) => !negated,
            (Held::Object(target), FieldTest::Null { negated }) => nulls.contains(target) != *negated,
            (_, FieldTest::Null { negated }) => *negated,
            (Held::Null, _) => false,
            (Held::Value(value), _) => values.holds(value),
            (Held::Object(target), _) => targets.as_ref().is_some_and(|targets| targets.contains(target)),
        })?;
        // Without contents, references to texts and numbers are known, but not their values.
        if targets.is_some() && found.is_empty() && !self.recording().has_contents()? {
            return Err(no_field(self.recording(), name)?);
        }
        Ok(found)
    }

    /// Requires that the field of this name refers to an object that represents a value of the kind that the test compares,
    /// unless it refers to no object.
    fn require_comparable(&self, name: &str, test: &FieldTest, progress: &dyn Progress) -> Result<()> {
        let field = NamedField::find(self.recording(), name)?;
        if !field.may_refer() || field.encodings().any(|encoding| is_comparable(test, encoding)) {
            return Ok(());
        }
        let any_text = TextTest { pattern: Pattern::Exact(String::new()), negated: true };
        let mut kinds = Vec::new();
        for kind in [Encoding::Text, Encoding::Unsigned, Encoding::Boolean] {
            let mut set = self.standing_for(|value| kind_of(value) == kind, progress)?;
            if kind == Encoding::Text {
                set.union_with(&self.line_matches(&any_text, progress)?);
            }
            let found =
                self.collect(&field, name, progress, |held| held.object().is_some_and(|object| set.contains(object)))?;
            if !found.is_empty() {
                kinds.push(kind);
            }
        }
        if kinds.iter().any(|&kind| is_comparable(test, kind))
            || self.collect(&field, name, progress, |held| held.object().is_some())?.is_empty()
        {
            return Ok(());
        }
        let held = match kinds.is_empty() {
            true => "objects that are no texts or numbers, as far as this is recorded",
            false => described(kinds.into_iter().chain(field.encodings())),
        };
        Err(AnalyzerError::OtherValues { name: name.to_owned(), held })
    }

    /// The objects for which the value of the field of this name passes.
    ///
    /// # Errors
    /// [`AnalyzerError::NoField`] if no object has the field.
    pub(super) fn collect(
        &self,
        field: &NamedField<'_>,
        name: &str,
        progress: &dyn Progress,
        passes: impl Fn(Held) -> bool + Sync,
    ) -> Result<ObjectSet> {
        let (recording, tables) = (self.recording(), self.recording().tables()?);
        let places = places(recording, &[self.snapshot()])?;
        let is_met = AtomicBool::new(field.is_certain());
        progress.begin("reading fields", objects_in(&places), "objects");
        let parts = map_blocks(recording, &places, field.wanted(), progress, |_, _, columns| {
            let (mut found, is_continuation) = (Vec::new(), columns.objects() == 0);
            let mut is_met_here = false;
            field.visit(
                columns,
                tables,
                |_| true,
                |object, held| {
                    // A continuation adds references to its object and nothing else.
                    let is_reference = matches!(held, Held::Object(_));
                    is_met_here |= held != Held::Missing;
                    if (is_reference || !is_continuation) && passes(held) {
                        found.push(object);
                    }
                },
            );
            // Relaxed: read after the threads have ended.
            is_met.fetch_or(is_met_here, Ordering::Relaxed);
            Ok(found)
        })?;
        tables.check_strings()?;
        if !is_met.into_inner() {
            return Err(no_field(recording, name)?);
        }
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

/// One encoding for all texts, one for all numbers, and that of booleans.
fn kind_of(value: Value) -> Encoding {
    match value {
        Value::Text(_) | Value::Character(_) => Encoding::Text,
        Value::Boolean(_) => Encoding::Boolean,
        _ => Encoding::Unsigned,
    }
}

/// A value as a number.
fn number(value: Value) -> Option<Number> {
    Some(match value {
        Value::Unsigned(value) => Number::Whole(value.into()),
        Value::Signed(value) => Number::Whole(value.into()),
        Value::Character(value) => Number::Whole(value.into()),
        // Through its decimal form, so that the float 0.1 equals the typed 0.1.
        Value::Float(value) => Number::Real(value.to_string().parse().unwrap_or(f64::NAN)),
        Value::Double(value) => Number::Real(value),
        Value::Boolean(_) | Value::Text(_) => return None,
    })
}

/// Returns whether values of an encoding can pass a test.
fn is_comparable(test: &FieldTest, encoding: Encoding) -> bool {
    use Encoding::{Boolean, Character, Text};
    match test {
        FieldTest::Boolean(_) => encoding == Boolean,
        FieldTest::Number(_) => !matches!(encoding, Boolean | Text),
        FieldTest::Text(_) => matches!(encoding, Text | Character),
        FieldTest::Null { .. } | FieldTest::Unknown { .. } => true,
    }
}

/// The contents of fields, in words.
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
