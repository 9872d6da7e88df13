//! Tables for people: facts as aligned lines, columns of numbers to the right, then notes.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table as Grid, presets};

use crate::answer::{Answer, BETWEEN_STEPS, Column, Fact, Table, Unit, Value};
use crate::label;
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
    let room = context.width.map_or(usize::MAX, |width| room_for_paths(table, &shown, width));
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    grid.set_header(columns.iter().map(|column| column.heading));
    for cells in &table.rows {
        grid.add_row(shown.iter().map(|&at| {
            let text = match &cells[at] {
                Value::Name(name) => quoted(name, LONGEST_NAME),
                Value::Path(steps) => return fitted(steps, room),
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

/// A path is shown at least this wide, whatever stands beside it.
const NARROWEST_PATH: usize = 32;

/// The characters that paths may take in a table of this width, which is that of the terminal.
fn room_for_paths(table: &Table, shown: &[usize], width: usize) -> usize {
    let is_path = |at: usize| table.rows.iter().any(|cells| matches!(cells[at], Value::Path(_)));
    let taken = |at: usize| {
        let column = &table.columns[at];
        let cells = table.rows.iter().map(|cells| text(&cells[at], column.unit).chars().count().min(LONGEST_TEXT));
        cells.max().unwrap_or(0).max(column.heading.chars().count()) + 2
    };
    let others: usize = shown.iter().filter(|&&at| !is_path(at)).map(|&at| taken(at)).sum();
    width.saturating_sub(others + 2).max(NARROWEST_PATH)
}

/// A path in at most `room` characters, if that can be: its root's end, its own end and every step with a name of its own
/// stay; of the others those are left out first that repeat a step, then those in the middle.
fn fitted(steps: &[String], room: usize) -> String {
    let clean: Vec<String> = steps.iter().map(|step| text(&Value::text(step), Unit::Text)).collect();
    let mut kept: Vec<usize> = (0..clean.len()).collect();
    loop {
        let drawn = with_gaps(&clean, &kept);
        if drawn.chars().count() <= room {
            return drawn;
        }
        let middle = kept.len() / 2;
        let may_go = (1..kept.len().saturating_sub(1)).filter(|&at| !has_name(&clean[kept[at]]));
        let repeats = |at: usize| kept[..at].iter().any(|&before| clean[before] == clean[kept[at]]);
        let Some(least) = may_go.min_by_key(|&at| (!repeats(at), at.abs_diff(middle))) else { return drawn };
        kept.remove(least);
    }
}

/// Whether a step of a path is one class, module or group of roots: these are what people look for.
fn has_name(step: &str) -> bool {
    step.starts_with('[') || step.contains(' ') && !step.contains('(')
}

/// The steps that are kept, and how many are missing between them.
fn with_gaps(steps: &[String], kept: &[usize]) -> String {
    let (mut drawn, mut next) = (Vec::new(), 0);
    for &at in kept {
        if at > next {
            drawn.push(format!("… {} …", at - next));
        }
        drawn.push(steps[at].clone());
        next = at + 1;
    }
    drawn.join(BETWEEN_STEPS)
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
        Value::Path(steps) => text(&Value::Text(steps.join(BETWEEN_STEPS)), unit),
        Value::Number(number) => number_text(*number, unit),
        Value::Estimate(number) => format!("~{}", number_text(*number, unit)),
        Value::Change(difference) if unit == Unit::Bytes => units::change(*difference, units::size),
        Value::Change(difference) => units::change(*difference, units::grouped),
        Value::Share(share) => format!("{:.1} %", share * 100.0),
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
    format!("\"{}\"", label::shortened(text, most))
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
    fn a_path_keeps_its_ends_and_its_holder() {
        let steps = ["class Shop", "HashMap", "Node[]", "Node", "class Loader", "Node", "Node", "Order", "byte[]"];
        let steps = steps.map(str::to_owned);
        let whole = "class Shop › HashMap › Node[] › Node › class Loader › Node › Node › Order › byte[]";
        assert_eq!(fitted(&steps, usize::MAX), whole);
        let drawn = fitted(&steps, 60);
        assert_eq!(drawn, "class Shop › … 3 … › class Loader › … 2 … › Order › byte[]");
        assert!(drawn.chars().count() <= 60);
        assert_eq!(fitted(&steps, 1), "class Shop › … 3 … › class Loader › … 3 … › byte[]");
        assert_eq!(fitted(&steps[..1], 1), "class Shop");
    }

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
