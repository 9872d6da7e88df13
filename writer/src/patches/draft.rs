//! A snapshot made ready to be committed as a patch.

use barrow_format::commit::{BlockEntry, Group, Patched};

use super::living::Living;
use super::{Divisions, RowGroup};

/// A snapshot ready to be committed as a patch: its frames wait in the spill.
pub(crate) struct Draft {
    pub(crate) patched: Patched,
    /// What the commit says of the groups that are not gone; offsets are those in the spill.
    pub(crate) blocks: Vec<BlockEntry>,
    /// For each object, as it was announced, its row.
    pub(super) row_of: Vec<u32>,
    pub(super) living: Living,
    pub(super) changed: Changed,
    pub(super) new: New,
    /// For each row the address of its object; empty if none has one.
    pub(super) addresses: Vec<u64>,
    /// Rows and references that are stored.
    pub(super) stored: u64,
}

/// Rows that are stored anew, and their contents.
#[derive(Default)]
pub(super) struct Changed {
    pub(super) rows: Vec<u32>,
    pub(super) contents: Vec<u128>,
}

/// New rows in their order, and their groups.
#[derive(Default)]
pub(super) struct New {
    pub(super) serials: Vec<u64>,
    pub(super) contents: Vec<u128>,
    pub(super) groups: Vec<RowGroup>,
    pub(super) divisions: Divisions,
}

impl Draft {
    /// The number that an object has in the file, by that it was announced with.
    pub(crate) fn object(&self, announced: u32) -> u32 {
        self.living.object(self.row_of[announced as usize])
    }

    /// Adds what is to be written of the next group.
    pub(super) fn add(&mut self, made: Made) {
        self.stored += made.stored;
        let group = self.patched.groups.len() as u32;
        self.patched.groups.push(made.group);
        if made.group == Group::Gone {
            return;
        }
        let Made { offset, length, objects, references, .. } = made;
        let end = self.blocks.last().map_or(0, |last| last.first_object + last.objects.max(1));
        let first_object = if made.is_continuation { end - 1 } else { end };
        self.blocks.push(BlockEntry { offset, length, first_object, objects, references, group });
    }

    /// The length of its frames, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.length).sum()
    }
}

/// What is written of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    pub(super) group: Group,
    pub(super) is_continuation: bool,
    /// Where its frame is in the spill, and how long; both 0 if it has none.
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) objects: u32,
    pub(super) references: u32,
    /// Rows and references that its frame stores.
    pub(super) stored: u64,
}

impl Made {
    /// A group of which nothing is written.
    pub(super) fn nothing(group: Group, is_continuation: bool, objects: u32, references: u32) -> Self {
        Made { group, is_continuation, offset: 0, length: 0, objects, references, stored: 0 }
    }
}
