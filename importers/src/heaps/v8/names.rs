//! The strings of a dump in the recording.

use std::borrow::Cow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::ephemerons::EntryName;
use super::parallel::for_each_unit;
use super::strings::{Strings, unescaped};
use super::structure::StructureNames;
use crate::context::Context;
use crate::error::{Damage, ImportError, Stop};
use barrow_writer::{MAX_TEXT_BYTES, Shortened, StringId, Writer};

/// The strings of a dump in the recording, by their numbers in the dump.
#[derive(Default)]
pub(crate) struct Names {
    /// A row of the recording's strings, or [`NUMBER`] and a row of `numbers`, or [`ENTRY`] and one of `entries`.
    codes: Vec<u32>,
    /// Numbers of elements, with their strings.
    numbers: Vec<(StringId, u32)>,
    /// These have no string in the recording.
    entries: Vec<EntryName>,
    /// The strings of [`WellKnown::TEXTS`], where the dump has them.
    well_known: [Option<StringId>; WellKnown::TEXTS.len()],
    pub(crate) replaced: u64,
}

/// A string with a meaning here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WellKnown {
    /// The names of references from a concatenated string to its parts.
    First,
    Second,
    /// The name of the reference from a number to its text.
    Value,
    /// The name of nodes of constants of the language. Each refers first to its text.
    Oddball,
    /// The texts of constants that programs see.
    False,
    True,
    Null,
    Undefined,
    /// The name of small numbers, which only snapshots with numeric values have.
    SmallNumber,
}

impl WellKnown {
    /// In this order.
    const TEXTS: [&str; 9] =
        ["first", "second", "value", "system / Oddball", "false", "true", "null", "undefined", "smi number"];
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
    /// Only names of objects are strings of the recording.
    Special(Option<StringId>, Special),
}

/// Number of strings that a thread decodes at a time. Those of V8 have at most 1,024 characters.
const UNIT_STRINGS: usize = 1024;
/// A unit of more bytes is decoded string by string in its turn.
const MAX_DECODED_BYTES: usize = 4 << 20;
/// Interval at which a thread that waits for its turn checks for cancellation.
const WAIT: Duration = Duration::from_millis(20);

/// Strings that were decoded and wait for their turn.
#[derive(Default)]
struct DecodedStrings {
    /// All texts, concatenated.
    texts: String,
    /// The end of each text, and its meaning beyond a name.
    strings: Vec<(usize, Option<Special>)>,
}

impl DecodedStrings {
    fn decode<'s>(&mut self, raw: impl Iterator<Item = &'s [u8]>, longest: usize) {
        self.texts.clear();
        self.strings.clear();
        for raw in raw {
            self.texts.push_str(&shortened(&marked(unescaped(raw)), longest));
            self.strings.push((self.texts.len(), special(raw)));
        }
    }
}

/// The names so far, and the number of the next unit of strings.
#[derive(Default)]
struct Turns {
    names: Names,
    next: usize,
    has_failed: bool,
}

impl Names {
    /// Enters all strings into the recording, or only those to keep: others become empty. Threads decode them; they
    /// are numbered in their order.
    pub(crate) fn record(
        strings: &Strings<'_>,
        kept: Option<&StructureNames>,
        context: &Context<'_>,
    ) -> Result<Names, Stop> {
        let longest = context.options.contents.longest_text().unwrap_or(MAX_TEXT_BYTES);
        let mut turns = Turns::default();
        turns.names.codes.reserve_exact(strings.len());
        let (turns, changed) = (Mutex::new(turns), Condvar::new());
        for_each_unit(
            context,
            strings.len().div_ceil(UNIT_STRINGS),
            || Ok(DecodedStrings::default()),
            |decoded, unit| {
                let bytes = strings.range_of(unit * UNIT_STRINGS, UNIT_STRINGS);
                let is_decoded = bytes.len() <= MAX_DECODED_BYTES;
                if is_decoded {
                    decoded.decode(raw_of_unit(strings, kept, unit), longest);
                }
                let mut turns = wait(&turns, &changed, unit, context)?;
                let added = match is_decoded {
                    true => turns.names.add_decoded(decoded, context.writer),
                    false => raw_of_unit(strings, kept, unit).try_for_each(|raw| {
                        turns.names.add(&shortened(&marked(unescaped(raw)), longest), special(raw), context.writer)
                    }),
                };
                turns.next += 1;
                turns.has_failed |= added.is_err();
                drop(turns);
                changed.notify_all();
                context.progress.advance(bytes.len() as u64);
                context.release(bytes);
                added
            },
            |_| Ok(()),
        )?;
        Ok(turns.into_inner().unwrap_or_else(PoisonError::into_inner).names)
    }

    /// A well-known string, if the dump has it. The writer may have forgotten the text, and would make another
    /// string.
    pub(crate) fn well_known(&self, string: WellKnown) -> Option<StringId> {
        self.well_known[string as usize]
    }

    /// The string of this number, if it is no more than a name.
    #[inline]
    pub(crate) fn plain(&self, index: u64) -> Option<StringId> {
        let code = *self.codes.get(usize::try_from(index).ok()?)?;
        (code < ENTRY).then_some(StringId(code))
    }

    /// The value of the string of this number, if the string is a number.
    #[inline]
    pub(crate) fn number(&self, index: u64) -> Option<u32> {
        let code = *self.codes.get(usize::try_from(index).ok()?)?;
        self.numbers.get(code.checked_sub(NUMBER)? as usize).map(|&(_, number)| number)
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

    fn add_decoded(&mut self, decoded: &DecodedStrings, writer: &Writer) -> Result<(), Stop> {
        let mut start = 0;
        for &(end, special) in &decoded.strings {
            self.add(&decoded.texts[start..end], special, writer)?;
            start = end;
        }
        Ok(())
    }

    /// Adds the next string.
    fn add(&mut self, text: &str, special: Option<Special>, writer: &Writer) -> Result<(), Stop> {
        let (mark, row) = match special {
            // Entries of WeakMaps become references that need no such name.
            Some(Special::EntryName(entry)) => {
                self.entries.push(entry);
                (ENTRY, self.entries.len() - 1)
            }
            Some(Special::Number(number)) => {
                self.numbers.push((writer.string(text)?, number));
                (NUMBER, self.numbers.len() - 1)
            }
            None => {
                self.replaced += u64::from(text.contains(char::REPLACEMENT_CHARACTER));
                let well_known = WellKnown::TEXTS.iter().position(|known| *known == text);
                let string = match well_known.and_then(|at| self.well_known[at]) {
                    Some(string) => string,
                    None => writer.string(text)?,
                };
                if let Some(at) = well_known {
                    self.well_known[at] = Some(string);
                }
                (0, string.0 as usize)
            }
        };
        let Some(row) = u32::try_from(row).ok().filter(|&row| row < ENTRY) else {
            let (value, limit) = (self.codes.len() as u64, u64::from(ENTRY));
            return Err(Damage::OutOfRange { what: "the number of strings", offset: 0, value, limit }.into());
        };
        self.codes.push(mark | row);
        Ok(())
    }
}

/// The strings of a unit; those not kept are empty.
fn raw_of_unit<'s>(
    strings: &'s Strings<'_>,
    kept: Option<&'s StructureNames>,
    unit: usize,
) -> impl Iterator<Item = &'s [u8]> {
    let first = unit * UNIT_STRINGS;
    let strings = (first..).zip(strings.raw_from(first).take(UNIT_STRINGS));
    strings.map(move |(number, raw)| if kept.is_none_or(|kept| kept.contains(number)) { raw } else { b"" })
}

/// Waits until `unit` is next.
fn wait<'t>(
    turns: &'t Mutex<Turns>,
    changed: &Condvar,
    unit: usize,
    context: &Context<'_>,
) -> Result<MutexGuard<'t, Turns>, Stop> {
    // A thread that panicked or was cancelled never takes its turn, so the others must not wait for it.
    let mut guard = turns.lock().map_err(|_| ImportError::Cancelled)?;
    while guard.next != unit {
        if guard.has_failed {
            return Err(ImportError::Cancelled.into());
        }
        context.check_cancelled()?;
        (guard, _) = changed.wait_timeout(guard, WAIT).map_err(|_| ImportError::Cancelled)?;
    }
    Ok(guard)
}

/// V8 writes at most this number of UTF-16 units of a string, so a string with exactly as many may be cut.
pub(crate) const WHOLE_UNITS: usize = 1024;
/// The end of a text that may be cut.
pub(crate) const MARK: char = '…';

/// Returns whether V8 may have written only the beginning of a string.
pub(crate) fn may_go_on(text: &str) -> bool {
    text.len() >= WHOLE_UNITS && text.encode_utf16().count() == WHOLE_UNITS
}

fn marked(mut text: Cow<'_, str>) -> Cow<'_, str> {
    if may_go_on(&text) {
        text.to_mut().push(MARK);
    }
    text
}

/// Shortens a text to at most `longest` bytes.
pub(crate) fn shortened(text: &str, longest: usize) -> Cow<'_, str> {
    // The writer counts texts that are too long for it.
    if longest >= MAX_TEXT_BYTES { text.into() } else { Shortened::default().shorten(text, longest) }
}

/// The meaning of a string beyond a name.
fn special(raw: &[u8]) -> Option<Special> {
    match raw {
        [b'0'..=b'9', ..] => {
            element_number(raw).map(Special::Number).or_else(|| EntryName::read(raw).map(Special::EntryName))
        }
        _ => None,
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
