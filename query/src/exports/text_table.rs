//! The part of a table that people see in a document.

use std::io::{self, Write};

use crate::answer::{Table, text};

/// The cells of a table that people read, as texts that are no markup.
pub(super) struct TextTable {
    pub(super) headings: Vec<String>,
    /// True for each column that holds texts.
    pub(super) are_texts: Vec<bool>,
    pub(super) rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(super) fn of(table: &Table, escaped: fn(&str) -> String) -> Self {
        let columns = table.columns.iter().enumerate().filter(|(_, column)| column.audience.has_people());
        let rows = table
            .rows
            .iter()
            .map(|row| columns.clone().map(|(at, column)| escaped(&text::text(&row[at], column.unit))).collect());
        TextTable {
            headings: columns.clone().map(|(_, column)| escaped(&column.heading)).collect(),
            are_texts: columns.clone().map(|(_, column)| column.unit.is_text()).collect(),
            rows: rows.collect(),
        }
    }
}

/// Writes `| a | b |`.
pub(super) fn line(out: &mut dyn Write, cells: &[impl AsRef<str>]) -> io::Result<()> {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    writeln!(out, "| {} |", cells.join(" | "))
}

/// A table for tests: a row with this program, a unit that only machines read, and 1,234 runs.
#[cfg(test)]
pub(super) fn sample(program: &str) -> Table {
    use crate::answer::{Column, Value, table};
    table!("rows", [program], |program| {
        Column::text("variant").called("program") => program,
        Column::text("unit").for_machines() => Value::None,
        Column::count("runs") => 1234_u64,
    })
}
