//! JSON: one object, its keys in the order of the answer, one row a line; the same bytes for the same input.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::measured::Measured;
use crate::visible;
use crate::{Absence, Answer, BETWEEN_STEPS, Column, Mark, Table, Value};

use super::Check;

/// The version of the keys, raised when one changes its meaning.
const SCHEMA_VERSION: u64 = 1;

/// The state of a drawing that is not complete.
#[derive(Debug, Default)]
pub struct Progress {
    /// Rows of the table that is open.
    rows: usize,
    is_open: bool,
    exactness: Option<&'static str>,
}

/// Inputs of a drawing besides the answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'a> {
    /// The recording asked, as it was named.
    pub file: Option<&'a str>,
    /// The damage of the recording.
    pub damage: Option<&'a str>,
}

/// A whole answer.
///
/// # Errors
/// Those of `out`.
pub fn draw(answer: &Answer, source: Source<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut progress = Progress::default();
    begin(answer, &mut progress, source, &|| Ok(()), out)?;
    end(&progress, out)
}

/// The first piece of an answer. `check` is called before each row and may stop the drawing there.
///
/// # Errors
/// Those of `out` and of `check`.
pub fn begin(
    answer: &Answer,
    progress: &mut Progress,
    source: Source<'_>,
    check: Check<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "{{\"schema_version\":{SCHEMA_VERSION}")?;
    for (key, text) in [("file", source.file), ("damage", source.damage)] {
        if let Some(text) = text {
            write!(out, ",{}:{}", string(key), string(text))?;
        }
    }
    for fact in answer.facts.iter().filter(|fact| fact.column.audience.has_machines()) {
        write!(out, ",{}:{}", string(&fact.column.key), value(&fact.value))?;
    }
    for table in answer.tables.iter().filter(|table| table.audience.has_machines()) {
        close(progress, out)?;
        write!(out, ",{}:", string(table.key))?;
        *progress = Progress { rows: 0, is_open: true, exactness: None };
        rows(table, progress, check, out)?;
    }
    progress.exactness = answer.exactness;
    Ok(())
}

/// Further rows of the last table.
///
/// # Errors
/// Those of `out` and of `check`.
pub fn go_on(answer: &Answer, progress: &mut Progress, check: Check<'_>, out: &mut dyn Write) -> io::Result<()> {
    let table = answer.tables.iter().rfind(|table| table.audience.has_machines());
    table.map_or(Ok(()), |table| rows(table, progress, check, out))
}

/// The end of the object.
///
/// # Errors
/// Those of `out`.
pub fn end(progress: &Progress, out: &mut dyn Write) -> io::Result<()> {
    close(progress, out)?;
    if let Some(exactness) = progress.exactness {
        write!(out, ",\"exactness\":{}", string(exactness))?;
    }
    writeln!(out, "}}")
}

/// The end of the table that is open.
fn close(progress: &Progress, out: &mut dyn Write) -> io::Result<()> {
    match progress {
        Progress { is_open: false, .. } => Ok(()),
        Progress { rows: 0, .. } => write!(out, "[]"),
        _ => write!(out, "\n]"),
    }
}

fn rows(table: &Table, progress: &mut Progress, check: Check<'_>, out: &mut dyn Write) -> io::Result<()> {
    for cells in &table.rows {
        // A drawing that stops here has no end, so nothing takes it for the whole.
        check()?;
        writeln!(out, "{}", if progress.rows == 0 { '[' } else { ',' })?;
        write!(out, "{}", row(&table.columns, cells))?;
        progress.rows += 1;
    }
    Ok(())
}

fn row(columns: &[Column], cells: &[Value]) -> String {
    let seen = columns.iter().zip(cells).filter(|(column, _)| column.audience.has_machines());
    object(seen.map(|(column, cell)| (&*column.key, cell)))
}

fn object<'a>(fields: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let fields: Vec<String> = fields.map(|(key, field)| format!("{}:{}", string(key), value(field))).collect();
    format!("{{{}}}", fields.join(","))
}

fn value(value: &Value) -> String {
    match value {
        Value::None => "null".to_owned(),
        Value::Text(text) | Value::Name(text) | Value::Line(text) | Value::Object { text, .. } => string(text),
        Value::Path(steps) => string(&steps.join(BETWEEN_STEPS)),
        Value::Number(number) | Value::Estimate(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Change(difference) => difference.to_string(),
        Value::Share(share) | Value::EstimatedShare(share) => format!("{share:.6}"),
        Value::Rate(rate) => rate.to_string(),
        Value::Measured(Measured { value, .. }) | Value::Decimal { value, .. } => value.to_string(),
        Value::Flag(flag) | Value::Truth(flag) => flag.to_string(),
        Value::Absent(Absence::Null) => "null".to_owned(),
        Value::Absent(Absence::Unknown) => r#"{"absent":"unknown"}"#.to_owned(),
        Value::Absent(Absence::Undefined) => r#"{"absent":"undefined"}"#.to_owned(),
        Value::Absent(Absence::Missing | Absence::NoField) => r#"{"absent":"missing"}"#.to_owned(),
        Value::Series { numbers, .. } => list(numbers.iter().map(|number| number.map_or("null".to_owned(), decimal))),
        Value::Bar { length, .. } => length.to_string(),
        Value::Load(shares) => list(shares.iter().map(|share| format!("{share:.6}"))),
        Value::Lane(marks) => list(marks.iter().map(|mark| self::value(&Value::Mark(*mark)))),
        Value::Moment(moment) => list(moment.running.iter().map(|process| process.column.to_string())),
        Value::Mark(Mark::Rank(rank)) => rank.to_string(),
        Value::Mark(Mark::Nothing) => "null".to_owned(),
        Value::Mark(Mark::Other) => r#""other""#.to_owned(),
        Value::List(values) => list(values.iter().map(self::value)),
        Value::Record(fields) => object(fields.iter().map(|field| (&*field.column.key, &field.value))),
    }
}

fn list(values: impl Iterator<Item = String>) -> String {
    let mut list = "[".to_owned();
    for (at, value) in values.enumerate() {
        list.push_str(if at == 0 { "" } else { "," });
        list.push_str(&value);
    }
    list + "]"
}

/// A number of a series; one that is not finite has no form in JSON.
fn decimal(number: f64) -> String {
    if number.is_finite() { number.to_string() } else { "null".to_owned() }
}

/// A string of JSON. Beyond what JSON demands, hidden characters are escaped: the value is the same, and a
/// terminal that shows it is not misled.
pub fn string(text: &str) -> String {
    let string = serde_json::Value::from(text).to_string();
    if !string.contains(visible::is_hidden) {
        return string;
    }
    let mut escaped = String::with_capacity(string.len() + 16);
    for c in string.chars() {
        if visible::is_hidden(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(escaped, "\\u{unit:04x}");
            });
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Audience, Unit, record};

    fn drawn(answer: &Answer) -> String {
        let mut out = Vec::new();
        draw(answer, Source { file: Some("a \"b\".barrow"), damage: None }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn keys_keep_their_order() {
        let columns = vec![Column::text("type"), Column::share("share").for_people(), Column::bytes("shallow_bytes")];
        let rows = vec![vec![Value::text("Foo\n"), Value::Share(0.5), Value::Number(u64::MAX)]];
        let table = Table { key: "rows", audience: Audience::Everyone, columns, rows };
        let answer = Answer::default().fact(Column::number("snapshot"), 2u64).table(table).note("for people").exact();
        assert_eq!(
            drawn(&answer),
            "{\"schema_version\":1,\"file\":\"a \\\"b\\\".barrow\",\"snapshot\":2,\"rows\":[\n\
             {\"type\":\"Foo\\n\",\"shallow_bytes\":18446744073709551615}\n\
             ],\"exactness\":\"exact\"}\n"
        );
    }

    #[test]
    fn hidden_characters_are_escaped_and_read_back() {
        let text = "\x1b[2J\u{7f}\u{9b}\u{202e}\u{200b}\u{feff}\u{2028}\u{2029}\u{e0041}é";
        let drawn = string(text);
        assert_eq!(drawn, r#""\u001b[2J\u007f\u009b\u202e\u200b\ufeff\u2028\u2029\udb40\udc41é""#);
        assert_eq!(serde_json::from_str::<String>(&drawn).unwrap(), text);
    }

    #[test]
    fn what_is_drawn_for_people_is_numbers() {
        let cases = [
            (Value::series([1, 1 << 40], Unit::Bytes), serde_json::json!([1, 1_099_511_627_776_u64])),
            (
                Value::Series { numbers: vec![Some(0.5), None, Some(f64::NAN)], unit: Unit::Share },
                serde_json::json!([0.5, null, null]),
            ),
            (Value::Bar { length: 3, longest: 9 }, serde_json::json!(3)),
            (Value::Load(vec![0.0, 0.25]), serde_json::json!([0.0, 0.25])),
            (Value::Lane(vec![Mark::Nothing, Mark::Rank(2), Mark::Other]), serde_json::json!([null, 2, "other"])),
        ];
        for (value, expected) in cases {
            let text = drawn(&Answer::default().fact(Column::picture("x"), value));
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["x"], expected);
        }
    }

    #[test]
    fn nested_values_are_json() {
        let record = record! {
            Column::named("a \"kind\"".to_owned(), Unit::Text) => Value::None,
            Column::count("b") => Value::Change(-1),
        };
        let nested = Value::List(vec![record, Value::Flag(true), Value::Share(0.25)]);
        let text = drawn(&Answer::default().fact(Column::text("x").called(""), nested));
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["x"], serde_json::json!([{ "a \"kind\"": null, "b": -1 }, true, 0.25]));
    }
}
