//! What fields hold, as cells.

use barrow_analyzer::{
    FieldValue, Heap, Held, ObjectDetails, ObjectId, ObjectSet, Progress, Recording, SnapshotId, Tables, objects,
};

use crate::answer::text::text;
use crate::answer::{Absence, Unit, Value, label};
use crate::error::QueryError;

/// What the objects that fields hold stand for, in words, by id. Objects with a text of their own are left out: their name
/// says it.
pub(crate) fn meanings(
    heap: &Heap,
    held: &[Held],
    progress: &dyn Progress,
) -> Result<Vec<(ObjectId, String)>, QueryError> {
    let tables = heap.recording().tables()?;
    let ids = Held::objects(held);
    let set = ObjectSet::from_sorted(heap.snapshot(), heap.object_count(), ids.iter().copied());
    let details = objects(heap.recording(), heap.snapshot(), &ids)?;
    let meanings = details.iter().zip(heap.stand_for(&set, progress)?);
    let in_words = meanings.filter(|(object, _)| object.name.is_none()).filter_map(|(object, held)| match held {
        Held::Value(held) => Some((object.id, text(&value(held, tables), Unit::Number))),
        _ => None,
    });
    Ok(in_words.collect())
}

/// A cell for what each field holds. Objects are named with their type.
pub(crate) fn cells(recording: &Recording, snapshot: SnapshotId, held: &[Held]) -> Result<Vec<Value>, QueryError> {
    let tables = recording.tables()?;
    let ids = Held::objects(held);
    let details = objects(recording, snapshot, &ids)?;
    let cell = |held: &Held| match held {
        Held::Missing => Value::Absent(Absence::Missing),
        Held::Unknown => Value::Absent(Absence::Unknown),
        Held::Null => Value::Absent(Absence::Null),
        Held::Value(held) => value(*held, tables),
        Held::Object(id) => match details.binary_search_by_key(id, |details| details.id) {
            Ok(at) => Value::text(named(&details[at], tables)),
            Err(_) => Value::text(format!("@{id}")),
        },
    };
    Ok(held.iter().map(cell).collect())
}

/// An object as people name it: `@12 java.util.HashMap`.
fn named(object: &ObjectDetails, tables: &Tables) -> String {
    format!("@{} {}", object.id, label::object(tables, object.type_id, object.name))
}

fn value(held: FieldValue, tables: &Tables) -> Value {
    let real = |real: f64| match real.abs() {
        _ if !real.is_finite() => Value::text(real.to_string()),
        size if size != 0.0 && !(1e-5..1e16).contains(&size) => {
            Value::Measured { value: real, text: format!("{real:e}") }
        }
        _ => Value::Rate(real),
    };
    match held {
        FieldValue::Unsigned(number) => number.into(),
        FieldValue::Signed(number) => u64::try_from(number).map_or(Value::Signed(number), Value::Number),
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
