//! Packing the references of blocks, each block by one thread.

use barrow_format::ObjectId;
use barrow_format::StrengthId;
use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::StrengthClass;

use super::{Follow, SHARES};
use crate::columns::packed::{MAX_BYTES, MaxLength, PADDING, Packer, zigzag};
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, Workspace, decode};
use crate::file::object::{Cursor, Reference};
use crate::file::recording::Recording;
use crate::graph::ephemerons::Ephemeron;
use crate::graph::exclusion::Exclusion;
use crate::graph::shared_rows::{RowFinder, SharedRow, SharedRows};

/// A block with its continuations, and the part of `starts` for its objects.
pub(super) struct PackingJob<'a> {
    pub(super) run: &'a [BlockPlace],
    pub(super) starts: &'a mut [[u32; 2]],
}

/// The result of a packing job.
pub(super) struct PackedRun {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) references: u64,
    /// References that were stored, among them those to shared rows.
    pub(super) stored_references: u64,
    pub(super) shared: SharedRows,
    pub(super) ephemerons: Vec<Ephemeron>,
}

/// The number of references of a job.
pub(super) fn job_references(job: &PackingJob<'_>) -> u64 {
    job.run.iter().map(|place| u64::from(place.entry.references)).sum()
}

/// Decides which references become part of the graph.
pub(super) struct Filter<'a> {
    recording: &'a Recording,
    follow: Follow,
    exclusion: Option<&'a Exclusion>,
    classes: Vec<StrengthClass>,
}

impl<'a> Filter<'a> {
    pub(super) fn new(recording: &'a Recording, follow: Follow, exclusion: Option<&'a Exclusion>) -> Result<Self> {
        let tables = recording.tables()?;
        let strengths = (0..tables.strength_count() as u32).map(StrengthId);
        let classes = strengths.map(|strength| tables.strength_class(strength)).collect();
        Ok(Filter { recording, follow, exclusion, classes })
    }

    /// For each shape of the block: whether all references of its objects are kept.
    fn keeps_all(&self, columns: &BlockColumns, out: &mut Vec<bool>) -> Result<()> {
        let tables = self.recording.tables()?;
        out.clear();
        let only_strong = self.classes.iter().all(|&class| class == StrengthClass::Strong);
        out.extend(columns.dictionary.iter().map(|&shape| {
            self.exclusion.is_none()
                && (self.follow == Follow::All || only_strong || {
                    let strengths = tables.shape(shape).fixed_strengths();
                    strengths.is_some_and(|mut fixed| fixed.all(|id| self.class(id) == Some(StrengthClass::Strong)))
                })
        }));
        Ok(())
    }

    fn class(&self, strength: StrengthId) -> Option<StrengthClass> {
        self.classes.get(strength.index()).copied()
    }
}

/// Packs the targets of one job into `packed_bytes`. Also returns their length without padding.
pub(super) fn pack(
    job: PackingJob<'_>,
    filter: &Filter<'_>,
    longest: MaxLength,
    workspace: &mut Workspace,
    packed_bytes: &mut Vec<u8>,
) -> Result<(PackedRun, usize)> {
    let (references, stored_references) = (0, 0);
    let mut done = PackedRun {
        start: 0,
        end: 0,
        references,
        stored_references,
        shared: SharedRows::default(),
        ephemerons: Vec::new(),
    };
    let recording = filter.recording;
    let tables = recording.tables()?;
    let mut keeps_all = Vec::new();
    let mut finder = RowFinder::new();
    let (mut references, mut kept) = (Vec::new(), Vec::new());
    // The target before, which is the key if a continuation begins with an ephemeron.
    let mut previous = None;
    let mut length = 0;
    for place in job.run {
        let at = AnalyzerError::section("BLOCK", place.entry.offset);
        decode(recording, place, ColumnSelection::References, workspace, |_, columns| {
            filter.keeps_all(columns, &mut keeps_all)?;
            let is_continuation = columns.objects() == 0;
            let mut cursor = Cursor::default();
            // The size is reserved here, after decoding has confirmed the number of references in the commit.
            let most = length + columns.targets.len() * MAX_BYTES + PADDING;
            packed_bytes.resize(packed_bytes.len().max(most), 0);
            let mut bytes = Packer::new(&mut packed_bytes[..], longest);
            bytes.skip(length);
            // The last row of a block may go on in the next one.
            let whole = if is_continuation { 0 } else { columns.counts.len() - usize::from(job.run.len() > 1) };
            for row in 0..columns.counts.len() {
                let source = columns.first_object + row as u32;
                if !is_continuation {
                    job.starts[row][0] = u32::try_from(bytes.position()).expect("a block has at most 2^20 references");
                    previous = None;
                }
                let shape = columns.shapes.get(row).map_or(0, |&shape| shape as usize);
                let targets = if keeps_all[shape] {
                    let targets = cursor.targets(columns, row);
                    previous = targets.last().map(|&target| ObjectId(target)).or(previous);
                    targets
                } else {
                    references.clear();
                    kept.clear();
                    cursor.push_references(columns, row, tables, &mut references).map_err(&at)?;
                    keep(ObjectId(source), &references, filter, &mut previous, &mut kept, &mut done.ephemerons);
                    &kept[..]
                };
                let shares = done.pack_row(source, targets, (row < whole).then_some(&mut finder), &mut bytes, longest);
                if shares {
                    job.starts[row][0] |= SHARES;
                }
                cursor.step(columns, row);
            }
            length = bytes.position();
            Ok(())
        })?;
    }
    done.shared = finder.into_shared();
    packed_bytes.resize(packed_bytes.len().max(length + PADDING), 0);
    Ok((done, length))
}

impl PackedRun {
    /// Packs the targets of an object, or the number of an equal row before it. Returns whether there was one.
    #[inline(always)]
    fn pack_row(
        &mut self,
        source: u32,
        targets: &[u32],
        finder: Option<&mut RowFinder>,
        bytes: &mut Packer<'_>,
        longest: MaxLength,
    ) -> bool {
        self.references += targets.len() as u64;
        if let Some(finder) = finder.filter(|_| RowFinder::may_share(targets)) {
            return self.pack_long_row(source, targets, finder, bytes, longest);
        }
        self.put_targets(source, targets, bytes);
        false
    }

    #[inline(never)]
    fn pack_long_row(
        &mut self,
        source: u32,
        targets: &[u32],
        finder: &mut RowFinder,
        bytes: &mut Packer<'_>,
        longest: MaxLength,
    ) -> bool {
        let hash = RowFinder::hash(targets);
        if let Some(row) = finder.find(hash, targets, bytes.bytes(), longest) {
            bytes.put(row.into());
            self.stored_references += 1;
            return true;
        }
        let start = bytes.position();
        self.put_targets(source, targets, bytes);
        finder.remember(hash, SharedRow { start, end: bytes.position(), owner: source });
        false
    }

    #[inline(always)]
    fn put_targets(&mut self, source: u32, targets: &[u32], bytes: &mut Packer<'_>) {
        for &target in targets {
            bytes.put(zigzag(i64::from(target) - i64::from(source)));
        }
        self.stored_references += targets.len() as u64;
    }
}

/// Finds the references of one object that are kept, and its ephemerons.
fn keep(
    source: ObjectId,
    references: &[Reference],
    filter: &Filter<'_>,
    previous: &mut Option<ObjectId>,
    kept: &mut Vec<u32>,
    ephemerons: &mut Vec<Ephemeron>,
) {
    for reference in references {
        let before = previous.replace(reference.target);
        if filter.exclusion.is_some_and(|exclusion| exclusion.cuts(source, reference)) {
            continue;
        }
        let class = filter.class(reference.strength).unwrap_or(StrengthClass::Strong);
        match (filter.follow, class) {
            (Follow::All, _) | (Follow::Retaining, StrengthClass::Strong) => kept.push(reference.target.0),
            (Follow::Retaining, StrengthClass::Ephemeron) => {
                // An ephemeron without a key depends only on its source.
                let key = before.unwrap_or(source);
                if !filter.exclusion.is_some_and(|exclusion| exclusion.removes(key)) {
                    ephemerons.push(Ephemeron { key, source, value: reference.target });
                }
            }
            (Follow::Retaining, StrengthClass::Weak | StrengthClass::Soft) => {}
        }
    }
}
