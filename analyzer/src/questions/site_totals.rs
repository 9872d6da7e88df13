//! Totals of objects by allocation site, and by the generation recorded with their sites.

use std::collections::BTreeMap;

use barrow_format::block::ColumnSelection;
use barrow_format::rows::TypeTotals;
use barrow_format::{ObjectId, SiteId};

use crate::columns::memory::Column;
use crate::error::Result;
use crate::file::blocks::{fill_by_object, map_blocks, places};
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::summary::accumulate;

impl Heap {
    /// For each object the id of its allocation site, or 0 if none was recorded. Sites that differ in attributes only
    /// are replaced by the first of them.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn sites(&self, progress: &dyn Progress) -> Result<Vec<u32>> {
        let sites = self.recording().sites()?;
        Ok(self.own_sites(progress)?.iter().map(|&id| sites.place_of(SiteId(id)).0).collect())
    }

    /// For each object the id of its site as recorded.
    pub(crate) fn own_sites(&self, progress: &dyn Progress) -> Result<Column<u32>> {
        progress.begin("reading allocation sites", self.object_count(), "objects");
        let mut ids: Column<u32> = self.memory().column(usize::try_from(self.object_count()).unwrap_or(usize::MAX))?;
        fill_by_object(
            self.recording(),
            self.snapshot(),
            ColumnSelection::Identity,
            &mut ids,
            progress,
            |own, columns| {
                // A new column is all zeros, which means no site.
                own.iter_mut().zip(&columns.sites).for_each(|(own, &site)| *own = site);
            },
        )?;
        Ok(ids)
    }

    /// The totals of every allocation site, with sites as in [`Heap::sites`]. The type ids have no meaning.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn site_totals(&self, progress: &dyn Progress) -> Result<Vec<(SiteId, TypeTotals)>> {
        let sites = self.recording().sites()?;
        let mut totals = BTreeMap::new();
        for (id, sum) in self.own_site_totals(progress)? {
            accumulate(totals.entry(sites.place_of(id)).or_default(), &sum);
        }
        Ok(totals.into_iter().collect())
    }

    /// The totals of every generation, for all sites or for those that [`Heap::sites`] replaces by `of_place`.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn generation_totals(
        &self,
        of_place: Option<SiteId>,
        progress: &dyn Progress,
    ) -> Result<BTreeMap<Option<u64>, TypeTotals>> {
        let (sites, tables) = (self.recording().sites()?, self.recording().tables()?);
        let mut totals = BTreeMap::new();
        for (id, sum) in self.own_site_totals(progress)? {
            if of_place.is_none_or(|place| sites.place_of(id) == place) {
                accumulate(totals.entry(sites.generation(id, tables)).or_default(), &sum);
            }
        }
        Ok(totals)
    }

    fn own_site_totals(&self, progress: &dyn Progress) -> Result<BTreeMap<SiteId, TypeTotals>> {
        self.kept_site_totals().map_or_else(|| self.count_by_site(progress), Ok)
    }

    /// Counts the totals of every site as recorded, without the index file.
    pub(crate) fn count_by_site(&self, progress: &dyn Progress) -> Result<BTreeMap<SiteId, TypeTotals>> {
        let places = places(self.recording(), &[self.snapshot()])?;
        progress.begin("counting by allocation site", self.object_count(), "objects");
        let found = map_blocks(self.recording(), &places, ColumnSelection::Identity, progress, |_, _, columns| {
            let mut by_site: BTreeMap<SiteId, TypeTotals> = BTreeMap::new();
            for row in 0..columns.objects() {
                if self.has(ObjectId(columns.first_object + row as u32)) {
                    let [heap_bytes, unmanaged_bytes] = [&columns.shallow_bytes, &columns.unmanaged_bytes]
                        .map(|column| column.get(row).copied().unwrap_or(0));
                    let one = TypeTotals { objects: 1, heap_bytes, unmanaged_bytes, ..TypeTotals::default() };
                    let site = SiteId(columns.sites.get(row).copied().unwrap_or(0));
                    accumulate(by_site.entry(site).or_default(), &one);
                }
            }
            Ok(by_site)
        })?;
        let mut all = BTreeMap::new();
        for (site, totals) in found.into_iter().flatten() {
            accumulate(all.entry(site).or_default(), &totals);
        }
        Ok(all)
    }
}
