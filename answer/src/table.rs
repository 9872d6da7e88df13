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
/// let retained = Some(1024_u64);
/// let table = table!("types", sizes, |(name, bytes)| {
///     Column::text("type") => name,
///     Column::bytes("shallow_bytes") => bytes * 2_u64,
///     ..retained.map(|_| Column::bytes("retained_bytes")) => retained,
/// });
/// assert_eq!((table.columns.len(), table.rows.len(), table.rows[0].len()), (3, 2, 3));
/// ```
///
/// Cells are made in a loop: `?` leaves the function around it. Lines `let name = …;` and `check()?;` before the columns
/// are evaluated once for each item. After `..` stand an iterable of columns and one of as many cells, such as an `Option` of each.
/// The columns are made before the rows.
#[macro_export]
macro_rules! table {
    ($key:expr, $items:expr, |$item:pat_param| { $($body:tt)+ }) => {{
        let mut columns = ::std::vec::Vec::new();
        $crate::table!(@columns columns; $($body)+);
        let mut rows = ::std::vec::Vec::new();
        for $item in $items {
            let mut row = ::std::vec::Vec::with_capacity(columns.len());
            $crate::table!(@row row; $($body)+);
            rows.push(row);
        }
        $crate::Table { key: $key, audience: $crate::Audience::Everyone, columns, rows }
    }};
    (@columns $columns:ident;) => {};
    (@columns $columns:ident; let $name:pat = $value:expr; $($rest:tt)*) => {
        $crate::table!(@columns $columns; $($rest)*);
    };
    (@columns $columns:ident; $check:expr; $($rest:tt)*) => {
        $crate::table!(@columns $columns; $($rest)*);
    };
    (@columns $columns:ident; ..$more:expr => $cells:expr $(, $($rest:tt)*)?) => {
        ::std::iter::Extend::<$crate::Column>::extend(&mut $columns, $more);
        $crate::table!(@columns $columns; $($($rest)*)?);
    };
    (@columns $columns:ident; $column:expr => $cell:expr $(, $($rest:tt)*)?) => {
        $columns.push($column);
        $crate::table!(@columns $columns; $($($rest)*)?);
    };
    (@row $row:ident;) => {};
    (@row $row:ident; let $name:pat = $value:expr; $($rest:tt)*) => {
        let $name = $value;
        $crate::table!(@row $row; $($rest)*);
    };
    (@row $row:ident; $check:expr; $($rest:tt)*) => {
        $check;
        $crate::table!(@row $row; $($rest)*);
    };
    (@row $row:ident; ..$columns:expr => $cells:expr $(, $($rest:tt)*)?) => {
        $row.extend(::std::iter::IntoIterator::into_iter($cells).map($crate::Value::from));
        $crate::table!(@row $row; $($($rest)*)?);
    };
    (@row $row:ident; $column:expr => $cell:expr $(, $($rest:tt)*)?) => {
        $row.push($crate::Value::from($cell));
        $crate::table!(@row $row; $($($rest)*)?);
    };
}

/// A [`Value::Record`]: each value stands beside the column that says its key and its unit.
///
/// ```
/// use barrow_answer::{Column, record};
///
/// let record = record! {
///     Column::text("type").names() => "Order",
///     Column::bytes("shallow_bytes") => 40_u64,
/// };
/// ```
#[macro_export]
macro_rules! record {
    ($($column:expr => $value:expr),+ $(,)?) => {
        $crate::Value::Record(::std::vec![
            $($crate::Fact { column: $column, value: $crate::Value::from($value) }),+
        ])
    };
}
