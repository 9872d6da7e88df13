//! Tables for people: facts as aligned lines, columns of numbers to the right, then notes.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table as Grid, presets};

use crate::answer::{Answer, Column, Fact, Table, Unit, Value};
use crate::units;

use super::Context;

/// On a terminal a longer text is cut, so that the numbers beside it stay in sight.
const LONGEST_TEXT: usize = 64;
/// In a table a longer name of an object's own is cut.
const LONGEST_NAME: usize = 40;

pub(super) fn draw(answer: &Answer, context: Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    let facts: Vec<&Fact> = answer.facts.iter().filter(|fact| fact.column.audience.has_people()).collect();
    let tables: Vec<&Table> = answer.tables.iter().filter(|table| table.audience.has_people()).collect();
    draw_facts(&facts, out)?;
    let mut apart = !facts.is_empty();
    for table in tables.into_iter().filter(|table| !table.rows.is_empty()) {
        if apart {
            writeln!(out)?;
        }
        apart = true;
        draw_table(table, context, out)?;
    }
    answer.notes.iter().try_for_each(|note| writeln!(out, "{}", note.trim_end()))
}

fn draw_facts(facts: &[&Fact], out: &mut dyn Write) -> io::Result<()> {
    let known = || facts.iter().filter(|fact| fact.value != Value::None);
    let width = known().map(|fact| fact.column.heading.chars().count()).max().unwrap_or(0);
    for fact in known() {
        writeln!(out, "{:width$}  {}", fact.column.heading, text(&fact.value, fact.column.unit))?;
    }
    Ok(())
}

fn draw_table(table: &Table, context: Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    let shown: Vec<usize> = (0..table.columns.len()).filter(|&at| is_shown(table, at)).collect();
    let columns: Vec<&Column> = shown.iter().map(|&at| &table.columns[at]).collect();
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    grid.set_header(columns.iter().map(|column| column.heading));
    for cells in &table.rows {
        grid.add_row(shown.iter().map(|&at| {
            let text = match &cells[at] {
                Value::Name(name) => quoted(name, LONGEST_NAME),
                cell => text(cell, table.columns[at].unit),
            };
            if context.terminal { shortened(text) } else { text }
        }));
    }
    for (at, column) in columns.iter().enumerate() {
        let alignment = if column.unit == Unit::Text { CellAlignment::Left } else { CellAlignment::Right };
        let grid_column = grid.column_mut(at).expect("the header gave the grid its columns");
        grid_column.set_cell_alignment(alignment);
        grid_column.set_padding((0, if at + 1 == columns.len() { 0 } else { 2 }));
    }
    for (number, line) in grid.lines().enumerate() {
        match line.trim_end() {
            header if number == 0 && context.colour => writeln!(out, "\x1b[1m{header}\x1b[0m")?,
            line => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

/// A column in which nothing is known would only take space.
fn is_shown(table: &Table, at: usize) -> bool {
    table.columns[at].audience.has_people() && table.rows.iter().any(|cells| cells[at] != Value::None)
}

fn shortened(text: String) -> String {
    if text.chars().count() <= LONGEST_TEXT {
        return text;
    }
    text.chars().take(LONGEST_TEXT - 1).chain(['…']).collect()
}

fn text(value: &Value, unit: Unit) -> String {
    match value {
        Value::None => String::new(),
        // A line end in a name must not break the table.
        Value::Text(text) => text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        Value::Name(name) => quoted(name, usize::MAX),
        Value::Number(number) => number_text(*number, unit),
        Value::Estimate(number) => format!("~{}", number_text(*number, unit)),
        Value::Change(difference) if unit == Unit::Bytes => units::change(*difference, units::size),
        Value::Change(difference) => units::change(*difference, units::grouped),
        Value::Share(share) => format!("{:.1} %", share * 100.0),
        Value::EstimatedShare(share) => format!("~{:.1} %", share * 100.0),
        Value::Rate(rate) if unit == Unit::Bytes => units::rate(*rate),
        Value::Rate(rate) => rate.to_string(),
        Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::List(values) => values.iter().map(|value| text(value, unit)).collect::<Vec<_>>().join(", "),
        Value::Record(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key}: {}", text(value, Unit::Number)));
            fields.collect::<Vec<_>>().join(", ")
        }
    }
}

/// A text in quotes, so that it can be told from what stands around it; what cannot be seen is escaped. Of a
/// longer one the first `most` characters.
fn quoted(text: &str, most: usize) -> String {
    let (mut quoted, mut length) = (String::from("\""), 0);
    for c in text.chars() {
        let escaped = if c == '\'' { "'".to_owned() } else { c.escape_debug().to_string() };
        length += escaped.chars().count();
        if length > most {
            quoted.push('…');
            break;
        }
        quoted.push_str(&escaped);
    }
    quoted + "\""
}

fn number_text(number: u64, unit: Unit) -> String {
    match unit {
        Unit::Count => units::grouped(number),
        Unit::Bytes => units::size(number),
        Unit::Object => format!("@{number}"),
        Unit::Address => format!("{number:#x}"),
        Unit::Duration => units::duration(number),
        Unit::Text | Unit::Number | Unit::Share | Unit::Nested => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Audience;

    #[test]
    fn names_are_escaped_and_cut() {
        assert_eq!(quoted("it's \"so\"\n\u{202e}\0é", 40), r#""it's \"so\"\n\u{202e}\0é""#);
        assert_eq!(quoted(&"x".repeat(41), 40), format!("\"{}…\"", "x".repeat(40)));
        assert_eq!(quoted(&"\n".repeat(21), 40), format!("\"{}…\"", r"\n".repeat(20)));
        assert_eq!(quoted(&"x".repeat(40), 40), format!("\"{}\"", "x".repeat(40)));
        assert_eq!(quoted("", 40), "\"\"");
    }

    #[test]
    fn numbers_stand_to_the_right_and_empty_columns_stay_out() {
        let columns = vec![
            Column::new("type", "type", Unit::Text),
            Column::new("label", "label", Unit::Text),
            Column::new("objects", "objects", Unit::Count),
            Column::new("objects_change", "Δ objects", Unit::Count).for_people(),
        ];
        let rows = vec![
            vec![Value::text("Int"), Value::None, Value::Number(1234), Value::Change(-5)],
            vec![Value::text("Long name"), Value::None, Value::Number(7), Value::Change(0)],
        ];
        let answer = Answer::default()
            .fact(Column::new("snapshot", "snapshot", Unit::Number), 1u64)
            .table(Table { key: "rows", audience: Audience::Everyone, columns, rows })
            .note("a note");
        let mut out = Vec::new();
        draw(&answer, Context::default(), &mut out).unwrap();
        let expected = "\
snapshot  1

type       objects  Δ objects
Int          1,234         -5
Long name        7          0
a note
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
