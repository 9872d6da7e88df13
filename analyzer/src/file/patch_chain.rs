//! Snapshots that are patches: where each group of their rows is stored, and how it becomes a block again.
//!
//! ```text
//!   group 0   BLOCK of snapshot 3 ◀ PATCH of snapshot 4 ◀ PATCH of snapshot 6      its layers, the oldest first
//!   group 1   BLOCK of snapshot 3
//!   group 2   BLOCK of snapshot 5 ◀ PATCH of snapshot 6
//! ```
//!
//! A row is taken from the newest layer that stores it; dead rows are left out, and the rows that references lead
//! to become objects. From there on a patched snapshot is like any other.

use std::ops::Range;
use std::sync::{Arc, PoisonError};

use barrow_format::block::{Block, BlockColumns, Decoder, Patch, PatchLimits, ShapeForm, Wanted};
use barrow_format::commit::{BlockEntry, Group};
use barrow_format::frame::SectionType;
use barrow_format::{FormatError, SnapshotId};

use crate::error::{AnalyzerError, Result};
use crate::file::live_rows::LiveRows;
use crate::file::recording::Recording;

/// The longest chain of patches that is read: what a writer makes is much shorter.
pub(crate) const MAX_PATCHES: usize = 1024;
/// Snapshots whose layers are kept.
const KEPT: usize = 4;

/// How a patched snapshot is put together.
#[derive(Debug)]
pub(crate) struct PatchChain {
    at: CommitOffset,
    groups: Vec<StoredGroup>,
    live: LiveRows,
}

/// Where a group of rows is stored.
#[derive(Debug)]
struct StoredGroup {
    /// Its rows; in a continuation the row that is continued.
    rows: Range<u32>,
    is_continuation: bool,
    is_gone: bool,
    block: StoredFrame,
    patches: Vec<StoredFrame>,
}

/// A frame with columns.
#[derive(Debug, Clone, Copy)]
struct StoredFrame {
    snapshot: SnapshotId,
    entry: BlockEntry,
}

impl Recording {
    /// The layers of a patched snapshot; `None` of a whole one.
    pub(crate) fn patch_chain(&self, snapshot: SnapshotId) -> Result<Option<Arc<PatchChain>>> {
        if self.commit(snapshot)?.patched.is_none() {
            return Ok(None);
        }
        let known = |kept: &Vec<(SnapshotId, Arc<PatchChain>)>| {
            kept.iter().find(|(of, _)| *of == snapshot).map(|(_, layers)| Arc::clone(layers))
        };
        let kept = || self.recent_chains().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layers) = known(&kept()) {
            return Ok(Some(layers));
        }
        let layers = Arc::new(PatchChain::find(self, snapshot)?);
        let mut kept = kept();
        if let Some(layers) = known(&kept) {
            return Ok(Some(layers));
        }
        kept.truncate(KEPT - 1);
        kept.insert(0, (snapshot, Arc::clone(&layers)));
        Ok(Some(layers))
    }
}

impl PatchChain {
    /// Walks from the whole snapshot that a patch is based on to the patch.
    fn find(recording: &Recording, snapshot: SnapshotId) -> Result<Self> {
        let at = CommitOffset(recording.commit_offset(snapshot)?);
        let mut chain = vec![snapshot];
        let mut last = snapshot;
        while let Some(patched) = &recording.commit(last)?.patched {
            let (value, limit) = (patched.base.into(), last.0.into());
            if patched.base >= last.0 {
                return Err(at.damaged(FormatError::OutOfRange { what: "base of a patch", value, limit }));
            }
            last = SnapshotId(patched.base);
            chain.push(last);
            if chain.len() > MAX_PATCHES {
                let (value, limit) = (chain.len() as u64, MAX_PATCHES as u64);
                return Err(at.damaged(FormatError::OutOfRange { what: "patches of a whole snapshot", value, limit }));
            }
        }
        let mut layers = PatchChain { at, groups: Vec::new(), live: LiveRows::default() };
        for &snapshot in chain.iter().rev() {
            layers.add(recording, snapshot)?;
        }
        layers.bury(recording)?;
        layers.agree_with(recording, snapshot)?;
        Ok(layers)
    }

    /// Adds what a snapshot says of the groups before, and its new ones.
    fn add(&mut self, recording: &Recording, snapshot: SnapshotId) -> Result<()> {
        let at = self.at;
        let commit = recording.commit(snapshot)?;
        let all_new = vec![Group::Block; commit.blocks.len()];
        let groups = commit.patched.as_ref().map_or(&all_new, |patched| &patched.groups);
        if groups.len() < self.groups.len() {
            let (stored, found) = (self.groups.len() as u64, groups.len() as u64);
            return Err(at.damaged(FormatError::Mismatch { what: "groups of a patch", stored, found }));
        }
        let mut entries = commit.blocks.iter();
        for (number, &group) in groups.iter().enumerate() {
            let known = self.groups.get_mut(number);
            if group == Group::Gone {
                known.ok_or_else(|| at.unexpected(group))?.is_gone = true;
                continue;
            }
            let &entry = entries.next().ok_or_else(|| at.unexpected(group))?;
            let place = StoredFrame { snapshot, entry };
            match (group, known) {
                (Group::Same, Some(known)) if !known.is_gone => {}
                (Group::Patch, Some(known)) if !known.is_gone && !known.is_continuation => known.patches.push(place),
                (Group::Block, None) => self.begin(place)?,
                _ => return Err(at.unexpected(group)),
            }
        }
        match &commit.patched {
            Some(patched) => self.at.agree("rows of a patch", patched.rows.into(), self.live.rows().into()),
            None => Ok(()),
        }
    }

    fn begin(&mut self, place: StoredFrame) -> Result<()> {
        let is_continuation = place.entry.objects == 0;
        let first = self.live.rows();
        let rows = if is_continuation {
            let last = first.checked_sub(1).ok_or_else(|| self.at.unexpected(Group::Block))?;
            last..first
        } else {
            let end = first.checked_add(place.entry.objects).ok_or_else(|| self.at.unexpected(Group::Block))?;
            self.live.grow(place.entry.objects);
            first..end
        };
        self.groups.push(StoredGroup { rows, is_continuation, is_gone: false, block: place, patches: Vec::new() });
        Ok(())
    }

    /// Finds out which rows are dead.
    fn bury(&mut self, recording: &Recording) -> Result<()> {
        let mut decoder = Decoder::new();
        let mut dead = Vec::new();
        for group in self.groups.iter().filter(|group| !group.is_continuation) {
            if group.is_gone {
                for row in group.rows.clone() {
                    self.live.kill(row);
                }
                continue;
            }
            for patch in &group.patches {
                let at = AnalyzerError::section("PATCH", patch.entry.offset);
                let block = group.frame(recording, SectionType::PATCH, patch)?;
                decoder.decode_dead(&block, group.row_count(), &mut dead).map_err(&at)?;
                for &position in &dead {
                    if !self.live.kill(group.rows.start + position) {
                        let value = position.into();
                        return Err(at(FormatError::OutOfRange { what: "row that died before", value, limit: 0 }));
                    }
                }
            }
        }
        self.live.count();
        Ok(())
    }

    /// Compares with what the commit says of each group.
    fn agree_with(&self, recording: &Recording, snapshot: SnapshotId) -> Result<()> {
        for entry in &recording.commit(snapshot)?.blocks {
            let group = self.group(entry)?;
            if group.is_continuation {
                self.at.agree("objects in a continuation", entry.objects.into(), 0)?;
                let object = self.live.object(group.rows.start).map(u64::from);
                self.at.agree("object of a continuation", entry.first_object.into(), object.unwrap_or(u64::MAX))?;
            } else {
                let living = self.live.living(group.rows.clone());
                self.at.agree("living rows of a group", entry.objects.into(), living.into())?;
            }
        }
        Ok(())
    }

    fn group(&self, entry: &BlockEntry) -> Result<&StoredGroup> {
        self.groups.get(entry.group as usize).ok_or_else(|| self.at.unexpected(Group::Gone))
    }

    /// Decodes the wanted columns of a group as a block of the snapshot. Returns the newest of its frames.
    pub(crate) fn decode<'r>(
        &self,
        recording: &'r Recording,
        entry: &BlockEntry,
        (forms, wanted): (&[ShapeForm], Wanted),
        decoder: &mut Decoder,
        merge: &mut PatchMerge,
        out: &mut BlockColumns,
    ) -> Result<Block<'r>> {
        let group = self.group(entry)?;
        let block = group.frame(recording, SectionType::BLOCK, &group.block)?;
        let at = AnalyzerError::section("BLOCK", group.block.entry.offset);
        merge.patches.truncate(group.patches.len());
        merge.patches.resize_with(group.patches.len(), Patch::default);
        let alone = group.patches.is_empty() && self.live.living(group.rows.clone()) as usize == group.rows.len();
        let base = if alone { &mut *out } else { &mut merge.base };
        decoder.decode(&block, forms, self.live.rows(), wanted, base).map_err(&at)?;
        let mut newest = block;
        if alone {
            base.first_object = entry.first_object;
        } else {
            merge.begin(group.rows.len());
            for (number, patch) in group.patches.iter().enumerate() {
                let at = AnalyzerError::section("PATCH", patch.entry.offset);
                newest = group.frame(recording, SectionType::PATCH, patch)?;
                let limits = PatchLimits { forms, rows: self.live.rows(), group_rows: group.row_count() };
                merge.add(number, &newest, limits, wanted, decoder).map_err(&at)?;
            }
            merge.merge(wanted, out);
            out.first_object = entry.first_object;
        }
        self.name_targets(out).map_err(&at)?;
        if wanted != Wanted::Sizes && wanted != Wanted::Identity {
            let references = out.counts.iter().map(|&count| u64::from(count)).sum();
            self.at.agree("references in a block", entry.references.into(), references)?;
        }
        Ok(newest)
    }

    /// Makes objects of the rows that references lead to.
    fn name_targets(&self, out: &mut BlockColumns) -> std::result::Result<(), FormatError> {
        for target in &mut out.targets {
            *target = self.live.object(*target).ok_or(FormatError::OutOfRange {
                what: "target of a reference, which is dead,",
                value: (*target).into(),
                limit: self.live.rows().into(),
            })?;
        }
        Ok(())
    }
}

impl StoredGroup {
    fn row_count(&self) -> u32 {
        self.rows.end - self.rows.start
    }

    /// A frame of the group, which must be what its commit says.
    fn frame<'r>(&self, recording: &'r Recording, section: SectionType, place: &StoredFrame) -> Result<Block<'r>> {
        let frame = recording.frame(section, Some(place.snapshot), place.entry.offset)?;
        let at = AnalyzerError::section(section.name().unwrap_or("section"), place.entry.offset);
        let block = Block::parse(&frame).map_err(&at)?;
        let is_block = section == SectionType::BLOCK;
        let stored = if is_block { (place.entry.objects, place.entry.references) } else { (0, 0) };
        let found = if is_block { (block.objects(), block.references()) } else { (0, 0) };
        for (what, stored, found) in [
            ("length of a block", place.entry.length, frame.end() - frame.offset),
            ("first row of a group", self.rows.start.into(), block.first_object().into()),
            ("objects in a block", stored.0.into(), found.0.into()),
            ("references in a block", stored.1.into(), found.1.into()),
        ] {
            if stored != found {
                return Err(at(FormatError::Mismatch { what, stored, found }));
            }
        }
        Ok(block)
    }
}

/// The layers of one group while they are put together. Reused from group to group.
#[derive(Debug, Default)]
pub(crate) struct PatchMerge {
    base: BlockColumns,
    patches: Vec<Patch>,
    /// For each layer, the base first, where the references of its rows begin.
    starts: Vec<Vec<u32>>,
    /// For each row the layer that stores it, and its place there.
    newest: Vec<(u32, u32)>,
    is_dead: Vec<bool>,
    /// For each row its address, if there are any.
    addresses: Vec<u64>,
}

impl PatchMerge {
    /// All rows are those of the base.
    fn begin(&mut self, rows: usize) {
        self.newest.clear();
        self.newest.extend((0..rows as u32).map(|row| (0, row)));
        self.is_dead.clear();
        self.is_dead.resize(rows, false);
        self.addresses.clear();
        self.addresses.extend_from_slice(&self.base.addresses);
        self.starts.resize_with(self.patches.len() + 1, Vec::new);
        starts_of(&self.base.counts, &mut self.starts[0]);
    }

    /// Decodes patch `number` and lays it over those before.
    fn add(
        &mut self,
        number: usize,
        block: &Block<'_>,
        limits: PatchLimits<'_>,
        wanted: Wanted,
        decoder: &mut Decoder,
    ) -> std::result::Result<(), FormatError> {
        let (before, rest) = self.patches.split_at_mut(number);
        let patch = &mut rest[0];
        let (base, starts, newest) = (&self.base, &self.starts, &self.newest);
        let old = |position: u32| {
            let Some(&(layer, row)) = newest.get(position as usize) else { return &[][..] };
            let columns = layer.checked_sub(1).map_or(base, |patch| &before[patch as usize].columns);
            let starts = &starts[layer as usize];
            let range = starts[row as usize] as usize..starts[row as usize + 1] as usize;
            columns.targets.get(range).unwrap_or_default()
        };
        decoder.decode_patch(block, limits, wanted, old, patch)?;
        starts_of(&patch.columns.counts, &mut self.starts[number + 1]);
        for &position in &patch.dead {
            self.is_dead[position as usize] = true;
        }
        for (place, &position) in (0..).zip(&patch.changed) {
            if self.is_dead[position as usize] {
                let (value, limit) = (position.into(), 0);
                return Err(FormatError::OutOfRange { what: "row that changed, but is dead,", value, limit });
            }
            self.newest[position as usize] = (number as u32 + 1, place);
        }
        if patch.moved.is_empty() {
            return Ok(());
        }
        let living = self.is_dead.iter().filter(|&&is_dead| !is_dead).count() as u64;
        if living != patch.moved.len() as u64 {
            let found = patch.moved.len() as u64;
            return Err(FormatError::Mismatch { what: "column MOVED", stored: living, found });
        }
        self.addresses.resize(self.newest.len(), 0);
        let living = self.addresses.iter_mut().zip(&self.is_dead).filter(|(_, is_dead)| !**is_dead);
        living.zip(&patch.moved).for_each(|((address, _), &by)| *address = address.wrapping_add(by));
        Ok(())
    }

    /// Puts the living rows together.
    fn merge(&self, wanted: Wanted, out: &mut BlockColumns) {
        out.clear();
        let layers: Vec<&BlockColumns> =
            std::iter::once(&self.base).chain(self.patches.iter().map(|patch| &patch.columns)).collect();
        let mut dictionary_starts = Vec::new();
        let mut label_starts = Vec::new();
        for layer in &layers {
            dictionary_starts.push(out.dictionary.len() as u32);
            out.dictionary.extend_from_slice(&layer.dictionary);
            out.forms.extend_from_slice(&layer.forms);
            label_starts.push(label_starts_of(layer));
        }
        let has = |column: fn(&BlockColumns) -> bool| layers.iter().any(|layer| column(layer));
        let has_unmanaged = has(|layer| !layer.unmanaged_bytes.is_empty());
        let has_sites = has(|layer| !layer.sites.is_empty());
        let has_names = has(|layer| !layer.names.is_empty());
        let has_references = matches!(wanted, Wanted::References | Wanted::All);
        let mut positions = 0..self.newest.len();
        while let Some(position) = positions.find(|&at| !self.is_dead[at]) {
            let run = self.run(position);
            let (layer, row) = (self.newest[position].0 as usize, self.newest[position].1 as usize);
            let (columns, rows) = (layers[layer], row..row + run);
            let first = dictionary_starts[layer];
            out.shapes.extend(columns.shapes[rows.clone()].iter().map(|shape| first + shape));
            out.shallow_bytes.extend_from_slice(columns.shallow_bytes.get(rows.clone()).unwrap_or_default());
            if has_unmanaged {
                append(&mut out.unmanaged_bytes, &columns.unmanaged_bytes, rows.clone());
            }
            out.counts.extend_from_slice(columns.counts.get(rows.clone()).unwrap_or_default());
            if has_references {
                let starts = &self.starts[layer];
                out.targets.extend_from_slice(&columns.targets[between(starts, &rows)]);
                if let Some(starts) = &label_starts[layer] {
                    out.labels.extend_from_slice(&columns.labels[between(starts, &rows)]);
                }
            }
            if has_sites {
                append(&mut out.sites, &columns.sites, rows.clone());
            }
            if has_names {
                append(&mut out.names, &columns.names, rows.clone());
            }
            for (own, all) in [(&mut out.addresses, &self.addresses), (&mut out.serials, &self.base.serials)] {
                own.extend_from_slice(all.get(position..position + run).unwrap_or_default());
            }
            positions.start = position + run;
        }
        forget_if_absent(out);
    }

    /// How many living rows from this one on stand one after the other in one layer.
    fn run(&self, position: usize) -> usize {
        let (layer, row) = self.newest[position];
        let later = self.newest[position..].iter().zip(&self.is_dead[position..]);
        let places = later.zip(row..).take_while(|&((&place, &is_dead), row)| !is_dead && place == (layer, row));
        places.count()
    }
}

/// Appends the values of some rows, of a column that may be absent.
fn append<T: Copy + Default>(out: &mut Vec<T>, column: &[T], rows: Range<usize>) {
    match column.get(rows.clone()) {
        Some(values) => out.extend_from_slice(values),
        None => out.resize(out.len() + rows.len(), T::default()),
    }
}

/// What belongs to some rows.
fn between(starts: &[u32], rows: &Range<usize>) -> Range<usize> {
    starts[rows.start] as usize..starts[rows.end] as usize
}

/// A column without any value is empty, as it is in a whole snapshot.
fn forget_if_absent(out: &mut BlockColumns) {
    for column in [&mut out.unmanaged_bytes, &mut out.addresses, &mut out.serials] {
        if column.iter().all(|&value| value == 0) {
            column.clear();
        }
    }
    if out.sites.iter().all(|&site| site == 0) {
        out.sites.clear();
    }
    if out.names.iter().all(Option::is_none) {
        out.names.clear();
    }
}

/// Where the references of each row begin, and the last end.
fn starts_of(counts: &[u32], starts: &mut Vec<u32>) {
    starts.clear();
    starts.push(0);
    let mut end = 0;
    starts.extend(counts.iter().map(|&count| {
        end += count;
        end
    }));
}

/// The same for explicit labels; `None` if there are none.
fn label_starts_of(columns: &BlockColumns) -> Option<Vec<u32>> {
    if columns.labels.is_empty() {
        return None;
    }
    let counts = columns.shapes.iter().zip(&columns.counts).map(|(&shape, &count)| {
        let form = columns.forms[shape as usize];
        if form.is_explicit { count - form.prefix } else { 0 }
    });
    let mut starts = Vec::new();
    starts_of(&counts.collect::<Vec<_>>(), &mut starts);
    Some(starts)
}

/// Where the commit is that lies, if something does not fit.
#[derive(Debug, Clone, Copy)]
struct CommitOffset(u64);

impl CommitOffset {
    fn damaged(self, error: FormatError) -> AnalyzerError {
        AnalyzerError::section("COMMIT", self.0)(error)
    }

    fn unexpected(self, group: Group) -> AnalyzerError {
        let what = match group {
            Group::Gone => "group that is gone without having been",
            Group::Same => "group that is the same without having been",
            Group::Patch => "group that is patched without having been",
            Group::Block => "group that is new but was there",
        };
        self.damaged(FormatError::Missing { what })
    }

    fn agree(self, what: &'static str, stored: u64, found: u64) -> Result<()> {
        if stored == found { Ok(()) } else { Err(self.damaged(FormatError::Mismatch { what, stored, found })) }
    }
}
