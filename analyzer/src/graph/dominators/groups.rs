//! The bytes dominated by groups of objects: one pass over the tree in preorder, where subtrees are ranges.

use std::ops::Range;

use rayon::prelude::*;

use super::{AHEAD, Dominators, PIECE};
use crate::columns::prefetch::prefetch;
use crate::error::Result;
use crate::graph::object_set::ObjectSet;
use crate::progress::{Progress, check};

/// The totals of the objects of a group and of the bytes that they dominate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupRetained {
    /// The number of its reachable objects.
    pub objects: u64,
    /// The bytes they dominate, each counted once.
    pub bytes: u64,
}

/// Sums for the groups of one kind, added in ascending order of positions.
///
/// The subtree of an object counts for its group unless an object of the same group dominates it. So each byte counts
/// once. Objects held jointly by several members of the group do not count, so the sum is a lower bound of what would
/// be freed with all of them.
struct Sums {
    found: Vec<GroupRetained>,
    /// For each group, the end of its subtree that was opened last.
    open_until: Vec<u32>,
}

impl Sums {
    fn new(groups: usize) -> Self {
        Sums { found: vec![GroupRetained::default(); groups], open_until: vec![0; groups] }
    }

    #[inline(always)]
    fn add(&mut self, group: usize, position: u32, end: u32, bytes: u64) {
        let found = &mut self.found[group];
        found.objects += 1;
        if position >= self.open_until[group] {
            found.bytes = found.bytes.wrapping_add(bytes);
            self.open_until[group] = end;
        }
    }
}

impl Dominators {
    /// The totals for several ways to divide all objects into groups. `groups` holds the number of groups of each way.
    /// `numbers` has a number for each object, and `groups_of` maps it to the object's groups. All columns must be
    /// whole.
    ///
    /// Time: linear. Sequential.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn bytes_by_groups<const WAYS: usize>(
        &self,
        groups: [usize; WAYS],
        numbers: &[u32],
        groups_of: impl Fn(u32) -> [usize; WAYS],
        progress: &dyn Progress,
    ) -> Result<[Vec<GroupRetained>; WAYS]> {
        let columns = self.columns();
        let mut sums = groups.map(Sums::new);
        progress.begin("summing up groups", columns.vertex.len() as u64, "objects");
        // The first position is the top.
        for (position, (&vertex, &extent)) in (0u32..).zip(columns.vertex.iter().zip(columns.extent)).skip(1) {
            if (position as usize).is_multiple_of(PIECE) {
                check(progress)?;
                progress.advance(PIECE as u64);
            }
            prefetch(numbers, columns.vertex.get(position as usize + AHEAD).map_or(0, |&vertex| vertex as usize));
            // Groups of roots are not in `numbers`.
            let Some(&number) = numbers.get(vertex as usize) else { continue };
            let (end, bytes) = (position + extent, self.bytes_below(position));
            for (sums, group) in sums.iter_mut().zip(groups_of(number)) {
                sums.add(group, position, end, bytes);
            }
        }
        Ok(sums.map(|sums| sums.found))
    }

    /// The bytes that the objects of a set dominate, each counted once.
    ///
    /// Time: linear in the set, in parallel on the current pool. Memory: one bit per position.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn bytes_below_any(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<u64> {
        let positions = self.positions_of(set, progress)?;
        let count = positions.snapshot_objects() as u32;
        let ranges: Vec<Range<u32>> =
            (0..count).step_by(PIECE).map(|first| first..count.min(first.saturating_add(PIECE as u32))).collect();
        let parts = ranges.into_par_iter().map(|range| {
            check(progress)?;
            Ok((range.clone(), self.bytes_of_subtrees(&positions, range)))
        });
        let (mut bytes, mut end) = (0u64, 0);
        for (range, found) in parts.collect::<Result<Vec<_>>>()? {
            // Subtrees that begin within an earlier subtree are part of it.
            let (more, last) = match end {
                _ if end <= range.start => found,
                _ if end >= range.end => continue,
                _ => self.bytes_of_subtrees(&positions, end..range.end),
            };
            bytes = bytes.wrapping_add(more);
            end = end.max(last);
        }
        Ok(bytes)
    }

    /// The bytes of the subtrees that begin in a range of positions, and the end of the last one.
    fn bytes_of_subtrees(&self, positions: &ObjectSet, range: Range<u32>) -> (u64, u32) {
        let subtrees = self.subtrees(positions.within(range.clone()));
        subtrees.fold((0, range.start), |(bytes, _), subtree| {
            (bytes.wrapping_add(self.bytes_below(subtree.start)), subtree.end)
        })
    }
}
