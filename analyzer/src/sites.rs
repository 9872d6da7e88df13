//! Allocation sites: where in the program objects come from.
//!
//! ```text
//!   SITE column        SITES table                         recordings of 1.0 have the numbers only,
//!   object 7: 3   ──▶  3  build (tree.rb:12)  caller 2      and a number without a row is no error
//!                      2  main (app.rb:4)     caller none
//! ```
//!
//! The table is loaded when the first question needs it, and every id in it is checked then.

use barrow_format::codec::Decompressor;
use barrow_format::commit::TableCounts;
use barrow_format::frame::SectionType;
use barrow_format::rows::Site;
use barrow_format::{FormatError, SiteId};

use crate::error::{AnalyzerError, Result};
use crate::tables::{CheckedRow, TableRoom, Tables, append, below, chunk_at};

/// The site table of a recording.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    rows: Vec<Site>,
}

/// What a recording says of a site.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SiteDetails<'r> {
    /// The function.
    pub function: Option<&'r str>,
    /// The file it is in.
    pub file: Option<&'r str>,
    /// The line in it.
    pub line: Option<u32>,
    /// The column of that line.
    pub column: Option<u32>,
    /// Where the function was called. Its number is smaller, so that chains of callers end.
    pub caller: Option<SiteId>,
    /// What else the runtime knows: keys and values.
    pub attributes: Vec<(&'r str, &'r str)>,
}

impl SiteDetails<'_> {
    /// File and line, as `file:line`, as far as they are known.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let file = self.file?;
        Some(self.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
    }

    /// The site as people read it: `function (file:line)`, as far as they are known.
    #[must_use]
    pub fn title(&self) -> Option<String> {
        match (self.function, self.place()) {
            (Some(function), Some(place)) => Some(format!("{function} ({place})")),
            (Some(function), None) => Some(function.to_owned()),
            (None, place) => place,
        }
    }
}

impl Sites {
    /// Loads the chunks of the site table, and checks what they name in `tables`.
    pub(crate) fn load(file: &[u8], chunks: &[(SectionType, u64)], tables: &Tables) -> Result<Self> {
        let mut sites = Sites::default();
        let mut decompressor = Decompressor::new();
        let mut room = TableRoom::new(file);
        let known = tables.counts();
        for &(section, offset) in chunks.iter().filter(|(section, _)| *section == SectionType::SITES) {
            let before = sites.rows.len();
            chunk_at(file, section, offset, &mut room)
                .and_then(|chunk| append(&chunk, &mut decompressor, &mut sites.rows, |row| row))
                .and_then(|()| (0..).zip(&sites.rows).skip(before).try_for_each(|(id, row)| row.check(id, &known)))
                .map_err(AnalyzerError::section("SITES", offset))?;
        }
        Ok(sites)
    }

    /// How many sites have a row.
    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    /// What is known of a site; `None` if the recording has its number only.
    pub(crate) fn details<'r>(&'r self, id: SiteId, tables: &'r Tables) -> Option<SiteDetails<'r>> {
        let site = self.rows.get(id.index().checked_sub(1)?)?;
        let text = |id| tables.string(id);
        Some(SiteDetails {
            function: site.function.map(text),
            file: site.file.map(text),
            line: site.line,
            column: site.column,
            caller: site.caller,
            attributes: site.attributes.iter().map(|&(key, value)| (text(key), text(value))).collect(),
        })
    }
}

impl CheckedRow for Site {
    fn check(&self, id: u64, known: &TableCounts) -> Result<(), FormatError> {
        // Row 0 is site 1, so that a caller before the site has at most the row's number.
        if let Some(caller) = self.caller.filter(|caller| u64::from(caller.0) > id) {
            return Err(FormatError::OutOfRange { what: "caller of a site", value: caller.0.into(), limit: id });
        }
        let attributes = self.attributes.iter().flat_map(|&(key, value)| [key, value]);
        let mut names = self.function.into_iter().chain(self.file).chain(attributes);
        names.try_for_each(|text| below("string", text.0, known.strings))
    }
}
