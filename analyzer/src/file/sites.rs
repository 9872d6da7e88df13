//! Allocation sites: where in the program objects come from.
//!
//! ```text
//!   SITE column        SITES table                         recordings of 1.0 have the numbers only,
//!   object 7: 3   ──▶  3  build (tree.rb:12)  caller 2      and a number without a row is no error
//!                      2  main (app.rb:4)     caller none
//! ```
//!
//! Sites that differ in nothing but their attributes are one *place*, which goes by the number of the first of
//! them: Ruby's objects of one line have a site for each generation that they were allocated in.
//!
//! The table is loaded when the first question needs it, and every id in it is checked then.

use barrow_format::codec::Decompressor;
use barrow_format::commit::TableCounts;
use barrow_format::frame::SectionType;
use barrow_format::rows::Site;
use barrow_format::{FormatError, SiteId};
use foldhash::HashMap;

use crate::error::{AnalyzerError, Result};
use crate::file::tables::{CheckedRow, TableRoom, Tables, append, below, chunk_at};

/// The site table of a recording.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    rows: Vec<Site>,
    /// By row: the number of the first site at the same place.
    places: Vec<SiteId>,
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
        sites.places = places_of(&sites.rows);
        Ok(sites)
    }

    /// The first site at the same place as this one; of one without a row, itself.
    pub(crate) fn place_of(&self, id: SiteId) -> SiteId {
        id.index().checked_sub(1).and_then(|row| self.places.get(row)).copied().unwrap_or(id)
    }

    /// The collection in which what a site has allocated was allocated, if it says so.
    pub(crate) fn generation(&self, id: SiteId, tables: &Tables) -> Option<u64> {
        let site = self.rows.get(id.index().checked_sub(1)?)?;
        let generation = site.attributes.iter().find(|&&(key, _)| tables.string(key) == GENERATION);
        generation.and_then(|&(_, value)| tables.string(value).parse().ok())
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

/// The attribute that tells the generation.
pub(crate) const GENERATION: &str = "generation";

/// For each row the number of the first site at the same place.
fn places_of(rows: &[Site]) -> Vec<SiteId> {
    let (mut first, mut places) = (HashMap::default(), Vec::<SiteId>::with_capacity(rows.len()));
    for (id, site) in (1..).map(SiteId).zip(rows) {
        // Callers stand before what they call.
        let caller = site.caller.map(|caller| caller.index().checked_sub(1).map_or(caller, |row| places[row]));
        let place = (site.function, site.file, site.line, site.column, caller);
        places.push(*first.entry(place).or_insert(id));
    }
    places
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
