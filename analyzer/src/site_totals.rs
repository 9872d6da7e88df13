//! What objects add up to by allocation site, and by the generation that their sites tell.

use std::collections::BTreeMap;

use barrow_format::block::Wanted;
use barrow_format::rows::TypeTotals;
use barrow_format::{ObjectId, SiteId};

use crate::blocks::{map_blocks, places};
use crate::error::Result;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::summary::accumulate;

impl Heap {
    /// The number of the allocation site of every object, by the object's number; 0 where none was
    /// recorded. Of sites that differ in their attributes only, the first stands for all.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn sites(&self, progress: &dyn Progress) -> Result<Vec<u32>> {
        let (mut ids, sites) = (self.own_sites(progress)?, self.recording().sites()?);
        ids.iter_mut().for_each(|id| *id = sites.place_of(SiteId(*id)).0);
        Ok(ids)
    }

    /// For every object, by its number, the collection in which it was allocated, if its site says so.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn generations(&self, progress: &dyn Progress) -> Result<Vec<Option<u64>>> {
        let (sites, tables) = (self.recording().sites()?, self.recording().tables()?);
        let by_site: Vec<Option<u64>> =
            (0..=sites.count() as u32).map(|id| sites.generation(SiteId(id), tables)).collect();
        let ids = self.own_sites(progress)?;
        Ok(ids.into_iter().map(|id| by_site.get(id as usize).copied().flatten()).collect())
    }

    fn own_sites(&self, progress: &dyn Progress) -> Result<Vec<u32>> {
        let places = places(self.recording(), &[self.snapshot()])?;
        progress.begin("reading allocation sites", self.object_count(), "objects");
        let found = map_blocks(self.recording(), &places, Wanted::Identity, progress, |_, _, columns| {
            let mut sites = columns.sites.clone();
            sites.resize(columns.objects(), 0);
            Ok(sites)
        })?;
        Ok(found.concat())
    }

    /// What the objects of every allocation site add up to, by site as in [`Heap::sites`]; the type ids mean nothing.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn site_totals(&self, progress: &dyn Progress) -> Result<Vec<(SiteId, TypeTotals)>> {
        let sites = self.recording().sites()?;
        let totals = self.totals_by(progress, |site| sites.place_of(SiteId(site)))?;
        Ok(totals.into_iter().collect())
    }

    /// What the objects of every generation add up to, of all sites or those at the place of one.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn generation_totals(
        &self,
        of_place: Option<SiteId>,
        progress: &dyn Progress,
    ) -> Result<BTreeMap<Option<u64>, TypeTotals>> {
        let (sites, tables) = (self.recording().sites()?, self.recording().tables()?);
        let is_there = |id: SiteId| of_place.is_none_or(|place| sites.place_of(id) == place);
        let own = self.totals_by(progress, SiteId)?;
        let mut totals = BTreeMap::new();
        for (id, sum) in own.iter().filter(|&(&id, _)| is_there(id)) {
            accumulate(totals.entry(sites.generation(*id, tables)).or_default(), sum);
        }
        Ok(totals)
    }

    /// What the objects of every group of sites add up to.
    fn totals_by<G: Ord + Send>(
        &self,
        progress: &dyn Progress,
        group_of: impl Fn(u32) -> G + Sync,
    ) -> Result<BTreeMap<G, TypeTotals>> {
        let places = places(self.recording(), &[self.snapshot()])?;
        progress.begin("counting by allocation site", self.object_count(), "objects");
        let found = map_blocks(self.recording(), &places, Wanted::Identity, progress, |_, _, columns| {
            let mut by_group: BTreeMap<G, TypeTotals> = BTreeMap::new();
            for row in 0..columns.objects() {
                if self.has(ObjectId(columns.first_object + row as u32)) {
                    let of = |column: &[u64]| column.get(row).copied().unwrap_or(0);
                    let one = TypeTotals {
                        objects: 1,
                        heap_bytes: of(&columns.shallow_bytes),
                        unmanaged_bytes: of(&columns.unmanaged_bytes),
                        ..TypeTotals::default()
                    };
                    let site = columns.sites.get(row).copied().unwrap_or(0);
                    accumulate(by_group.entry(group_of(site)).or_default(), &one);
                }
            }
            Ok(by_group)
        })?;
        let mut all = BTreeMap::new();
        for (group, totals) in found.into_iter().flatten() {
            accumulate(all.entry(group).or_default(), &totals);
        }
        Ok(all)
    }
}
