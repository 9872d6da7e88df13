//! Single objects: their attributes and their outgoing references.

use std::ops::Range;

use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::{Label, LabelCode};
use barrow_format::{FormatError, ObjectId, SiteId, SnapshotId, StrengthId, StringId, TypeId};

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, Workspace, decode, map_blocks, places, places_of, pooled};
use crate::file::recording::Recording;
use crate::file::tables::Tables;
use crate::progress::{Progress, check};

/// The attributes of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectDetails {
    /// Its number in the snapshot.
    pub id: ObjectId,
    /// Its type.
    pub type_id: TypeId,
    /// Its own size on the managed heap, in bytes.
    pub shallow_bytes: u64,
    /// Memory outside the managed heap that it owns, in bytes.
    pub unmanaged_bytes: u64,
    /// Its outgoing references.
    pub references: u64,
    /// The address where it lived, if recorded.
    pub address: Option<u64>,
    /// Its serial, which identifies it across snapshots, if recorded.
    pub serial: Option<u64>,
    /// Its allocation site, if recorded.
    pub site: Option<SiteId>,
    /// Its own name or text, if recorded.
    pub name: Option<StringId>,
}

/// An outgoing reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// Its name in the source.
    pub label: Label,
    /// The way in which it keeps its target alive.
    pub strength: StrengthId,
    /// The object it refers to.
    pub target: ObjectId,
}

/// Reads one object.
///
/// # Errors
/// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::NoObject`], [`AnalyzerError::Section`].
pub fn object(recording: &Recording, snapshot: SnapshotId, id: ObjectId) -> Result<ObjectDetails> {
    let found = objects(recording, snapshot, &[id])?;
    found.first().copied().ok_or_else(|| no_object(recording, snapshot, id))
}

/// Reads several objects, in the order of `ids`. Each block is decoded once, in parallel on the current pool.
///
/// # Errors
/// As for [`object`].
pub fn objects(recording: &Recording, snapshot: SnapshotId, ids: &[ObjectId]) -> Result<Vec<ObjectDetails>> {
    let asked: Vec<(ObjectId, Option<ObjectId>)> = ids.iter().map(|&id| (id, None)).collect();
    let found = objects_and_references(recording, snapshot, &asked)?;
    Ok(found.into_iter().map(|found| found.object).collect())
}

/// Reads several objects, each with its references to one other object if `asked` names one. Results are in the order
/// of `asked`, references in their own. Each block is decoded once, in parallel on the current pool.
///
/// # Errors
/// As for [`object`].
pub(crate) fn objects_and_references(
    recording: &Recording,
    snapshot: SnapshotId,
    asked: &[(ObjectId, Option<ObjectId>)],
) -> Result<Vec<ObjectWithReferences>> {
    let mut order: Vec<usize> = (0..asked.len()).collect();
    order.sort_unstable_by_key(|&position| asked[position].0);
    let mut jobs = Vec::new();
    let mut rest = order.as_slice();
    while let Some(&first) = rest.first() {
        let run = run_of_blocks(recording, snapshot, asked[first].0)?;
        let end = run[0].entry.first_object + run[0].entry.objects;
        let (here, later) = rest.split_at(rest.partition_point(|&position| asked[position].0.0 < end));
        let here =
            here.iter().map(|&position| ObjectRequest { position, id: asked[position].0, target: asked[position].1 });
        jobs.push((run, here.collect::<Vec<_>>()));
        rest = later;
    }
    let found = pooled(jobs, |(run, asked), workspace| in_blocks(recording, &run, &asked, workspace))?;
    let mut in_order: Vec<ObjectWithReferences> = found.into_iter().flatten().collect();
    in_order.sort_unstable_by_key(|found| found.position);
    Ok(in_order)
}

/// An object with its references to the target that was requested.
pub(crate) struct ObjectWithReferences {
    position: usize,
    pub(crate) object: ObjectDetails,
    pub(crate) references: Vec<Reference>,
}

/// A request for an object, and optionally for its references to `target`.
struct ObjectRequest {
    position: usize,
    id: ObjectId,
    target: Option<ObjectId>,
}

/// Reads objects that begin in the first block of `run`, in ascending order, with their references. The other blocks of
/// `run` continue the last object of the first.
fn in_blocks(
    recording: &Recording,
    run: &[BlockPlace],
    asked: &[ObjectRequest],
    workspace: &mut Workspace,
) -> Result<Vec<ObjectWithReferences>> {
    let tables = recording.tables()?;
    let (begin, continuations) = (&run[0], &run[1..]);
    let wanted =
        if asked.iter().any(|asked| asked.target.is_some()) { ColumnSelection::All } else { ColumnSelection::Identity };
    let mut found = decode(recording, begin, wanted, workspace, |_, columns| {
        let (mut cursor, mut at) = (Cursor::default(), 0);
        let mut objects = Vec::with_capacity(asked.len());
        for asked in asked {
            let row = (asked.id.0 - columns.first_object) as usize;
            let mut details = details(columns, row, tables);
            if row + 1 == columns.objects() {
                details.references += begin.continued;
            }
            let mut references = Vec::new();
            if let Some(target) = asked.target {
                (at..row).for_each(|row| cursor.step(columns, row));
                at = row;
                let pushed = cursor.push_references_to(target, columns, row, tables, &mut references);
                pushed.map_err(AnalyzerError::section("BLOCK", begin.entry.offset))?;
            }
            objects.push(ObjectWithReferences { position: asked.position, object: details, references });
        }
        Ok(objects)
    })?;
    for place in continuations {
        let continued: Vec<(ObjectId, &mut ObjectWithReferences)> = (asked.iter().zip(&mut found))
            .filter(|(asked, _)| asked.id.0 == place.entry.first_object)
            .filter_map(|(asked, found)| Some((asked.target?, found)))
            .collect();
        if continued.is_empty() {
            break;
        }
        decode(recording, place, ColumnSelection::References, workspace, |_, columns| {
            for (target, found) in continued {
                let references = &mut found.references;
                let pushed = Cursor::default().push_references_to(target, columns, 0, tables, references);
                pushed.map_err(AnalyzerError::section("BLOCK", place.entry.offset))?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Reads all outgoing references of an object, in order.
///
/// # Errors
/// As for [`object`].
pub fn outgoing(recording: &Recording, snapshot: SnapshotId, id: ObjectId) -> Result<Vec<Reference>> {
    let mut references = Vec::new();
    visit_outgoing(recording, snapshot, id, 0..u64::MAX, &mut Workspace::default(), |part| {
        references.extend_from_slice(part);
        Ok(())
    })?;
    Ok(references)
}

/// Reads at most `limit` outgoing references of an object, starting at position `from`. Returns the object's total
/// number of references as well. Continuations outside this page are not decoded.
///
/// # Errors
/// As for [`object`].
pub fn outgoing_page(
    recording: &Recording,
    snapshot: SnapshotId,
    id: ObjectId,
    from: u64,
    limit: usize,
) -> Result<(Vec<Reference>, u64)> {
    let mut references = Vec::new();
    let range = from..from.saturating_add(limit as u64);
    let total = visit_outgoing(recording, snapshot, id, range, &mut Workspace::default(), |part| {
        references.extend_from_slice(part);
        Ok(())
    })?;
    Ok((references, total))
}

/// Passes the outgoing references of an object whose positions are in `range` to `visit`, block by block. Returns the
/// object's total number of references.
pub(crate) fn visit_outgoing(
    recording: &Recording,
    snapshot: SnapshotId,
    id: ObjectId,
    range: Range<u64>,
    workspace: &mut Workspace,
    mut visit: impl FnMut(&[Reference]) -> Result<()>,
) -> Result<u64> {
    let tables = recording.tables()?;
    let mut references = Vec::new();
    let mut before = 0;
    for place in run_of_blocks(recording, snapshot, id)? {
        let is_continuation = place.entry.objects == 0;
        if is_continuation && place.entry.first_object != id.0 {
            continue;
        }
        // For the block in which the object begins, the number of its references is known only after decoding.
        if is_continuation && part_of(&range, before, place.entry.references).is_empty() {
            before += u64::from(place.entry.references);
            continue;
        }
        references.clear();
        let row = if is_continuation { 0 } else { (id.0 - place.entry.first_object) as usize };
        let count = decode(recording, &place, ColumnSelection::References, workspace, |_, columns| {
            let count = columns.counts[row];
            Cursor::at(columns, row)
                .push_range(columns, row, part_of(&range, before, count), tables, &mut references)
                .map_err(AnalyzerError::section("BLOCK", place.entry.offset))?;
            Ok(count)
        })?;
        before += u64::from(count);
        if !references.is_empty() {
            visit(&references)?;
        }
    }
    Ok(before)
}

/// The positions of `range` among `count` references that follow `before` others, counted from the first of them.
fn part_of(range: &Range<u64>, before: u64, count: u32) -> Range<usize> {
    let [start, end] = [range.start, range.end].map(|at| at.saturating_sub(before).min(count.into()) as usize);
    start..end
}

/// Visits all objects of a snapshot in order, each with its outgoing references.
///
/// # Errors
/// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], or the
/// error of `visit`.
pub fn walk(
    recording: &Recording,
    snapshot: SnapshotId,
    progress: &dyn Progress,
    mut visit: impl FnMut(&ObjectDetails, &[Reference]) -> Result<()>,
) -> Result<()> {
    let tables = recording.tables()?;
    let places = places(recording, &[snapshot])?;
    progress.begin("walking", places.iter().map(|place| u64::from(place.entry.references)).sum(), "references");
    let mut workspace = Workspace::default();
    let mut references = Vec::new();
    // The last object of a block is held back, because continuations may follow.
    let mut waiting: Option<ObjectDetails> = None;
    for place in &places {
        check(progress)?;
        let at = AnalyzerError::section("BLOCK", place.entry.offset);
        decode(recording, place, ColumnSelection::All, &mut workspace, |_, columns| {
            if columns.objects() == 0 {
                return Cursor::default().push_references(columns, 0, tables, &mut references).map_err(&at);
            }
            let mut cursor = Cursor::default();
            for row in 0..columns.objects() {
                if let Some(details) = waiting.take() {
                    visit(&details, &references)?;
                }
                references.clear();
                cursor.push_references(columns, row, tables, &mut references).map_err(&at)?;
                cursor.step(columns, row);
                let mut details = details(columns, row, tables);
                if row + 1 == columns.objects() {
                    details.references += place.continued;
                }
                waiting = Some(details);
            }
            Ok(())
        })?;
        progress.advance(place.entry.references.into());
    }
    waiting.map_or(Ok(()), |details| visit(&details, &references))
}

/// The first object at an address, if addresses were recorded.
///
/// # Errors
/// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
pub fn object_at_address(
    recording: &Recording,
    snapshot: SnapshotId,
    address: u64,
    progress: &dyn Progress,
) -> Result<Option<ObjectId>> {
    let places = places(recording, &[snapshot])?;
    let objects = places.iter().map(|place| u64::from(place.entry.objects)).sum();
    progress.begin("looking for an address", objects, "objects");
    let found = map_blocks(recording, &places, ColumnSelection::Identity, progress, |_, _, columns| {
        let row = columns.addresses.iter().position(|&other| other == address && address != 0);
        Ok(row.and_then(|row| u32::try_from(row).ok()).map(|row| ObjectId(columns.first_object + row)))
    })?;
    Ok(found.into_iter().flatten().next())
}

/// The block in which an object begins, and the continuations after it.
pub(crate) fn run_of_blocks(recording: &Recording, snapshot: SnapshotId, id: ObjectId) -> Result<Vec<BlockPlace>> {
    let blocks = &recording.commit(snapshot)?.blocks;
    let after = blocks.partition_point(|block| block.first_object <= id.0);
    let first = blocks[..after].iter().rposition(|block| block.objects > 0);
    let first = first.filter(|&first| id.0 - blocks[first].first_object < blocks[first].objects);
    let first = first.ok_or_else(|| no_object(recording, snapshot, id))?;
    let continuations = blocks[first + 1..].iter().take_while(|block| block.objects == 0).count();
    Ok(places_of(snapshot, &blocks[first..=first + continuations]))
}

fn no_object(recording: &Recording, snapshot: SnapshotId, object: ObjectId) -> AnalyzerError {
    let count = recording.commit(snapshot).map_or(0, |commit| commit.totals.objects);
    AnalyzerError::NoObject { object, snapshot, count }
}

/// The object in row `row` of decoded columns.
pub(crate) fn details(columns: &BlockColumns, row: usize, tables: &Tables) -> ObjectDetails {
    let shape = columns.dictionary[columns.shapes[row] as usize];
    ObjectDetails {
        id: ObjectId(columns.first_object + u32::try_from(row).unwrap_or(u32::MAX)),
        type_id: tables.shape(shape).type_id,
        shallow_bytes: columns.shallow_bytes[row],
        unmanaged_bytes: columns.unmanaged_bytes.get(row).copied().unwrap_or(0),
        references: columns.counts[row].into(),
        address: columns.addresses.get(row).copied().filter(|&address| address != 0),
        serial: columns.serials.get(row).copied().filter(|&serial| serial != 0),
        site: columns.sites.get(row).copied().filter(|&site| site != 0).map(SiteId),
        name: columns.names.get(row).copied().flatten(),
    }
}

/// The position in a block's columns where the references of a row begin.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cursor {
    target: usize,
    /// Position in the column of explicit labels.
    label: usize,
}

impl Cursor {
    /// The cursor at row `row`. A continuation has exactly one row.
    fn at(columns: &BlockColumns, row: usize) -> Self {
        let mut cursor = Cursor::default();
        (0..row).for_each(|row| cursor.step(columns, row));
        cursor
    }

    /// Advances over row `row`, at which the cursor is.
    pub(crate) fn step(&mut self, columns: &BlockColumns, row: usize) {
        let count = columns.counts[row];
        self.target += count as usize;
        let form = columns.forms[dictionary_place(columns, row)];
        if form.is_explicit {
            self.label += (count - form.prefix) as usize;
        }
    }

    /// The targets of row `row`, at which the cursor is.
    pub(crate) fn targets<'c>(&self, columns: &'c BlockColumns, row: usize) -> &'c [u32] {
        &columns.targets[self.target..self.target + columns.counts[row] as usize]
    }

    /// The labels of the explicit tail of row `row`, at which the cursor is; empty if it has none.
    pub(crate) fn explicit_labels<'c>(&self, columns: &'c BlockColumns, row: usize) -> &'c [u64] {
        let form = columns.forms[dictionary_place(columns, row)];
        let length = if form.is_explicit { columns.counts[row] - form.prefix } else { 0 };
        &columns.labels[self.label..self.label + length as usize]
    }

    /// Appends the references of row `row`, at which the cursor is.
    pub(crate) fn push_references(
        self,
        columns: &BlockColumns,
        row: usize,
        tables: &Tables,
        references: &mut Vec<Reference>,
    ) -> Result<(), FormatError> {
        self.push_range(columns, row, 0..usize::MAX, tables, references)
    }

    /// Appends the references of row `row`, at which the cursor is, that lead to `target`.
    fn push_references_to(
        self,
        target: ObjectId,
        columns: &BlockColumns,
        row: usize,
        tables: &Tables,
        references: &mut Vec<Reference>,
    ) -> Result<(), FormatError> {
        let targets = self.targets(columns, row).iter().enumerate();
        for (position, _) in targets.filter(|&(_, &found)| found == target.0) {
            self.push_range(columns, row, position..position + 1, tables, references)?;
        }
        Ok(())
    }

    /// Appends the references of row `row`, at which the cursor is, whose positions in the row are in `range`.
    pub(crate) fn push_range(
        self,
        columns: &BlockColumns,
        row: usize,
        range: Range<usize>,
        tables: &Tables,
        references: &mut Vec<Reference>,
    ) -> Result<(), FormatError> {
        let shape = tables.shape(columns.dictionary[dictionary_place(columns, row)]);
        let is_continuation = columns.shapes.is_empty();
        let continued = if is_continuation { usize::try_from(columns.start_index).unwrap_or(usize::MAX) } else { 0 };
        for (position, &target) in self.targets(columns, row).iter().enumerate().take(range.end).skip(range.start) {
            let code = match shape.label(position.saturating_add(continued)) {
                Some(code) => code,
                None => LabelCode(columns.labels[self.label + position - shape.prefix.len()]),
            };
            tables.check_label(code)?;
            references.push(Reference { label: code.label()?, strength: code.strength(), target: ObjectId(target) });
        }
        Ok(())
    }
}

/// The position of a row's shape in the block's dictionary. A continuation has one shape.
pub(crate) fn dictionary_place(columns: &BlockColumns, row: usize) -> usize {
    columns.shapes.get(row).map_or(0, |&shape| shape as usize)
}
