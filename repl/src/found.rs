//! Objects that match an expression, as `find` and `count` ask for them.

use barrow_analyzer::{Expression, ExpressionError, KindId, ObjectDetails, Tables};

use crate::answer::{Audience, Column, Table, Unit, Value};
use crate::error::ReplError;
use crate::kinds::leading_kind;
use crate::session::Arguments;

/// Reads `KIND EXPR` from the words from `first` on. Without an expression every object matches.
pub(crate) fn kinds_and_expression(
    tables: &Tables,
    arguments: &Arguments,
    first: usize,
) -> Result<(Vec<KindId>, Expression), ReplError> {
    let words = arguments.words();
    let kinds = leading_kind(tables, &words[first.min(words.len())..])?;
    let text = arguments.expression(first + kinds.words);
    let expression = Expression::parse(&text).map_err(|error| pointed_at(&text, &error))?;
    Ok((kinds.ids, expression))
}

/// What is wrong with an expression, with a caret under the place.
fn pointed_at(text: &str, error: &ExpressionError) -> ReplError {
    let before = text.get(..error.position.min(text.len())).unwrap_or(text);
    let blanks = before.chars().count();
    ReplError::usage(format!(
        "{}\n    {text}\n    {:blanks$}^\n  `help expressions` lists what can be asked",
        error.message, ""
    ))
}

/// A row per object; `numbered_from` is the number that `%` takes for the first.
pub(crate) fn table(tables: &Tables, objects: &[ObjectDetails], numbered_from: usize) -> Table {
    let columns = vec![
        Column::new("row", "%", Unit::Number).for_people(),
        Column::new("object", "object", Unit::Object),
        Column::new("type", "type", Unit::Text),
        Column::new("kind", "kind", Unit::Text),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
        Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes),
        Column::new("references", "references", Unit::Count),
    ];
    let rows = objects.iter().enumerate().map(|(at, object)| {
        vec![
            Value::from(numbered_from + at),
            object.id.0.into(),
            Value::text(tables.type_title(object.type_id)),
            Value::text(tables.kind_name(tables.type_kind(object.type_id))),
            object.shallow_bytes.into(),
            object.unmanaged_bytes.into(),
            object.references.into(),
        ]
    });
    Table { key: "rows", audience: Audience::Everyone, columns, rows: rows.collect() }
}
