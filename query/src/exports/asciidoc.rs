//! Tables in AsciiDoc.

use std::io::{self, Write};

use super::text_table::TextTable;
use crate::answer::Table;

/// A table; columns for machines only are left out.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let TextTable { headings, are_texts, rows } = TextTable::of(table, escaped);
    let align: Vec<&str> = are_texts.iter().map(|is_text| if *is_text { "<" } else { ">" }).collect();
    writeln!(out, "[cols=\"{}\",options=\"header\"]\n|===", align.join(","))?;
    for heading in headings {
        writeln!(out, "| {heading}")?;
    }
    for row in rows {
        writeln!(out)?;
        for cell in row {
            writeln!(out, "| {cell}")?;
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
    use crate::exports::text_table::sample;

    /// Asciidoctor 2.0.18 makes the texts `a|b *c* --x` and `1,234` of it.
    #[test]
    fn texts_are_no_markup() {
        let mut out = Vec::new();
        write(&sample("a|b *c* --x"), &mut out).unwrap();
        let expected = "[cols=\"<,>\",options=\"header\"]\n|===\n| program\n| runs\n\n| a&#124;b &#42;c&#42; -&#45;x\n| 1,234\n|===\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
