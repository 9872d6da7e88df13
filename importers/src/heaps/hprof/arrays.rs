//! Contents of arrays of numbers and characters.
//!
//! ```text
//!   the array of a string ──────────────────────▶ nothing: the string has the text
//!   all elements equal ─────────────────────────▶ that element, as the field `every`
//!   characters, or bytes of UTF-8, of a text ───▶ the text, as that of a string
//!   otherwise ──────────────────────────────────▶ its elements, as the field `contents`, or some as `first`
//! ```

use std::fmt::Write as _;

use barrow_writer::Value;

use crate::contents::Contents;

use super::records::FieldType;
use super::texts::{append, utf16_characters};
use super::values::value;

const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";

/// Fewer bytes are recorded as numbers, even if they could be characters.
const LEAST_TEXT_BYTES: usize = 4;

/// Reads the contents of arrays as text.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArrayReader {
    /// Maximum length of the result, in bytes.
    longest: usize,
    /// Maximum number of elements read from an array that is not a text.
    most_elements: usize,
}

/// The contents read from an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArrayContents {
    /// A text, or its beginning.
    Text { is_whole: bool },
    /// All elements, or the first.
    Elements { are_all: bool },
}

impl ArrayReader {
    /// `None` if no contents are recorded.
    pub(super) fn new(contents: Contents) -> Option<Self> {
        let (longest, most_elements) = (contents.longest_text()?, contents.most_elements());
        Some(ArrayReader { longest, most_elements })
    }

    /// Writes the contents of an array with these elements to `out`, which is empty.
    pub(super) fn read(&self, kind: FieldType, elements: &[u8], out: &mut String) -> ArrayContents {
        let text = match kind {
            FieldType::Byte => self.utf8(elements, out),
            FieldType::Char => self.utf16(elements, out),
            _ => None,
        };
        if let Some(is_whole) = text {
            return ArrayContents::Text { is_whole };
        }
        ArrayContents::Elements { are_all: self.elements(kind, elements, out) }
    }

    /// Reads bytes as UTF-8; `None` if they are not a text. Returns whether the text is whole.
    fn utf8(&self, bytes: &[u8], out: &mut String) -> Option<bool> {
        let used = without_zeros(bytes, 1);
        if used.len() < LEAST_TEXT_BYTES {
            return None;
        }
        let text = str::from_utf8(used).ok().filter(|text| !has_control(text))?;
        let zeros = bytes.len() - used.len();
        if zeros == 0 && text.len() <= self.longest {
            out.push_str(text);
            return Some(true);
        }
        Some(self.text(text.chars(), bytes.len(), zeros, out))
    }

    /// Reads UTF-16; `None` if it is not a text. Returns whether the text is whole.
    fn utf16(&self, bytes: &[u8], out: &mut String) -> Option<bool> {
        let used = without_zeros(bytes, 2);
        if used.is_empty() {
            return None;
        }
        let (length, zeros) = (bytes.len() / 2, (bytes.len() - used.len()) / 2);
        if zeros == 0 && used.len() / 2 <= self.longest && is_ascii_utf16(used) {
            let mut all = std::mem::take(out).into_bytes();
            all.extend(used.chunks_exact(2).map(|unit| unit[1]));
            *out = String::from_utf8(all).expect("ASCII");
            return Some(true);
        }
        if utf16_characters(used, u16::from_be_bytes).any(|character| character.map_or(true, is_control)) {
            return None;
        }
        Some(self.text(utf16_characters(used, u16::from_be_bytes).flatten(), length, zeros, out))
    }

    /// Writes a text followed by `zeros`, the unused part of a buffer. Returns whether the text is whole.
    fn text(&self, characters: impl Iterator<Item = char>, length: usize, zeros: usize, out: &mut String) -> bool {
        /// Bytes reserved for the number of zeros.
        const ZEROS_BYTES: usize = 32;
        let room = if zeros == 0 { self.longest } else { self.longest - ZEROS_BYTES };
        let is_whole = append(characters.map(Ok), length, room, out);
        if is_whole && zeros > 0 {
            let _ = write!(out, "… ({zeros} zero{})", if zeros == 1 { "" } else { "s" });
        }
        is_whole
    }

    /// Writes the elements that fit, bytes in hexadecimal. Returns whether these are all.
    fn elements(&self, kind: FieldType, elements: &[u8], out: &mut String) -> bool {
        for (at, element) in elements.chunks_exact(usize::from(kind.bytes(0))).enumerate() {
            if at == self.most_elements {
                return false;
            }
            let before = out.len();
            if at > 0 {
                out.push(' ');
            }
            match value(kind, element) {
                _ if kind == FieldType::Byte => {
                    out.extend(
                        [element[0] >> 4, element[0] & 15].map(|digit| char::from(HEXADECIMAL[usize::from(digit)])),
                    );
                }
                Some(Value::Boolean(value)) => out.push(if value { '1' } else { '0' }),
                Some(Value::Signed(value)) => out.push_str(itoa::Buffer::new().format(value)),
                Some(Value::Character(value)) => out.push_str(itoa::Buffer::new().format(value)),
                Some(Value::Float(value)) => drop(write!(out, "{value:?}")),
                Some(Value::Double(value)) => drop(write!(out, "{value:?}")),
                _ => {}
            }
            if out.len() > self.longest {
                out.truncate(before);
                return false;
            }
        }
        true
    }
}

/// The elements before the zeros at the end.
fn without_zeros(bytes: &[u8], width: usize) -> &[u8] {
    let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..used.next_multiple_of(width).min(bytes.len())]
}

/// Returns whether a text has characters that never occur in one.
fn has_control(text: &str) -> bool {
    if text.is_ascii() {
        !text.bytes().fold(true, |are, byte| are & is_ascii_text(byte))
    } else {
        text.contains(is_control)
    }
}

/// Returns whether UTF-16 is a text of ASCII characters only.
fn is_ascii_utf16(units: &[u8]) -> bool {
    // Without an early end, so that many units are compared at once.
    units.chunks_exact(2).fold(true, |are, unit| are & (unit[0] == 0) & is_ascii_text(unit[1]))
}

/// Returns whether a byte is ASCII and occurs in a text.
fn is_ascii_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c) | matches!(byte, b' '..=b'~')
}

/// Returns whether a character never occurs in a text.
fn is_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(contents: Contents, kind: FieldType, elements: &[u8]) -> (ArrayContents, String) {
        let mut out = String::new();
        let read = ArrayReader::new(contents).expect("contents").read(kind, elements, &mut out);
        (read, out)
    }

    fn all(kind: FieldType, elements: &[u8]) -> (ArrayContents, String) {
        read(Contents::All, kind, elements)
    }

    #[test]
    fn bytes_are_a_text_if_they_are_utf8_without_control_characters() {
        assert_eq!(
            all(FieldType::Byte, "GET /ü\r\n".as_bytes()),
            (ArrayContents::Text { is_whole: true }, "GET /ü\r\n".to_owned())
        );
        assert_eq!(
            all(FieldType::Byte, b"GET /\0\0\0"),
            (ArrayContents::Text { is_whole: true }, "GET /… (3 zeros)".to_owned())
        );
        assert_eq!(all(FieldType::Byte, b"GET"), (ArrayContents::Elements { are_all: true }, "47 45 54".to_owned()));
        assert_eq!(
            all(FieldType::Byte, b"GET \0 /"),
            (ArrayContents::Elements { are_all: true }, "47 45 54 20 00 20 2f".to_owned())
        );
        assert_eq!(
            all(FieldType::Byte, &[0xca, 0xfe, 0xba, 0xbe]),
            (ArrayContents::Elements { are_all: true }, "ca fe ba be".to_owned())
        );
        assert_eq!(all(FieldType::Byte, &[]), (ArrayContents::Elements { are_all: true }, String::new()));
    }

    #[test]
    fn ascii_is_a_text_as_other_characters_are() {
        for byte in 0..=u8::MAX {
            assert_eq!(is_ascii_text(byte), byte.is_ascii() && !is_control(byte.into()), "{byte:#x}");
            let units = [0, b'A', 0, byte];
            assert_eq!(is_ascii_utf16(&units), is_ascii_text(byte), "{byte:#x}");
            assert!(!is_ascii_utf16(&[1, byte]));
        }
    }

    #[test]
    fn characters_are_a_text_unless_some_are_none() {
        assert_eq!(
            all(FieldType::Char, &[0, 65, 0xd8, 0x3d, 0xde, 0]),
            (ArrayContents::Text { is_whole: true }, "A😀".to_owned())
        );
        assert_eq!(
            all(FieldType::Char, &[0, 65, 0, 0, 0, 0]),
            (ArrayContents::Text { is_whole: true }, "A… (2 zeros)".to_owned())
        );
        assert_eq!(
            all(FieldType::Char, &[1, 0, 0, 0]),
            (ArrayContents::Text { is_whole: true }, "Ā… (1 zero)".to_owned())
        );
        assert_eq!(
            all(FieldType::Char, &[0, 65, 0xd8, 0x3d]),
            (ArrayContents::Elements { are_all: true }, "65 55357".to_owned())
        );
        assert_eq!(
            all(FieldType::Char, &[0, 1, 0, 65]),
            (ArrayContents::Elements { are_all: true }, "1 65".to_owned())
        );
    }

    #[test]
    fn numbers_are_written_as_they_are() {
        let element = |kind, bytes: &[u8]| all(kind, bytes).1;
        assert_eq!(element(FieldType::Int, &[0, 0, 0, 7, 255, 255, 255, 255]), "7 -1");
        assert_eq!(element(FieldType::Long, &i64::MIN.to_be_bytes()), "-9223372036854775808");
        assert_eq!(element(FieldType::Short, &[0, 1, 255, 254]), "1 -2");
        assert_eq!(element(FieldType::Boolean, &[0, 1]), "0 1");
        assert_eq!(element(FieldType::Float, &1.5_f32.to_be_bytes()), "1.5");
        assert_eq!(element(FieldType::Double, &[1.0_f64.to_be_bytes(), 1e300_f64.to_be_bytes()].concat()), "1.0 1e300");
    }

    #[test]
    fn what_is_left_out_is_told() {
        let numbers: Vec<u8> = (0..200_u16).flat_map(u16::to_be_bytes).collect();
        let (found, first) = read(Contents::default(), FieldType::Short, &numbers);
        assert_eq!(found, ArrayContents::Elements { are_all: false });
        assert!(first.starts_with("0 1 2 ") && first.ends_with(" 62 63"), "{first}");
        let (found, few) = read(Contents::Texts(128), FieldType::Short, &numbers);
        assert_eq!(found, ArrayContents::Elements { are_all: false });
        assert!(few.len() == 127 && few.ends_with(" 44 45"), "{few}");
        let text = "x".repeat(200);
        let (found, shortened) = read(Contents::Texts(128), FieldType::Byte, text.as_bytes());
        assert_eq!(found, ArrayContents::Text { is_whole: false });
        assert!(shortened.len() <= 128 && shortened.ends_with("x… (200 characters)"), "{shortened}");
        let buffer = [text.as_bytes(), &[0; 56]].concat();
        let (found, shortened) = read(Contents::Texts(128), FieldType::Byte, &buffer);
        assert_eq!(found, ArrayContents::Text { is_whole: false });
        assert!(shortened.len() <= 128 && shortened.ends_with("x… (256 characters)"), "{shortened}");
    }
}
