//! Tables in Markdown, as hyperfine writes them.

use std::io::{self, Write};

use super::text_table::{TextTable, line};
use crate::answer::Table;

/// A table; columns for machines only are left out.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let TextTable { headings, are_texts, rows } = TextTable::of(table, escaped);
    line(out, &headings)?;
    let align: Vec<&str> = are_texts.iter().map(|is_text| if *is_text { ":---" } else { "---:" }).collect();
    line(out, &align)?;
    rows.iter().try_for_each(|row| line(out, row))
}

/// A text that Markdown and HTML take as it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '~' => escaped.extend(['\\', c]),
            '\n' | '\r' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exports::text_table::sample;

    #[test]
    fn texts_are_no_markup() {
        let mut out = Vec::new();
        write(&sample("a|b `<img>`"), &mut out).unwrap();
        let expected = "| program | runs |\n| :--- | ---: |\n| a\\|b \\`&lt;img&gt;\\` | 1,234 |\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
