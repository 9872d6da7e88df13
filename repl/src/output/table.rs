//! Tables for people: facts as aligned lines, columns of numbers to the right, then notes.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use barrow_query::answer::text::{quoted, text};
use barrow_query::answer::{Answer, Column, Fact, Table, Unit, Value, visible};

use crate::interrupt;

use super::{Context, fit, path};

/// In a table a longer name of an object's own is cut.
const LONGEST_NAME: usize = 40;

/// What was drawn so far.
#[derive(Default)]
pub(super) struct Progress {
    /// The columns of the last table.
    columns: Vec<Sized>,
    notes: Vec<String>,
}

pub(super) fn begin(
    answer: &Answer,
    progress: &mut Progress,
    context: Context<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let facts: Vec<&Fact> = answer.facts.iter().filter(|fact| fact.column.audience.has_people()).collect();
    let tables: Vec<&Table> = answer.tables.iter().filter(|table| table.audience.has_people()).collect();
    draw_facts(&facts, context, out)?;
    let mut apart = !facts.is_empty();
    for table in tables.into_iter().filter(|table| !table.rows.is_empty()) {
        if apart {
            writeln!(out)?;
        }
        apart = true;
        progress.columns = draw_table(table, context, out)?;
    }
    progress.notes.clone_from(&answer.notes);
    Ok(())
}

/// Further rows of the last table. Columns become wider where they must; one that was empty begins with another header.
pub(super) fn go_on(
    answer: &Answer,
    progress: &mut Progress,
    context: Context<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for note in &answer.notes {
        if !progress.notes.contains(note) {
            progress.notes.push(note.clone());
        }
    }
    let Some(table) = answer.tables.iter().rfind(|table| table.audience.has_people()) else { return Ok(()) };
    let known = progress.columns.len();
    for (at, width) in wanted(table)? {
        match progress.columns.iter_mut().find(|(known, _)| *known == at) {
            Some((_, known)) => *known = width.max(*known),
            None => progress.columns.push((at, width)),
        }
    }
    if progress.columns.len() > known {
        progress.columns.sort_unstable();
        draw_header(table, &progress.columns, context, out)?;
    }
    draw_rows(table, &progress.columns, out)
}

pub(super) fn end(progress: &Progress, context: Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    progress.notes.iter().try_for_each(|note| {
        let note = visible::line(note.trim_end());
        let blanks = &note[..note.len() - note.trim_start().len()];
        write_wrapped(&note, &format!("{blanks}  "), context, out)
    })
}

/// Writes a line, on a terminal in as many lines as it needs; `indent` precedes all but the first.
fn write_wrapped(line: &str, indent: &str, context: Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    match context.width.filter(|&width| line.width() > width && width > 2 * indent.width()) {
        Some(width) => {
            writeln!(out, "{}", textwrap::fill(line, textwrap::Options::new(width).subsequent_indent(indent)))
        }
        None => writeln!(out, "{line}"),
    }
}

fn draw_facts(facts: &[&Fact], context: Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    let known = || facts.iter().filter(|fact| fact.value != Value::None);
    let width = known().map(|fact| fact.column.heading.chars().count()).max().unwrap_or(0);
    for fact in known() {
        let line = format!("{:width$}  {}", fact.column.heading, text(&fact.value, fact.column.unit));
        write_wrapped(&line, &" ".repeat(width + 2), context, out)?;
    }
    Ok(())
}

/// Looks at all rows twice, for the widths and for the lines, and keeps none of the texts: there may be millions.
fn draw_table(table: &Table, context: Context<'_>, out: &mut dyn Write) -> io::Result<Vec<Sized>> {
    let (columns, left_out) = fitted(table, wanted(table)?, context);
    draw_header(table, &columns, context, out)?;
    draw_rows(table, &columns, out)?;
    if left_out.is_empty() {
        return Ok(columns);
    }
    let names: Vec<&str> = left_out.iter().map(|&at| &*table.columns[at].heading).collect();
    let line = format!("not shown: {} (`| less -S`, `--format csv` or a wider terminal)", names.join(", "));
    write_wrapped(&line, "  ", context, out)?;
    Ok(columns)
}

/// The number of a column, and its width.
type Sized = (usize, usize);

/// What each column that says something would take.
fn wanted(table: &Table) -> io::Result<Vec<Sized>> {
    let mut columns: Vec<Sized> = (0..table.columns.len())
        .filter(|&at| is_shown(table, at))
        .map(|at| (at, table.columns[at].heading.width()))
        .collect();
    for cells in &table.rows {
        interrupt::check()?;
        for (at, width) in &mut columns {
            *width = (*width).max(cell(&cells[*at], table.columns[*at].unit).width());
        }
    }
    Ok(columns)
}

/// The columns that have room, and those that are left out.
fn fitted(table: &Table, columns: Vec<Sized>, context: Context<'_>) -> (Vec<Sized>, Vec<usize>) {
    let Some(room) = context.width else { return (columns, Vec::new()) };
    let wanted = |&(at, width): &Sized| {
        let Column { unit, is_secondary, .. } = table.columns[at];
        fit::Wanted { width, is_text: unit == Unit::Text, is_secondary }
    };
    let widths = fit::widths(&columns.iter().map(wanted).collect::<Vec<_>>(), room);
    let left_out = columns.iter().zip(&widths).filter(|(_, width)| width.is_none()).map(|((at, _), _)| *at);
    let fitting = columns.iter().zip(&widths).filter_map(|((at, _), width)| width.map(|width| (*at, width)));
    (fitting.collect(), left_out.collect())
}

fn draw_header(table: &Table, columns: &[Sized], context: Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    match aligned(table, columns, |at, _| table.columns[at].heading.clone().into_owned()) {
        header if context.colour => writeln!(out, "\x1b[1m{header}\x1b[0m"),
        header => writeln!(out, "{header}"),
    }
}

fn draw_rows(table: &Table, columns: &[Sized], out: &mut dyn Write) -> io::Result<()> {
    table.rows.iter().try_for_each(|cells| {
        interrupt::check()?;
        let cell = |at: usize, width: usize| match &cells[at] {
            Value::Path(steps) => path::fitted(steps, width),
            Value::Object { .. } => object_fitted(cell(&cells[at], table.columns[at].unit), width),
            value => cell(value, table.columns[at].unit),
        };
        writeln!(out, "{}", aligned(table, columns, cell))
    })
}

/// A line of cells, texts to the left and numbers to the right, none wider than its column.
fn aligned(table: &Table, columns: &[Sized], text: impl Fn(usize, usize) -> String) -> String {
    let mut line = String::new();
    for &(at, width) in columns {
        let text = fit::cut(&text(at, width), width);
        let blanks = " ".repeat(width.saturating_sub(text.width()));
        let (before, after) = if table.columns[at].unit == Unit::Text { ("", &blanks[..]) } else { (&blanks[..], "") };
        line.extend([before, &text, after, &" ".repeat(fit::GAP)]);
    }
    line.truncate(line.trim_end().len());
    line
}

fn cell(value: &Value, unit: Unit) -> String {
    match value {
        Value::Name(name) => quoted(name, LONGEST_NAME),
        value => text(value, unit),
    }
}

/// An object, `@12 java.util.Date: 2026-11-25`, without the package of its type where the whole is too wide.
fn object_fitted(text: String, width: usize) -> String {
    let Some((id, rest)) = text.split_once(' ').filter(|_| text.width() > width) else { return text };
    let end = rest.find([' ', ':', '"']).unwrap_or(rest.len());
    match rest[..end].rfind('.') {
        Some(dot) => format!("{id} {}", &rest[dot + 1..]),
        None => text,
    }
}

/// A column in which nothing is known would only take space.
fn is_shown(table: &Table, at: usize) -> bool {
    table.columns[at].audience.has_people() && table.rows.iter().any(|cells| cells[at] != Value::None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use barrow_query::Format;
    use barrow_query::answer::{Audience, Column};

    #[test]
    fn names_are_escaped_and_cut() {
        assert_eq!(quoted("it's \"so\"\n\u{202e}\0é", 40), r#""it's \"so\"\n\u{202e}\0é""#);
        assert_eq!(quoted(&"x".repeat(41), 40), format!("\"{}…\"", "x".repeat(40)));
        assert_eq!(quoted(&"\n".repeat(21), 40), format!("\"{}…\"", r"\n".repeat(20)));
        assert_eq!(quoted(&"x".repeat(40), 40), format!("\"{}\"", "x".repeat(40)));
        assert_eq!(quoted("", 40), "\"\"");
    }

    #[test]
    fn objects_that_are_too_wide_are_without_the_package() {
        let fitted = |text: &str, width| object_fitted(text.to_owned(), width);
        assert_eq!(fitted("@12 java.util.Date: 1.5", 23), "@12 java.util.Date: 1.5");
        assert_eq!(fitted("@12 java.util.Date: 1.5", 22), "@12 Date: 1.5");
        assert_eq!(fitted("@12 a.Session \"x.y\"", 8), "@12 Session \"x.y\"");
        assert_eq!(fitted("@12 Foo::Bar 1.5", 8), "@12 Foo::Bar 1.5");
    }

    #[test]
    fn numbers_stand_to_the_right_and_empty_columns_stay_out() {
        let columns = vec![
            Column::text("type"),
            Column::text("label"),
            Column::count("objects"),
            Column::count("objects_change").called("Δ objects").for_people(),
        ];
        let rows = vec![
            vec![Value::text("Int"), Value::None, Value::Number(1234), Value::Change(-5)],
            vec![Value::text("Long name"), Value::None, Value::Number(7), Value::Change(0)],
        ];
        let answer = Answer::default()
            .fact(Column::number("snapshot"), 1u64)
            .table(Table { key: "rows", audience: Audience::Everyone, columns, rows })
            .note("a note");
        let mut out = Vec::new();
        super::super::draw(&answer, Format::Table, Context::default(), &mut out).unwrap();
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
