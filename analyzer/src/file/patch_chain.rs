//! The chain of blocks and patches in which the groups of rows of a patched snapshot are stored.
//!
//! ```text
//!   group 0   BLOCK of snapshot 3 ◀ PATCH of snapshot 4 ◀ PATCH of snapshot 6      oldest first
//!   group 1   BLOCK of snapshot 3
//!   group 2   BLOCK of snapshot 5 ◀ PATCH of snapshot 6
//! ```
//!
//! [`super::patched_snapshot`] finds the chain of a snapshot and decodes its groups.

use std::ops::Range;

use barrow_format::block::BlockColumns;
use barrow_format::commit::{BlockEntry, Commit, Group};
use barrow_format::{FormatError, SnapshotId};

use crate::error::{AnalyzerError, Result};
use crate::file::live_rows::LiveRows;

/// The groups of rows of a patched snapshot, and its live rows.
#[derive(Debug)]
pub(crate) struct PatchChain {
    pub(super) at: CommitOffset,
    pub(super) groups: Vec<StoredGroup>,
    pub(super) live: LiveRows,
}

/// The storage of a group of rows: a block and the patches to it, oldest first.
#[derive(Debug)]
pub(super) struct StoredGroup {
    /// The rows of the group; for a continuation, the row that is continued.
    pub(super) rows: Range<u32>,
    pub(super) is_continuation: bool,
    pub(super) is_gone: bool,
    pub(super) block: StoredFrame,
    pub(super) patches: Vec<StoredFrame>,
}

/// A BLOCK or PATCH frame, and the directory entry that describes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredFrame {
    pub(super) snapshot: SnapshotId,
    pub(super) entry: BlockEntry,
}

impl PatchChain {
    /// A chain without snapshots. Errors are reported at `commit_offset`.
    pub(super) fn new(commit_offset: CommitOffset) -> Self {
        PatchChain { at: commit_offset, groups: Vec::new(), live: LiveRows::default() }
    }

    /// Adds the next snapshot: its patches to the groups so far, and its new groups.
    pub(super) fn add(&mut self, snapshot: SnapshotId, commit: &Commit) -> Result<()> {
        let at = self.at;
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

    /// Checks the groups against the commit of the snapshot.
    pub(super) fn agree_with(&self, commit: &Commit) -> Result<()> {
        for entry in &commit.blocks {
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

    pub(super) fn group(&self, entry: &BlockEntry) -> Result<&StoredGroup> {
        self.groups.get(entry.group as usize).ok_or_else(|| self.at.unexpected(Group::Gone))
    }

    /// Replaces the rows in `out.targets` by object numbers.
    pub(super) fn name_targets(&self, out: &mut BlockColumns) -> std::result::Result<(), FormatError> {
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
    pub(super) fn row_count(&self) -> u32 {
        self.rows.end - self.rows.start
    }
}

/// Offset of the snapshot's commit, for errors about inconsistent commits.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommitOffset(pub(super) u64);

impl CommitOffset {
    pub(super) fn damaged(self, error: FormatError) -> AnalyzerError {
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

    pub(super) fn agree(self, what: &'static str, stored: u64, found: u64) -> Result<()> {
        if stored == found { Ok(()) } else { Err(self.damaged(FormatError::Mismatch { what, stored, found })) }
    }
}
