//! Rows of an answer by the names of their columns.

use barrow_query::answer::{Answer, Table, Value};

/// A table whose cells are found by the keys of their columns.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a>(&'a Table);

impl<'a> Rows<'a> {
    /// The table of this key.
    pub(crate) fn of(answer: &'a Answer, key: &str) -> Option<Self> {
        answer.tables.iter().find(|table| table.key == key).map(Rows)
    }

    pub(crate) fn len(self) -> usize {
        self.0.rows.len()
    }

    /// A value; `None` if there is no such column.
    pub(crate) fn value(self, row: usize, key: &str) -> &'a Value {
        const NONE: &Value = &Value::None;
        let at = self.0.columns.iter().position(|column| column.key == key);
        at.map_or(NONE, |at| &self.0.rows[row][at])
    }

    /// A text; empty if there is none.
    pub(crate) fn text(self, row: usize, key: &str) -> &'a str {
        text(self.value(row, key))
    }

    /// A number; 0 if there is none.
    pub(crate) fn number(self, row: usize, key: &str) -> u64 {
        number(self.value(row, key))
    }
}

/// A field of a record.
pub(crate) fn field<'a>(value: &'a Value, key: &str) -> &'a Value {
    const NONE: &Value = &Value::None;
    match value {
        Value::Record(fields) => fields.iter().find(|field| field.column.key == key).map_or(NONE, |field| &field.value),
        _ => NONE,
    }
}

/// The title of an object, a line if it repeats a text of the object; the name of its type if that may not be shown.
pub(crate) fn shown_title<'a>(title: &'a Value, type_name: &'a Value, with_texts: bool) -> &'a str {
    match title {
        Value::Text(title) if !title.is_empty() => title,
        Value::Line(title) if with_texts => title,
        _ => text(type_name),
    }
}

pub(crate) fn list(value: &Value) -> &[Value] {
    match value {
        Value::List(values) => values,
        _ => &[],
    }
}

pub(crate) fn text(value: &Value) -> &str {
    match value {
        Value::Text(text) => text,
        _ => "",
    }
}

pub(crate) fn number(value: &Value) -> u64 {
    match value {
        Value::Number(number) | Value::Estimate(number) => *number,
        _ => 0,
    }
}
