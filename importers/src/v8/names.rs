//! What the strings of a dump are in the recording.

use super::ephemerons::EntryName;
use super::strings::{Strings, unescaped};
use crate::context::Context;
use crate::error::{Damage, Stop};
use barrow_writer::{StringId, Writer};

/// Progress is reported after this many bytes of strings.
const TELL_BYTES: u64 = 1 << 20;

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
    /// Enters all strings into the recording.
    pub(crate) fn record(strings: &Strings<'_>, context: &Context<'_>) -> Result<Names, Stop> {
        let mut names = Names::default();
        names.codes.reserve_exact(strings.len());
        let (mut read, mut told) = (0, 0);
        for raw in strings.raw_from(0).into_iter().flatten().take(strings.len()) {
            let code = names.code(raw, context.writer)?;
            names.codes.push(code);
            read += raw.len() as u64;
            if read - told > TELL_BYTES {
                context.check_cancelled()?;
                context.progress.advance(read - told);
                told = read;
            }
        }
        context.progress.advance((strings.bytes().len() as u64).saturating_sub(told));
        Ok(names)
    }

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
        let id = if matches!(special, Some(Special::EntryName(_))) { None } else { Some(self.row(raw, writer)?) };
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
