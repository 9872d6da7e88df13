//! Entries of maps and elements of lists, as rows.

use barrow_analyzer::{Entry, EntryKey, Heap, Held, ObjectId, Progress};

use crate::answer::{Column, Table, Value, table};
use crate::error::QueryError;

use super::held;

/// Entries with a row each.
pub(crate) struct EntryRows {
    /// Key, the object that is the key, value, and the object that is the value.
    pub(crate) table: Table,
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
        let key_column = match entries.iter().any(|entry| entry.key != EntryKey::None) {
            true if entries.iter().all(|entry| matches!(entry.key, EntryKey::Index(_))) => {
                Column::number("key").called("index")
            }
            true => key_column,
            false => key_column.for_machines(),
        };
        let value_column = Column::new("value", held::unit(&value_cells));
        let mut objects = Vec::with_capacity(entries.len());
        let cells = key_cells.into_iter().zip(value_cells);
        let table = table!("entries", keys.iter().zip(&values).zip(cells), |((key, value), (key_cell, value_cell))| {
            let (key, value) = (object(key), object(value));
            objects.push(value.or(key));
            key_column => key_cell,
            Column::object("key_object").for_machines() => key.map(|key| key.0),
            value_column => value_cell,
            Column::object("value_object").for_machines() => value.map(|value| value.0),
        });
        Ok(EntryRows { table, objects })
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
