//! The bytes retained by groups of objects: by type, kind, allocation site and generation. These are small tables,
//! which the index file keeps.

use std::collections::{BTreeMap, BTreeSet};

use barrow_format::rows::TypeTotals;
use barrow_format::{SiteId, TypeId};

use super::{Heap, column};
use crate::columns::index_file::{ColumnId, ColumnValues};
use crate::error::Result;
use crate::file::type_identity::TypeIdentity;
use crate::graph::dominators::{Dominators, GroupRetained};
use crate::progress::Progress;

/// The retained totals of types, grouped in three ways: objects and bytes of each group.
pub(super) struct TypeTables {
    by_type: Vec<[u64; 2]>,
    by_kind: Vec<[u64; 2]>,
    /// Types of the same identity are one group. Its totals are in the row of the first of them.
    by_identity: Vec<[u64; 2]>,
}

/// The totals of allocation sites, and the bytes that their objects retain.
pub(super) struct SiteTables {
    /// For each site: its number, objects, shallow bytes, unmanaged bytes.
    totals: Vec<[u64; 4]>,
    /// For each place: its number, objects, retained bytes.
    by_place: Vec<[u64; 3]>,
    /// For each generation: whether it is known, its number, objects, retained bytes.
    by_generation: Vec<[u64; 4]>,
}

impl TypeTables {
    pub(super) fn columns(&self) -> [(ColumnId, ColumnValues<'_>); 3] {
        [
            (column::RETAINED_BY_TYPE, ColumnValues::of(&self.by_type)),
            (column::RETAINED_BY_KIND, ColumnValues::of(&self.by_kind)),
            (column::RETAINED_BY_IDENTITY, ColumnValues::of(&self.by_identity)),
        ]
    }
}

impl SiteTables {
    pub(super) fn columns(&self) -> [(ColumnId, ColumnValues<'_>); 3] {
        [
            (column::SITE_TOTALS, ColumnValues::of(&self.totals)),
            (column::RETAINED_BY_PLACE, ColumnValues::of(&self.by_place)),
            (column::RETAINED_BY_GENERATION, ColumnValues::of(&self.by_generation)),
        ]
    }
}

impl Heap {
    /// For each type id: the number of reachable objects, and the bytes they dominate, each counted once. Objects held
    /// jointly by several objects of the type do not count, so this is a lower bound of what would be freed with all of
    /// them. The same applies to kinds, sites and generations.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn retained_by_type(&self, progress: &dyn Progress) -> Result<Vec<GroupRetained>> {
        let groups = self.recording.tables()?.type_count();
        self.retained_by(column::RETAINED_BY_TYPE, groups, |tables| tables.by_type, progress)
    }

    /// As [`Heap::retained_by_type`], by kind id.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn retained_by_kind(&self, progress: &dyn Progress) -> Result<Vec<GroupRetained>> {
        let groups = self.recording.tables()?.kind_count();
        self.retained_by(column::RETAINED_BY_KIND, groups, |tables| tables.by_kind, progress)
    }

    /// As [`Heap::retained_by_type`], in bytes, as a [`crate::Side`] takes them: the first of several types with the same
    /// identity has the bytes of all of them.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn retained_by_identity(&self, progress: &dyn Progress) -> Result<Vec<u64>> {
        let groups = self.recording.tables()?.type_count();
        let found = self.retained_by(column::RETAINED_BY_IDENTITY, groups, |tables| tables.by_identity, progress)?;
        Ok(found.into_iter().map(|group| group.bytes).collect())
    }

    /// As [`Heap::retained_by_type`], by the sites of [`Heap::site_totals`].
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn retained_by_site(&self, progress: &dyn Progress) -> Result<Vec<(SiteId, GroupRetained)>> {
        let rows = self.kept_or(
            || self.kept_rows(column::RETAINED_BY_PLACE),
            progress,
            || Ok(self.kept_site_tables(progress)?.by_place),
        )?;
        let rows = rows.into_iter();
        Ok(rows.map(|[place, objects, bytes]| (SiteId(place as u32), GroupRetained { objects, bytes })).collect())
    }

    /// As [`Heap::retained_by_type`], by the generations of [`Heap::generation_totals`].
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn retained_by_generation(&self, progress: &dyn Progress) -> Result<Vec<(Option<u64>, GroupRetained)>> {
        let rows = self.kept_or(
            || self.kept_rows(column::RETAINED_BY_GENERATION),
            progress,
            || Ok(self.kept_site_tables(progress)?.by_generation),
        )?;
        let rows = rows.into_iter().map(|[is_known, generation, objects, bytes]| {
            ((is_known == 1).then_some(generation), GroupRetained { objects, bytes })
        });
        Ok(rows.collect())
    }

    /// The totals of the objects of every site, if the index file has them.
    pub(crate) fn kept_site_totals(&self) -> Option<BTreeMap<SiteId, TypeTotals>> {
        let rows = self.kept_rows(column::SITE_TOTALS)?.into_iter();
        let totals = rows.map(|[site, objects, heap_bytes, unmanaged_bytes]| {
            (SiteId(site as u32), TypeTotals { objects, heap_bytes, unmanaged_bytes, ..TypeTotals::default() })
        });
        Some(totals.collect())
    }

    fn retained_by(
        &self,
        column: ColumnId,
        groups: usize,
        of: impl FnOnce(TypeTables) -> Vec<[u64; 2]>,
        progress: &dyn Progress,
    ) -> Result<Vec<GroupRetained>> {
        let rows = self.kept_or(
            || {
                let mut rows = self.kept_rows(column).filter(|rows| rows.len() <= groups)?;
                // Groups that later snapshots added have no object in this one.
                rows.resize(groups, [0; 2]);
                Some(rows)
            },
            progress,
            || {
                let found = self.type_tables(self.dominators(progress)?, self.types(progress)?, progress)?;
                self.keep_beside_dominators(&found.columns(), progress)?;
                Ok(of(found))
            },
        )?;
        Ok(rows.into_iter().map(|[objects, bytes]| GroupRetained { objects, bytes }).collect())
    }

    /// The result of `kept`, which reads the index file, or else that of `find`. Computing dominators may write these
    /// tables, so the file is read again after that.
    fn kept_or<T>(
        &self,
        kept: impl Fn() -> Option<T>,
        progress: &dyn Progress,
        find: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(kept) = kept() {
            return Ok(kept);
        }
        self.dominators(progress)?;
        kept().map_or_else(find, Ok)
    }

    fn kept_site_tables(&self, progress: &dyn Progress) -> Result<SiteTables> {
        let found = self.site_tables(self.dominators(progress)?, progress)?;
        self.keep_beside_dominators(&found.columns(), progress)?;
        Ok(found)
    }

    /// Keeps columns that are kept with dominators, unless these are still to be written.
    fn keep_beside_dominators(&self, columns: &[(ColumnId, ColumnValues<'_>)], progress: &dyn Progress) -> Result<()> {
        if self.owes_index() { Ok(()) } else { self.keep(columns, progress) }
    }

    fn kept_rows<const WIDTH: usize>(&self, column: ColumnId) -> Option<Vec<[u64; WIDTH]>> {
        let numbers = self.kept_numbers(column)?;
        let (rows, rest) = numbers.as_chunks();
        rest.is_empty().then(|| rows.to_vec())
    }

    pub(super) fn type_tables(
        &self,
        dominators: &Dominators,
        types: &[u32],
        progress: &dyn Progress,
    ) -> Result<TypeTables> {
        let tables = self.recording.tables()?;
        let (mut firsts, mut groups_of) = (BTreeMap::new(), Vec::with_capacity(tables.type_count()));
        for id in (0..tables.type_count() as u32).map(TypeId) {
            let first = *firsts.entry(TypeIdentity::of(tables, id)).or_insert(id);
            groups_of.push([id.index(), tables.type_kind(id).index(), first.index()]);
        }
        let groups = [tables.type_count(), tables.kind_count(), tables.type_count()];
        let found = dominators.bytes_by_groups(groups, types, |id| groups_of[id as usize], progress)?;
        let [by_type, by_kind, by_identity] =
            found.map(|groups| groups.iter().map(|group| [group.objects, group.bytes]).collect());
        Ok(TypeTables { by_type, by_kind, by_identity })
    }

    pub(super) fn site_tables(&self, dominators: &Dominators, progress: &dyn Progress) -> Result<SiteTables> {
        let (sites, tables) = (self.recording.sites()?, self.recording.tables()?);
        let totals = self.count_by_site(progress)?;
        let ids: Vec<SiteId> = totals.keys().copied().collect();
        let attributes: Vec<(SiteId, Option<u64>)> =
            ids.iter().map(|&id| (sites.place_of(id), sites.generation(id, tables))).collect();
        let places = sorted(attributes.iter().map(|&(place, _)| place));
        let generations = sorted(attributes.iter().map(|&(_, generation)| generation));
        let groups = [places.len(), generations.len()];
        let found = if ids.len() <= 1 {
            let all = GroupRetained { objects: dominators.reachable_count(), bytes: dominators.reachable_bytes() };
            groups.map(|groups| vec![all; groups])
        } else {
            let mut groups_of = Vec::with_capacity(ids.len());
            for &(place, generation) in &attributes {
                let place = places.partition_point(|&other| other < place);
                groups_of.push([place, generations.partition_point(|&other| other < generation)]);
            }
            // The site of each object, as an index into `ids`.
            let mut numbers = self.own_sites(progress)?;
            numbers.iter_mut().for_each(|id| *id = ids.partition_point(|other| other.0 < *id) as u32);
            dominators.bytes_by_groups(groups, &numbers, |number| groups_of[number as usize], progress)?
        };
        let [of_places, of_generations] = found;
        let totals = totals.iter().map(|(id, of)| [id.0.into(), of.objects, of.heap_bytes, of.unmanaged_bytes]);
        let by_place = places.into_iter().zip(of_places).map(|(place, of)| [place.0.into(), of.objects, of.bytes]);
        let by_generation = generations
            .into_iter()
            .zip(of_generations)
            .map(|(generation, of)| [u64::from(generation.is_some()), generation.unwrap_or(0), of.objects, of.bytes]);
        Ok(SiteTables {
            totals: totals.collect(),
            by_place: by_place.collect(),
            by_generation: by_generation.collect(),
        })
    }
}

fn sorted<T: Ord>(names: impl Iterator<Item = T>) -> Vec<T> {
    BTreeSet::from_iter(names).into_iter().collect()
}
