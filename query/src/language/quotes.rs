//! The parts of a line that are outside of quotes.

use crate::error::QueryError;

/// Calls `visit` for every character outside of quotes.
///
/// # Errors
/// A quote that does not end.
pub(crate) fn scan(text: &str, mut visit: impl FnMut(usize, char)) -> Result<(), QueryError> {
    let mut quote: Option<char> = None;
    let mut escaped = false;
    // The last character that was no blank: a `/` opens a regular expression after `~`, and as the argument of `strings`.
    let mut before = ' ';
    for (position, c) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') || c == '/' && before == '~' => quote = Some(c),
            None if c == '/' && text[..position].trim() == "strings" && begins_pattern(&text[position..]) => {
                quote = Some(c)
            }
            None => visit(position, c),
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    match quote {
        Some(open) => Err(QueryError::usage(format!("the quote {open} is not closed"))),
        None => Ok(()),
    }
}

/// Returns whether a word is a regular expression as a whole: `/a|b/`, unlike `/usr/lib`.
pub(crate) fn is_pattern(word: &str) -> bool {
    pattern_end(word) == Some(word.len())
}

/// Returns whether a text begins with such a word; it may hold blanks.
fn begins_pattern(text: &str) -> bool {
    pattern_end(text).is_some_and(|end| text[end..].chars().next().is_none_or(char::is_whitespace))
}

/// The end of a regular expression with which a text begins.
fn pattern_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.strip_prefix('/')?.find(|c| {
        let ends = c == '/' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.filter(|length| *length > 0).map(|length| length + 2)
}
