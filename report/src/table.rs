//! Tables of answers, without what may be a text of the recorded program.

use barrow_query::answer::text::text;
use barrow_query::answer::{Column, Table, Unit, Value, units};

use crate::chart::spark;
use crate::html::Html;

/// Keys of columns that hold names of objects, or of references: keys of a dictionary are such names.
const TEXTS: [&str; 7] = ["name", "text", "label", "reference", "root", "title", "witness"];
/// Keys of columns that mean something only at a prompt.
const OF_PROMPT: [&str; 2] = ["row", "rank"];

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
                    for row in table.rows.iter().take(drawing.rows) {
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
    html.element("td", &[("class", class(column))], |html| match value {
        Value::Series { numbers, unit } => {
            let numbers: Vec<u64> = numbers.iter().map(|number| number.unwrap_or(0.0) as u64).collect();
            spark(html, &numbers, if *unit == Unit::Bytes { units::size } else { units::grouped });
        }
        _ => html.text(&text(value, column.unit)),
    });
}

fn is_shown(table: &Table, at: usize, drawing: Drawing<'_>) -> bool {
    let column = &table.columns[at];
    // Nested values are for scripts.
    let is_value = column.unit != Unit::Nested && column.audience.has_people() && !OF_PROMPT.contains(&&*column.key);
    let may_be_text = TEXTS.contains(&&*column.key) || table.rows.iter().any(|row| matches!(row[at], Value::Name(_)));
    let is_known = table.rows.iter().any(|row| row[at] != Value::None);
    is_value && is_known && (drawing.with_texts || !may_be_text)
}

fn class(column: &Column) -> &'static str {
    match column.unit {
        Unit::Text if column.key == "path" => "text path",
        Unit::Text => "text",
        Unit::Picture => "series",
        _ => "number",
    }
}
