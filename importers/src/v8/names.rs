//! What the strings of a dump are in the recording.

use super::ephemerons::EntryName;
use super::strings::{Strings, unescaped};
use crate::context::Context;
use crate::error::{Damage, Stop};
use barrow_writer::{StringId, Writer};

/// Progress is reported, and memory given back, after this many bytes of strings.
const TELL_BYTES: usize = 1 << 20;

/// What the strings of a dump are in the recording, by their numbers there.
#[derive(Default)]
pub(crate) struct Names {
    /// A row of the recording's strings, or [`NUMBER`] and a row of `numbers`, or [`ENTRY`] and one of `entries`.
    codes: Vec<u32>,
    /// Numbers of elements, with their strings.
    numbers: Vec<(StringId, u32)>,
    /// These have no string in the recording.
    entries: Vec<EntryName>,
    pub(crate) replaced: u64,
}

/// Marks the number of an element.
const NUMBER: u32 = 1 << 31;
/// Marks the name of an entry of a WeakMap.
const ENTRY: u32 = 1 << 30;

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
    /// Enters all strings into the recording.
    pub(crate) fn record(strings: &Strings<'_>, context: &Context<'_>) -> Result<Names, Stop> {
        let mut names = Names::default();
        names.codes.reserve_exact(strings.len());
        let whole = strings.range();
        let mut told = whole.start;
        for raw in strings.raw_from(0).into_iter().flatten().take(strings.len()) {
            let code = names.code(raw, context.writer)?;
            names.codes.push(code);
            let read = strings.offset(raw);
            if read - told > TELL_BYTES {
                context.check_cancelled()?;
                context.progress.advance((read - told) as u64);
                context.release(told..read);
                told = read;
            }
        }
        context.progress.advance((whole.end - told) as u64);
        context.release(told..whole.end);
        Ok(names)
    }

    /// The string of this number, if it is no more than a name.
    #[inline]
    pub(crate) fn plain(&self, index: u64) -> Option<StringId> {
        let code = *self.codes.get(usize::try_from(index).ok()?)?;
        (code < ENTRY).then_some(StringId(code))
    }

    /// The string of this number, if the dump has it.
    #[inline]
    pub(crate) fn get(&self, index: u64) -> Option<Name> {
        let code = *self.codes.get(usize::try_from(index).ok()?)?;
        if code >= NUMBER {
            let number = self.numbers.get((code - NUMBER) as usize);
            return number.map(|&(id, number)| Name::Special(Some(id), Special::Number(number)));
        }
        if code >= ENTRY {
            let entry = self.entries.get((code - ENTRY) as usize);
            return entry.map(|&entry| Name::Special(None, Special::EntryName(entry)));
        }
        Some(Name::Plain(StringId(code)))
    }

    /// The code of the next string.
    fn code(&mut self, raw: &[u8], writer: &Writer) -> Result<u32, Stop> {
        let (number, entry) = match raw {
            [b'0'..=b'9', ..] => match element_number(raw) {
                Some(number) => (Some(number), None),
                None => (None, EntryName::read(raw)),
            },
            _ => (None, None),
        };
        let (mark, row) = match (number, entry) {
            // Entries of WeakMaps become references that need no such name.
            (_, Some(entry)) => {
                self.entries.push(entry);
                (ENTRY, self.entries.len() - 1)
            }
            (Some(number), None) => {
                let id = self.row(raw, writer)?;
                self.numbers.push((id, number));
                (NUMBER, self.numbers.len() - 1)
            }
            (None, None) => (0, self.row(raw, writer)?.0 as usize),
        };
        match u32::try_from(row).ok().filter(|&row| row < ENTRY) {
            Some(row) => Ok(mark | row),
            None => {
                let (value, limit) = (self.codes.len() as u64, u64::from(ENTRY));
                Err(Damage::OutOfRange { what: "the number of strings", offset: 0, value, limit }.into())
            }
        }
    }

    fn row(&mut self, raw: &[u8], writer: &Writer) -> Result<StringId, Stop> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_pairs_are_special() {
        assert_eq!(element_number(b"0"), Some(0));
        assert_eq!(element_number(b"4294967295"), Some(u32::MAX));
        assert_eq!(element_number(b"4294967296"), None);
        assert_eq!(element_number(b"007"), None);
        assert_eq!(element_number(b"7a"), None);
    }
}
