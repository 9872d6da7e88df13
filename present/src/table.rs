//! Tables for people: facts as aligned lines, columns of numbers to the right, then notes.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};
use unicode_width::UnicodeWidthStr;

use barrow_answer::text::{quoted, text};
use barrow_answer::{Answer, Check, Column, Fact, Table, Unit, Value, path, visible};

use crate::timeline::Timeline;
use crate::{curve, fit, picture};

/// Characters of an object's own name that a table shows: half of a line of 80 columns, so that numbers fit beside it.
const LONGEST_NAME: usize = 40;
/// Characters of a fact: more than [`Value::name_of`] keeps of a name.
const LONGEST_FACT: usize = 4_200;
/// Columns of the widest cell; the layout counts them in 16 bits. A longer text loses its middle.
const WIDEST: usize = 60_000;
/// Rows that are laid out at once, as an answer may have millions: enough for widths that suit later rows, too, and
/// few to hold.
const ROWS: usize = 1024;

/// Width and colour of a drawing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Columns of the terminal that the answer goes to; `None` where it goes elsewhere: then nothing is cut.
    pub width: Option<usize>,
    /// Headings are bold.
    pub has_colour: bool,
}

/// An answer that is drawn in pieces: the first one, then those with further rows of its last table, then the end.
pub struct Drawing<'c> {
    style: Style,
    check: Check<'c>,
    is_first: bool,
    /// The columns of the last table.
    columns: Vec<SizedColumn>,
    /// The lines of curves.
    curves: Vec<String>,
    timeline: Timeline,
    notes: Vec<String>,
}

/// The number of a column, and its width.
type SizedColumn = (usize, usize);

impl<'c> Drawing<'c> {
    /// Draws nothing yet. `check` is called before each row and may stop the drawing there.
    pub fn new(style: Style, check: Check<'c>) -> Self {
        let timeline = Timeline::new(style.width);
        Drawing { style, check, is_first: true, columns: Vec::new(), curves: Vec::new(), timeline, notes: Vec::new() }
    }

    /// Draws the next piece.
    ///
    /// # Errors
    /// Those of `out` and of the check.
    pub fn piece(&mut self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::take(&mut self.is_first) { self.begin(answer, out) } else { self.go_on(answer, out) }
    }

    fn begin(&mut self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let facts: Vec<&Fact> = answer.facts.iter().filter(|fact| fact.column.audience.has_people()).collect();
        let tables = answer.tables.iter().filter(|table| table.audience.has_people() && !table.rows.is_empty());
        self.facts(&facts, out)?;
        let mut is_apart = !facts.is_empty();
        for table in tables {
            if is_apart {
                writeln!(out)?;
            }
            is_apart = true;
            self.table(table, out)?;
        }
        self.curves = answer.curves.iter().flat_map(curve::lines).collect();
        self.notes.clone_from(&answer.notes);
        Ok(())
    }

    /// Draws further rows of the last table. Columns become wider where they must; one that was empty begins with
    /// another header.
    fn go_on(&mut self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        for note in &answer.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        let Some(table) = answer.tables.iter().rfind(|table| table.audience.has_people()) else { return Ok(()) };
        let lines = self.timeline.table(table);
        let table = lines.as_ref().unwrap_or(table);
        let known = self.columns.len();
        for (at, width) in self.wanted(table)? {
            match self.columns.iter_mut().find(|(known, _)| *known == at) {
                Some((_, known)) => *known = width.max(*known),
                None => self.columns.push((at, width)),
            }
        }
        self.columns.sort_unstable();
        self.rows(table, self.columns.len() > known, out)
    }

    /// Draws the curves and the notes, which follow all rows.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn end(self, out: &mut dyn Write) -> io::Result<()> {
        self.curves.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        self.timeline.note().iter().chain(&self.notes).try_for_each(|note| {
            let note = visible::line(note.trim_end());
            let blanks = &note[..note.len() - note.trim_start().len()];
            self.wrapped(&note, &format!("{blanks}  "), out)
        })
    }

    /// Writes a line, on a terminal in as many lines as it needs; `indent` precedes all but the first.
    fn wrapped(&self, line: &str, indent: &str, out: &mut dyn Write) -> io::Result<()> {
        match self.style.width.filter(|&width| line.width() > width && width > 2 * indent.width()) {
            Some(width) => {
                writeln!(out, "{}", textwrap::fill(line, textwrap::Options::new(width).subsequent_indent(indent)))
            }
            None => writeln!(out, "{line}"),
        }
    }

    fn facts(&self, facts: &[&Fact], out: &mut dyn Write) -> io::Result<()> {
        let known = || facts.iter().filter(|fact| fact.value != Value::None);
        let width = known().map(|fact| fact.column.heading.chars().count()).max().unwrap_or(0);
        for fact in known() {
            let value = match &fact.value {
                Value::Name(name) if name.chars().nth(LONGEST_FACT).is_some() => {
                    text(&Value::name_of(name), fact.column.unit)
                }
                value => picture(value).unwrap_or_else(|| text(value, fact.column.unit)),
            };
            let line = format!("{:width$}  {value}", fact.column.heading);
            self.wrapped(&line, &" ".repeat(width + 2), out)?;
        }
        Ok(())
    }

    /// Draws a table. All rows are looked at twice, for the widths and for the lines, and none of the texts is kept.
    fn table(&mut self, table: &Table, out: &mut dyn Write) -> io::Result<()> {
        let lines = self.timeline.table(table);
        let table = lines.as_ref().unwrap_or(table);
        if table.rows.is_empty() {
            return Ok(());
        }
        let left_out;
        (self.columns, left_out) = self.fitted(table)?;
        self.rows(table, true, out)?;
        if left_out.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = left_out.iter().map(|&at| &*table.columns[at].heading).collect();
        let line = format!("not shown: {} (`| less -S`, `--format csv` or a wider terminal)", names.join(", "));
        self.wrapped(&line, "  ", out)
    }

    /// The width that each column would take; those in which nothing is known would only take space.
    fn wanted(&self, table: &Table) -> io::Result<Vec<SizedColumn>> {
        let is_shown = |&at: &usize| {
            table.columns[at].audience.has_people() && table.rows.iter().any(|cells| cells[at] != Value::None)
        };
        let shown = (0..table.columns.len()).filter(is_shown);
        let mut columns: Vec<SizedColumn> = shown.map(|at| (at, table.columns[at].heading.width())).collect();
        for cells in &table.rows {
            (self.check)()?;
            for (at, width) in &mut columns {
                *width = (*width).max(cell(&cells[*at], table.columns[*at].unit, usize::MAX).width()).min(WIDEST);
            }
        }
        Ok(columns)
    }

    /// The columns that have room, and those that are left out.
    fn fitted(&self, table: &Table) -> io::Result<(Vec<SizedColumn>, Vec<usize>)> {
        let columns = self.wanted(table)?;
        let Some(room) = self.style.width else { return Ok((columns, Vec::new())) };
        let wanted = columns.iter().map(|&(at, width)| {
            let Column { unit, is_secondary, .. } = table.columns[at];
            fit::ColumnSize { width, is_text: unit.is_text(), is_secondary }
        });
        let widths = fit::widths(&wanted.collect::<Vec<_>>(), room);
        let (mut fitting, mut left_out) = (Vec::new(), Vec::new());
        for ((at, _), width) in columns.into_iter().zip(widths) {
            match width {
                Some(width) => fitting.push((at, width)),
                None => left_out.push(at),
            }
        }
        Ok((fitting, left_out))
    }

    /// Draws rows, after a header if it is wanted.
    fn rows(&self, table: &Table, has_header: bool, out: &mut dyn Write) -> io::Result<()> {
        if has_header {
            let mut grid = comfy_table::Table::new();
            grid.add_row(self.columns.iter().map(|&(at, width)| path::cut(&table.columns[at].heading, width)));
            let header = self.laid_out(grid, table);
            if self.style.has_colour { writeln!(out, "\x1b[1m{header}\x1b[0m")? } else { writeln!(out, "{header}")? }
        }
        for rows in table.rows.chunks(ROWS) {
            let mut grid = comfy_table::Table::new();
            for cells in rows {
                (self.check)()?;
                let texts = self.columns.iter().map(|&(at, width)| {
                    let text = cell(&cells[at], table.columns[at].unit, width);
                    path::cut(&text, width)
                });
                grid.add_row(texts);
            }
            writeln!(out, "{}", self.laid_out(grid, table))?;
        }
        Ok(())
    }

    /// Lines without blanks at their ends: texts to the left and numbers to the right.
    fn laid_out(&self, mut grid: comfy_table::Table, table: &Table) -> String {
        grid.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let gap = u16::try_from(fit::GAP).unwrap_or_default();
        for (column, &(at, width)) in grid.column_iter_mut().zip(&self.columns) {
            let is_text = table.columns[at].unit.is_text();
            let width = (width + fit::GAP) as u16;
            column.set_padding((0, gap)).set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
            column.set_cell_alignment(if is_text { CellAlignment::Left } else { CellAlignment::Right });
        }
        grid.trim_fmt()
    }
}

/// A value in a cell of `width` columns; what is still wider is cut later.
fn cell(value: &Value, unit: Unit, width: usize) -> String {
    match value {
        Value::Name(name) => quoted(name, LONGEST_NAME),
        Value::Path(steps) => path::fitted(steps, width),
        Value::Object { .. } => object_fitted(text(value, unit), width),
        Value::Load(shares) => picture::load(shares, width),
        value => picture(value).unwrap_or_else(|| text(value, unit)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use barrow_answer::Audience;

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
    fn a_long_text_is_its_beginning_and_its_length() {
        let drawn = |value| {
            let mut out = Vec::new();
            let mut drawing = Drawing::new(Style::default(), &|| Ok(()));
            drawing.piece(&Answer::default().fact(Column::text("name"), value), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let text = "x".repeat(10_000);
        let expected = format!("name  \"{}… (10000 characters)\"\n", "x".repeat(4096));
        assert_eq!(drawn(Value::Name(text.clone())), expected);
        assert_eq!(drawn(Value::name_of(&text)), expected);
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
        let mut drawing = Drawing::new(Style::default(), &|| Ok(()));
        drawing.piece(&answer, &mut out).unwrap();
        drawing.end(&mut out).unwrap();
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
