//! Shared objects: those that their immediate dominator holds, though it does not refer to them itself.
//!
//! ```text
//!   dominator ─▶ a ─▶ x      x is shared: a and b keep it, and it goes with both of them
//!        └─────▶ b ───┘
//!
//!   counts     position ─▶ how many keep a shared object, and how many before it       2 bytes a position
//!   rows       position ─▶ the shared objects that the object there keeps, packed      about 4 bytes each
//!   starts     for every 4 positions where their rows start
//! ```
//!
//! Positions are those of the dominator tree, so a subtree is a range of rows. What is not shared goes with its dominator
//! and only then, or a root refers to it. Of those that refer to a shared object some tell nothing: what it dominates
//! itself, and what another one of them dominates, which goes first. The others are its *keepers*. Those come *before* it
//! that are nearer to the roots, or as near and of a lesser number: one at least.
//!
//! So what is freed with a set of objects follows from their subtrees, without a look at the rest of the heap: [`freed`].

mod find;
mod freed;

use crate::columns::lookup::Lookup;
use crate::columns::packed::{Longest, PADDING, unzigzag};
use crate::graph::dominators::Dominators;

/// As many keepers or more are counted apart.
const MANY: u32 = u8::MAX as u32;
/// Positions with one start.
const GROUP: usize = 4;

/// The shared objects of a heap, and who keeps them.
#[derive(Debug)]
pub(crate) struct JointlyRetained {
    counts: Lookup<[u8; 2]>,
    /// The positions of those that [`MANY`] or more keep, ascending, with their counts.
    many: Vec<[u32; 3]>,
    starts: Lookup<u64>,
    kept: Lookup<u8>,
    longest: Longest,
}

/// What an index file keeps of shared objects.
pub(crate) struct JointlyRetainedColumns<'s> {
    pub(crate) counts: &'s [[u8; 2]],
    pub(crate) many: &'s [[u32; 3]],
    pub(crate) starts: &'s [u64],
    pub(crate) kept: &'s [u8],
}

impl JointlyRetained {
    /// The columns as they are kept; none of those that are checked where they are looked at.
    pub(crate) fn columns(&self) -> JointlyRetainedColumns<'_> {
        let starts = self.starts.whole();
        let bytes = starts.last().map_or(0, |&end| end as usize + PADDING);
        let kept = self.kept.whole().get(..bytes).unwrap_or_default();
        JointlyRetainedColumns { counts: self.counts.whole(), many: &self.many, starts, kept }
    }

    /// From columns that were kept. What they tell is checked where it is looked at.
    pub(crate) fn of_columns(
        counts: Lookup<[u8; 2]>,
        many: Vec<[u32; 3]>,
        starts: Lookup<u64>,
        kept: Lookup<u8>,
    ) -> Self {
        let longest = longest(counts.len());
        JointlyRetained { counts, many, starts, kept, longest }
    }

    /// Whether they were found along that tree, as far as their lengths tell.
    fn fit(&self, dominators: &Dominators) -> bool {
        let count = dominators.position_count() as usize;
        self.counts.len() == count && self.starts.len() == count.div_ceil(GROUP) + 1
    }

    /// Whether something damaged was looked at.
    fn are_damaged(&self) -> bool {
        self.counts.is_damaged() || self.starts.is_damaged() || self.kept.is_damaged()
    }

    fn is_jointly_retained(&self, position: u32) -> bool {
        self.counts.at(position as usize)[0] != 0
    }

    /// How many keep the object at a position, none if it is not shared; and how many of these come before it.
    fn counts(&self, position: u32) -> [u32; 2] {
        let counts = self.counts.at(position as usize).map(u32::from);
        if counts[0] < MANY {
            return counts;
        }
        match self.many.binary_search_by_key(&position, |&[position, ..]| position) {
            Ok(at) => [self.many[at][1], self.many[at][2]],
            // It cannot be: those that are kept in a file belong together.
            Err(_) => counts,
        }
    }
}

/// Rows that are read one after the other, mostly.
struct KeptObjects<'s> {
    joint: &'s JointlyRetained,
    /// The group that was read last; its bytes, and what must follow a number.
    group: usize,
    bytes: &'s [u8],
    /// The position whose row comes next, and where it stands among the bytes.
    next: u32,
    at: usize,
    /// How many bytes may still be read.
    budget: usize,
}

/// How often a byte is read at most: with each position of its group, once to find the area and once what is alive.
const MOST_READS: usize = 2 * GROUP;

impl<'s> KeptObjects<'s> {
    fn new(joint: &'s JointlyRetained) -> Self {
        let budget = (joint.kept.len() + 1).saturating_mul(MOST_READS);
        KeptObjects { joint, group: usize::MAX, bytes: &[], next: 0, at: 0, budget }
    }

    /// Calls `visit` with the positions of the shared objects that the one at `position` keeps, and whether it comes before
    /// them. Returns how many bytes that took; `None` if what tells them is damaged.
    #[inline(always)]
    fn each(&mut self, position: u32, mut visit: impl FnMut(u32, bool)) -> Option<usize> {
        let group = position as usize / GROUP;
        if group != self.group || position < self.next {
            let place = |at| usize::try_from(self.joint.starts.at(at)).ok();
            let end = place(group + 1)?.checked_add(PADDING)?;
            self.bytes = self.joint.kept.slice(place(group)?..end)?;
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
        // Groups of a forged index may share their bytes.
        self.budget = self.budget.checked_sub(bytes)?;
        Some(bytes)
    }

    #[inline(always)]
    fn number(&mut self) -> Option<u64> {
        (self.at + PADDING <= self.bytes.len()).then(|| self.joint.longest.get(self.bytes, &mut self.at))
    }
}

/// How long the longest number of a row is, where there are `count` positions.
fn longest(count: usize) -> Longest {
    Longest::of(4 * count as u64)
}
