//! One pass over positions of the dominator tree, in preorder, that counts each object for its step.
//!
//! ```text
//!   position  0    1       2    3      4      5     6        open: the steps of the positions around the one visited,
//!             ┌ 0 ──────────────────────────────────────      with the ends of their subtrees
//!                  ┌ Map ──────────────────────── String
//!                          ┌ Entry ─────────────            Entry below Entry is the same step, so it is not opened
//!                               ┌ Entry ┐ String              again: a list of a million has one entry on the stack
//! ```
//!
//! Where few bytes are below a step so far, its subtrees are passed over and wait. Most steps of a large heap stay that
//! small, and no answer shows what is below them.

use std::ops::Range;

use super::kinds::Kinds;
use super::table::{StepSums, TOP, Table};
use crate::error::Result;
use crate::graph::dominators::Dominators;
use crate::progress::{Progress, check};

/// Positions whose kinds are looked up at a time: the processor waits for many of them at once. The first number is for
/// the beginning and after a subtree that is passed over. The kinds of the second number fit in the first cache.
const BLOCK: [u32; 2] = [16, 2048];
/// Positions between two checks for cancellation: a cancelled question ends within milliseconds.
const CHECK_POSITIONS: u32 = 1 << 16;

/// Steps that one walk opens: no heap that was measured has as many. Where more of its steps are large, nearly each object
/// is one of its own, and the answer soon has enough of them.
const MOST_OPENED: u32 = if cfg!(test) { 5 } else { 1 << 14 };

/// What a walk leaves for later, or for good.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// What is below a step waits until the step retains this number of bytes.
    pub(super) least_open: u64,
    /// What is below steps with this number of steps above them is not visited.
    pub(super) deepest: u32,
    /// What is below steps with this number of steps above them waits.
    pub(super) closed_from: u32,
}

/// The subtree of an object, and its step.
#[derive(Debug, Clone, Copy)]
struct Open {
    end: u32,
    step: u32,
    kind: u32,
}

/// What walks have in common.
#[derive(Clone, Copy)]
pub(super) struct Walk<'w> {
    pub(super) dominators: &'w Dominators,
    pub(super) kinds: &'w Kinds<'w>,
    pub(super) limits: Limits,
    pub(super) progress: &'w dyn Progress,
}

impl<'w> Walk<'w> {
    /// Counts what is below some places of a step.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(super) fn waiting_of(self, step: u32, table: &mut Table) -> Result<()> {
        let mut counter = Counter::of(self, table);
        counter.waiting_of(step)?;
        counter.opened()
    }

    /// Counts the positions of a part: what is below the top of the table that is returned.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(super) fn part(self, part: &Part<'_>, kind: u32, depth: u32) -> Result<Table> {
        let mut table = Table::new(kind, depth);
        let mut counter = Counter::of(self, &mut table);
        for (at, &place) in part.places.iter().enumerate() {
            let subtree = self.dominators.subtree(place);
            let mut positions = (place + 1).max(part.positions.start)..subtree.end.min(part.positions.end);
            counter.open.clear();
            counter.open.push(Open { end: subtree.end, step: TOP, kind });
            if at == 0 {
                counter.begin_below(&part.above, &mut positions);
            }
            counter.positions(positions)?;
            counter.opened()?;
        }
        Ok(table)
    }
}

/// Consecutive positions below places of one step.
pub(super) struct Part<'p> {
    pub(super) places: &'p [u32],
    pub(super) positions: Range<u32>,
    /// The objects below the first place and around the first position: the ends of their subtrees and their kinds. Of
    /// several of one kind below each other only the topmost one.
    pub(super) above: Vec<(u32, u32)>,
}

struct Counter<'w, 't> {
    walk: Walk<'w>,
    table: &'t mut Table,
    /// The innermost is the last.
    open: Vec<Open>,
    /// Steps that are open now and whose earlier places wait.
    opened: Vec<u32>,
    /// The number of steps that were opened.
    count: u32,
    /// Reused from block to block.
    kinds: Vec<u32>,
    /// Positions since the last check for cancellation.
    unchecked: u32,
}

impl<'w, 't> Counter<'w, 't> {
    fn of(walk: Walk<'w>, table: &'t mut Table) -> Self {
        Counter { walk, table, open: Vec::new(), opened: Vec::new(), count: 0, kinds: Vec::new(), unchecked: 0 }
    }

    /// Opens the steps around the first of some positions. Below the deepest ones no position is left.
    fn begin_below(&mut self, above: &[(u32, u32)], positions: &mut Range<u32>) {
        for &(end, kind) in above {
            let step = self.table.child(self.open[self.open.len() - 1].step, kind);
            let Limits { deepest, closed_from, .. } = self.walk.limits;
            if self.table.steps[step as usize].depth >= deepest.min(closed_from) {
                positions.start = end.min(positions.end);
                return;
            }
            self.open.push(Open { end, step, kind });
        }
    }

    /// Counts what is below the places of a step that wait.
    fn waiting_of(&mut self, step: u32) -> Result<()> {
        while let Some(place) = self.table.take_waiting(step) {
            let record = &mut self.table.steps[step as usize];
            record.objects += 1;
            let end = self.walk.dominators.subtree(place).end;
            self.open.clear();
            self.open.push(Open { end, step, kind: record.kind });
            self.positions(place + 1..end)?;
        }
        Ok(())
    }

    /// Counts what waits below steps that were opened.
    fn opened(&mut self) -> Result<()> {
        while let Some(step) = self.opened.pop() {
            self.waiting_of(step)?;
        }
        Ok(())
    }

    /// Counts positions below the innermost open step.
    fn positions(&mut self, positions: Range<u32>) -> Result<()> {
        let Walk { dominators, kinds, limits, progress } = self.walk;
        let (mut at, mut length) = (positions.start, BLOCK[0]);
        while at < positions.end {
            let first = at;
            let end_of_block = positions.end.min(at.saturating_add(length));
            self.unchecked += end_of_block - at;
            if self.unchecked >= CHECK_POSITIONS {
                self.unchecked = 0;
                check(progress)?;
            }
            // Damage is noted, and the answer will not be used.
            let Some(block) = dominators.positions(at..end_of_block) else { return Ok(()) };
            self.kinds.clear();
            self.kinds.extend(block.vertices.iter().map(|&vertex| kinds.of_vertex(vertex)));
            while at < end_of_block {
                let kind = self.kinds[(at - first) as usize];
                let mut around = self.open[self.open.len() - 1];
                while around.end <= at {
                    self.open.pop();
                    around = self.open[self.open.len() - 1];
                }
                if kind == around.kind {
                    self.table.steps[around.step as usize].objects += 1;
                    at += 1;
                    continue;
                }
                let extent = block.extent(at);
                let end = at + extent;
                let step = self.table.child(around.step, kind);
                let record = &mut self.table.steps[step as usize];
                let objects = extent - u32::from(kinds.is_above_objects(kind));
                record.sums.add(StepSums::one(at, objects.into(), block.bytes(at, end)));
                if extent == 1 {
                    record.objects += 1;
                    at += 1;
                    continue;
                }
                if record.depth >= limits.deepest {
                    at = end;
                    continue;
                }
                // A subtree that another part counts the rest of cannot wait.
                let may_wait = !record.is_open && end <= positions.end;
                let is_small = record.sums.retained.1 < limits.least_open || self.count == MOST_OPENED;
                if record.depth >= limits.closed_from || (may_wait && is_small) {
                    self.table.wait(step, at);
                    at = end;
                    continue;
                }
                if may_wait {
                    record.is_open = true;
                    self.count += 1;
                    if self.table.has_waiting(step) {
                        self.opened.push(step);
                    }
                }
                self.table.steps[step as usize].objects += 1;
                self.open.push(Open { end, step, kind });
                at += 1;
            }
            length = if at == end_of_block { (2 * length).min(BLOCK[1]) } else { BLOCK[0] };
        }
        Ok(())
    }
}
