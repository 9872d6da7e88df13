//! Allocation sites: file, line and method, declared once for each combination and generation.

use super::line::Site;
use crate::context::Vocabulary;
use crate::error::Stop;
use crate::heaps::json_lines::{FastMap, MAX_NAME_BYTES, Text};
use barrow_writer::{SiteDescription, SiteId, Word};
use parking_lot::Mutex;
use std::collections::hash_map::Entry;

/// The sites of one place, by the generation that their objects were allocated in.
type Generations = FastMap<Option<u64>, SiteId>;

/// The sites of all threads, by their place as written in the dump.
pub(crate) struct Sites<'w> {
    vocabulary: &'w Vocabulary<'w>,
    declared: Mutex<FastMap<Box<[u8]>, Generations>>,
}

impl<'w> Sites<'w> {
    pub(crate) fn new(vocabulary: &'w Vocabulary<'w>) -> Self {
        Sites { vocabulary, declared: Mutex::default() }
    }

    fn declare(&self, site: &Site<'_>) -> Result<SiteId, Stop> {
        let mut declared = self.declared.lock();
        match declared.entry(site.written.into()).or_default().entry(site.generation) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                let [file, method] = [site.file, site.method]
                    .map(|text: Option<Text<'_>>| text.map(|text| text.decode_first(4 * MAX_NAME_BYTES).into_owned()));
                let generation = site.generation.map(|generation| generation.to_string());
                let key = self.vocabulary.marked(Word::of_settings("generation"))?;
                let attributes: Vec<(&str, &str)> = generation.iter().map(|text| (key, &**text)).collect();
                let id = self.vocabulary.site(&SiteDescription {
                    function: method.as_deref(),
                    file: file.as_deref(),
                    line: site.line.and_then(|line| u32::try_from(line).ok()),
                    attributes: &attributes,
                    ..SiteDescription::default()
                });
                Ok(*entry.insert(id?))
            }
        }
    }
}

/// Maximum number of sites that a thread remembers. When full, all are forgotten, which only costs time.
const MAX_MET: usize = 1 << 16;

/// The sites that one thread has met.
pub(crate) struct SitesOfThread<'s> {
    all: &'s Sites<'s>,
    met: FastMap<Box<[u8]>, Generations>,
    count: usize,
}

impl<'s> SitesOfThread<'s> {
    pub(crate) fn new(all: &'s Sites<'s>) -> Self {
        SitesOfThread { all, met: FastMap::default(), count: 0 }
    }

    /// The number of a site, if the line has one.
    pub(crate) fn id(&mut self, site: &Site<'_>) -> Result<Option<SiteId>, Stop> {
        if site.file.is_none() {
            return Ok(None);
        }
        if let Some(&id) = self.met.get(site.written).and_then(|met| met.get(&site.generation)) {
            return Ok(Some(id));
        }
        let id = self.all.declare(site)?;
        if self.count == MAX_MET {
            self.met.clear();
            self.count = 0;
        }
        self.count += 1;
        self.met.entry(site.written.into()).or_default().insert(site.generation, id);
        Ok(Some(id))
    }
}
