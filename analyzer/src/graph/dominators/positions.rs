//! Consecutive positions of a dominator tree, for walks that visit one after the other.

use std::ops::Range;

use super::Dominators;

/// The columns of consecutive positions.
pub(crate) struct Positions<'d> {
    dominators: &'d Dominators,
    first: u32,
    /// By position: the object; from the number of objects on, the group of roots.
    pub(crate) vertices: &'d [u32],
    extents: &'d [u32],
    /// Of one position more.
    before: &'d [u64],
}

impl Dominators {
    /// The columns of some positions. `None` if values of them are damaged, and then the damage is noted.
    pub(crate) fn positions(&self, positions: Range<u32>) -> Option<Positions<'_>> {
        let range = positions.start as usize..positions.end as usize;
        Some(Positions {
            dominators: self,
            first: positions.start,
            vertices: self.columns.vertex.slice(range.clone())?,
            extents: self.columns.extent.slice(range.clone())?,
            before: self.columns.before.slice(range.start..range.end + 1)?,
        })
    }

    /// The object or group at a position: its number; from the number of objects on, the group of roots.
    pub(crate) fn vertex_at(&self, position: u32) -> u32 {
        self.columns.vertex.at(position as usize)
    }
}

impl Positions<'_> {
    /// The number of positions in the subtree of one of them.
    #[inline(always)]
    pub(crate) fn extent(&self, position: u32) -> u32 {
        self.extents[(position - self.first) as usize]
    }

    /// The bytes of the subtree of one of them, which ends at `end`.
    #[inline(always)]
    pub(crate) fn bytes(&self, position: u32, end: u32) -> u64 {
        let before_end = match self.before.get((end - self.first) as usize) {
            Some(&bytes) => bytes,
            None => self.dominators.columns.before.at(end as usize),
        };
        before_end.wrapping_sub(self.before[(position - self.first) as usize])
    }
}
