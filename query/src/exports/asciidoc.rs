//! Tables in AsciiDoc.

use std::io::{self, Write};

use super::shown::columns_for_people;
use crate::answer::{Table, Unit, text};

/// A table; columns for machines only are left out.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let shown = columns_for_people(table);
    let align = |&at: &usize| if table.columns[at].unit == Unit::Text { "<" } else { ">" };
    writeln!(out, "[cols=\"{}\",options=\"header\"]", shown.iter().map(align).collect::<Vec<_>>().join(","))?;
    writeln!(out, "|===")?;
    for &at in &shown {
        writeln!(out, "| {}", escaped(&table.columns[at].heading))?;
    }
    for row in &table.rows {
        writeln!(out)?;
        for &at in &shown {
            writeln!(out, "| {}", escaped(&text::text(&row[at], table.columns[at].unit)))?;
        }
    }
    writeln!(out, "|===")
}

/// A text that AsciiDoc takes as it is: what could be markup is written as a reference to the character.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            ' ' | ',' | '%' => escaped.push(c),
            // Two of them are a dash, or an ellipsis.
            '.' | '-' if before != c => escaped.push(c),
            c if c.is_alphanumeric() || !c.is_ascii() => escaped.push(c),
            c => escaped.push_str(&format!("&#{};", u32::from(c))),
        }
        before = c;
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exports::shown::sample;

    /// Asciidoctor 2.0.18 makes the texts `a|b *c* --x` and `1,234` of it.
    #[test]
    fn texts_are_no_markup() {
        let mut out = Vec::new();
        write(&sample("a|b *c* --x"), &mut out).unwrap();
        let expected = "[cols=\"<,>\",options=\"header\"]\n|===\n| program\n| runs\n\n| a&#124;b &#42;c&#42; -&#45;x\n| 1,234\n|===\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
