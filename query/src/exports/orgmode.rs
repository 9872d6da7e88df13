//! Tables for Emacs' Org mode.

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
    writeln!(out, "|{}|", vec!["--"; headings.len()].join("+"))?;
    // Org would take a column of numbers and units for text.
    let align: Vec<&str> = are_texts.iter().map(|is_text| if *is_text { "<l>" } else { "<r>" }).collect();
    line(out, &align)?;
    rows.iter().try_for_each(|row| line(out, row))
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
    use crate::exports::text_table::sample;

    #[test]
    fn texts_are_no_markup() {
        let mut out = Vec::new();
        write(&sample("a|b *c*"), &mut out).unwrap();
        let expected = "| program | runs |\n|--+--|\n| <l> | <r> |\n| a\\vert{}b \\zwnj{}*c\\zwnj{}* | 1,234 |\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
