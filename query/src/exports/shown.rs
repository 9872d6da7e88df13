//! The columns of a table that its readers see in a document.

use crate::answer::Table;

/// The places of the columns that people read, in their order.
pub(super) fn columns_for_people(table: &Table) -> Vec<usize> {
    (0..table.columns.len()).filter(|&at| table.columns[at].audience.has_people()).collect()
}

/// A table for tests: a row with this program, a unit that only machines read, and 1,234 runs.
#[cfg(test)]
pub(super) fn sample(program: &str) -> Table {
    use crate::answer::{Audience, Column, Value};
    let columns =
        vec![Column::text("variant").called("program"), Column::text("unit").for_machines(), Column::count("runs")];
    let rows = vec![vec![Value::text(program), Value::None, Value::Number(1234)]];
    Table { key: "rows", audience: Audience::Everyone, columns, rows }
}
