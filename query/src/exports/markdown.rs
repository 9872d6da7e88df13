//! Tables in Markdown, as hyperfine writes them.

use std::io::{self, Write};

use super::shown::columns_for_people;
use crate::answer::{Table, Unit, text};

/// A table; columns for machines only are left out.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let shown = columns_for_people(table);
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    writeln!(out, "{}", line(shown.iter().map(|&at| escaped(&table.columns[at].heading)).collect()))?;
    let align = |&at: &usize| if table.columns[at].unit == Unit::Text { ":---" } else { "---:" }.to_owned();
    writeln!(out, "{}", line(shown.iter().map(align).collect()))?;
    for row in &table.rows {
        let cell = |&at: &usize| escaped(&text::text(&row[at], table.columns[at].unit));
        writeln!(out, "{}", line(shown.iter().map(cell).collect()))?;
    }
    Ok(())
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
    use crate::exports::shown::sample;

    #[test]
    fn texts_are_no_markup() {
        let mut out = Vec::new();
        write(&sample("a|b `<img>`"), &mut out).unwrap();
        let expected = "| program | runs |\n| :--- | ---: |\n| a\\|b \\`&lt;img&gt;\\` | 1,234 |\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
