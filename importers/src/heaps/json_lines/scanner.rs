//! The JSON of one line, read field by field without building anything.
//!
//! It accepts the JSON that `serde_json` accepts, but is not strict about strings: they may hold any bytes, since
//! runtimes write names of files unchanged. Nothing is copied unless a string has escapes.

use super::MAX_NAME_BYTES;
use crate::error::Damage;
use std::borrow::Cow;

/// Maximum nesting of skipped values.
const MAX_DEPTH: u32 = 100;

/// A string between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text<'a> {
    /// The bytes in the dump.
    pub(crate) raw: &'a [u8],
    has_escapes: bool,
}

impl<'a> Text<'a> {
    /// A text without escapes.
    pub(crate) fn plain(text: &'a str) -> Self {
        debug_assert!(!text.contains('\\'));
        Text { raw: text.as_bytes(), has_escapes: false }
    }

    /// Decodes the text; bytes that are not UTF-8 become U+FFFD.
    pub(crate) fn decode(self) -> Cow<'a, str> {
        if self.has_escapes {
            String::from_utf8_lossy(&self.unescape()).into_owned().into()
        } else {
            String::from_utf8_lossy(self.raw)
        }
    }

    /// [`Text::decode`] of about this many bytes. The end of a longer text gives its length.
    pub(crate) fn decode_first(self, limit: usize) -> Cow<'a, str> {
        if self.raw.len() <= limit {
            return self.decode();
        }
        let mut end = limit;
        // Not inside an escape or a character.
        if self.has_escapes {
            let escape = self.raw[..end].iter().rposition(|&byte| byte == b'\\').unwrap_or(0);
            if end - escape < 12 {
                end = escape - self.raw[..escape].iter().rev().take_while(|&&byte| byte == b'\\').count();
            }
        }
        while end > 0 && self.raw[end] & 0xc0 == 0x80 {
            end -= 1;
        }
        let first = Text { raw: &self.raw[..end], ..self }.decode();
        format!("{first}… ({} bytes)", self.raw.len()).into()
    }

    /// The text of a name, cut if it is long.
    pub(crate) fn to_name(self) -> String {
        self.decode_first(MAX_NAME_BYTES).into_owned()
    }

    fn unescape(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.raw.len());
        let mut rest = self.raw;
        while let Some(escape) = memchr::memchr(b'\\', rest) {
            out.extend_from_slice(&rest[..escape]);
            let (character, length) = match rest.get(escape + 1) {
                Some(b'b') => ('\u{8}', 2),
                Some(b'f') => ('\u{c}', 2),
                Some(b'n') => ('\n', 2),
                Some(b'r') => ('\r', 2),
                Some(b't') => ('\t', 2),
                Some(b'u') => unicode_escape(&rest[escape..]),
                Some(&other) => (char::from(other), 2),
                None => (char::REPLACEMENT_CHARACTER, 1),
            };
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            rest = rest.get(escape + length..).unwrap_or_default();
        }
        out.extend_from_slice(rest);
        out
    }
}

/// The character of `\uXXXX`, or of two such escapes that are a surrogate pair, and their length.
fn unicode_escape(text: &[u8]) -> (char, usize) {
    let Some(first) = utf16_unit(text, 0) else { return (char::REPLACEMENT_CHARACTER, 2) };
    if (0xd800..0xdc00).contains(&first)
        && let Some(second @ 0xdc00..0xe000) = utf16_unit(text, 6)
    {
        let value = 0x10000 + ((first - 0xd800) << 10 | (second - 0xdc00));
        return (char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

/// The unit of an escape `\uXXXX` at `at`.
fn utf16_unit(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}

/// A place in a line.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    line: &'a [u8],
    position: usize,
    /// The offset of the line in the dump.
    offset: u64,
}

impl<'a> Scanner<'a> {
    /// The beginning of `line`, which is `offset` bytes into the dump.
    pub(crate) fn new(line: &'a [u8], offset: u64) -> Self {
        Scanner { line, position: 0, offset }
    }

    /// Reads an object of fields: `field` is given each key and must read its value.
    #[inline]
    pub(crate) fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, &'a [u8]) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        self.expect(b'{', "an object")?;
        if self.is_next(b'}') {
            return Ok(());
        }
        loop {
            let key = self.string()?.raw;
            self.expect(b':', "a colon")?;
            field(self, key)?;
            match self.next() {
                Some(b',') => {}
                Some(b'}') => return Ok(()),
                _ => return Err(self.unexpected("a comma or the end of an object")),
            }
        }
    }

    /// Checks that the line ends here.
    pub(crate) fn end(&mut self) -> Result<(), Damage> {
        match self.next() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the line")),
        }
    }

    /// Reads the whole line, which must be one object.
    pub(crate) fn skip_line(&mut self) -> Result<(), Damage> {
        self.object(|scanner, _| scanner.skip())?;
        self.end()
    }

    /// Reads a string.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Text<'a>, Damage> {
        self.expect(b'"', "a string")?;
        let start = self.position;
        let mut has_escapes = false;
        loop {
            let rest = self.line.get(self.position..).unwrap_or_default();
            let Some(found) = memchr::memchr2(b'"', b'\\', rest) else {
                self.position = self.line.len();
                return Err(self.ends("a string"));
            };
            self.position += found + 1;
            if rest[found] == b'"' {
                break;
            }
            has_escapes = true;
            self.position += 1;
        }
        match self.line.get(start..self.position - 1) {
            Some(raw) => Ok(Text { raw, has_escapes }),
            None => Err(self.ends("a string")),
        }
    }

    /// Reads a string, or skips a value of another type.
    pub(crate) fn text(&mut self) -> Result<Option<Text<'a>>, Damage> {
        if self.peek() == Some(b'"') { self.string().map(Some) } else { self.skip().map(|()| None) }
    }

    /// Reads an unsigned integer, or skips another value.
    pub(crate) fn integer(&mut self) -> Result<Option<u64>, Damage> {
        let Some(b'0'..=b'9') = self.peek() else { return self.skip().map(|()| None) };
        let start = self.position;
        let mut value = Some(0_u64);
        while let Some(digit) =
            self.line.get(self.position).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
        {
            value = value.and_then(|value| value.checked_mul(10)?.checked_add(digit.into()));
            self.position += 1;
        }
        if let Some(b'.' | b'e' | b'E') = self.line.get(self.position) {
            self.position = start;
            return self.skip().map(|()| None);
        }
        Ok(value)
    }

    /// Reads `true`, `false` or skips a value that is neither.
    pub(crate) fn boolean(&mut self) -> Result<bool, Damage> {
        let is_true = self.peek() == Some(b't');
        self.skip().map(|()| is_true)
    }

    /// Reads an address, or skips another value.
    #[inline]
    pub(crate) fn address(&mut self) -> Result<Option<u64>, Damage> {
        if self.peek() != Some(b'"') {
            return self.skip().map(|()| None);
        }
        if let Some((value, end)) = quoted_address(self.line, self.position) {
            self.position = end;
            return Ok(Some(value));
        }
        self.string().map(|_| None)
    }

    /// Reads an array of addresses into `out`, or skips a value of another type.
    #[inline]
    pub(crate) fn addresses(&mut self, out: &mut Vec<u64>) -> Result<(), Damage> {
        self.array(|scanner| match scanner.address()? {
            Some(address) => {
                out.push(address);
                Ok(())
            }
            None => Err(scanner.unexpected("an address before this")),
        })
    }

    /// Reads an array: `element` must read each of its values. A value of another type is skipped.
    #[inline]
    pub(crate) fn array(&mut self, mut element: impl FnMut(&mut Self) -> Result<(), Damage>) -> Result<(), Damage> {
        if self.peek() != Some(b'[') {
            return self.skip();
        }
        self.position += 1;
        if self.is_next(b']') {
            return Ok(());
        }
        loop {
            element(self)?;
            match self.next() {
                Some(b',') => {}
                Some(b']') => return Ok(()),
                _ => return Err(self.unexpected("a comma or the end of an array")),
            }
        }
    }

    /// Skips any value.
    pub(crate) fn skip(&mut self) -> Result<(), Damage> {
        self.skip_within(MAX_DEPTH)
    }

    /// Skips any value, quickly if it is an object with the same bytes as `last`. Otherwise its bytes replace `last`.
    pub(crate) fn skip_again(&mut self, last: &mut Vec<u8>) -> Result<(), Damage> {
        let start = self.place();
        let rest = self.line.get(start..).unwrap_or_default();
        // The closing brace ends the object, whatever follows.
        if last.ends_with(b"}") && rest.starts_with(last) {
            self.position += last.len();
            return Ok(());
        }
        self.skip()?;
        last.clear();
        last.extend_from_slice(self.since(start));
        Ok(())
    }

    fn skip_within(&mut self, depth: u32) -> Result<(), Damage> {
        let deeper = depth.checked_sub(1);
        match (self.peek(), deeper) {
            (Some(b'"'), _) => self.string().map(drop),
            (Some(b'{'), Some(deeper)) => self.object(|scanner, _| scanner.skip_within(deeper)),
            (Some(b'['), Some(deeper)) => self.array(|scanner| scanner.skip_within(deeper)),
            (Some(b'{' | b'['), None) => Err(self.unexpected("values that nest less deeply")),
            (Some(b't'), _) => self.word(b"true"),
            (Some(b'f'), _) => self.word(b"false"),
            (Some(b'n'), _) => self.word(b"null"),
            (Some(b'-' | b'0'..=b'9'), _) => self.number(),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Damage> {
        let rest = self.line.get(self.position..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.unexpected("a value"));
        }
        self.position += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Damage> {
        let rest = self.line.get(self.position..).unwrap_or_default();
        let length =
            rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
        if serde_json::from_slice::<f64>(&rest[..length]).is_err() {
            return Err(self.unexpected("a number"));
        }
        self.position += length;
        Ok(())
    }

    /// The position of the next character that is not white space.
    pub(crate) fn place(&mut self) -> usize {
        while let Some(b' ' | b'\t' | b'\r') = self.line.get(self.position) {
            self.position += 1;
        }
        self.position
    }

    /// The bytes from `start` to here.
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        self.line.get(start..self.position).unwrap_or_default()
    }

    fn peek(&mut self) -> Option<u8> {
        let place = self.place();
        self.line.get(place).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let next = self.peek()?;
        self.position += 1;
        Some(next)
    }

    /// Goes past `byte` if it is next.
    fn is_next(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.position += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Damage> {
        if self.is_next(byte) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> Damage {
        let message = format!("at its byte {} {expected} is expected", self.position);
        Damage::Json { what: "the line", offset: self.offset, message }
    }

    #[cold]
    fn ends(&self, inside: &str) -> Damage {
        Damage::Json { what: "the line", offset: self.offset, message: format!("it ends inside {inside}") }
    }
}

/// Reads `"0x…"` at `start` of `line`. Returns the number and the position after it.
#[inline]
pub(crate) fn quoted_address(line: &[u8], start: usize) -> Option<(u64, usize)> {
    let digits = line.get(start..)?.strip_prefix(b"\"0x")?;
    let mut value = 0_u64;
    for (count, &byte) in digits.iter().take(17).enumerate() {
        let digit = HEX[usize::from(byte)];
        if digit > 15 {
            return (byte == b'"' && count > 0).then_some((value, start + 3 + count + 1));
        }
        value = value << 4 | u64::from(digit);
    }
    None
}

/// The value of each hexadecimal digit; 16 for other bytes.
const HEX: [u8; 256] = {
    let mut table = [16; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u8;
        table[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(json: &str) -> String {
        Scanner::new(json.as_bytes(), 0).string().expect("a string").decode().into_owned()
    }

    #[test]
    fn strings_are_unescaped() {
        assert_eq!(text(r#""""#), "");
        assert_eq!(text(r#""späte \"\\\/\b\f\n\r\t" "#), "späte \"\\/\u{8}\u{c}\n\r\t");
        assert_eq!(text(r#""\u00e4\u0000\ud83d\ude00""#), "ä\0😀");
        assert_eq!(text(r#""\ud83d!\u00""#), "\u{fffd}!\u{fffd}00");
        let raw = Scanner::new(b"\"a\xffb\"", 0).string().expect("a string");
        assert_eq!(raw.decode(), "a\u{fffd}b");
    }

    #[test]
    fn long_strings_are_cut_between_characters() {
        let cut = |json: &str, limit| {
            Scanner::new(json.as_bytes(), 0).string().expect("a string").decode_first(limit).into_owned()
        };
        assert_eq!(cut(r#""abcdef""#, 6), "abcdef");
        assert_eq!(cut(r#""abcdef""#, 3), "abc… (6 bytes)");
        assert_eq!(cut(r#""aä€""#, 2), "a… (6 bytes)");
        assert_eq!(cut(r#""a\u00e4bcdefghijklmn""#, 4), "a… (20 bytes)");
        assert_eq!(cut(r#""a\\\\n""#, 4), "a… (6 bytes)");
    }

    #[test]
    fn addresses_are_hexadecimal_strings() {
        let address = |json: &str| Scanner::new(json.as_bytes(), 0).address();
        assert_eq!(address("\"0x7fc70dc30010\""), Ok(Some(0x7fc7_0dc3_0010)));
        assert_eq!(address("\"0xFFFFffffFFFFffff\""), Ok(Some(u64::MAX)));
        for none in ["\"0x\"", "\"0xg\"", "\"7f\"", "\"0x10000000000000000\"", "null", "[{\"a\":1}]"] {
            assert_eq!(address(none), Ok(None), "{none}");
        }
        assert!(address("\"0x12").is_err());
    }

    #[test]
    fn damage_says_where_it_is() {
        let line = br#"{"a":1 "b":2}"#;
        let damage = Scanner::new(line, 70).skip_line().expect_err("no JSON");
        let expected = "the line at byte 70 cannot be read: at its byte 8 a comma or the end of an object is expected";
        assert_eq!(damage.to_string(), expected);
    }

    #[test]
    fn what_was_skipped_is_skipped_again() {
        let mut last = Vec::new();
        for (line, rest) in
            [("{\"a\":1}, 2", ", 2"), ("{\"a\":1}", ""), ("{\"a\":1, \"b\":2} ", " "), ("12", ""), ("123", "")]
        {
            let mut scanner = Scanner::new(line.as_bytes(), 0);
            scanner.skip_again(&mut last).expect("JSON");
            assert_eq!(&line[scanner.position..], rest, "{line}");
        }
        assert!(Scanner::new(b"{\"a\":1", 0).skip_again(&mut b"{\"a\":1}".to_vec()).is_err());
    }

    /// Text that is JSON or nearly so.
    fn nearly_json() -> impl Strategy<Value = String> {
        let token = prop_oneof![
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just(","),
            Just(":"),
            Just(" "),
            Just("\"a\""),
            Just("\"\\n\""),
            Just("1"),
            Just("-0.5e3"),
            Just("01"),
            Just("true"),
            Just("null"),
            Just("fals"),
            Just("\"b\":1"),
            Just("\"")
        ];
        proptest::collection::vec(token, 0..12).prop_map(|tokens| format!("{{{}}}", tokens.concat()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_line_is_json_if_another_reader_says_so(json in nearly_json()) {
            let ours = Scanner::new(json.as_bytes(), 0).skip_line();
            let theirs = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&json);
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
        }
    }
}
