//! Replaces texts by others with the same classes of characters.

use super::cipher::{Digit, Domain, permute, permute_digits};
use super::key::Key;

/// A class of characters with the same number of bytes: each character of a text keeps its class.
///
/// | class | characters | bytes of UTF-8 | units of UTF-16 |
/// |---|---|---|---|
/// | printable | U+0020 to U+007E | 1 | 1 |
/// | control | U+0000 to U+001F, U+007F | 1 | 1 |
/// | two bytes | U+0080 to U+07FF | 2 | 1 |
/// | three bytes | U+0800 to U+FFFF without surrogates | 3 | 1 |
/// | four bytes | U+10000 to U+10FFFF | 4 | 2 |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Printable,
    Control,
    TwoBytes,
    ThreeBytes,
    FourBytes,
}

const SURROGATES: std::ops::RangeInclusive<u32> = 0xd800..=0xdfff;

/// The class of a character and its position in it.
pub(super) fn digit(character: char) -> Digit {
    let code = character as u32;
    let (class, value) = match code {
        0x20..=0x7e => (Class::Printable, code - 0x20),
        0..0x20 => (Class::Control, code),
        0x7f => (Class::Control, 32),
        0x80..0x800 => (Class::TwoBytes, code - 0x80),
        0x800..0xd800 => (Class::ThreeBytes, code - 0x800),
        0xd800..0x1_0000 => (Class::ThreeBytes, code - 0x1000),
        _ => (Class::FourBytes, code - 0x1_0000),
    };
    Digit { value, radix: class.size() }
}

impl Class {
    fn size(self) -> u32 {
        match self {
            Class::Printable => 95,
            Class::Control => 33,
            Class::TwoBytes => 0x780,
            Class::ThreeBytes => 0xf000,
            Class::FourBytes => 0x10_0000,
        }
    }
}

/// The character at a position in its class. The sizes of classes differ, so the radix identifies the class.
pub(super) fn character(digit: Digit) -> char {
    let Digit { value, radix } = digit;
    let code = match radix {
        95 => value + 0x20,
        33 if value == 32 => 0x7f,
        33 => value,
        0x780 => value + 0x80,
        0xf000 if value + 0x800 < *SURROGATES.start() => value + 0x800,
        0xf000 => value + 0x1000,
        _ => value + 0x1_0000,
    };
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Replaces texts. Equal texts are replaced by equal ones, different texts by different ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts<'k> {
    pub(super) key: &'k Key,
}

impl Texts<'_> {
    /// The replacement of a text. It has the same length in bytes of UTF-8 and in units of UTF-16.
    pub(super) fn replace(self, text: &str) -> String {
        let mut digits: Vec<Digit> = text.chars().map(digit).collect();
        permute_digits(self.key, Domain::Texts, &mut digits);
        digits.into_iter().map(character).collect()
    }

    /// The replacement of a UTF-16 code unit or a code point, equal to that of a text with this character. Surrogates
    /// are replaced by surrogates, and numbers that are not code points by others.
    pub(super) fn replace_character(self, code: u64) -> u64 {
        let narrow = u32::try_from(code).unwrap_or(u32::MAX);
        if let Some(one) = char::from_u32(narrow) {
            let digit = digit(one);
            let value = permute(self.key, Domain::Texts, digit.value.into(), u64::from(digit.radix) - 1);
            return u64::from(u32::from(character(Digit { value: value as u32, ..digit })));
        }
        if SURROGATES.contains(&narrow) {
            let first = u64::from(*SURROGATES.start());
            return first + permute(self.key, Domain::Numbers, code - first, 0x7ff);
        }
        let first = u64::from(u32::from(char::MAX)) + 1;
        first + permute(self.key, Domain::Numbers, code - first, u64::from(u32::MAX) - first)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_character_is_the_one_of_its_digit() {
        for one in '\0'..=char::MAX {
            let digit = digit(one);
            assert!(digit.value < digit.radix, "{one:?}");
            assert_eq!(character(digit), one);
        }
    }

    #[test]
    fn short_texts_are_permuted() {
        let key = Key::from_bytes([1; 32]);
        let texts = Texts { key: &key };
        let printable = || ' '..='~';
        let singles: HashSet<String> = printable().map(|one| texts.replace(&one.to_string())).collect();
        assert_eq!(singles, printable().map(String::from).collect());
        let pairs: Vec<String> =
            printable().flat_map(|one| printable().map(move |other| format!("{one}{other}"))).collect();
        let replaced: HashSet<String> = pairs.iter().map(|pair| texts.replace(pair)).collect();
        assert_eq!(replaced, pairs.into_iter().collect());
        assert_eq!(texts.replace(""), "");
        for one in ['a', '\n', 'ß', '\u{fffd}', '\u{10ffff}'] {
            let number = texts.replace_character(u64::from(u32::from(one)));
            assert_eq!(
                texts.replace(&one.to_string()).chars().map(|one| u64::from(u32::from(one))).next(),
                Some(number)
            );
        }
    }

    #[test]
    fn all_numbers_of_characters_are_permuted() {
        let key = Key::from_bytes([2; 32]);
        let texts = Texts { key: &key };
        let units: HashSet<u64> = (0..0x1_0000).map(|unit| texts.replace_character(unit)).collect();
        assert!(units.len() == 0x1_0000 && units.iter().all(|&unit| unit < 0x1_0000));
        let beyond: HashSet<u64> = (0x10_fff0..0x11_0100).map(|code| texts.replace_character(code)).collect();
        assert!(beyond.len() == 0x110 && beyond.iter().all(|&code| (0x1_0000..1 << 32).contains(&code)));
    }

    proptest! {
        #[test]
        fn lengths_stay_and_different_texts_stay_different(one in any::<String>(), other in any::<String>(), seed: u8) {
            let key = Key::from_bytes([seed; 32]);
            let texts = Texts { key: &key };
            let (new, new_other) = (texts.replace(&one), texts.replace(&other));
            prop_assert_eq!(new.len(), one.len());
            prop_assert_eq!(new.encode_utf16().count(), one.encode_utf16().count());
            prop_assert_eq!(one == other, new == new_other);
            prop_assert_eq!(texts.replace(&one), new);
        }
    }
}
