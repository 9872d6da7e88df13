//! Values of fields as cells.

use std::collections::BTreeMap;

use barrow_analyzer::{
    FieldEncoding, FieldValue, Heap, Held, Line, ObjectDetails, ObjectId, ObjectSet, Progress, Recording, SnapshotId,
    Tables, objects,
};

use crate::answer::{Absence, Unit, Value, text::text};
use crate::error::QueryError;
use crate::tables::label;

/// The text, number or truth that an object represents, such as a boxed integer, or its line.
pub(crate) struct Meaning {
    pub(crate) object: ObjectId,
    /// A text, a number, true or false, or a line.
    pub(crate) value: Value,
    /// The name of the object, which people read with it, has it already.
    is_in_name: bool,
    /// It is a line to read, which is not the same as the object.
    pub(crate) is_line: bool,
}

/// The meanings of the objects that fields hold, in the order of their ids. Objects without a meaning are skipped.
pub(crate) fn meanings(heap: &Heap, held: &[Held], progress: &dyn Progress) -> Result<Vec<Meaning>, QueryError> {
    let tables = heap.recording().tables()?;
    let ids = Held::objects(held);
    let set = ObjectSet::from_sorted(heap.snapshot(), heap.object_count(), ids.iter().copied());
    let details = objects(heap.recording(), heap.snapshot(), &ids)?;
    let meanings = details.iter().zip(heap.stand_for(&set, progress)?).zip(heap.lines(&ids, progress)?);
    let mut told = Vec::new();
    for ((object, held), line) in meanings {
        let is_line = !matches!(held, Held::Value(_));
        let value = if let Held::Value(held) = held { Some(value(held, tables)) } else { line.map(Value::Line) };
        let is_in_name = object.name.is_some() && !(is_line && heap.shows_line(object)?);
        told.extend(value.map(|value| Meaning { object: object.id, value, is_in_name, is_line }));
    }
    Ok(told)
}

/// The lines of objects, of those that have one to show, see [`Heap::shows_line`].
pub(crate) fn lines_of<'o>(
    heap: &Heap,
    objects: impl IntoIterator<Item = &'o ObjectDetails>,
    progress: &dyn Progress,
) -> Result<BTreeMap<ObjectId, Value>, QueryError> {
    let mut ids = Vec::new();
    for object in objects {
        if heap.shows_line(object)? {
            ids.push(object.id);
        }
    }
    ids.sort_unstable();
    ids.dedup();
    let lines = heap.lines(&ids, progress)?;
    Ok(ids.into_iter().zip(lines).filter_map(|(id, line)| Some((id, Value::Line(line?)))).collect())
}

/// The title of an object, with its line if it has one: `java.util.UUID: 12345678-…`.
pub(crate) fn title_with_line(title: String, lines: &BTreeMap<ObjectId, Value>, object: ObjectId) -> String {
    match lines.get(&object) {
        Some(line) => format!("{title}: {}", text(line, Unit::Text)),
        None => title,
    }
}

/// The meaning of an object, if it has one.
pub(crate) fn meaning_of<'m>(meanings: &'m [Meaning], held: &Held) -> Option<&'m Meaning> {
    let Held::Object(id) = held else { return None };
    meanings.binary_search_by_key(id, |meaning| meaning.object).ok().map(|at| &meanings[at])
}

/// A cell for each value of a field. Objects are followed by their meaning.
pub(crate) fn told_cells(heap: &Heap, held: &[Held], progress: &dyn Progress) -> Result<Vec<Value>, QueryError> {
    let meanings = meanings(heap, held, progress)?;
    let cells = cells(heap.recording(), heap.snapshot(), held)?;
    Ok(held.iter().zip(cells).map(|(held, cell)| with_meaning(cell, meaning_of(&meanings, held))).collect())
}

/// The cell of an object, followed by its meaning.
pub(crate) fn with_meaning(cell: Value, meaning: Option<&Meaning>) -> Value {
    match (cell, meaning) {
        (Value::Object { id, text: name }, Some(meaning)) if !meaning.is_in_name => {
            let meaning = match &meaning.value {
                Value::Name(name) => format!("\"{name}\""),
                Value::Line(line) => line.clone(),
                value => text(value, Unit::Number),
            };
            Value::Object { id, text: format!("{name}: {meaning}") }
        }
        (cell, _) => cell,
    }
}

/// A cell for each value of a field. Objects are named with their type.
pub(crate) fn cells(recording: &Recording, snapshot: SnapshotId, held: &[Held]) -> Result<Vec<Value>, QueryError> {
    let tables = recording.tables()?;
    let ids = Held::objects(held);
    let details = objects(recording, snapshot, &ids)?;
    let cell = |held: &Held| match held {
        Held::Missing => Value::Absent(Absence::Missing),
        Held::Unknown => Value::Absent(Absence::Unknown),
        Held::Null => Value::Absent(Absence::Null),
        Held::Undefined => Value::Absent(Absence::Undefined),
        Held::Value(held) => value(*held, tables),
        Held::Object(id) => {
            let found = details.binary_search_by_key(id, |details| details.id).ok().map(|at| &details[at]);
            match found.and_then(|details| Held::of_null(tables, details.type_id, details.name)) {
                Some(Held::Undefined) => return Value::Absent(Absence::Undefined),
                Some(_) => return Value::Absent(Absence::Null),
                None => {}
            }
            Value::Object { id: id.0, text: found.map_or_else(|| format!("@{id}"), |found| named(found, tables)) }
        }
    };
    Ok(held.iter().map(cell).collect())
}

/// An object as people name it: `@12 java.util.HashMap`.
fn named(object: &ObjectDetails, tables: &Tables) -> String {
    format!("@{} {}", object.id, label::object(tables, object.type_id, object.name))
}

/// The unit of a column of such cells: texts and objects are aligned and cut as texts.
pub(crate) fn unit<'c>(cells: impl IntoIterator<Item = &'c Value>) -> Unit {
    let are_words =
        |cell: &Value| matches!(cell, Value::Text(_) | Value::Name(_) | Value::Line(_) | Value::Object { .. });
    if cells.into_iter().any(are_words) { Unit::Text } else { Unit::Number }
}

/// The sort key of a value of a field: absent ones come first, then true and false, numbers, characters, texts and lines,
/// objects.
pub(crate) fn order<'t>(held: &Held, lines: &'t BTreeMap<ObjectId, Line>, tables: &'t Tables) -> (u8, i128, &'t str) {
    match *held {
        Held::Missing => (0, 0, ""),
        Held::Unknown => (1, 0, ""),
        Held::Null => (2, 0, ""),
        Held::Undefined => (2, 1, ""),
        Held::Value(FieldValue::Boolean(flag)) => (3, flag.into(), ""),
        Held::Value(FieldValue::Unsigned(number)) => (4, number.into(), ""),
        Held::Value(FieldValue::Signed(number)) => (4, number.into(), ""),
        Held::Value(FieldValue::Float(number)) => (5, real_order(number.into()), ""),
        Held::Value(FieldValue::Double(number)) => (5, real_order(number), ""),
        Held::Value(FieldValue::Character(code)) => (6, code.into(), ""),
        Held::Value(FieldValue::Text(text)) => (7, 0, tables.string(text)),
        Held::Object(id) => match lines.get(&id) {
            Some(line) => (7, 0, &line.text),
            None => (8, id.0.into(), ""),
        },
    }
}

/// A number that compares as [`f64::total_cmp`] does.
fn real_order(number: f64) -> i128 {
    let bits = number.to_bits().cast_signed();
    (bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()).into()
}

/// The kind of values of a field, in a word.
pub(crate) fn kind(encoding: FieldEncoding) -> &'static str {
    match encoding {
        FieldEncoding::Unsigned | FieldEncoding::Signed => "integer",
        FieldEncoding::Boolean => "boolean",
        FieldEncoding::Character => "character",
        FieldEncoding::Float | FieldEncoding::Double => "real",
        FieldEncoding::Text => "text",
        FieldEncoding::Reference => "object",
    }
}

fn value(held: FieldValue, tables: &Tables) -> Value {
    let real = |real: f64| match real.is_finite() {
        false => Value::text(real.to_string()),
        true => Value::Rate(real),
    };
    match held {
        FieldValue::Unsigned(number) => number.into(),
        FieldValue::Signed(number) => u64::try_from(number).map_or(Value::Signed(number.into()), Value::Number),
        FieldValue::Boolean(flag) => Value::Truth(flag),
        FieldValue::Character(code) => match char::from_u32(code) {
            Some(character) => Value::name_of(character.encode_utf8(&mut [0; 4])),
            None => Value::text(format!("\\u{code:04X}")),
        },
        // Through its shortest text, so that 0.1 stays 0.1.
        FieldValue::Float(number) => real(number.to_string().parse().unwrap_or(f64::NAN)),
        FieldValue::Double(number) => real(number),
        FieldValue::Text(text) => Value::name_of(tables.string(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_come_in_their_order() {
        let ascending = [f64::NEG_INFINITY, -1e300, -2.5, -2.0, -0.0, 0.0, 1e-300, 0.1, 7.0, f64::INFINITY];
        assert!(ascending.is_sorted_by(|&one, &other| real_order(one) < real_order(other)));
    }
}
