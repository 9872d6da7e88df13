//! Format 1: text.
//!
//! ```text
//!   # a comment
//!   strings: ["P6opaque","Document"]                        JSON
//!   types: 0,1;…                                            REPR name, name
//!   static_frames: 2,3,14,4;…                               name, cuid, line, file
//!
//!   snapshot 0
//!   collectables: 9,0,0,0,0,1;1,0,24,0,0,0;…                kind, type, size, unmanaged, first reference, count
//!   references: 2,5,1;…                                     kind, description, target
//! ```
//!
//! Every line ends with a newline: without it the last number could be half of one. The tables may
//! come after the snapshots, so all lines are found first.

use super::collectables::{Collectable, Collectables, Run, RunLengths};
use super::header::is_ignored;
use super::reading::{CheckedSnapshot, NextSnapshot, RECORDS_PER_QUESTION, ReadContext, Snapshots};
use super::references::{Limits, ReferenceRows, References};
use super::tables::escape_invalid;
use crate::error::{Damage, Stop};
use std::borrow::Cow;

/// Finds all snapshots of a dump, and reads the tables.
///
/// # Errors
/// Those of the system. Damage to the dump is reported after the snapshots before it.
pub(crate) fn snapshots<'a>(dump: &'a [u8], reading: &mut ReadContext<'a>) -> Result<TextSnapshots<'a>, Stop> {
    let mut snapshots = Vec::new();
    let end = match find_lines(dump, &mut snapshots, reading) {
        Err(Stop::Import(error)) => return Err(Stop::Import(error)),
        end => end,
    };
    Ok(TextSnapshots { dump, count: snapshots.len() as u64, left: snapshots.into_iter(), number: 0, end })
}

/// The snapshots of a dump that were found.
pub(crate) struct TextSnapshots<'a> {
    dump: &'a [u8],
    count: u64,
    left: std::vec::IntoIter<SnapshotLines<'a>>,
    /// The number of the next one.
    number: u64,
    /// The reason why no more were found.
    end: Result<(), Stop>,
}

impl TextSnapshots<'_> {
    fn take_end(&mut self) -> Result<(), Stop> {
        std::mem::replace(&mut self.end, Ok(()))
    }
}

impl<'a> Snapshots<'a> for TextSnapshots<'a> {
    type Collectables = TextRows<'a, 6>;
    type References = ReferenceRows;

    fn next(&mut self, reading: &mut ReadContext<'a>) -> NextSnapshot<Self::Collectables, Self::References> {
        let Some(lines) = self.left.next() else { return self.take_end().map(|()| None) };
        let number = self.number;
        self.number += 1;
        let SnapshotLines { collectables: Some(collectables), references: Some(references), .. } = lines else {
            // The last snapshot before the damage lacks what was damaged.
            self.take_end().map_err(|stop| stop.in_snapshot(number))?;
            return Err(lines.incomplete(self.dump, self.number == self.count).in_snapshot(number));
        };
        let references = read_references(references, collectables.count(), reading);
        let references = references.map_err(|stop| stop.in_snapshot(number))?;
        CheckedSnapshot::new(number, collectables, references, reading).map(Some)
    }
}

fn read_references(
    rows: TextRows<'_, 3>,
    collectable_count: u64,
    reading: &ReadContext<'_>,
) -> Result<ReferenceRows, Stop> {
    let string_count = reading.tables.strings().len() as u64;
    let limits = Limits::new(collectable_count, string_count, rows.offset)?;
    let mut references = ReferenceRows::new(rows.count(), limits, rows.offset)?;
    let mut reported = rows.offset;
    rows.for_each_row(|[kind, value, target], offset| {
        references.push(u8::try_from(kind).unwrap_or(u8::MAX), value, target, offset)?;
        if references.len() % RECORDS_PER_QUESTION == 0 {
            reading.progress.advance(offset - reported);
            reported = offset;
            reading.check_cancelled()?;
        }
        Ok(())
    })?;
    reading.progress.advance(rows.end() - reported);
    Ok(references)
}

/// The lines of one snapshot that were found.
struct SnapshotLines<'a> {
    offset: u64,
    collectables: Option<TextRows<'a, 6>>,
    references: Option<TextRows<'a, 3>>,
}

impl SnapshotLines<'_> {
    /// The reason why a snapshot without damage is incomplete.
    fn incomplete(&self, dump: &[u8], is_last: bool) -> Stop {
        if is_last {
            return Damage::Ends { length: dump.len() as u64, inside: "a snapshot, before its last line" }.into();
        }
        let found = "a snapshot that has not both collectables and references".to_string();
        Damage::Unexpected { found, offset: self.offset, expected: "both lines" }.into()
    }
}

/// Finds all lines, and reads the tables among them.
fn find_lines<'a>(
    dump: &'a [u8],
    snapshots: &mut Vec<SnapshotLines<'a>>,
    reading: &mut ReadContext<'_>,
) -> Result<(), Stop> {
    let mut offset = 0;
    while offset < dump.len() {
        reading.check_cancelled()?;
        let rest = &dump[offset..];
        let Some(length) = rest.iter().position(|&byte| byte == b'\n') else {
            return Err(Damage::Ends { length: dump.len() as u64, inside: "a line" }.into());
        };
        let line = &rest[..length];
        let noted = if is_ignored(line) { 0 } else { read_line(line, offset as u64, snapshots, reading)? };
        reading.progress.advance((length + 1 - noted) as u64);
        offset += length + 1;
    }
    Ok(())
}

/// Reads a table, or notes a line of a snapshot. Returns the number of bytes left for later.
fn read_line<'a>(
    line: &'a [u8],
    offset: u64,
    snapshots: &mut Vec<SnapshotLines<'a>>,
    reading: &mut ReadContext<'_>,
) -> Result<usize, Stop> {
    let line = line.trim_ascii_end();
    let key_length = line.iter().position(|&byte| byte == b':' || byte == b' ').unwrap_or(line.len());
    let (key, value) = line.split_at(key_length);
    let value = value.strip_prefix(b":").unwrap_or(value);
    let text = value.trim_ascii_start();
    let text_offset = offset + (line.len() - text.len()) as u64;
    match (key, snapshots.last_mut()) {
        (b"strings", _) => read_strings(text, text_offset, reading)?,
        (b"types", _) => TextRows::<2>::new(text, text_offset).for_each_row(|row, offset| {
            reading.tables.push_type([u32_of(row[0], offset)?, u32_of(row[1], offset)?]);
            Ok(())
        })?,
        (b"static_frames", _) => {
            TextRows::<4>::new(text, text_offset).for_each_row(|[name, cuid, line, file], offset| {
                let row = [u32_of(name, offset)?, u32_of(cuid, offset)?, u32_of(line, offset)?, u32_of(file, offset)?];
                reading.tables.push_frame(row);
                Ok(())
            })?
        }
        (b"snapshot", _) => snapshots.push(SnapshotLines { offset, collectables: None, references: None }),
        (b"collectables", Some(snapshot)) if snapshot.collectables.is_none() => {
            let rows = snapshot.collectables.insert(TextRows::new(text, text_offset));
            return Ok(rows.text.len());
        }
        (b"references", Some(snapshot)) if snapshot.references.is_none() => {
            let rows = snapshot.references.insert(TextRows::new(text, text_offset));
            return Ok(rows.text.len());
        }
        (b"collectables" | b"references", _) => {
            return Err(unexpected(key, offset, "one such line after each line snapshot").into());
        }
        _ => return Err(unexpected(key, offset, "the key of a line").into()),
    }
    Ok(0)
}

fn unexpected(key: &[u8], offset: u64, expected: &'static str) -> Damage {
    let key: Vec<u8> = key.iter().take(20).copied().collect();
    Damage::Unexpected { found: format!("\"{}\"", key.escape_ascii()), offset, expected }
}

/// Reads a JSON array of strings.
fn read_strings(text: &[u8], offset: u64, reading: &mut ReadContext<'_>) -> Result<(), Damage> {
    // Two backslashes: JSON takes one of them.
    let valid = escape_invalid(text, "\\\\x");
    let strings = serde_json::from_str::<Vec<String>>(&valid).map_err(|error| Damage::Json {
        what: "the strings",
        offset,
        message: error.to_string(),
    })?;
    reading.tables.count_escaped(u64::from(matches!(valid, Cow::Owned(_))));
    strings.iter().for_each(|text| reading.tables.push_owned_string(text.as_bytes()));
    Ok(())
}

fn u32_of(value: u64, offset: u64) -> Result<u32, Damage> {
    let limit = u32::MAX.into();
    u32::try_from(value).map_err(|_| Damage::OutOfRange { what: "a number in a table", offset, value, limit })
}

/// Rows of `N` integers each: `,` between integers, `;` between rows, and perhaps a `;` at the end.
#[derive(Clone, Copy)]
pub(crate) struct TextRows<'a, const N: usize> {
    text: &'a [u8],
    /// The offset of the text in the dump.
    offset: u64,
}

impl<'a, const N: usize> TextRows<'a, N> {
    fn new(text: &'a [u8], offset: u64) -> Self {
        TextRows { text: text.strip_suffix(b";").unwrap_or(text), offset }
    }

    fn end(&self) -> u64 {
        self.offset + self.text.len() as u64
    }

    /// Number of rows.
    fn count(&self) -> u64 {
        if self.text.is_empty() {
            return 0;
        }
        1 + memchr::memchr_iter(b';', self.text).count() as u64
    }

    /// Visits each row with its offset.
    fn for_each_row(&self, mut visit: impl FnMut([u64; N], u64) -> Result<(), Stop>) -> Result<(), Stop> {
        let mut position = 0;
        while position < self.text.len() {
            let start = position;
            let mut row = [0; N];
            for (column, value) in row.iter_mut().enumerate() {
                (*value, position) = self.integer(position)?;
                let separator = if column + 1 < N { b',' } else { b';' };
                match self.text.get(position) {
                    Some(&found) if found == separator => position += 1,
                    None if separator == b';' => {}
                    _ => return Err(self.no_row(position).into()),
                }
            }
            visit(row, self.offset + start as u64)?;
        }
        Ok(())
    }

    /// Reads an integer. Returns it with the position after it.
    #[inline]
    fn integer(&self, start: usize) -> Result<(u64, usize), Damage> {
        let mut position = start;
        let mut value = 0_u64;
        while let Some(digit) = self.text.get(position).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
        {
            let shifted = value.checked_mul(10).and_then(|value| value.checked_add(digit.into()));
            value = shifted.ok_or_else(|| self.no_row(start))?;
            position += 1;
        }
        if position == start { Err(self.no_row(start)) } else { Ok((value, position)) }
    }

    #[cold]
    fn no_row(&self, position: usize) -> Damage {
        let rest = self.text.get(position..).unwrap_or_default();
        let found = rest.iter().take(24).copied().collect::<Vec<_>>();
        let offset = self.offset + position as u64;
        Damage::Unexpected { found: format!("\"{}\"", found.escape_ascii()), offset, expected: rows_of(N) }
    }
}

/// Describes rows of `N` integers, for errors.
fn rows_of(columns: usize) -> &'static str {
    match columns {
        2 => "rows of 2 integers of 64 bits",
        3 => "rows of 3 integers of 64 bits",
        4 => "rows of 4 integers of 64 bits",
        _ => "rows of 6 integers of 64 bits",
    }
}

impl<'a> Collectables for TextRows<'a, 6> {
    type Run = TextRun<'a>;

    fn unreported_bytes(&self) -> u64 {
        self.text.len() as u64
    }

    fn runs(&self) -> Result<impl Iterator<Item = Result<Self::Run, Stop>> + Send, Stop> {
        let mut rest = *self;
        Ok(RunLengths::of(self.count() as usize).map(move |length| {
            let end = memchr::memchr_iter(b';', rest.text).nth(length - 1);
            let (run, after) = rest.text.split_at(end.map_or(rest.text.len(), |end| end + 1));
            let run = TextRows { text: run, offset: rest.offset };
            rest = TextRows { text: after, offset: rest.offset + run.text.len() as u64 };
            Ok(TextRun { rows: run, length })
        }))
    }
}

/// Consecutive collectables.
pub(crate) struct TextRun<'a> {
    rows: TextRows<'a, 6>,
    length: usize,
}

impl Run for TextRun<'_> {
    fn len(&self) -> usize {
        self.length
    }

    fn for_each(&self, mut visit: impl FnMut(&Collectable) -> Result<(), Stop>) -> Result<(), Stop> {
        self.rows.for_each_row(|[kind, type_index, size, unmanaged, first_reference, reference_count], offset| {
            visit(&Collectable { offset, kind, type_index, size, unmanaged, first_reference, reference_count })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<([u64; 2], u64)>, String> {
        let mut found = Vec::new();
        let rows = TextRows::<2>::new(text.as_bytes(), 100);
        let read = rows.for_each_row(|row, offset| {
            found.push((row, offset));
            Ok(())
        });
        match read {
            Ok(()) => {
                assert_eq!(rows.count(), found.len() as u64);
                Ok(found)
            }
            Err(Stop::Damage(damage, _) | Stop::Partial(damage)) => Err(damage.to_string()),
            Err(Stop::Import(error)) => Err(error.to_string()),
        }
    }

    #[test]
    fn rows_are_read_with_their_offsets() {
        assert_eq!(rows(""), Ok(vec![]));
        assert_eq!(rows("1,2;30,18446744073709551615"), Ok(vec![([1, 2], 100), ([30, u64::MAX], 104)]));
        assert_eq!(rows("1,2;"), Ok(vec![([1, 2], 100)]));
    }

    #[test]
    fn other_text_is_refused_with_its_place() {
        let expected = "expected rows of 2 integers of 64 bits";
        for (text, offset, found) in [
            ("1;2", 101, ";2"),
            ("1,2,3", 103, ",3"),
            ("1,", 102, ""),
            ("1,-2", 102, "-2"),
            ("1,18446744073709551616", 102, "18446744073709551616"),
        ] {
            assert_eq!(rows(text), Err(format!("\"{found}\" at byte {offset}, {expected}")), "{text}");
        }
    }
}
