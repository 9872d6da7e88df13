//! Jointly retained objects: objects whose immediate dominator does not refer to them itself.
//!
//! ```text
//!   dominator ─▶ a ─▶ x      a and b retain x jointly: it is freed if both of them are
//!        └─────▶ b ───┘
//!
//!   counts     by position: number of keepers, and of keepers before it         2 bytes per position
//!   kept       by position: the jointly retained objects it keeps, packed       about 4 bytes each
//!   starts     for every 4 positions, where their lists in `kept` start
//! ```
//!
//! Positions are those of the dominator tree, so a subtree is a range of lists. An object that is not jointly retained
//! is freed exactly when its dominator is, unless a root refers to it. Some referrers of a jointly retained object are
//! irrelevant: those that it dominates, and those dominated by another referrer, because that one is freed first. The
//! others are its *keepers*. A keeper is *before* the object if it is nearer to the roots, or as near and of a lower
//! number. Each jointly retained object has at least one keeper before it.
//!
//! So the objects freed with a set follow from its subtrees, without searching the rest of the heap: [`freed`].

mod find;
mod freed;

use crate::columns::lookup::Lookup;
use crate::columns::packed::{MaxLength, PADDING, unzigzag};
use crate::graph::dominators::Dominators;

/// Objects with at least this number of keepers are counted separately.
const MANY: u32 = u8::MAX as u32;
/// Positions that share one start of 8 bytes, 2 for each; up to three lists are passed on the way to one. This is a judgement.
const GROUP: usize = 4;

/// The jointly retained objects of a heap, and their keepers.
#[derive(Debug)]
pub(crate) struct JointlyRetained {
    counts: Lookup<[u8; 2]>,
    /// The positions of objects with [`MANY`] or more keepers, ascending, with both counts.
    many: Vec<[u32; 3]>,
    starts: Lookup<u64>,
    kept: Lookup<u8>,
    longest: MaxLength,
}

/// The columns that an index file keeps.
pub(crate) struct JointlyRetainedColumns<'s> {
    pub(crate) counts: &'s [[u8; 2]],
    pub(crate) many: &'s [[u32; 3]],
    pub(crate) starts: &'s [u64],
    pub(crate) kept: &'s [u8],
}

impl JointlyRetained {
    /// The columns as slices. Those that are checked only where they are read are empty.
    pub(crate) fn columns(&self) -> JointlyRetainedColumns<'_> {
        let starts = self.starts.whole();
        let bytes = starts.last().map_or(0, |&end| end as usize + PADDING);
        let kept = self.kept.whole().get(..bytes).unwrap_or_default();
        JointlyRetainedColumns { counts: self.counts.whole(), many: &self.many, starts, kept }
    }

    /// From columns of an index file. Their values are checked where they are used.
    pub(crate) fn of_columns(
        counts: Lookup<[u8; 2]>,
        many: Vec<[u32; 3]>,
        starts: Lookup<u64>,
        kept: Lookup<u8>,
    ) -> Self {
        let longest = longest(counts.len());
        JointlyRetained { counts, many, starts, kept, longest }
    }

    /// Returns whether the column lengths fit this dominator tree.
    fn fit(&self, dominators: &Dominators) -> bool {
        let count = dominators.position_count() as usize;
        self.counts.len() == count && self.starts.len() == count.div_ceil(GROUP) + 1
    }

    /// Returns whether damaged values were read.
    fn are_damaged(&self) -> bool {
        self.counts.is_damaged() || self.starts.is_damaged() || self.kept.is_damaged()
    }

    fn is_jointly_retained(&self, position: u32) -> bool {
        self.counts.at(position as usize)[0] != 0
    }

    /// For the object at a position: the number of its keepers, 0 if it is not jointly retained, and how many of them
    /// come before it.
    fn counts(&self, position: u32) -> [u32; 2] {
        let counts = self.counts.at(position as usize).map(u32::from);
        if counts[0] < MANY {
            return counts;
        }
        match self.many.binary_search_by_key(&position, |&[position, ..]| position) {
            Ok(at) => [self.many[at][1], self.many[at][2]],
            // Cannot happen: the columns in a file belong together.
            Err(_) => counts,
        }
    }
}

/// Reads which jointly retained objects each position keeps, mostly in ascending order of positions.
struct KeptObjects<'s> {
    joint: &'s JointlyRetained,
    /// The group that was read last, and its bytes with padding.
    group: usize,
    bytes: &'s [u8],
    /// The position whose list is next, and the offset of that list in `bytes`.
    next: u32,
    at: usize,
    /// The number of bytes that may still be read.
    budget: usize,
}

/// The maximum number of times a byte is read: for each position of its group, once to find the area and once to find
/// the living positions.
const MOST_READS: usize = 2 * GROUP;

impl<'s> KeptObjects<'s> {
    fn new(joint: &'s JointlyRetained) -> Self {
        let budget = (joint.kept.len() + 1).saturating_mul(MOST_READS);
        KeptObjects { joint, group: usize::MAX, bytes: &[], next: 0, at: 0, budget }
    }

    /// Calls `visit` with the positions of the jointly retained objects that the object at `position` keeps, and
    /// whether it comes before them. Returns the number of bytes read; `None` if the column is damaged.
    #[inline(always)]
    fn each(&mut self, position: u32, mut visit: impl FnMut(u32, bool)) -> Option<usize> {
        let group = position as usize / GROUP;
        if group != self.group || position < self.next {
            let start = usize::try_from(self.joint.starts.at(group)).ok()?;
            let end = usize::try_from(self.joint.starts.at(group + 1)).ok()?;
            self.bytes = self.joint.kept.slice(start..end.checked_add(PADDING)?)?;
            (self.group, self.next, self.at) = (group, (group * GROUP) as u32, 0);
        }
        let before = self.at;
        while self.next < position {
            while self.number()? != 0 {}
            self.next += 1;
        }
        loop {
            let number = self.number()?;
            if number == 0 {
                break;
            }
            let kept = position.wrapping_add(unzigzag(number >> 1) as u32);
            if kept as usize >= self.joint.counts.len() {
                return None;
            }
            visit(kept, number & 1 == 1);
        }
        self.next += 1;
        let bytes = self.at - before;
        // In a forged index, groups may share bytes, so that a walk could take too long.
        self.budget = self.budget.checked_sub(bytes)?;
        Some(bytes)
    }

    #[inline(always)]
    fn number(&mut self) -> Option<u64> {
        (self.at + PADDING <= self.bytes.len()).then(|| self.joint.longest.get(self.bytes, &mut self.at))
    }
}

/// The length of the longest number in a list, for `count` positions.
fn longest(count: usize) -> MaxLength {
    MaxLength::of(4 * count as u64)
}
