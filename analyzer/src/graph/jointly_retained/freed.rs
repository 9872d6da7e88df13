//! Finding the objects that are freed with a set of objects, starting from their subtrees.
//!
//! ```text
//!   lost     the subtrees of the set
//!   area     the lost positions; then, repeatedly, the subtrees of jointly retained objects whose keepers before
//!            them are all in the area. An object outside has a keeper or dominator outside that is before it,
//!            and so on up to a root
//!   alive    within the area without the lost positions: jointly retained objects with a keeper outside, the objects
//!            in their subtrees that are not jointly retained, the jointly retained objects that these keep, and so on
//!   freed    the area without the positions that are alive
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

/// Steps between two checks for cancellation: a cancelled question ends within milliseconds.
const CHECK_STEPS: u64 = 1 << 16;

/// A search over the dominator tree. Its sets are sets of positions.
struct Search<'s> {
    dominators: &'s Dominators,
    area: ObjectSet,
    counts: Counts<'s>,
    kept: KeptObjects<'s>,
    /// Positions visited since the last progress report; then positions and bytes read in total.
    positions: u64,
    steps: u64,
    progress: &'s dyn Progress,
}

/// A queue of jointly retained objects whose subtrees must be visited. It is first in, first out, so that they can be
/// prefetched.
#[derive(Default)]
struct PendingSubtrees(VecDeque<u32>);

/// Prefetch distances in queue entries: for the subtree of an object, and for the objects that it keeps. These are judgements.
const FAR: usize = 16;
const NEAR: usize = 8;

/// For each jointly retained object, the number of its keepers in the area.
struct Counts<'s> {
    joint: &'s JointlyRetained,
    /// The number of all keepers, and of those before the object.
    found: Column<[u32; 2]>,
    /// Keepers whose counts are being prefetched.
    coming: Queue<Keeper>,
}

/// A keeper of a jointly retained object.
#[derive(Debug, Clone, Copy)]
struct Keeper {
    /// The position of the jointly retained object.
    kept: u32,
    /// The keeper comes before it.
    is_before: bool,
}

impl JointlyRetained {
    /// The objects that would be freed if those at the positions `removed` were gone: they are reachable now, and would
    /// not be without them. `dominators` must be the tree along which these jointly retained objects were found. `None`
    /// if something is damaged.
    ///
    /// Time: linear in the area, which consists of the objects that are freed or have a shortest path through the set.
    /// Memory: 8 bytes and a few bits per position. Sequential.
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
    /// Finds the area. Returns the lost positions: the subtrees of the removed objects.
    fn find_area(&mut self, removed: &ObjectSet) -> Result<Option<ObjectSet>> {
        let mut waiting = PendingSubtrees::default();
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
            (0..Queue::<Keeper>::LENGTH).for_each(|_| self.counts.add(None, &self.area, &mut waiting));
            if waiting.0.is_empty() {
                return Ok(Some(lost));
            }
        }
    }

    /// Adds a subtree to the area. Enqueues jointly retained objects whose keepers before them are now all in the area.
    fn add(&mut self, subtree: Range<u32>, waiting: &mut PendingSubtrees) -> Result<Option<()>> {
        let Range { start: mut next, end } = subtree;
        while next < end {
            let position = next;
            if !self.area.insert(ObjectId(position)) {
                // It was added before, together with its subtree.
                next = self.dominators.subtree(position).end;
                self.step(0)?;
                continue;
            }
            next += 1;
            let (area, counts) = (&self.area, &mut self.counts);
            let bytes = self.kept.each(position, |object, is_before| {
                counts.add(Some(Keeper { kept: object, is_before }), area, waiting);
            });
            let Some(bytes) = bytes else { return Ok(None) };
            self.step(bytes)?;
        }
        Ok(Some(()))
    }

    /// Finds the living positions within the area.
    fn find_alive(&mut self, removed: &ObjectSet, lost: &ObjectSet) -> Result<Option<ObjectSet>> {
        let mut alive = ObjectSet::new(lost.snapshot(), lost.snapshot_objects());
        let mut waiting = PendingSubtrees::default();
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
                    if position != shared
                        && (removed.contains(ObjectId(position)) || self.counts.joint.is_jointly_retained(position))
                    {
                        // It is lost, or its state is determined separately.
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

    /// Takes the next object from the queue.
    fn next_of(&self, waiting: &mut PendingSubtrees) -> Option<u32> {
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

    /// Counts one position, for which `bytes` bytes were read.
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
    /// Enqueues the keeper `found`, and counts the one whose prefetch has completed. If all keepers before a jointly
    /// retained object are in the area and it is not, the object is enqueued in `waiting`.
    #[inline(always)]
    fn add(&mut self, found: Option<Keeper>, area: &ObjectSet, waiting: &mut PendingSubtrees) {
        if let Some(Keeper { kept, .. }) = found {
            prefetch(&self.found, kept as usize);
            self.joint.counts.prefetch(kept as usize);
        }
        let Some(Keeper { kept, is_before }) = self.coming.exchange(found) else { return };
        let [all, before] = &mut self.found[kept as usize];
        *all += 1;
        *before += u32::from(is_before);
        if is_before && *before == self.joint.counts(kept)[1] && !area.contains(ObjectId(kept)) {
            waiting.0.push_back(kept);
        }
    }

    /// Returns whether a keeper outside the area keeps the object at a position alive.
    fn is_kept_outside(&self, position: u32) -> bool {
        // An object that is not jointly retained has no keepers.
        self.found[position as usize][0] < self.joint.counts(position)[0]
    }
}
