//! Tables of answers, without what may be a text of the recorded program.

use barrow_query::answer::text::text;
use barrow_query::answer::{Column, Role, Table, Unit, Value, path, units};

use crate::chart::spark;
use crate::html::Html;

/// Columns of a path; of a longer one both ends are shown: some lines of its cell. This is a judgement.
const LONGEST_PATH: usize = 400;

/// The way to draw a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawing<'a> {
    /// The name of the table, for those who do not see it.
    pub(crate) caption: &'a str,
    /// Rows at most.
    pub(crate) rows: usize,
    /// Texts of objects may be shown.
    pub(crate) with_texts: bool,
}

/// Draws a table. Returns how many rows are left out.
pub(crate) fn draw(html: &mut Html, table: &Table, drawing: Drawing<'_>) -> usize {
    let columns: Vec<usize> = (0..table.columns.len()).filter(|&at| is_shown(table, at, drawing)).collect();
    html.element(
        "div",
        &[("class", "wide"), ("tabindex", "0"), ("role", "region"), ("aria-label", drawing.caption)],
        |html| {
            html.element("table", &[], |html| {
                html.leaf("caption", &[], drawing.caption);
                html.element("thead", &[], |html| {
                    html.element("tr", &[], |html| {
                        for &at in &columns {
                            let column = &table.columns[at];
                            html.leaf("th", &[("scope", "col"), ("class", class(column))], &column.heading);
                        }
                    });
                });
                html.element("tbody", &[], |html| {
                    let is_known = |row: &&Vec<Value>| columns.iter().any(|&at| row[at] != Value::None);
                    for row in table.rows.iter().filter(is_known).take(drawing.rows) {
                        html.element("tr", &[], |html| {
                            for &at in &columns {
                                cell(html, &table.columns[at], &row[at]);
                            }
                        });
                    }
                });
            });
        },
    );
    table.rows.len().saturating_sub(drawing.rows)
}

fn cell(html: &mut Html, column: &Column, value: &Value) {
    let class = if matches!(value, Value::Path(_)) { "text path" } else { class(column) };
    html.element("td", &[("class", class)], |html| match value {
        Value::Series { numbers, unit } => {
            let numbers: Vec<u64> = numbers.iter().map(|number| number.unwrap_or(0.0) as u64).collect();
            spark(html, &numbers, if *unit == Unit::Bytes { units::size } else { units::grouped });
        }
        Value::Path(steps) => html.prose(&path::fitted(steps, LONGEST_PATH)),
        _ => html.text(&text(value, column.unit)),
    });
}

fn is_shown(table: &Table, at: usize, drawing: Drawing<'_>) -> bool {
    let column = &table.columns[at];
    // Nested values are for scripts.
    let is_value = column.unit != Unit::Nested && column.audience.has_people() && column.role != Role::Place;
    let is_known = table.rows.iter().any(|row| row[at] != Value::None);
    let is_private = || table.rows.iter().any(|row| row[at].may_repeat_memory(column.texts));
    is_value && is_known && (drawing.with_texts || !is_private())
}

fn class(column: &Column) -> &'static str {
    match column.unit {
        Unit::Text | Unit::Process => "text",
        Unit::Picture => "series",
        _ => "number",
    }
}

#[cfg(test)]
mod tests {
    use barrow_query::answer::{Texts, record, table};

    use super::*;

    fn headings(with_texts: bool) -> Vec<String> {
        let table = table!("rows", [()], |()| {
            Column::text("anything") => "a text",
            Column::text("type").names() => "Order",
            Column::text("titled").names() => Value::Line("Order \"a text\"".to_owned()),
            Column::text("grows").own_words() => "grows",
            Column::number("held") => Value::Signed(-7),
            Column::count("objects") => 7_u64,
            Column::number("said") => "a text",
            Column::number("relative").own_words() => "1.5",
        });
        let drawing = Drawing { caption: "", rows: 1, with_texts };
        let shown = (0..table.columns.len()).filter(|&at| is_shown(&table, at, drawing));
        shown.map(|at| table.columns[at].key.to_string()).collect()
    }

    #[test]
    fn texts_are_shown_only_if_their_column_says_that_they_are_not_of_the_program() {
        assert_eq!(headings(false), ["type", "grows", "objects", "relative"]);
        assert_eq!(headings(true), ["anything", "type", "titled", "grows", "held", "objects", "said", "relative"]);
    }

    #[test]
    fn texts_within_lists_and_records_are_texts() {
        let title = Value::Line("Order \"a text\"".to_owned());
        let harmless = record! { Column::text("type").names() => "Order", Column::count("objects") => 7_u64 };
        let harmful = [record! { Column::text("type") => "Order" }, record! { Column::text("title").names() => title }];
        assert!(!Value::List(vec![harmless]).may_repeat_memory(Texts::Program));
        for record in harmful {
            assert!(Value::List(vec![record]).may_repeat_memory(Texts::Own));
        }
    }
}
