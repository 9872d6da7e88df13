//! Tables, written down with each column beside its cells.

use serde::Serialize;

use crate::{Audience, Column, Value};

/// Rows of the same columns.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Its key in JSON.
    pub key: &'static str,
    /// Its readers.
    pub audience: Audience,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// The same table for other readers.
    #[must_use]
    pub fn for_readers(self, audience: Audience) -> Self {
        Table { audience, ..self }
    }
}

/// A table for everyone, with a row for each item of an iterator. A column stands beside the cell that an item has in it:
///
/// ```
/// use barrow_answer::{Column, table};
///
/// let sizes = [("String", 24), ("Order", 40)];
/// let table = table!("types", sizes, |(name, bytes)| {
///     Column::text("type") => name,
///     Column::bytes("shallow_bytes") => bytes * 2_u64,
/// });
/// assert_eq!((table.columns.len(), table.rows.len()), (2, 2));
/// ```
///
/// Cells are made in a loop: `?` leaves the function around it. A line `let name = …;` before the columns is evaluated
/// once for each item.
#[macro_export]
macro_rules! table {
    ($key:expr, $items:expr, |$item:pat_param| {
        $(let $name:pat = $value:expr;)*
        $($column:expr => $cell:expr),+ $(,)?
    }) => {{
        let mut rows = ::std::vec::Vec::new();
        for $item in $items {
            $(let $name = $value;)*
            rows.push(::std::vec![$($crate::Value::from($cell)),+]);
        }
        $crate::Table { key: $key, audience: $crate::Audience::Everyone, columns: ::std::vec![$($column),+], rows }
    }};
}
