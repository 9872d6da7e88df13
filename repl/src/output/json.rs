//! JSON: one object, its keys in the order of the answer, one row a line; the same bytes for the same input.

use std::io::{self, Write};

use crate::answer::{Answer, Column, Table, Value};

use super::Context;

/// The version of the keys, raised when one changes its meaning.
const SCHEMA_VERSION: u64 = 1;

pub(super) fn draw(answer: &Answer, context: Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"schema_version\":{SCHEMA_VERSION}")?;
    for (key, text) in [("file", context.file), ("damage", context.damage)] {
        if let Some(text) = text {
            write!(out, ",{}:{}", string(key), string(text))?;
        }
    }
    for fact in answer.facts.iter().filter(|fact| fact.column.audience.has_machines()) {
        write!(out, ",{}:{}", string(fact.column.key), value(&fact.value))?;
    }
    for table in answer.tables.iter().filter(|table| table.audience.has_machines()) {
        write!(out, ",{}:", string(table.key))?;
        rows(table, out)?;
    }
    if let Some(exactness) = answer.exactness {
        write!(out, ",\"exactness\":{}", string(exactness))?;
    }
    writeln!(out, "}}")
}

fn rows(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    if table.rows.is_empty() {
        return write!(out, "[]");
    }
    for (position, cells) in table.rows.iter().enumerate() {
        writeln!(out, "{}", if position == 0 { '[' } else { ',' })?;
        write!(out, "{}", row(&table.columns, cells))?;
    }
    write!(out, "\n]")
}

fn row(columns: &[Column], cells: &[Value]) -> String {
    let seen = columns.iter().zip(cells).filter(|(column, _)| column.audience.has_machines());
    object(seen.map(|(column, cell)| (column.key, cell)))
}

fn object<'a>(fields: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let fields: Vec<String> = fields.map(|(key, field)| format!("{}:{}", string(key), value(field))).collect();
    format!("{{{}}}", fields.join(","))
}

fn value(value: &Value) -> String {
    match value {
        Value::None => "null".to_owned(),
        Value::Text(text) | Value::Name(text) => string(text),
        Value::Number(number) | Value::Estimate(number) => number.to_string(),
        Value::Change(difference) => difference.to_string(),
        Value::Share(share) | Value::EstimatedShare(share) => format!("{share:.6}"),
        Value::Rate(rate) => rate.to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::List(values) => format!("[{}]", values.iter().map(self::value).collect::<Vec<_>>().join(",")),
        Value::Record(fields) => object(fields.iter().map(|(key, field)| (key.as_str(), field))),
    }
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Audience, Unit};

    fn drawn(answer: &Answer) -> String {
        let mut out = Vec::new();
        draw(answer, Context { file: Some("a \"b\".barrow"), ..Context::default() }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn keys_keep_their_order() {
        let columns = vec![
            Column::new("type", "type", Unit::Text),
            Column::new("share", "share", Unit::Share).for_people(),
            Column::new("shallow_bytes", "shallow", Unit::Bytes),
        ];
        let rows = vec![vec![Value::text("Foo\n"), Value::Share(0.5), Value::Number(u64::MAX)]];
        let table = Table { key: "rows", audience: Audience::Everyone, columns, rows };
        let answer = Answer::default()
            .fact(Column::new("snapshot", "snapshot", Unit::Number), 2u64)
            .table(table)
            .note("for people")
            .exact();
        assert_eq!(
            drawn(&answer),
            "{\"schema_version\":1,\"file\":\"a \\\"b\\\".barrow\",\"snapshot\":2,\"rows\":[\n\
             {\"type\":\"Foo\\n\",\"shallow_bytes\":18446744073709551615}\n\
             ],\"exactness\":\"exact\"}\n"
        );
    }

    #[test]
    fn nested_values_are_json() {
        let fields = vec![("a \"kind\"".to_owned(), Value::None), ("b".to_owned(), Value::Change(-1))];
        let nested = Value::List(vec![Value::Record(fields), Value::Flag(true), Value::Share(0.25)]);
        let text = drawn(&Answer::default().fact(Column::new("x", "", Unit::Text), nested));
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["x"], serde_json::json!([{ "a \"kind\"": null, "b": -1 }, true, 0.25]));
    }
}
