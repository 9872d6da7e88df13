//! The strings of a dump, which come last and to which everything else refers by number.

use std::borrow::Cow;
use std::ops::Range;

use super::ephemerons::{EntryName, entry_names};
use super::parallel::map_units;
use super::quotes::{QuoteState, Quotes};
use crate::context::Context;
use crate::error::{Damage, Stop};

/// Bytes that one thread scans at a time.
const PIECE_BYTES: usize = 256 << 10;
/// Maximum number of pieces scanned together: all are scanned twice while they are in memory.
const MAX_PIECES: usize = 64;
/// The position of one in this number of strings is remembered.
const STEP: usize = 64;

/// The strings of a dump, with its escapes.
pub(crate) struct Strings<'a> {
    dump: &'a [u8],
    /// The position of every [`STEP`]th string, after its quote.
    places: Vec<usize>,
    /// The entries of WeakMaps that strings name.
    entries: Vec<EntryName>,
    count: usize,
    /// The position after the `]`, or after the last whole string.
    end: usize,
}

/// The strings that begin in a piece of the array.
#[derive(Default)]
struct PieceStrings {
    /// The position of every [`STEP`]th string of the array.
    places: Vec<usize>,
    entries: Vec<EntryName>,
    count: usize,
    /// The end of the last of them, or of the array.
    end: usize,
    /// The end of the array, if it is in this piece.
    array_end: Option<Result<(), Damage>>,
    /// The position of the next string's quote.
    next: usize,
}

impl PieceStrings {
    /// The strings that begin in `piece`. Bytes before the first of them belong to the previous piece.
    fn of(dump: &[u8], piece: Range<usize>, before: QuoteState) -> PieceStrings {
        let text = &dump[..piece.end];
        let mut at = piece.start + usize::from(before.is_escaped);
        if before.quotes % 2 == 1 {
            let Ok(end) = string_end(text, at) else { return PieceStrings::default() };
            at = end + 1;
        }
        let quote = memchr::memchr(b'"', text.get(at..).unwrap_or_default());
        let Some(quote) = quote else { return PieceStrings::default() };
        // No text has 2^64 quotes.
        PieceStrings::walk(dump, at + quote, piece.end, before.quotes.div_ceil(2) as usize)
    }

    /// The strings that begin before `until`, from the quote at `first` on, which is that of string `number`.
    fn walk(dump: &[u8], first: usize, until: usize, number: usize) -> PieceStrings {
        let mut piece = PieceStrings { end: first, next: first, ..PieceStrings::default() };
        while piece.next < until && piece.array_end.is_none() {
            match piece.string(dump, number) {
                Ok(Some(next)) => piece.next = next,
                Ok(None) => piece.array_end = Some(Ok(())),
                Err(damage) => piece.array_end = Some(Err(damage)),
            }
        }
        piece.entries.extend(entry_names(dump.get(first + 1..piece.end).unwrap_or_default()));
        piece
    }

    /// Skips the next string, and returns the position of the one after it; `None` at the end of the array.
    fn string(&mut self, dump: &[u8], number: usize) -> Result<Option<usize>, Damage> {
        let end = string_end(dump, self.next + 1)?;
        if (number + self.count).is_multiple_of(STEP) {
            self.places.push(self.next + 1);
        }
        self.count += 1;
        self.end = end + 1;
        let at = skip_space(dump, end + 1);
        if dump.get(at) == Some(&b']') {
            self.end = at + 1;
            return Ok(None);
        }
        expect(dump, at, b',', "a comma or the end of the strings")?;
        let at = skip_space(dump, at + 1);
        expect(dump, at, b'"', "a string")?;
        Ok(Some(at))
    }
}

impl<'a> Strings<'a> {
    /// Finds the strings of the array whose first byte after `[` is at `start`, on all threads. If the array is cut
    /// or damaged, returns the strings before the damage.
    ///
    /// # Errors
    /// If the user cancels.
    pub(crate) fn find(
        dump: &'a [u8],
        start: usize,
        context: &Context<'_>,
    ) -> Result<(Strings<'a>, Result<(), Damage>), Stop> {
        Self::find_in_pieces(dump, start, PIECE_BYTES, context)
    }

    fn find_in_pieces(
        dump: &'a [u8],
        start: usize,
        piece_bytes: usize,
        context: &Context<'_>,
    ) -> Result<(Strings<'a>, Result<(), Damage>), Stop> {
        let mut strings = Strings { dump, places: Vec::new(), entries: Vec::new(), count: 0, end: start };
        let first = skip_space(dump, start);
        if dump.get(first) == Some(&b']') {
            strings.end = first + 1;
            return Ok((strings, Ok(())));
        }
        if let Err(damage) = expect(dump, first, b'"', "a string") {
            return Ok((strings, Err(damage)));
        }
        let found = strings.walk(first, piece_bytes, context)?;
        Ok((strings, found))
    }

    /// Scans the strings, the first of which is at `first`. The beginning is read by this thread: most damaged or
    /// small arrays end there. Then each window is twice as long as the one before, so that little is read in vain.
    fn walk(&mut self, first: usize, piece_bytes: usize, context: &Context<'_>) -> Result<Result<(), Damage>, Stop> {
        let beginning = PieceStrings::walk(self.dump, first, first + piece_bytes, 0);
        let (mut start, mut pieces) = (beginning.next, 1);
        if let Some(end) = self.add(beginning) {
            return Ok(end);
        }
        let mut before = QuoteState { quotes: 2 * self.count as u64, is_escaped: false };
        while start < self.dump.len() {
            let window = start..start.saturating_add(pieces * piece_bytes).min(self.dump.len());
            for piece in self.window(&window, piece_bytes, &mut before, context)? {
                if let Some(end) = self.add(piece) {
                    return Ok(end);
                }
            }
            context.progress.advance(window.len() as u64);
            start = window.end;
            context.release(window);
            pieces = (pieces * 2).min(MAX_PIECES);
        }
        // Unreachable: the last string finds the end of the dump.
        Ok(Err(Damage::Ends { length: self.dump.len() as u64, inside: "a string" }))
    }

    /// The strings that begin in a window, by piece. Moves `before` from its beginning to its end.
    fn window(
        &self,
        window: &Range<usize>,
        piece_bytes: usize,
        before: &mut QuoteState,
        context: &Context<'_>,
    ) -> Result<Vec<PieceStrings>, Stop> {
        let starts = window.clone().step_by(piece_bytes);
        let pieces: Vec<_> = starts.map(|start| start..(start + piece_bytes).min(window.end)).collect();
        let quotes = map_units(context, pieces.len(), |piece| Quotes::count(&self.dump[pieces[piece].clone()]))?;
        let befores: Vec<QuoteState> =
            quotes.into_iter().map(|quotes| std::mem::replace(before, quotes.after(*before))).collect();
        map_units(context, pieces.len(), |piece| PieceStrings::of(self.dump, pieces[piece].clone(), befores[piece]))
    }

    /// Adds the strings of the next piece. Returns the end of the array, if it is in the piece.
    fn add(&mut self, piece: PieceStrings) -> Option<Result<(), Damage>> {
        self.places.extend(piece.places);
        self.entries.extend(piece.entries);
        self.count += piece.count;
        if piece.count > 0 {
            self.end = piece.end;
        }
        piece.array_end
    }

    /// No strings at all.
    pub(crate) fn none(dump: &'a [u8]) -> Strings<'a> {
        Strings { dump, places: Vec::new(), entries: Vec::new(), count: 0, end: dump.len() }
    }

    /// Number of strings.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The position after the last byte.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// The range of the strings.
    pub(crate) fn range(&self) -> Range<usize> {
        self.places.first().copied().unwrap_or(self.end)..self.end
    }

    /// The range of `count` strings, from string `first` on: both are multiples of [`STEP`].
    pub(crate) fn range_of(&self, first: usize, count: usize) -> Range<usize> {
        let [start, end] =
            [first, first + count].map(|index| self.places.get(index / STEP).copied().unwrap_or(self.end));
        start..end
    }

    /// The text of a string. Slow: meant for names of types.
    pub(crate) fn text(&self, index: usize) -> Option<Cow<'a, str>> {
        self.raw(index).map(unescaped)
    }

    /// The first `bytes` bytes of a string, and possibly some more.
    pub(crate) fn beginning(&self, index: usize, bytes: usize) -> Option<Cow<'a, str>> {
        // A byte takes at most six, `\u0001`; the character that the end cuts lies behind the first `bytes`.
        let most = (bytes + 8).saturating_mul(6);
        self.raw(index).map(|raw| unescaped(&raw[..raw.len().min(most)]))
    }

    fn raw(&self, index: usize) -> Option<&'a [u8]> {
        let mut raw = self.raw_from(index / STEP * STEP);
        raw.nth(index % STEP).filter(|_| index < self.count)
    }

    /// The entries of WeakMaps that strings name.
    pub(crate) fn entries(&self) -> &[EntryName] {
        &self.entries
    }

    /// The strings with their escapes, from string `first` on: a multiple of [`STEP`].
    pub(crate) fn raw_from(&self, first: usize) -> impl Iterator<Item = &'a [u8]> {
        let dump = self.dump;
        let mut at = self.places.get(first / STEP).copied();
        let raw = std::iter::from_fn(move || {
            let start = at?;
            // The file may have changed since the strings were found; then they end here.
            let end = string_end(dump, start).ok()?;
            let next = dump.get(end + 1..)?.iter().position(|&byte| !(byte == b',' || byte.is_ascii_whitespace()));
            at = next.filter(|&next| dump[end + 1 + next] == b'"').map(|next| end + 1 + next + 1);
            dump.get(start..end)
        });
        raw.take(self.count.saturating_sub(first))
    }
}

/// Decodes a JSON string. V8 writes an unpaired surrogate as it is, and invalid UTF-8 may occur in any dump: both
/// become U+FFFD.
pub(crate) fn unescaped(raw: &[u8]) -> Cow<'_, str> {
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
            // The first byte of a character, which is copied later.
            _ => ('\\', 0),
        };
        text.push(escaped);
        rest = &rest[length..];
    }
    text.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(text)
}

/// The character of `uXXXX` or `uXXXX\uXXXX`, and its length.
fn unicode_escape(rest: &[u8]) -> (char, usize) {
    let Some(first) = utf16_unit(rest, 0) else { return (char::REPLACEMENT_CHARACTER, 1) };
    if let Some(character) = char::from_u32(first.into()) {
        return (character, 5);
    }
    let second = if rest.get(5) == Some(&b'\\') { utf16_unit(rest, 6) } else { None };
    let pair = char::decode_utf16([Some(first), second].into_iter().flatten()).next();
    match pair {
        Some(Ok(character)) => (character, 11),
        _ => (char::REPLACEMENT_CHARACTER, 5),
    }
}

fn utf16_unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 5)?.strip_prefix(b"u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
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
    use crate::context::tests::with_context;
    use proptest::prelude::*;

    fn find(dump: &[u8]) -> (Strings<'_>, Result<(), Damage>) {
        with_context(|context| Strings::find(dump, 1, context).expect("not cancelled"))
    }

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
        let (strings, found) = find(dump.as_bytes());
        assert_eq!(found, Ok(()));
        assert_eq!((strings.len(), strings.end()), (300, dump.len() - 2));
        for number in [0, 1, 63, 64, 65, 299] {
            assert_eq!(strings.text(number).as_deref(), Some(&*format!("s{number}\"")));
        }
        assert_eq!(strings.text(300), None);
    }

    proptest! {
        #[test]
        fn pieces_are_found_as_if_they_were_one(
            tokens in proptest::collection::vec(prop_oneof![
                Just("\","), Just("\""), Just("\\\""), Just("\\\\"), Just(","), Just(" "), Just("text"), Just("]"),
                Just("7 / part of key (a @3) -> value (b @5) pair in WeakMap (table @9)\",\""),
            ], 0..80),
            piece_bytes in 1_usize..40,
        ) {
            let dump = format!("[\"{}\"] ", tokens.concat());
            let expected = PieceStrings::walk(dump.as_bytes(), 1, usize::MAX, 0);
            let (strings, found) = with_context(|context| {
                Strings::find_in_pieces(dump.as_bytes(), 1, piece_bytes, context).expect("not cancelled")
            });
            prop_assert_eq!(Some(found), expected.array_end);
            prop_assert_eq!((strings.count, &strings.places), (expected.count, &expected.places));
            prop_assert_eq!((&strings.entries, strings.end), (&expected.entries, expected.end));
        }
    }

    #[test]
    fn what_is_cut_off_is_not_there() {
        let dump = br#"["one","two","thr"#;
        let (strings, found) = find(dump);
        assert_eq!(found, Err(Damage::Ends { length: 17, inside: "a string" }));
        assert_eq!(strings.len(), 2);
        assert_eq!(strings.text(1).as_deref(), Some("two"));
        assert_eq!(strings.text(2), None);
        let (strings, found) = find(b"[]");
        assert_eq!((strings.len(), found), (0, Ok(())));
        let (_, found) = find(b"[7]");
        assert_eq!(found.expect_err("a number").to_string(), "'7' at byte 1, expected a string");
    }
}
