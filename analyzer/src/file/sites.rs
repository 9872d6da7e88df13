//! Allocation sites: the places in the program that allocate objects.
//!
//! ```text
//!   SITE column        SITES table                         recordings of 1.0 have only the numbers;
//!   object 7: 3   ──▶  3  build (tree.rb:12)  caller 2      a number without a row is not an error
//!                      2  main (app.rb:4)     caller none
//! ```
//!
//! Sites that differ only in their attributes belong to one *place*, which is identified by the first of them. In Ruby,
//! for example, a line has one site for each generation in which it allocated objects.
//!
//! The table is loaded when a question first needs it. All ids in it are checked then.

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
    /// For each row, the first site at the same place.
    places: Vec<SiteId>,
}

/// The attributes of an allocation site.
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
    /// The site that called the function. Callers have smaller numbers, so chains of callers end.
    pub caller: Option<SiteId>,
    /// Other attributes that the runtime recorded: keys and values.
    pub attributes: Vec<(&'r str, &'r str)>,
}

impl SiteDetails<'_> {
    /// File and line as `file:line`, without the line if it is unknown; `None` if the file is unknown.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let file = self.file?;
        Some(self.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
    }

    /// The display form of the site: the known parts of `function (file:line)`.
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
    /// Loads the chunks of the site table and checks their ids against `tables`.
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

    /// The first site at the same place; `id` itself if it has no row.
    pub(crate) fn place_of(&self, id: SiteId) -> SiteId {
        id.index().checked_sub(1).and_then(|row| self.places.get(row)).copied().unwrap_or(id)
    }

    /// The garbage collection in which the objects of a site were allocated, if the site has that attribute.
    pub(crate) fn generation(&self, id: SiteId, tables: &Tables) -> Option<u64> {
        let site = self.rows.get(id.index().checked_sub(1)?)?;
        let generation = site.attributes.iter().find(|&&(key, _)| tables.string(key) == GENERATION);
        generation.and_then(|&(_, value)| tables.string(value).parse().ok())
    }

    /// The number of sites that have a row.
    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    /// The attributes of a site; `None` if the recording has only its number.
    pub(crate) fn details<'r>(&'r self, id: SiteId, tables: &'r Tables) -> Option<SiteDetails<'r>> {
        let site = self.rows.get(id.index().checked_sub(1)?)?;
        Some(SiteDetails {
            function: site.function.map(|function| tables.string(function)),
            file: site.file.map(|file| tables.string(file)),
            line: site.line,
            column: site.column,
            caller: site.caller,
            attributes: (site.attributes.iter())
                .map(|&(key, value)| (tables.string(key), tables.string(value)))
                .collect(),
        })
    }
}

/// The attribute that holds the generation.
pub(crate) const GENERATION: &str = "generation";

/// For each row, the first site at the same place.
fn places_of(rows: &[Site]) -> Vec<SiteId> {
    let (mut first, mut places) = (HashMap::default(), Vec::<SiteId>::with_capacity(rows.len()));
    for (id, site) in (1..).map(SiteId).zip(rows) {
        // Callers come before the sites they call.
        let caller = site.caller.map(|caller| caller.index().checked_sub(1).map_or(caller, |row| places[row]));
        let place = (site.function, site.file, site.line, site.column, caller);
        places.push(*first.entry(place).or_insert(id));
    }
    places
}

impl CheckedRow for Site {
    fn check(&self, id: u64, known: &TableCounts) -> Result<(), FormatError> {
        // Row 0 is site 1, so the number of a caller that comes before the site is at most the row's number.
        if let Some(caller) = self.caller.filter(|caller| u64::from(caller.0) > id) {
            return Err(FormatError::OutOfRange { what: "caller of a site", value: caller.0.into(), limit: id });
        }
        let attributes = self.attributes.iter().flat_map(|&(key, value)| [key, value]);
        let mut names = self.function.into_iter().chain(self.file).chain(attributes);
        names.try_for_each(|text| below("string", text.0, known.strings))
    }
}
