//! Texts in delimiters, and the characters that end words without them.

/// Returns whether a character ends a word: blanks, quotes and the characters of operators.
pub(crate) fn ends_word(c: char) -> bool {
    c.is_whitespace() || "()\"'=!~<>&|".contains(c)
}

/// The content of a delimited text, in which a backslash escapes the delimiter; and the length including delimiters.
pub(crate) fn delimited(text: &str, delimiter: char) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((position, character)) = characters.next() {
        if character == delimiter {
            return Some((content, position + 1));
        }
        if character == '\\' {
            let (_, next) = characters.next()?;
            // In a regular expression other escapes keep their meaning.
            if next != delimiter && (delimiter == '/' || next != '\\') {
                content.push('\\');
            }
            content.push(next);
        } else {
            content.push(character);
        }
    }
    None
}
