//! Incoming references: who refers to an object.

use barrow_format::block::{BlockColumns, Wanted};
use barrow_format::rows::Label;
use barrow_format::{ObjectId, SnapshotId, StrengthId};

use crate::blocks::{BlockPlace, Workspace, decode, map_blocks, places, pooled};
use crate::error::{AnalyzerError, Result};
use crate::heap::Heap;
use crate::memory::Memory;
use crate::object::{Cursor, ObjectDetails, Reference, details, run_of_blocks};
use crate::progress::{Progress, check};
use crate::recording::Recording;
use crate::rows::Rows;
use crate::transposed::{EachReference, Transposed};
use crate::without::Without;

/// Objects between looks at whether to stop.
const CHECK_OBJECTS: u32 = 1 << 16;

/// The incoming references of all objects.
#[derive(Debug)]
pub struct Incoming {
    pub(crate) sources: Transposed,
}

impl EachReference for Rows {
    #[inline(always)]
    fn for_each(&self, progress: &dyn Progress, mut visit: impl FnMut(u32, u32)) -> Result<()> {
        let view = self.view();
        for object in 0..self.objects() as u32 {
            if object % CHECK_OBJECTS == 0 {
                check(progress)?;
            }
            view.row(object).for_each(|target| visit(object, target));
        }
        Ok(())
    }
}

impl Incoming {
    /// Turns all rows around.
    ///
    /// Time: linear. Memory: 4 bytes an object, 4 bytes a reference.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`], those of [`Memory`].
    pub(crate) fn of(rows: &Rows, memory: &Memory, progress: &dyn Progress) -> Result<Self> {
        progress.begin("turning references around", rows.references(), "references");
        Ok(Incoming { sources: Transposed::of(rows, rows.objects(), memory, memory.room_bytes(), progress)? })
    }

    /// How many references lead to an object.
    #[must_use]
    pub fn count(&self, object: ObjectId) -> u64 {
        self.sources.row(object.0).len() as u64
    }

    /// The objects that refer to an object, ascending, each once.
    #[must_use]
    pub fn sources(&self, object: ObjectId) -> Vec<ObjectId> {
        let mut sources: Vec<ObjectId> = self.each_source(object).map(ObjectId).collect();
        sources.dedup();
        sources
    }

    /// The source of every reference to an object, ascending.
    pub(crate) fn each_source(&self, object: ObjectId) -> impl Iterator<Item = u32> {
        // They stand in falling order, as the last reference was filled in first.
        self.sources.row(object.0).iter().rev().copied()
    }
}

/// The objects that refer to `target`, ascending, each once: found by looking at all references, on all
/// threads of the current pool.
///
/// # Errors
/// [`crate::AnalyzerError::NoSnapshot`], [`crate::AnalyzerError::Section`],
/// [`crate::AnalyzerError::Cancelled`].
pub fn scan_incoming(
    recording: &Recording,
    snapshot: SnapshotId,
    target: ObjectId,
    progress: &dyn Progress,
) -> Result<Vec<ObjectId>> {
    let mut sources = scan(recording, snapshot, target, None, progress)?;
    sources.dedup();
    Ok(sources.into_iter().map(ObjectId).collect())
}

/// The source of every reference to `target`, ascending.
fn scan(
    recording: &Recording,
    snapshot: SnapshotId,
    target: ObjectId,
    without: Option<&Without>,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    let places = places(recording, &[snapshot])?;
    begin_scan(&places, progress);
    let found = map_blocks(recording, &places, Wanted::References, progress, |place, _, columns| {
        let mut sources = Vec::new();
        let hit = |hit: Hit| sources.extend(std::iter::repeat_n(hit.source.0, hit.count as usize));
        each_hit(recording, place, columns, target, without, hit)?;
        Ok(sources)
    })?;
    Ok(found.concat())
}

/// Announces that the references of these blocks are looked at.
pub(crate) fn begin_scan(places: &[BlockPlace], progress: &dyn Progress) {
    let references = places.iter().map(|place| u64::from(place.entry.references)).sum();
    progress.begin("looking at all references", references, "references");
}

/// References of one object, as far as they stand in one block, that lead to the one in question.
pub(crate) struct Hit {
    /// Its row in the block; in a continuation 0.
    pub(crate) row: usize,
    /// The object.
    pub(crate) source: ObjectId,
    /// How many of its references there are.
    pub(crate) count: u64,
}

/// Calls `visit` for every object of a block that refers to `target`.
pub(crate) fn each_hit(
    recording: &Recording,
    place: &BlockPlace,
    columns: &BlockColumns,
    target: ObjectId,
    without: Option<&Without>,
    mut visit: impl FnMut(Hit),
) -> Result<()> {
    // Most blocks do not refer to it at all.
    if !columns.targets.contains(&target.0) {
        return Ok(());
    }
    let tables = recording.tables()?;
    let (mut cursor, mut references) = (Cursor::default(), Vec::new());
    for row in 0..columns.counts.len() {
        let source = ObjectId(columns.first_object + row as u32);
        let mut count = cursor.targets(columns, row).iter().filter(|&&other| other == target.0).count() as u64;
        if let Some(without) = without.filter(|_| count > 0) {
            references.clear();
            let at = AnalyzerError::section("BLOCK", place.entry.offset);
            cursor.push_references(columns, row, tables, &mut references).map_err(at)?;
            let is_there = |reference: &&Reference| reference.target == target && !without.cuts(source, reference);
            count = references.iter().filter(is_there).count() as u64;
        }
        if count > 0 {
            visit(Hit { row, source, count });
        }
        cursor.step(columns, row);
    }
    Ok(())
}

/// Who refers to an object: as many sources as there are references, ascending.
#[derive(Debug, Clone)]
pub struct Referrers {
    sources: Vec<u32>,
    target: ObjectId,
}

impl Referrers {
    /// How many references there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.sources.len() as u64
    }

    /// The number of the first reference whose source is not below `source`.
    fn first_from(&self, source: u32) -> usize {
        self.sources.partition_point(|&id| id < source)
    }
}

/// An incoming reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncomingReference {
    /// The object it starts from.
    pub source: ObjectDetails,
    /// What it is called there.
    pub label: Label,
    /// Whether and how it keeps its target alive.
    pub strength: StrengthId,
}

/// References of one source that are wanted: so many of those that lead to the target, behind some.
struct Want {
    source: ObjectId,
    skip: u64,
    take: u64,
}

impl Heap {
    /// Who refers to an object, without what is thought away. The first question is answered by looking
    /// at all references; the second one makes the incoming references of all objects known.
    ///
    /// # Errors
    /// As for [`Heap::incoming`].
    pub fn referrers(&self, target: ObjectId, progress: &dyn Progress) -> Result<Referrers> {
        let sources = match self.known_sources(target) {
            Some(sources) => sources,
            None if self.asks_again_for_incoming() => self.incoming(progress)?.each_source(target).collect(),
            None => {
                scan(self.recording(), self.snapshot(), target, self.overlay().map(|without| &**without), progress)?
            }
        };
        Ok(Referrers { sources, target })
    }

    /// The objects that refer to an object, ascending, each once, without what is thought away. All references are looked
    /// at unless those of all objects are known.
    ///
    /// # Errors
    /// As for [`Heap::incoming`].
    pub fn referring_objects(&self, target: ObjectId, progress: &dyn Progress) -> Result<Vec<ObjectId>> {
        let without = self.overlay().map(|without| &**without);
        let mut sources = match self.known_sources(target) {
            Some(sources) => sources,
            None => scan(self.recording(), self.snapshot(), target, without, progress)?,
        };
        sources.dedup();
        Ok(sources.into_iter().map(ObjectId).collect())
    }

    /// A page of the references that lead to an object: at most `limit`, from number `from` on, in the
    /// order of their sources. Blocks without sources of the page are not decoded.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`].
    pub fn incoming_page(&self, referrers: &Referrers, from: u64, limit: usize) -> Result<Vec<IncomingReference>> {
        let sources = &referrers.sources;
        let mut jobs: Vec<(Vec<BlockPlace>, Vec<Want>)> = Vec::new();
        let mut number = usize::try_from(from).unwrap_or(usize::MAX).min(sources.len());
        let end = number.saturating_add(limit).min(sources.len());
        while number < end {
            let source = sources[number];
            let (first, after) = (referrers.first_from(source), referrers.first_from(source + 1));
            let want = Want {
                source: ObjectId(source),
                skip: number.saturating_sub(first) as u64,
                take: after.clamp(number + 1, end) as u64 - number as u64,
            };
            number += want.take as usize;
            match jobs
                .last_mut()
                .filter(|(run, _)| source.wrapping_sub(run[0].entry.first_object) < run[0].entry.objects)
            {
                Some((_, wants)) => wants.push(want),
                None => jobs.push((run_of_blocks(self.recording(), self.snapshot(), want.source)?, vec![want])),
            }
        }
        let found = pooled(jobs, |(run, wants), workspace| self.wanted(referrers.target, &run, wants, workspace))?;
        Ok(found.concat())
    }

    /// The wanted references of the objects of one block, which `run` begins with.
    fn wanted(
        &self,
        target: ObjectId,
        run: &[BlockPlace],
        wants: Vec<Want>,
        workspace: &mut Workspace,
    ) -> Result<Vec<IncomingReference>> {
        let tables = self.recording().tables()?;
        let (mut references, mut found) = (Vec::new(), Vec::new());
        // The last one may go on in continuations.
        let mut open: Option<(ObjectDetails, Want)> = None;
        for place in run {
            let is_continuation = place.entry.objects == 0;
            let is_open = open.as_ref().is_some_and(|(of, want)| of.id.0 == place.entry.first_object && want.take > 0);
            if is_continuation && !is_open {
                continue;
            }
            let at = AnalyzerError::section("BLOCK", place.entry.offset);
            decode(self.recording(), place, Wanted::All, workspace, |_, columns| {
                if let Some((source, want)) = open.as_mut().filter(|_| is_continuation) {
                    references.clear();
                    Cursor::default().push_references(columns, 0, tables, &mut references).map_err(&at)?;
                    self.take(target, *source, want, &references, &mut found);
                    return Ok(());
                }
                let (mut cursor, mut next) = (Cursor::default(), 0);
                for mut want in wants.iter().map(|want| Want { ..*want }) {
                    let row = (want.source.0 - columns.first_object) as usize;
                    if row < next {
                        // Only sources of a broken index do not ascend.
                        (cursor, next) = (Cursor::default(), 0);
                    }
                    (next..row).for_each(|row| cursor.step(columns, row));
                    next = row;
                    references.clear();
                    cursor.push_references(columns, row, tables, &mut references).map_err(&at)?;
                    let mut source = details(columns, row, tables);
                    if row + 1 == columns.objects() {
                        source.references += place.continued;
                    }
                    self.take(target, source, &mut want, &references, &mut found);
                    open = Some((source, want));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Takes those of `references` that lead to `target` and are wanted.
    fn take(
        &self,
        target: ObjectId,
        source: ObjectDetails,
        want: &mut Want,
        references: &[Reference],
        found: &mut Vec<IncomingReference>,
    ) {
        let is_there =
            |&&reference: &&Reference| reference.target == target && self.has_reference(source.id, &reference);
        for reference in references.iter().filter(is_there) {
            if want.skip > 0 {
                want.skip -= 1;
            } else if want.take > 0 {
                want.take -= 1;
                found.push(IncomingReference { source, label: reference.label, strength: reference.strength });
            }
        }
    }
}
