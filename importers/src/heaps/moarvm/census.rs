//! The census of a snapshot: counts of its collectables, made by all threads. The same pass checks them.

use super::collectables::{Collectable, Collectables, Run, Runs, on_all_threads};
use super::kinds::{KINDS, Kind, ROOT};
use super::tables::Tables;
use crate::context::check_cancelled;
use crate::error::{Damage, Stop};
use barrow_progress::Progress;

/// The counts of a snapshot.
#[derive(Debug, Default)]
pub(crate) struct Census {
    /// By [`Kind`], then by row of the type or frame table; groups of roots have the row 0.
    of_types: [Vec<OfType>; KINDS.len()],
    /// References by the [`Kind`] of their source.
    references: [u64; KINDS.len()],
    /// The collectables where the collector starts.
    roots: Vec<u64>,
    /// All references, and all sizes in bytes.
    sums: Sums,
}

/// The collectables of a kind and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OfType {
    pub(crate) objects: u64,
    pub(crate) heap_bytes: u64,
    pub(crate) unmanaged_bytes: u64,
    /// The number of the first of them.
    first: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Sums {
    references: u64,
    heap_bytes: u64,
    unmanaged_bytes: u64,
}

/// The sums of a census by kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    /// Collectables by [`Kind`].
    pub(crate) collectables: [u64; KINDS.len()],
    /// References by the [`Kind`] of their source.
    pub(crate) references: [u64; KINDS.len()],
    /// Sizes on the heap, summed, in bytes.
    pub(crate) heap_bytes: u64,
    /// Unmanaged sizes, summed, in bytes.
    pub(crate) unmanaged_bytes: u64,
}

impl Census {
    /// Counts the collectables of a snapshot that has `reference_count` references.
    ///
    /// # Errors
    /// The first collectable that refers to something which does not exist.
    pub(crate) fn of<C: Collectables>(
        collectables: &C,
        reference_count: u64,
        tables: &Tables<'_>,
        progress: &dyn Progress,
    ) -> Result<Self, Stop> {
        match Census::by_all_threads(collectables, reference_count, tables, progress) {
            Ok(Some(census)) => Ok(census),
            Err(Stop::Import(error)) => Err(Stop::Import(error)),
            // The first defect is found in the order of the dump.
            _ => Census::in_order(collectables, reference_count, tables, progress),
        }
    }

    /// Counts on all threads; `None` if the sums show a defect.
    fn by_all_threads<C: Collectables>(
        collectables: &C,
        reference_count: u64,
        tables: &Tables<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<Self>, Stop> {
        let runs = Runs::new(collectables.runs()?);
        let parts = on_all_threads(|| Census::of_runs(&runs, reference_count, tables, progress))?;
        let mut census = parts.into_iter().reduce(Census::merge).unwrap_or_default();
        census.roots.sort_unstable();
        Ok(census.sums.is_possible(reference_count).then_some(census))
    }

    fn in_order<C: Collectables>(
        collectables: &C,
        reference_count: u64,
        tables: &Tables<'_>,
        progress: &dyn Progress,
    ) -> Result<Self, Stop> {
        Census::of_runs(&Runs::new(collectables.runs()?), reference_count, tables, progress)
    }

    fn of_runs<R: Run, I: Iterator<Item = Result<R, Stop>>>(
        runs: &Runs<I>,
        reference_count: u64,
        tables: &Tables<'_>,
        progress: &dyn Progress,
    ) -> Result<Self, Stop> {
        let mut census = Census::default();
        while let Some((mut number, run)) = runs.next()? {
            check_cancelled(progress)?;
            run.for_each(|collectable| {
                census.add(number, collectable, reference_count, tables)?;
                number += 1;
                Ok(())
            })?;
        }
        Ok(census)
    }

    #[inline]
    fn add(
        &mut self,
        number: u64,
        collectable: &Collectable,
        reference_count: u64,
        tables: &Tables<'_>,
    ) -> Result<(), Damage> {
        let kind = Kind::of(collectable)?;
        let row = kind.row(collectable);
        let of_types = &mut self.of_types[kind.index()];
        let of_type = match of_types.get_mut(row) {
            Some(of_type) if of_type.objects > 0 => of_type,
            _ => enter(of_types, kind, collectable, number, tables)?,
        };
        of_type.objects += 1;
        of_type.heap_bytes = of_type.heap_bytes.saturating_add(collectable.size);
        of_type.unmanaged_bytes = of_type.unmanaged_bytes.saturating_add(collectable.unmanaged);
        if kind == ROOT {
            self.roots.push(number);
        }
        self.sums.add(collectable, reference_count)?;
        self.references[kind.index()] += collectable.reference_count;
        Ok(())
    }

    fn merge(mut self, other: Census) -> Census {
        for (of_types, others) in self.of_types.iter_mut().zip(other.of_types) {
            if of_types.len() < others.len() {
                of_types.resize(others.len(), OfType::default());
            }
            of_types.iter_mut().zip(others).for_each(|(of_type, other)| of_type.merge(other));
        }
        self.references.iter_mut().zip(other.references).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        self.roots.extend(other.roots);
        self.sums.merge(other.sums);
        self
    }

    /// The types that have collectables, as kind and row, in the order of their first collectables.
    pub(crate) fn types(&self) -> Vec<(Kind, usize)> {
        let mut types: Vec<_> = self.of_types().map(|(kind, row, of_type)| (of_type.first, kind, row)).collect();
        types.sort_unstable_by_key(|&(first, ..)| first);
        types.into_iter().map(|(_, kind, row)| (kind, row)).collect()
    }

    /// The types that have collectables: kind, row and counts.
    pub(crate) fn of_types(&self) -> impl Iterator<Item = (Kind, usize, OfType)> {
        Kind::all().zip(&self.of_types).flat_map(|(kind, of_types)| {
            let rows = of_types.iter().enumerate().filter(|(_, of_type)| of_type.objects > 0);
            rows.map(move |(row, &of_type)| (kind, row, of_type))
        })
    }

    /// The collectables where the collector starts, in ascending order.
    pub(crate) fn roots(&self) -> &[u64] {
        &self.roots
    }

    /// Number of collectables.
    pub(crate) fn objects(&self) -> u64 {
        self.of_types().map(|(.., of_type)| of_type.objects).sum()
    }

    /// The sums by kind.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts { references: self.references, ..Counts::default() };
        for (kind, _, of_type) in self.of_types() {
            counts.collectables[kind.index()] += of_type.objects;
        }
        Counts { heap_bytes: self.sums.heap_bytes, unmanaged_bytes: self.sums.unmanaged_bytes, ..counts }
    }

    /// Notes for the user on a snapshot whose columns hold `reference_count` references.
    pub(crate) fn notes(&self, number: u64, reference_count: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if self.roots.is_empty() {
            notes.push(format!("snapshot {number} has no collectable of kind 9, so no GC root"));
        }
        let unused = reference_count - self.sums.references;
        if unused > 0 {
            notes.push(format!("snapshot {number}: {unused} references belong to no collectable and were left out"));
        }
        notes
    }
}

/// Enters the first collectable of a type.
#[cold]
fn enter<'c>(
    of_types: &'c mut Vec<OfType>,
    kind: Kind,
    collectable: &Collectable,
    number: u64,
    tables: &Tables<'_>,
) -> Result<&'c mut OfType, Damage> {
    tables.check_type(kind, collectable)?;
    let row = kind.row(collectable);
    if of_types.len() <= row {
        of_types.resize(row + 1, OfType::default());
    }
    let of_type = &mut of_types[row];
    of_type.first = number;
    Ok(of_type)
}

impl OfType {
    fn merge(&mut self, other: OfType) {
        self.first = match (self.objects, other.objects) {
            (0, _) => other.first,
            (_, 0) => self.first,
            _ => self.first.min(other.first),
        };
        self.objects += other.objects;
        self.heap_bytes = self.heap_bytes.saturating_add(other.heap_bytes);
        self.unmanaged_bytes = self.unmanaged_bytes.saturating_add(other.unmanaged_bytes);
    }
}

/// The sum of sizes must fit an `i64`, like all sizes in one address space.
const MAX_BYTES: u64 = i64::MAX as u64;

impl Sums {
    /// Adds a collectable. All its references must be there, and no two collectables may share one.
    #[inline]
    fn add(&mut self, collectable: &Collectable, reference_count: u64) -> Result<(), Damage> {
        if collectable.reference_count > 0 {
            let end = collectable.first_reference.saturating_add(collectable.reference_count);
            if end > reference_count {
                return Err(too_large("the end of a collectable's references", collectable, end, reference_count));
            }
            let left = reference_count - self.references;
            if collectable.reference_count > left {
                let value = collectable.reference_count;
                return Err(too_large("the number of a collectable's references", collectable, value, left));
            }
            self.references += collectable.reference_count;
        }
        for (sum, size) in
            [(&mut self.heap_bytes, collectable.size), (&mut self.unmanaged_bytes, collectable.unmanaged)]
        {
            *sum = sum.saturating_add(size);
            if *sum > MAX_BYTES {
                return Err(too_large("the size of a collectable", collectable, size, MAX_BYTES));
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Sums) {
        self.references = self.references.saturating_add(other.references);
        self.heap_bytes = self.heap_bytes.saturating_add(other.heap_bytes);
        self.unmanaged_bytes = self.unmanaged_bytes.saturating_add(other.unmanaged_bytes);
    }

    /// Returns whether sums of collectables without defects can have these values.
    fn is_possible(&self, reference_count: u64) -> bool {
        self.references <= reference_count && self.heap_bytes <= MAX_BYTES && self.unmanaged_bytes <= MAX_BYTES
    }
}

#[cold]
fn too_large(what: &'static str, collectable: &Collectable, value: u64, limit: u64) -> Damage {
    Damage::OutOfRange { what, offset: collectable.offset, value, limit }
}
