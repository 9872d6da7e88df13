//! The tables of a dump: strings, types and frames, which all snapshots share.

use super::collectables::Collectable;
use super::kinds::{FRAME, Kind};
use crate::error::Damage;
use std::borrow::Cow;

/// The tables read so far.
#[derive(Debug, Default)]
pub(crate) struct Tables<'a> {
    strings: Vec<Cow<'a, str>>,
    /// REPR name and type name, as rows of `strings`.
    types: Vec<[u32; 2]>,
    /// Name, cuid, line and file; all but the line are rows of `strings`.
    frames: Vec<[u32; 4]>,
    escaped_strings: u64,
}

/// A static frame: a routine or block, which call frames are instances of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameRow<'t> {
    pub(crate) name: &'t str,
    /// Unique within its compilation unit.
    pub(crate) cuid: &'t str,
    pub(crate) line: u32,
    pub(crate) file: &'t str,
}

impl<'a> Tables<'a> {
    /// Appends a string; bytes that are not UTF-8 become `\xNN`.
    pub(crate) fn push_string(&mut self, bytes: &'a [u8]) {
        let text = self.recordable(bytes);
        self.strings.push(text);
    }

    /// Appends a string that must be copied.
    pub(crate) fn push_owned_string(&mut self, bytes: &[u8]) {
        let text = self.recordable(bytes).into_owned();
        self.strings.push(Cow::Owned(text));
    }

    /// The text of a string as a recording can hold it. Counts escaped strings.
    fn recordable<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, str> {
        let text = escape_invalid(bytes, "\\x");
        self.escaped_strings += u64::from(matches!(text, Cow::Owned(_)));
        text
    }

    /// Counts strings that were escaped elsewhere.
    pub(crate) fn count_escaped(&mut self, strings: u64) {
        self.escaped_strings += strings;
    }

    /// Appends a type: REPR name and type name, as numbers of strings.
    pub(crate) fn push_type(&mut self, row: [u32; 2]) {
        self.types.push(row);
    }

    /// Appends a frame: name, cuid and file as numbers of strings, and between them the line.
    pub(crate) fn push_frame(&mut self, row: [u32; 4]) {
        self.frames.push(row);
    }

    /// All strings, by number.
    pub(crate) fn strings(&self) -> &[Cow<'a, str>] {
        &self.strings
    }

    /// Checks that the type or frame of a collectable exists, with its strings.
    ///
    /// # Errors
    /// [`Damage::OutOfRange`] with the number that does not exist.
    #[inline]
    pub(crate) fn check_type(&self, kind: Kind, collectable: &Collectable) -> Result<(), Damage> {
        let index = usize::try_from(collectable.type_index).unwrap_or(usize::MAX);
        let largest_string = if kind.is_root() {
            return Ok(());
        } else if kind == FRAME {
            let &[name, cuid, _, file] = self
                .frames
                .get(index)
                .ok_or_else(|| unknown("the frame of a collectable", collectable, self.frames.len()))?;
            name.max(cuid).max(file)
        } else {
            let &[layout, name] = self
                .types
                .get(index)
                .ok_or_else(|| unknown("the type of a collectable", collectable, self.types.len()))?;
            layout.max(name)
        };
        if largest_string as usize >= self.strings.len() {
            return Err(Damage::OutOfRange {
                what: "the name of a collectable's type",
                offset: collectable.offset,
                value: largest_string.into(),
                limit: self.strings.len() as u64,
            });
        }
        Ok(())
    }

    /// REPR name and name of a type that was checked.
    pub(crate) fn type_names(&self, index: usize) -> (&str, &str) {
        let [layout, name] = self.types.get(index).copied().unwrap_or_default();
        (self.string(layout), self.string(name))
    }

    /// A frame that was checked.
    pub(crate) fn frame(&self, index: usize) -> FrameRow<'_> {
        let [name, cuid, line, file] = self.frames.get(index).copied().unwrap_or_default();
        FrameRow { name: self.string(name), cuid: self.string(cuid), line, file: self.string(file) }
    }

    fn string(&self, index: u32) -> &str {
        self.strings.get(index as usize).map_or("", |text| text)
    }

    /// Notes for the user on the tables.
    pub(crate) fn notes(&self) -> Vec<String> {
        match self.escaped_strings {
            0 => Vec::new(),
            escaped => vec![format!("{escaped} strings are not UTF-8; their invalid bytes are written as \\xNN")],
        }
    }
}

/// The damage if a collectable's row in a table of `rows` does not exist.
#[cold]
fn unknown(what: &'static str, collectable: &Collectable, rows: usize) -> Damage {
    Damage::OutOfRange { what, offset: collectable.offset, value: collectable.type_index, limit: rows as u64 }
}

/// The text of `bytes`, where each byte that is not UTF-8 is written as `prefix` and two digits.
pub(crate) fn escape_invalid<'b>(bytes: &'b [u8], prefix: &str) -> Cow<'b, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        escaped.push_str(chunk.valid());
        for byte in chunk.invalid() {
            escaped.push_str(&format!("{prefix}{byte:02x}"));
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_invalid_bytes_are_escaped() {
        assert_eq!(escape_invalid("naïve".as_bytes(), "\\x"), "naïve");
        assert_eq!(escape_invalid(b"a\xffb\xc3", "\\x"), "a\\xffb\\xc3");
    }

    #[test]
    fn changed_strings_are_noted() {
        let mut tables = Tables::default();
        tables.push_string(b"fine");
        assert_eq!(tables.notes(), Vec::<String>::new());
        tables.push_string(b"\xff");
        tables.push_owned_string(b"\xfe");
        assert_eq!(tables.notes(), ["2 strings are not UTF-8; their invalid bytes are written as \\xNN"]);
    }
}
