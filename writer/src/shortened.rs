//! Texts too long for a recording: shortened, with a mark.

use std::borrow::Cow;

/// Maximum length of a text of a recording, in bytes; [`Writer`](crate::Writer) shortens longer ones.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
/// Room for the mark.
const MARK_BYTES: usize = 64;

/// The number of shortened texts, and the number of bytes left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shortened {
    /// Texts.
    pub texts: u64,
    /// Number of bytes left out.
    pub bytes: u64,
}

impl Shortened {
    /// Adds another count.
    pub fn add(&mut self, other: Shortened) {
        self.texts += other.texts;
        self.bytes += other.bytes;
    }

    /// A text of at most `limit` bytes: `text`, or its beginning with a mark, `… (123 bytes left out)`. Counts the
    /// latter.
    ///
    /// # Panics
    /// If there is no room for the mark in 64 bytes or fewer.
    pub fn shorten<'t>(&mut self, text: &'t str, limit: usize) -> Cow<'t, str> {
        assert!(limit > MARK_BYTES, "{limit} bytes hold no mark");
        if text.len() <= limit {
            return Cow::Borrowed(text);
        }
        let end = text.floor_char_boundary(limit - MARK_BYTES);
        let left_out = text.len() - end;
        self.texts += 1;
        self.bytes += left_out as u64;
        Cow::Owned(format!("{}… ({left_out} bytes left out)", &text[..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_say_what_is_left_out() {
        let mut shortened = Shortened::default();
        let fits = "x".repeat(100);
        assert!(matches!(shortened.shorten(&fits, 100), Cow::Borrowed(text) if text == fits));
        assert_eq!(shortened, Shortened::default());
        // 36 bytes fit, and the last character that begins in them does not.
        let long = format!("{}{}", "x".repeat(35), "ä".repeat(1000));
        assert_eq!(shortened.shorten(&long, 100), format!("{}… (2000 bytes left out)", "x".repeat(35)));
        assert_eq!(shortened, Shortened { texts: 1, bytes: 2000 });
        assert!(shortened.shorten(&"y".repeat(1 << 20), MAX_TEXT_BYTES - 1).len() < MAX_TEXT_BYTES);
        assert_eq!(shortened.texts, 2);
    }
}
