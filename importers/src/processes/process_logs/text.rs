//! Bytes of a log as text.

use std::borrow::Cow;

/// Maximum number of unreadable bytes that a note quotes.
const MOST_QUOTED: usize = 40;

/// Converts bytes to text: those that are not UTF-8 become `\xNN`.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    Cow::Owned(text)
}

/// The beginning of unreadable bytes, for a note.
pub(crate) fn readable(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(MOST_QUOTED)];
    let dots = if cut.len() < bytes.len() { "…" } else { "" };
    format!("`{}{dots}`", cut.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_stay_visible() {
        assert_eq!(text("größer".as_bytes()), "größer");
        assert_eq!(text(b"a\xffb\xc3"), "a\\xffb\\xc3");
        assert_eq!(readable(b"a\n\"\xff"), "`a\\n\\\"\\xff`");
        assert_eq!(readable(&[b'x'; 41]), format!("`{}…`", "x".repeat(40)));
    }
}
