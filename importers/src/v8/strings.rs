//! The strings of a dump, which come last and which everything else names by number.

use std::borrow::Cow;

use super::ephemerons::EntryName;
use crate::context::Context;
use crate::error::{Damage, Stop};
use barrow_writer::{StringId, Writer};

/// Progress is reported after this many bytes of strings.
const TELL_BYTES: u64 = 1 << 20;
/// One position is remembered for this many strings.
const STEP: usize = 64;

/// The strings of a dump, with its escapes.
pub(crate) struct Strings<'a> {
    dump: &'a [u8],
    /// Where every [`STEP`]th string begins, after its quote.
    places: Vec<usize>,
    count: usize,
    /// The position after the `]`, or after the last whole string.
    end: usize,
}

impl<'a> Strings<'a> {
    /// Finds the strings of the array whose first byte after `[` is at `start`. If it is cut or
    /// damaged, the strings before are there.
    pub(crate) fn find(dump: &'a [u8], start: usize) -> (Strings<'a>, Result<(), Damage>) {
        let mut strings = Strings { dump, places: Vec::new(), count: 0, end: start };
        let found = strings.walk();
        (strings, found)
    }

    fn walk(&mut self) -> Result<(), Damage> {
        let mut at = skip_space(self.dump, self.end);
        if self.dump.get(at) == Some(&b']') {
            self.end = at + 1;
            return Ok(());
        }
        loop {
            expect(self.dump, at, b'"', "a string")?;
            let end = string_end(self.dump, at + 1)?;
            if self.count.is_multiple_of(STEP) {
                self.places.push(at + 1);
            }
            self.count += 1;
            self.end = end + 1;
            at = skip_space(self.dump, end + 1);
            match self.dump.get(at) {
                Some(b',') => at = skip_space(self.dump, at + 1),
                Some(b']') => {
                    self.end = at + 1;
                    return Ok(());
                }
                _ => expect(self.dump, at, b',', "a comma or the end of the strings")?,
            }
        }
    }

    /// No strings at all.
    pub(crate) fn none(dump: &'a [u8]) -> Strings<'a> {
        Strings { dump, places: Vec::new(), count: 0, end: dump.len() }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// After the last byte.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// The bytes that hold them.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        let start = self.places.first().copied().unwrap_or(self.end);
        self.dump.get(start..self.end).unwrap_or_default()
    }

    /// The text of a string. Takes a while: meant for names of types.
    pub(crate) fn text(&self, index: usize) -> Option<Cow<'a, str>> {
        let mut raw = self.raw_from(index / STEP)?;
        raw.nth(index % STEP).filter(|_| index < self.count).map(unescaped)
    }

    /// The strings with their escapes, from a remembered position on.
    fn raw_from(&self, place: usize) -> Option<impl Iterator<Item = &'a [u8]>> {
        let dump = self.dump;
        let mut at = Some(*self.places.get(place)?);
        Some(std::iter::from_fn(move || {
            let start = at?;
            // The file may have changed since the strings were found; then they end here.
            let end = string_end(dump, start).ok()?;
            let next = dump.get(end + 1..)?.iter().position(|&byte| !(byte == b',' || byte.is_ascii_whitespace()));
            at = next.filter(|&next| dump[end + 1 + next] == b'"').map(|next| end + 1 + next + 1);
            dump.get(start..end)
        }))
    }

    /// Enters all strings into the recording.
    pub(crate) fn record(&self, context: &Context<'_>) -> Result<Names, Stop> {
        let mut names = Names::default();
        names.codes.reserve_exact(self.count);
        let (mut read, mut told) = (0, 0);
        for raw in self.raw_from(0).into_iter().flatten().take(self.count) {
            let code = names.code(raw, context.writer)?;
            names.codes.push(code);
            read += raw.len() as u64;
            if read - told > TELL_BYTES {
                context.check_cancelled()?;
                context.progress.advance(read - told);
                told = read;
            }
        }
        context.progress.advance((self.bytes().len() as u64).saturating_sub(told));
        Ok(names)
    }
}

/// What the strings of a dump are in the recording, by their numbers there.
#[derive(Default)]
pub(crate) struct Names {
    /// A row of the recording's strings, or [`SPECIAL`] and a row of `specials`.
    codes: Vec<u32>,
    specials: Vec<(Option<StringId>, Special)>,
    pub(crate) replaced: u64,
}

/// Marks the number of a special string.
const SPECIAL: u32 = 1 << 31;

/// A string that is more than a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// The number of an element, where V8 has no room for a number.
    Number(u32),
    /// One half of an entry of a WeakMap.
    EntryName(EntryName),
}

/// A string of the dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Plain(StringId),
    /// The recording has it only if it may name an object, too.
    Special(Option<StringId>, Special),
}

impl Names {
    /// The string of this number, if it is no more than a name.
    #[inline]
    pub(crate) fn plain(&self, index: u64) -> Option<StringId> {
        let code = *self.codes.get(usize::try_from(index).ok()?)?;
        (code & SPECIAL == 0).then_some(StringId(code))
    }

    /// The string of this number, if the dump has it.
    #[inline]
    pub(crate) fn get(&self, index: u64) -> Option<Name> {
        let code = *self.codes.get(usize::try_from(index).ok()?)?;
        if code & SPECIAL == 0 {
            return Some(Name::Plain(StringId(code)));
        }
        self.specials.get((code & !SPECIAL) as usize).map(|&(id, special)| Name::Special(id, special))
    }

    fn code(&mut self, raw: &[u8], writer: &Writer) -> Result<u32, Stop> {
        let special = match raw {
            [b'0'..=b'9', ..] => {
                element_number(raw).map(Special::Number).or_else(|| EntryName::read(raw).map(Special::EntryName))
            }
            _ => None,
        };
        // Entries of WeakMaps become references that need no such name.
        let id = if matches!(special, Some(Special::EntryName(_))) { None } else { Some(self.record(raw, writer)?) };
        let code = match (id, special) {
            (Some(id), None) => id.0,
            (id, special) => {
                self.specials.extend(special.map(|special| (id, special)));
                SPECIAL | u32::try_from(self.specials.len() - 1).unwrap_or(u32::MAX)
            }
        };
        if id.is_some_and(|id| id.0 >= SPECIAL) || self.specials.len() >= SPECIAL as usize {
            let (value, limit) = (self.codes.len() as u64, u64::from(SPECIAL));
            return Err(Damage::OutOfRange { what: "the number of strings", offset: 0, value, limit }.into());
        }
        Ok(code)
    }

    fn record(&mut self, raw: &[u8], writer: &Writer) -> Result<StringId, Stop> {
        let text = unescaped(raw);
        self.replaced += u64::from(text.contains(char::REPLACEMENT_CHARACTER));
        Ok(writer.string(&text)?)
    }
}

/// A number as V8 writes it.
fn element_number(raw: &[u8]) -> Option<u32> {
    let is_number = raw.len() <= 10 && raw.iter().all(u8::is_ascii_digit) && (raw.len() == 1 || raw[0] != b'0');
    if is_number { str::from_utf8(raw).ok()?.parse().ok() } else { None }
}

/// Decodes a JSON string. V8 writes half of a surrogate pair where a JavaScript string has one, and
/// invalid UTF-8 may occur in any dump: both become U+FFFD.
fn unescaped(raw: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', raw).is_none() {
        return String::from_utf8_lossy(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(plain) = memchr::memchr(b'\\', rest) {
        text.push_str(&String::from_utf8_lossy(&rest[..plain]));
        rest = &rest[plain + 1..];
        let (escaped, length) = match rest.first() {
            Some(b'n') => ('\n', 1),
            Some(b't') => ('\t', 1),
            Some(b'r') => ('\r', 1),
            Some(b'b') => ('\u{8}', 1),
            Some(b'f') => ('\u{c}', 1),
            Some(b'u') => unicode_escape(rest),
            Some(&other) if other.is_ascii() => (char::from(other), 1),
            // The first byte of a character: it follows as it is.
            _ => ('\\', 0),
        };
        text.push(escaped);
        rest = &rest[length..];
    }
    text.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(text)
}

/// The character of `uXXXX` or `uXXXX\uXXXX`, and how long that is.
fn unicode_escape(rest: &[u8]) -> (char, usize) {
    let unit = |at: usize| {
        let digits = rest.get(at..at + 5)?.strip_prefix(b"u")?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, 1) };
    if let Some(character) = char::from_u32(first.into()) {
        return (character, 5);
    }
    let second = if rest.get(5) == Some(&b'\\') { unit(6) } else { None };
    let pair = char::decode_utf16([Some(first), second].into_iter().flatten()).next();
    match pair {
        Some(Ok(character)) => (character, 11),
        _ => (char::REPLACEMENT_CHARACTER, 5),
    }
}

/// The closing quote of the string whose first byte is at `start`.
pub(crate) fn string_end(dump: &[u8], start: usize) -> Result<usize, Damage> {
    let mut at = start;
    loop {
        let rest = dump.get(at..).unwrap_or_default();
        match memchr::memchr2(b'"', b'\\', rest) {
            Some(found) if rest[found] == b'"' => return Ok(at + found),
            Some(found) => at += found + 2,
            None => return Err(Damage::Ends { length: dump.len() as u64, inside: "a string" }),
        }
    }
}

pub(crate) fn skip_space(dump: &[u8], at: usize) -> usize {
    let rest = dump.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Fails unless `byte` is at `at`.
pub(crate) fn expect(dump: &[u8], at: usize, byte: u8, expected: &'static str) -> Result<(), Damage> {
    match dump.get(at) {
        Some(&found) if found == byte => Ok(()),
        Some(&found) => {
            Err(Damage::Unexpected { found: format!("{:?}", char::from(found)), offset: at as u64, expected })
        }
        None => Err(Damage::Ends { length: dump.len() as u64, inside: expected }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        let text = |raw: &str| unescaped(raw.as_bytes()).into_owned();
        assert_eq!(text("plain größer"), "plain größer");
        assert_eq!(text(r#"a\n\t\r\b\f\\\/\"z"#), "a\n\t\r\u{8}\u{c}\\/\"z");
        assert_eq!(text(r"\u0041\u00e9\u20AC\ud83d\ude00!"), "Aé€😀!");
        assert_eq!(text(r"\ud83d!"), "\u{fffd}!", "half of a pair");
        assert_eq!(text(r"\ude00\ud83d"), "\u{fffd}\u{fffd}", "two halves in the wrong order");
        assert_eq!(text(r"\ud83d\u0041"), "\u{fffd}A");
        assert_eq!(text(r"\u00"), "\u{fffd}00");
        assert_eq!(text(r"\uu+12"), "\u{fffd}u+12");
        assert_eq!(unescaped(b"\xff\\n\xfe"), "\u{fffd}\n\u{fffd}");
        assert_eq!(unescaped(b"\\\xc3\xa9"), "\\é");
        assert_eq!(unescaped(b"end\\"), "end\\");
    }

    #[test]
    fn strings_are_found_by_number() {
        let many = (0..300).map(|number| format!("\"s{number}\\\"\"")).collect::<Vec<_>>().join(" ,\n");
        let dump = format!("[ {many} ] }}");
        let (strings, found) = Strings::find(dump.as_bytes(), 1);
        assert_eq!(found, Ok(()));
        assert_eq!((strings.len(), strings.end()), (300, dump.len() - 2));
        for number in [0, 1, 63, 64, 65, 299] {
            assert_eq!(strings.text(number).as_deref(), Some(&*format!("s{number}\"")));
        }
        assert_eq!(strings.text(300), None);
    }

    #[test]
    fn what_is_cut_off_is_not_there() {
        let dump = br#"["one","two","thr"#;
        let (strings, found) = Strings::find(dump, 1);
        assert_eq!(found, Err(Damage::Ends { length: 17, inside: "a string" }));
        assert_eq!(strings.len(), 2);
        assert_eq!(strings.text(1).as_deref(), Some("two"));
        assert_eq!(strings.text(2), None);
        let (strings, found) = Strings::find(b"[]", 1);
        assert_eq!((strings.len(), found), (0, Ok(())));
        let (_, found) = Strings::find(b"[7]", 1);
        assert_eq!(found.expect_err("a number").to_string(), "'7' at byte 1, expected a string");
    }

    #[test]
    fn numbers_and_pairs_are_special() {
        assert_eq!(element_number(b"0"), Some(0));
        assert_eq!(element_number(b"4294967295"), Some(u32::MAX));
        assert_eq!(element_number(b"4294967296"), None);
        assert_eq!(element_number(b"007"), None);
        assert_eq!(element_number(b"7a"), None);
    }
}
