//! CSV after RFC 4180: the first table of the answer that has columns, or its facts as one row; if those are records, the
//! fields of the first one. Units are in the header's names, sizes are bytes, what is not known is empty. A text of the
//! program that would read as something else, such as `null` or `12`, stands in quotes of its own.
//!
//! Spreadsheets take a text that begins with `=`, `+`, `-` or `@` for a formula and run it. Such a text from a dump gets
//! a leading apostrophe, which they show as text; numbers never do. Hidden characters are written out, as everywhere;
//! line ends and tabs stay.

use std::io::{self, Write};

use crate::Check;
use crate::measured::Measured;
use crate::visible;
use crate::{Absence, Answer, BETWEEN_STEPS, Column, Fact, Table, Unit, Value};

/// The first piece of an answer, with the header. `check` is called before each row and may stop the drawing there.
///
/// # Errors
/// Those of `out` and of `check`.
pub fn begin(answer: &Answer, check: Check<'_>, out: &mut dyn Write) -> io::Result<()> {
    match answer.tables.iter().find(|table| table.audience.has_machines() && !table.columns.is_empty()) {
        Some(table) => {
            let mut records = records(out);
            records.write_record(shown(table).into_iter().map(|at| harmless(&table.columns[at].key))).map_err(cause)?;
            rows(table, check, records)
        }
        None => facts(answer, out),
    }
}

/// Further rows, without the header.
///
/// # Errors
/// Those of `out` and of `check`.
pub fn go_on(answer: &Answer, check: Check<'_>, out: &mut dyn Write) -> io::Result<()> {
    let table = answer.tables.iter().find(|table| table.audience.has_machines());
    table.map_or(Ok(()), |table| rows(table, check, records(out)))
}

fn shown(table: &Table) -> Vec<usize> {
    (0..table.columns.len()).filter(|&at| is_shown(&table.columns[at])).collect()
}

fn is_shown(column: &Column) -> bool {
    column.audience.has_machines() && !matches!(column.unit, Unit::Nested | Unit::Picture)
}

fn rows(table: &Table, check: Check<'_>, mut records: csv::Writer<&mut dyn Write>) -> io::Result<()> {
    let shown = shown(table);
    for cells in &table.rows {
        check()?;
        records.write_record(shown.iter().map(|&at| text(&cells[at]))).map_err(cause)?;
    }
    records.flush()
}

fn facts(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    let mut shown: Vec<&Fact> = answer.facts.iter().filter(|fact| is_shown(&fact.column)).collect();
    if shown.is_empty() {
        let record = answer.facts.iter().find_map(|fact| match &fact.value {
            Value::Record(fields) => Some(fields),
            _ => None,
        });
        shown.extend(record.into_iter().flatten().filter(|field| is_shown(&field.column)));
    }
    let mut records = records(out);
    records.write_record(shown.iter().map(|fact| harmless(&fact.column.key))).map_err(cause)?;
    records.write_record(shown.iter().map(|fact| text(&fact.value))).map_err(cause)?;
    records.flush()
}

/// The error of `out` itself, whose kind tells that no program reads the answer, or that it was stopped.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Writes records into `out`, whose last is whole even if the drawing stops.
fn records(out: &mut dyn Write) -> csv::Writer<&mut dyn Write> {
    csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).flexible(true).from_writer(out)
}

fn text(value: &Value) -> String {
    match value {
        Value::None
        | Value::Series { .. }
        | Value::Bar { .. }
        | Value::Load(_)
        | Value::Lane(_)
        | Value::Mark(_)
        | Value::Moment(_)
        | Value::List(_)
        | Value::Record(_) => String::new(),
        Value::Name(text) if reads_as_other(text) => harmless(&format!("\"{text}\"")),
        Value::Text(text) | Value::Name(text) | Value::Line(text) | Value::Object { text, .. } => harmless(text),
        Value::Path(steps) => harmless(&steps.join(BETWEEN_STEPS)),
        Value::Number(number) | Value::Estimate(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Change(difference) => difference.to_string(),
        Value::Share(share) | Value::EstimatedShare(share) => format!("{share:.6}"),
        Value::Rate(rate) => rate.to_string(),
        Value::Measured(Measured { value, .. }) | Value::Decimal { value, .. } => value.to_string(),
        Value::Flag(flag) | Value::Truth(flag) => flag.to_string(),
        Value::Absent(absence) => absence.word().to_owned(),
    }
}

/// Whether a text of the program would be read as a number, a word of barrow or nothing at all. It stands in quotes then.
fn reads_as_other(text: &str) -> bool {
    let words = [Absence::Missing, Absence::NoField, Absence::Unknown, Absence::Null, Absence::Undefined];
    words.iter().any(|absence| absence.word() == text)
        || ["true", "false"].contains(&text)
        || text.parse::<f64>().is_ok()
        || text.starts_with(['"', '@'])
}

/// A text that no spreadsheet runs and no terminal obeys.
fn harmless(text: &str) -> String {
    // Some spreadsheets skip blanks before they look for a formula.
    let begins_one = text.trim_start().starts_with(['=', '+', '-', '@']) || text.starts_with(['\t', '\r']);
    // A field that is not a finite number is written in words.
    let is_formula = begins_one && text != "-inf";
    let text = visible::field(text);
    if is_formula { format!("'{text}") } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Audience, Column};

    #[test]
    fn fields_are_quoted_when_they_must_be() {
        let mut out = Vec::new();
        let mut writer = records(&mut out);
        writer.write_record(["plain", "a,b", "say \"hi\"", "two\nlines", ""]).unwrap();
        writer.flush().unwrap();
        drop(writer);
        assert_eq!(String::from_utf8(out).unwrap(), "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\r\n");
    }

    #[test]
    fn texts_are_no_formulas_and_numbers_stay_numbers() {
        let texts = ["=1+1", "+A1", "-2", "@SUM(A1)", " =1", "\t=1", "a=b", "1-2", "-inf"]
            .map(|text| self::text(&Value::text(text)));
        assert_eq!(texts, ["'=1+1", "'+A1", "'-2", "'@SUM(A1)", "' =1", "'\t=1", "a=b", "1-2", "-inf"]);
        assert_eq!(self::text(&Value::Name("\x1b[0m\n".to_owned())), "\\u{1b}[0m\n");
        assert_eq!([Value::Change(-5), Value::Rate(-0.5)].map(|value| self::text(&value)), ["-5", "-0.5"]);
    }

    #[test]
    fn texts_that_read_as_other_values_are_in_quotes() {
        let names = ["null", "(no such field)", "", "0", "-1.5", "true", "@12 Map", "\"", "nothing"]
            .map(|name| self::text(&Value::Name(name.to_owned())));
        let expected =
            ["\"null\"", "\"(no such field)\"", "\"\"", "\"0\"", "\"-1.5\"", "\"true\"", "\"@12 Map\"", "\"\"\""];
        assert_eq!(names[..8], expected);
        assert_eq!((&*names[8], self::text(&Value::Absent(Absence::Null))), ("nothing", "null".to_owned()));
    }

    #[test]
    fn the_fields_of_a_record_are_a_row_if_there_is_nothing_else() {
        let record =
            Value::Record(vec![Fact::new(Column::duration("wall_ns"), 7u64), Fact::new(Column::text("by"), "a,b")]);
        let none = Table { key: "snapshots", audience: Audience::Machines, columns: Vec::new(), rows: Vec::new() };
        let answer = Answer::default().fact(Column::nested("processes").for_machines(), record).table(none);
        let mut out = Vec::new();
        begin(&answer, &|| Ok(()), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "wall_ns,by\r\n7,\"a,b\"\r\n");
    }

    #[test]
    fn the_header_names_units_and_nested_values_stay_out() {
        let columns = vec![
            Column::text("type"),
            Column::nested("kinds").for_machines(),
            Column::bytes("heap_bytes").called("shallow"),
            Column::share("share").for_people(),
            Column::named(".\x1b[31m=1".to_owned(), Unit::Number),
        ];
        let rows = vec![vec![
            Value::text("A, B"),
            Value::Record(Vec::new()),
            Value::Number(1 << 20),
            Value::None,
            Value::Number(7),
        ]];
        let answer = Answer::default().table(Table { key: "rows", audience: Audience::Everyone, columns, rows });
        let mut out = Vec::new();
        begin(&answer, &|| Ok(()), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "type,heap_bytes,.\\u{1b}[31m=1\r\n\"A, B\",1048576,7\r\n");
    }
}
