//! The quotes of a piece of text, which determine whether the next piece begins inside a string.
//!
//! A quote after an odd number of backslashes is escaped. Only the backslashes at the beginning of a piece depend on
//! the piece before, so pieces are counted independently, and [`Quotes::after`] joins them.

/// The quotes in a piece of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quotes {
    /// Quotes that are not escaped, if the first byte is not.
    unescaped: u64,
    /// Difference in their number if the first byte is escaped: -1, 0 or 1.
    more_if_escaped: i64,
    /// The byte after the piece is escaped, if the first byte is not.
    escapes_next: bool,
    /// The piece is nothing but backslashes.
    is_all_backslashes: bool,
}

/// The state before a place in the text of an array of strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct QuoteState {
    /// Quotes that are not escaped.
    pub(crate) quotes: u64,
    /// The byte here is escaped.
    pub(crate) is_escaped: bool,
}

impl Quotes {
    /// Counts the quotes of a piece.
    pub(crate) fn count(piece: &[u8]) -> Quotes {
        let (mut unescaped, mut is_escaped) = (0, false);
        for block in piece.chunks(128) {
            // Simple enough for the compiler to vectorise.
            let (mut quotes, mut backslashes) = (0_u8, 0_u8);
            for &byte in block {
                quotes += u8::from(byte == b'"');
                backslashes |= u8::from(byte == b'\\');
            }
            if backslashes == 0 {
                unescaped += u64::from(quotes) - u64::from(is_escaped && block.first() == Some(&b'"'));
                is_escaped = false;
                continue;
            }
            for &byte in block {
                unescaped += u64::from(byte == b'"' && !is_escaped);
                is_escaped = byte == b'\\' && !is_escaped;
            }
        }
        let leading = piece.iter().take_while(|&&byte| byte == b'\\').count();
        let more_if_escaped = match piece.get(leading) {
            Some(b'"') if leading.is_multiple_of(2) => -1,
            Some(b'"') => 1,
            _ => 0,
        };
        Quotes { unescaped, more_if_escaped, escapes_next: is_escaped, is_all_backslashes: leading == piece.len() }
    }

    /// The state at the end of the piece, given that `before` its beginning.
    pub(crate) fn after(self, before: QuoteState) -> QuoteState {
        let more = if before.is_escaped { self.more_if_escaped } else { 0 };
        QuoteState {
            quotes: (before.quotes + self.unescaped).saturating_add_signed(more),
            is_escaped: self.escapes_next ^ (before.is_escaped && self.is_all_backslashes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_joined_as_if_they_were_one(
            text in proptest::collection::vec(prop_oneof![3 => Just(b'\\'), 2 => Just(b'"'), 1 => Just(b'x')], 0..300),
            piece in 1_usize..150,
        ) {
            let joined = text.chunks(piece).fold(QuoteState::default(), |before, piece| Quotes::count(piece).after(before));
            let mut expected = QuoteState::default();
            for &byte in &text {
                expected.quotes += u64::from(byte == b'"' && !expected.is_escaped);
                expected.is_escaped = byte == b'\\' && !expected.is_escaped;
            }
            prop_assert_eq!(joined, expected);
        }
    }
}
