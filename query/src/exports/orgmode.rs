//! Tables for Emacs' Org mode.

use std::io::{self, Write};

use super::shown::columns_for_people;
use crate::answer::{Table, Unit, text};

/// A table; columns for machines only are left out.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let shown = columns_for_people(table);
    line(out, shown.iter().map(|&at| escaped(&table.columns[at].heading)))?;
    writeln!(out, "|{}|", vec!["--"; shown.len()].join("+"))?;
    // Org would take a column of numbers and units for text.
    line(out, shown.iter().map(|&at| if table.columns[at].unit == Unit::Text { "<l>" } else { "<r>" }.to_owned()))?;
    for row in &table.rows {
        line(out, shown.iter().map(|&at| escaped(&text::text(&row[at], table.columns[at].unit))))?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// A text that Org takes as it is: what could be markup is written as an entity.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        // An entity without width keeps apart what means something together: `--`, `...`, `{{{`, `[fn:`, and a star after
        // a blank. Org's own entity of a star is another character.
        if c == '*' || before == '[' || c == before && "-.{".contains(c) {
            escaped.push_str("\\zwnj{}");
        }
        before = c;
        let entity = match c {
            '\n' | '\r' => " ",
            '|' => "\\vert{}",
            '/' => "\\slash{}",
            '_' => "\\under{}",
            '=' => "\\equal{}",
            '~' => "\\tilde{}",
            '+' => "\\plus{}",
            '^' => "\\asciicirc{}",
            '\\' => "\\\\zwnj{}",
            '<' => "\\lt{}",
            '>' => "\\gt{}",
            '$' => "\\dollar{}",
            c => {
                escaped.push(c);
                continue;
            }
        };
        escaped.push_str(entity);
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
        write(&sample("a|b *c*"), &mut out).unwrap();
        let expected = "| program | runs |\n|--+--|\n| <l> | <r> |\n| a\\vert{}b \\zwnj{}*c\\zwnj{}* | 1,234 |\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
