//! Reading patched snapshots: the chain of patches is found once, then its groups are decoded like blocks.
//!
//! A row is taken from the newest frame that stores it. Dead rows are omitted, and the rows that references lead to
//! are replaced by object numbers. After that a patched snapshot is like any other.

use std::sync::Arc;

use barrow_format::block::{Block, BlockColumns, ColumnSelection, Decoder, PatchLimits, ShapeForm};
use barrow_format::commit::BlockEntry;
use barrow_format::frame::SectionType;
use barrow_format::{FormatError, SnapshotId};

use crate::error::{AnalyzerError, Result};
use crate::file::patch_chain::{CommitOffset, PatchChain, StoredFrame, StoredGroup};
use crate::file::patch_merge::PatchMerge;
use crate::file::recording::Recording;

/// The maximum length of a chain of patches. Writers make much shorter ones.
pub(crate) const MAX_PATCHES: usize = 1024;
/// Number of snapshots whose chains stay in memory: questions go from one snapshot to the next, on as many as are
/// processed at the same time.
const KEPT: usize = 4;

impl Recording {
    /// The chain of a patched snapshot; `None` if the snapshot is stored whole.
    pub(crate) fn patch_chain(&self, snapshot: SnapshotId) -> Result<Option<Arc<PatchChain>>> {
        if self.commit(snapshot)?.patched.is_none() {
            return Ok(None);
        }
        if let Some(chain) = chain_of(snapshot, &self.recent_chains().lock()) {
            return Ok(Some(chain));
        }
        let chain = Arc::new(PatchChain::find(self, snapshot)?);
        let mut kept = self.recent_chains().lock();
        // Another thread may have found it meanwhile.
        if let Some(chain) = chain_of(snapshot, &kept) {
            return Ok(Some(chain));
        }
        kept.truncate(KEPT - 1);
        kept.insert(0, (snapshot, Arc::clone(&chain)));
        Ok(Some(chain))
    }
}

type KeptChains = Vec<(SnapshotId, Arc<PatchChain>)>;

fn chain_of(snapshot: SnapshotId, kept: &KeptChains) -> Option<Arc<PatchChain>> {
    kept.iter().find(|(of, _)| *of == snapshot).map(|(_, chain)| Arc::clone(chain))
}

impl PatchChain {
    /// Builds the chain, from the whole snapshot at its base to `snapshot`.
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
        let mut patches = PatchChain::new(at);
        for &snapshot in chain.iter().rev() {
            patches.add(snapshot, recording.commit(snapshot)?)?;
        }
        patches.mark_dead(recording)?;
        patches.agree_with(recording.commit(snapshot)?)?;
        Ok(patches)
    }

    /// Marks the rows that are dead.
    fn mark_dead(&mut self, recording: &Recording) -> Result<()> {
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

    /// Decodes the wanted columns of a group as a block of the snapshot. Returns the newest frame of the group.
    pub(crate) fn decode<'r>(
        &self,
        recording: &'r Recording,
        entry: &BlockEntry,
        (forms, wanted): (&[ShapeForm], ColumnSelection),
        decoder: &mut Decoder,
        merge: &mut PatchMerge,
        out: &mut BlockColumns,
    ) -> Result<Block<'r>> {
        let group = self.group(entry)?;
        let block = group.frame(recording, SectionType::BLOCK, &group.block)?;
        let at = AnalyzerError::section("BLOCK", group.block.entry.offset);
        merge.prepare(group.patches.len());
        let alone = group.patches.is_empty() && self.live.living(group.rows.clone()) as usize == group.rows.len();
        let base = if alone { &mut *out } else { merge.base_mut() };
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
            merge.finish(wanted, out);
            out.first_object = entry.first_object;
        }
        self.name_targets(out).map_err(&at)?;
        if !matches!(wanted, ColumnSelection::Sizes | ColumnSelection::Identity | ColumnSelection::Values) {
            let references = out.counts.iter().map(|&count| u64::from(count)).sum();
            self.at.agree("references in a block", entry.references.into(), references)?;
        }
        Ok(newest)
    }
}

impl StoredGroup {
    /// Reads a frame of the group and checks it against its directory entry.
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
