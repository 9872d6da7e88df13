//! Entries of maps and elements of lists, as rows.

use barrow_analyzer::{Entry, EntryKey, Heap, Held, ObjectId, Progress};

use crate::answer::{Column, Value};
use crate::error::QueryError;

use super::held;

/// What is in the rows of some entries.
pub(crate) struct EntryRows {
    /// The columns of each row: key, the object that is the key, value, and the object that is the value.
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Value>>,
    /// The object of each row: that of the value, else that of the key.
    pub(crate) objects: Vec<Option<ObjectId>>,
}

impl EntryRows {
    pub(crate) fn of(heap: &Heap, entries: &[Entry], progress: &dyn Progress) -> Result<Self, QueryError> {
        let key = |entry: &Entry| if let EntryKey::Held(held) = entry.key { held } else { Held::Missing };
        let keys: Vec<Held> = entries.iter().map(key).collect();
        let values: Vec<Held> = entries.iter().map(|entry| entry.value).collect();
        let mut key_cells = cells(heap, &keys, progress)?;
        for (entry, cell) in entries.iter().zip(&mut key_cells) {
            match entry.key {
                EntryKey::Index(index) => *cell = index.into(),
                EntryKey::None => *cell = Value::None,
                EntryKey::Held(_) => {}
            }
        }
        let value_cells = cells(heap, &values, progress)?;
        let key_column = Column::new("key", held::unit(&key_cells));
        let columns = vec![
            match entries.iter().any(|entry| entry.key != EntryKey::None) {
                true if entries.iter().all(|entry| matches!(entry.key, EntryKey::Index(_))) => {
                    Column::number("key").called("index")
                }
                true => key_column,
                false => key_column.for_machines(),
            },
            Column::object("key_object").for_machines(),
            Column::new("value", held::unit(&value_cells)),
            Column::object("value_object").for_machines(),
        ];
        let (keys, values): (Vec<_>, Vec<_>) = (keys.iter().map(object).collect(), values.iter().map(object).collect());
        let objects = values.iter().zip(&keys).map(|(value, key)| value.or(*key)).collect();
        let number = |object: &Option<ObjectId>| Value::from(object.map(|object| object.0));
        let rows = key_cells.into_iter().zip(&keys).zip(value_cells.into_iter().zip(&values));
        let rows = rows.map(|((key, of_key), (value, of_value))| vec![key, number(of_key), value, number(of_value)]);
        Ok(EntryRows { columns, rows: rows.collect(), objects })
    }
}

fn object(held: &Held) -> Option<ObjectId> {
    if let Held::Object(object) = held { Some(*object) } else { None }
}

/// Cells in which objects are what they stand for, as in a column of fields.
fn cells(heap: &Heap, held: &[Held], progress: &dyn Progress) -> Result<Vec<Value>, QueryError> {
    let meanings = held::meanings(heap, held, progress)?;
    let cells = held::cells(heap.recording(), heap.snapshot(), held)?;
    let cell = |(held, cell): (&Held, Value)| match held::meaning_of(&meanings, held) {
        Some(meaning) if !meaning.is_line => meaning.value.clone(),
        meaning => held::with_meaning(cell, meaning),
    };
    Ok(held.iter().zip(cells).map(cell).collect())
}
