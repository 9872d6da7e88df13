//! What is freed with a set of objects, found from their subtrees on.
//!
//! ```text
//!   lost     the subtrees of the set
//!   area     and those of shared objects all of whose keepers before them are in the area, until there are no more:
//!            what lies outside is reached from what lies outside and comes before it, and so from a root
//!   alive    of the area, but for what is lost: shared objects that somebody outside keeps, what is in their
//!            subtrees and not shared, the shared objects that these keep, and so on
//!   freed    the area without what is alive
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use barrow_format::ObjectId;

use super::{GROUP, JointlyRetained, KeptObjects};
use crate::columns::memory::Column;
use crate::columns::prefetch::{Queue, prefetch};
use crate::error::Result;
use crate::graph::dominators::Dominators;
use crate::graph::object_set::ObjectSet;
use crate::progress::{Progress, check};
use crate::run::Run;

/// Steps between looks at whether to stop.
const CHECK_STEPS: u64 = 1 << 16;

/// A search along the dominator tree. Its sets are of positions.
struct Search<'s> {
    dominators: &'s Dominators,
    area: ObjectSet,
    counts: Counts<'s>,
    kept: KeptObjects<'s>,
    /// Positions that were looked at since progress was told, and positions and bytes in all.
    positions: u64,
    steps: u64,
    progress: &'s dyn Progress,
}

/// Shared objects whose subtrees are still to be looked at: in turns, so that their memory can be asked for ahead.
#[derive(Default)]
struct Waiting(VecDeque<u32>);

/// How far ahead of its turn the subtree of a shared object is asked for, and its row.
const FAR: usize = 16;
const NEAR: usize = 8;

/// How many keepers shared objects have in the area.
struct Counts<'s> {
    joint: &'s JointlyRetained,
    /// All of them, and those that come before.
    found: Column<[u32; 2]>,
    /// What will be counted when memory has answered.
    coming: Queue<KeeperFound>,
}

/// A keeper of a shared object.
#[derive(Debug, Clone, Copy)]
struct KeeperFound {
    /// The shared object.
    kept: u32,
    /// Whether the keeper comes before it.
    is_before: bool,
}

impl JointlyRetained {
    /// All that would be freed if the objects at the positions `removed` were gone: what the roots reach now, and would not
    /// reach without them. `dominators` are those that these shared objects were found along. `None` if something is
    /// damaged.
    ///
    /// Time: linear in the area: what is freed, and what a shortest path leads to through the set. Memory: 8 bytes and some
    /// bits a position. Sequential.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub(crate) fn freed_with(
        &self,
        dominators: &Dominators,
        removed: &ObjectSet,
        run: Run<'_>,
    ) -> Result<Option<ObjectSet>> {
        let Run { memory, progress } = run;
        if !self.fit(dominators) || removed.snapshot_objects() != dominators.position_count() {
            return Ok(None);
        }
        progress.begin("looking at what is freed", 0, "objects");
        let area = ObjectSet::new(removed.snapshot(), removed.snapshot_objects());
        let found = memory.column(area.snapshot_objects() as usize)?;
        let counts = Counts { joint: self, found, coming: Queue::new() };
        let mut search =
            Search { dominators, area, counts, kept: KeptObjects::new(self), positions: 0, steps: 0, progress };
        let Some(lost) = search.find_area(removed)? else { return Ok(None) };
        let Some(alive) = search.find_alive(removed, &lost)? else { return Ok(None) };
        if self.are_damaged() {
            return Ok(None);
        }
        let mut freed = ObjectSet::new(removed.snapshot(), dominators.object_count());
        let mut positions = search.area;
        positions.difference_with(&alive);
        for (number, ObjectId(position)) in (0..).zip(positions.iter()) {
            if number % CHECK_STEPS == 0 {
                check(progress)?;
            }
            dominators.object_at(position).map(|object| freed.insert(object));
        }
        Ok(Some(freed))
    }
}

impl Search<'_> {
    /// Finds the area, and returns what is lost: the subtrees of what is removed.
    fn find_area(&mut self, removed: &ObjectSet) -> Result<Option<ObjectSet>> {
        let mut waiting = Waiting::default();
        for subtree in self.dominators.subtrees(removed.iter()) {
            if self.add(subtree, &mut waiting)?.is_none() {
                return Ok(None);
            }
        }
        let lost = self.area.clone();
        loop {
            while let Some(shared) = self.next_of(&mut waiting) {
                if self.add(self.dominators.subtree(shared), &mut waiting)?.is_none() {
                    return Ok(None);
                }
            }
            (0..Queue::<KeeperFound>::LENGTH).for_each(|_| self.counts.add(None, &self.area, &mut waiting));
            if waiting.0.is_empty() {
                return Ok(Some(lost));
            }
        }
    }

    /// Adds a subtree to the area, and shared objects all of whose keepers before them are in it to those that wait.
    fn add(&mut self, subtree: Range<u32>, waiting: &mut Waiting) -> Result<Option<()>> {
        let Range { start: mut next, end } = subtree;
        while next < end {
            let position = next;
            if !self.area.insert(ObjectId(position)) {
                // It came with all that is below it.
                next = self.dominators.subtree(position).end;
                self.step(0)?;
                continue;
            }
            next += 1;
            let (area, counts) = (&self.area, &mut self.counts);
            let bytes = self.kept.each(position, |object, is_before| {
                counts.add(Some(KeeperFound { kept: object, is_before }), area, waiting);
            });
            let Some(bytes) = bytes else { return Ok(None) };
            self.step(bytes)?;
        }
        Ok(Some(()))
    }

    /// Finds what is alive in the area.
    fn find_alive(&mut self, removed: &ObjectSet, lost: &ObjectSet) -> Result<Option<ObjectSet>> {
        let mut alive = ObjectSet::new(lost.snapshot(), lost.snapshot_objects());
        let mut waiting = Waiting::default();
        let mut open = self.area.clone();
        open.difference_with(lost);
        for ObjectId(position) in open.iter() {
            self.step(0)?;
            if self.counts.is_kept_outside(position) && alive.insert(ObjectId(position)) {
                waiting.0.push_back(position);
            }
            while let Some(shared) = self.next_of(&mut waiting) {
                let Range { start: mut next, end } = self.dominators.subtree(shared);
                while next < end {
                    let position = next;
                    let is_apart =
                        || removed.contains(ObjectId(position)) || self.counts.joint.is_jointly_retained(position);
                    if position != shared && is_apart() {
                        // It is lost, or lives for reasons of its own.
                        next = self.dominators.subtree(position).end;
                        self.step(0)?;
                        continue;
                    }
                    next += 1;
                    alive.insert(ObjectId(position));
                    let bytes = self.kept.each(position, |kept, _| {
                        if open.contains(ObjectId(kept)) && alive.insert(ObjectId(kept)) {
                            waiting.0.push_back(kept);
                        }
                    });
                    let Some(bytes) = bytes else { return Ok(None) };
                    self.step(bytes)?;
                }
            }
        }
        Ok(Some(alive))
    }

    /// The next one that waits.
    fn next_of(&self, waiting: &mut Waiting) -> Option<u32> {
        let joint = self.counts.joint;
        if let Some(&far) = waiting.0.get(FAR) {
            self.dominators.prefetch_subtree(far);
            joint.starts.prefetch(far as usize / GROUP);
        }
        if let Some(&near) = waiting.0.get(NEAR) {
            joint.kept.prefetch(joint.starts.at(near as usize / GROUP) as usize);
        }
        waiting.0.pop_front()
    }

    /// After a position of whose group so many bytes were read.
    fn step(&mut self, bytes: usize) -> Result<()> {
        let before = self.steps / CHECK_STEPS;
        self.steps += 1 + bytes as u64;
        self.positions += 1;
        if self.steps / CHECK_STEPS != before {
            check(self.progress)?;
            self.progress.advance(std::mem::take(&mut self.positions));
        }
        Ok(())
    }
}

impl Counts<'_> {
    /// Takes in what was found, and counts what was found before. Shared objects outside the area all of whose keepers
    /// before them are in it wait then.
    #[inline(always)]
    fn add(&mut self, found: Option<KeeperFound>, area: &ObjectSet, waiting: &mut Waiting) {
        if let Some(KeeperFound { kept, .. }) = found {
            prefetch(&self.found, kept as usize);
            self.joint.counts.prefetch(kept as usize);
        }
        let Some(KeeperFound { kept, is_before }) = self.coming.exchange(found) else { return };
        let [all, before] = &mut self.found[kept as usize];
        *all += 1;
        *before += u32::from(is_before);
        if is_before && *before == self.joint.counts(kept)[1] && !area.contains(ObjectId(kept)) {
            waiting.0.push_back(kept);
        }
    }

    /// Whether somebody outside the area keeps the object at a position.
    fn is_kept_outside(&self, position: u32) -> bool {
        // What is not shared has no keepers at all.
        self.found[position as usize][0] < self.joint.counts(position)[0]
    }
}
