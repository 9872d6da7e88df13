//! Texts of the program are recorded in part: the beginning, and the length, which counts towards the limit.

use std::fmt::Write;

use crate::object::Object;

/// Longer texts are cut.
const TEXT_CHARACTERS: usize = 200;
/// Room for what says how long a text was.
const LENGTH_CHARACTERS: usize = 32;

/// At most as many characters as names have.
pub(crate) fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(TEXT_CHARACTERS) {
        text.truncate(end);
    }
    text
}

/// The contents of a string. The end of a long one, or of one over `longest` bytes, says the full length.
pub(crate) fn text_shown(object: Object<'_>, longest: usize) -> String {
    text_of(object.first_text(TEXT_CHARACTERS), object.text_length(), longest)
}

fn text_of(mut text: String, length: u64, longest: usize) -> String {
    let is_cut = length > TEXT_CHARACTERS as u64;
    if text.len() + if is_cut { LENGTH_CHARACTERS } else { 0 } > longest {
        text.truncate(text.floor_char_boundary(longest.saturating_sub(LENGTH_CHARACTERS)));
    } else if !is_cut {
        return text;
    }
    // Writing to a string does not fail.
    let _ = write!(text, "... ({length} characters)");
    text
}

/// Bytes as Python writes them. The end of a long text, or of one over `longest` bytes, says the number of bytes.
pub(crate) fn bytes_shown(bytes: &[u8], longest: usize) -> String {
    let longest = longest.min(TEXT_CHARACTERS);
    let first = &bytes[..bytes.len().min(TEXT_CHARACTERS)];
    let quote = if first.contains(&b'\'') && !first.contains(&b'"') { '"' } else { '\'' };
    let mut text = format!("b{quote}");
    for &byte in first {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' if char::from(byte) != quote => text.push(byte.into()),
            b' '..=b'~' => text.extend(['\\', quote]),
            _ => _ = write!(text, "\\x{byte:02x}"),
        }
    }
    text.push(quote);
    if bytes.len() > TEXT_CHARACTERS || text.len() > longest {
        text.truncate(longest.saturating_sub(LENGTH_CHARACTERS));
        let _ = write!(text, "... ({} bytes)", bytes.len());
    }
    text
}
