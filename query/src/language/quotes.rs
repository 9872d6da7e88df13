//! The parts of a line that are outside of quotes.

use crate::error::QueryError;

/// Calls `visit` for every character outside of quotes.
///
/// # Errors
/// A quote that does not end.
pub(crate) fn scan(text: &str, mut visit: impl FnMut(usize, char)) -> Result<(), QueryError> {
    let mut quote: Option<char> = None;
    let mut escaped = false;
    // The last character that was no blank: a `/` opens a regular expression only after `~`.
    let mut before = ' ';
    for (position, c) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') || c == '/' && before == '~' => quote = Some(c),
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
