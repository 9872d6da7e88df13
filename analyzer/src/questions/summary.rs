//! Totals of snapshots, from the statistics that the writer stored or by counting objects.

use std::collections::BTreeMap;

use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::codec::Decompressor;
use barrow_format::commit::Totals;
use barrow_format::frame::SectionType;
use barrow_format::rows::{Chunk, TypeTotals};
use barrow_format::{FormatError, KindId, SnapshotId, TypeId};

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{map_blocks, places};
use crate::file::recording::Recording;
use crate::file::tables::Tables;
use crate::progress::Progress;

/// The origin of totals. All of them are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The statistics of the writer, which a checksum protects.
    Statistics,
    /// Objects were decoded and counted now, and agree with the statistics.
    Verified,
    /// Objects were decoded and counted now, because the statistics include excluded objects.
    Counted,
}

/// The totals of the objects of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindTotals {
    /// The kind.
    pub kind: KindId,
    /// The number of its objects.
    pub objects: u64,
    /// Their shallow sizes, summed, in bytes.
    pub heap_bytes: u64,
    /// Their unmanaged sizes, summed, in bytes.
    pub unmanaged_bytes: u64,
}

/// The totals of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// Its totals.
    pub totals: Totals,
    /// The kinds that have objects, in order of id.
    pub kinds: Vec<KindTotals>,
    /// The origin of the totals.
    pub source: Source,
}

/// The totals of a snapshot from its statistics. A few kilobytes are read for a snapshot of any size.
///
/// # Errors
/// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`].
pub fn summary(recording: &Recording, snapshot: SnapshotId) -> Result<Summary> {
    let totals = recording.commit(snapshot)?.totals;
    let kinds = by_kind(&type_totals(recording, snapshot)?, recording.tables()?);
    Ok(Summary { snapshot, totals, kinds, source: Source::Statistics })
}

/// The totals of every type of a snapshot that has objects, in order of type id.
///
/// # Errors
/// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`] if the statistics are damaged or do not
/// add up to the totals of the commit.
pub fn type_totals(recording: &Recording, snapshot: SnapshotId) -> Result<Vec<TypeTotals>> {
    let commit = recording.commit(snapshot)?;
    let mut decompressor = Decompressor::new();
    let mut rows: Vec<TypeTotals> = Vec::new();
    for &offset in &commit.stats {
        let at = AnalyzerError::section("STATS", offset);
        let frame = recording.frame(SectionType::STATS, Some(snapshot), offset)?;
        let chunk = frame.directory().and_then(|directory| Chunk::parse(directory, frame.body()?)).map_err(&at)?;
        chunk
            .for_each(&mut decompressor, |row: TypeTotals| {
                let limit = u64::from(commit.tables.types);
                let is_next = rows.last().is_none_or(|last| last.type_id < row.type_id);
                if !is_next || u64::from(row.type_id.0) >= limit {
                    return Err(FormatError::OutOfRange {
                        what: "type in statistics",
                        value: row.type_id.0.into(),
                        limit,
                    });
                }
                rows.push(row);
                Ok(())
            })
            .map_err(&at)?;
    }
    let stored = commit.totals;
    let found = add_up(&rows);
    for (what, stored, found) in [
        ("objects in statistics", stored.objects, found.objects),
        ("heap bytes in statistics", stored.heap_bytes, found.heap_bytes),
        ("unmanaged bytes in statistics", stored.unmanaged_bytes, found.unmanaged_bytes),
    ] {
        if stored != found {
            let offset = commit.stats.first().copied().unwrap_or_default();
            return Err(AnalyzerError::section("STATS", offset)(FormatError::Mismatch { what, stored, found }));
        }
    }
    Ok(rows)
}

/// Decodes shapes and sizes of all objects of these snapshots and counts them again. It reads about a quarter of the
/// bytes of a recording.
///
/// # Errors
/// [`AnalyzerError::Section`] if a column is damaged or a count differs from the statistics;
/// [`AnalyzerError::Cancelled`].
pub fn verified_summaries(
    recording: &Recording,
    snapshots: &[SnapshotId],
    progress: &dyn Progress,
) -> Result<Vec<Summary>> {
    let places = places(recording, snapshots)?;
    let objects = places.iter().map(|place| u64::from(place.entry.objects)).sum();
    progress.begin("counting objects", objects, "objects");
    let counted = map_blocks(recording, &places, ColumnSelection::Sizes, progress, |_, _, columns| {
        Ok(count_types(columns, recording.tables()?))
    })?;
    let mut summaries = Vec::new();
    let mut blocks = counted.iter().zip(&places).peekable();
    for &snapshot in snapshots {
        let mut types = TypeCounter::default();
        while let Some((rows, _)) = blocks.next_if(|(_, place)| place.snapshot == snapshot) {
            types.add(rows);
        }
        let found = types.rows();
        compare(recording, snapshot, &type_totals(recording, snapshot)?, &found)?;
        let totals = recording.commit(snapshot)?.totals;
        let kinds = by_kind(&found, recording.tables()?);
        summaries.push(Summary { snapshot, totals, kinds, source: Source::Verified });
    }
    Ok(summaries)
}

/// Fails if the counts differ from the statistics.
fn compare(recording: &Recording, snapshot: SnapshotId, stored: &[TypeTotals], found: &[TypeTotals]) -> Result<()> {
    match difference(stored, found) {
        None => Ok(()),
        Some(source) => {
            let offset = recording.commit(snapshot)?.stats.first().copied().unwrap_or_default();
            Err(AnalyzerError::Section { section: "STATS", offset, source })
        }
    }
}

/// The first difference between two tables of totals.
pub(crate) fn difference(stored: &[TypeTotals], found: &[TypeTotals]) -> Option<FormatError> {
    if stored.len() != found.len() {
        let (stored, found) = (stored.len() as u64, found.len() as u64);
        return Some(FormatError::Mismatch { what: "types with objects", stored, found });
    }
    stored.iter().zip(found).find_map(|(stored, found)| {
        [
            ("type in statistics", u64::from(stored.type_id.0), u64::from(found.type_id.0)),
            ("objects of a type", stored.objects, found.objects),
            ("heap bytes of a type", stored.heap_bytes, found.heap_bytes),
            ("unmanaged bytes of a type", stored.unmanaged_bytes, found.unmanaged_bytes),
        ]
        .into_iter()
        .find(|(_, stored, found)| stored != found)
        .map(|(what, stored, found)| FormatError::Mismatch { what, stored, found })
    })
}

fn empty(type_id: TypeId) -> TypeTotals {
    TypeTotals { type_id, objects: 0, heap_bytes: 0, unmanaged_bytes: 0 }
}

/// Adds `row` to `sum`, modulo 2^64 as in the file.
pub(crate) fn accumulate(sum: &mut TypeTotals, row: &TypeTotals) {
    sum.objects = sum.objects.wrapping_add(row.objects);
    sum.heap_bytes = sum.heap_bytes.wrapping_add(row.heap_bytes);
    sum.unmanaged_bytes = sum.unmanaged_bytes.wrapping_add(row.unmanaged_bytes);
}

/// The totals of the types of a block.
pub(crate) fn count_types(columns: &BlockColumns, tables: &Tables) -> Vec<TypeTotals> {
    let shapes = columns.dictionary.iter();
    let mut rows: Vec<TypeTotals> = shapes.map(|&shape| empty(tables.shape(shape).type_id)).collect();
    let mut sums = vec![(0u64, 0u64); rows.len()];
    for (&shape, &bytes) in columns.shapes.iter().zip(&columns.shallow_bytes) {
        let sum = &mut sums[shape as usize];
        *sum = (sum.0 + 1, sum.1.wrapping_add(bytes));
    }
    for (row, (objects, heap_bytes)) in rows.iter_mut().zip(sums) {
        (row.objects, row.heap_bytes) = (objects, heap_bytes);
    }
    for (&shape, &bytes) in columns.shapes.iter().zip(&columns.unmanaged_bytes) {
        let row = &mut rows[shape as usize];
        row.unmanaged_bytes = row.unmanaged_bytes.wrapping_add(bytes);
    }
    let mut types = TypeCounter::default();
    types.add(&rows);
    types.rows()
}

/// Adds up rows by type. It stores only types that have objects, because a file may declare many types and have many
/// snapshots without objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct TypeCounter {
    rows: BTreeMap<TypeId, TypeTotals>,
}

impl TypeCounter {
    pub(crate) fn add(&mut self, rows: &[TypeTotals]) {
        for row in rows.iter().filter(|row| row.objects > 0) {
            accumulate(self.rows.entry(row.type_id).or_insert_with(|| empty(row.type_id)), row);
        }
    }

    /// The types that have objects, in order of id.
    pub(crate) fn rows(&self) -> Vec<TypeTotals> {
        self.rows.values().copied().collect()
    }
}

/// The sums of all rows.
fn add_up(rows: &[TypeTotals]) -> TypeTotals {
    let mut sum = empty(TypeId(0));
    rows.iter().for_each(|row| accumulate(&mut sum, row));
    sum
}

/// The totals of each kind that has objects, in order of id, from the rows of types.
#[must_use]
pub fn by_kind(rows: &[TypeTotals], tables: &Tables) -> Vec<KindTotals> {
    let mut sums = vec![empty(TypeId(0)); tables.kind_count()];
    for row in rows {
        accumulate(&mut sums[tables.type_kind(row.type_id).index()], row);
    }
    let kinds = (0u32..).map(KindId).zip(&sums).filter(|(_, sum)| sum.objects > 0);
    kinds
        .map(|(kind, sum)| KindTotals {
            kind,
            objects: sum.objects,
            heap_bytes: sum.heap_bytes,
            unmanaged_bytes: sum.unmanaged_bytes,
        })
        .collect()
}
