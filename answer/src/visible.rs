//! Text from a dump, made safe to print: what a terminal would obey, and what a reader would not see, is written out.
//!
//! A dump chooses the names of its types, objects and threads, and file names may hold any character. Printed as they
//! are, they could move the cursor, hide a part of a line, or reverse the order of what follows. All text passes through
//! here on its way out: tables, notes, errors, progress, the prompt, CSV and JUnit; JSON escapes the same characters.
//!
//! ```text
//!   ESC [ 2 J   ->   \u{1b}[2J          U+202E (right-to-left override)   ->   \u{202e}
//! ```

use std::borrow::Cow;
use std::fmt::Write;

/// Returns whether a character must not reach a terminal: it is a control, changes the direction of text, or has no width.
///
/// These are the controls (C0, DEL and C1), the line and paragraph separators, all format characters of Unicode
/// (category Cf: bidirectional controls, zero-width characters, tags, and more), the fillers of Hangul, the
/// variation selectors of plane 14, and noncharacters.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// A text as one line: each hidden character, a line end too, is replaced by its escape, such as `\u{1b}` or `\n`.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// A text of several lines: as [`line()`], but line ends stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n')
}

/// A text in a file of fields, such as CSV: as [`line()`], but line ends and tabs stay.
pub fn field(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// A text in a cell of a table: as [`line()`], but line ends and tabs become blanks.
pub fn cell(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\r', '\t']) {
        return line(text);
    }
    Cow::Owned(line(&text.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ")).into_owned())
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let hidden = |c: char| is_hidden(c) && !stays(c);
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !hidden(c) => visible.push(c),
            '\n' => visible.push_str("\\n"),
            '\r' => visible.push_str("\\r"),
            '\t' => visible.push_str("\\t"),
            c => {
                let _ = write!(visible, "{}", c.escape_unicode());
            }
        }
    }
    Cow::Owned(visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(line("\x1b[31mred\u{9b}2J\u{7f}"), r"\u{1b}[31mred\u{9b}2J\u{7f}");
        assert_eq!(
            line("a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{2028}f"),
            r"a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{2028}f"
        );
        assert_eq!(line("tag\u{e0041}\u{e007f}"), r"tag\u{e0041}\u{e007f}");
        assert_eq!(
            (line("a\nb\r\tc"), lines("a\nb\rc"), cell("a\r\nb\tc\x07")),
            (r"a\nb\r\tc".into(), "a\nb\\rc".into(), r"a b c\u{7}".into())
        );
    }

    #[test]
    fn other_text_is_left_alone() {
        for text in ["", "Größe", "日本語", "e\u{301}", "🦀", "a b", "naïve — “quoted” …", "عربى"] {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn every_control_is_hidden() {
        assert!((0..=0x10_ffffu32).filter_map(char::from_u32).filter(|c| c.is_control()).all(is_hidden));
        assert!(!is_hidden(' ') && !is_hidden('\u{a0}') && !is_hidden('\u{fffd}'));
    }
}
